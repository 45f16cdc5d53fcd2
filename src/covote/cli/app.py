"""The command-line application: commands from their files, one sentence for every error, tidy warnings."""

from __future__ import annotations

import logging
import re
import shlex
import sys
import warnings
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import typer

from covote.errors import CovoteError

COMMANDS = (
    "aggregate",
    "compare",
    "agreement",
    "rate",
    "simulate",
    "diagnose",
    "plan",
    "report",
    "count",
    "reproduce",
    "datasets",
    "look",
    "formats",
)
"""Each is a module of this package with a function `register(app)`."""

_KEYWORD = re.compile(
    r"(?<![\w./'\"-])(item|annotator|label|columns|shape|duplicates|delimiter|gold|truth|engine|seed|positive|ordered"
    r"|question|annotators|where|gold_column|multiple)="
    r"(\"[^\"]*\"|'[^']*'|True|)((?:(?:, | or )\"[^\"]*\")*)"
)
"""Options of the library that are options of commands too: name, value, and further values after commas or "or"."""

_UsageError: Any = typer.BadParameter.__mro__[2]  # click's base error, from whichever click typer carries

app = typer.Typer(
    name="covote",
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Labels one can trust from many imperfect annotators: crowd workers, classifiers, LLM judges.",
    epilog="Start with: covote aggregate votes.csv",
)


@app.callback(invoke_without_command=True)
def _top(version: bool = typer.Option(False, "--version", help="Print the version and stop.")) -> None:
    if version:
        from covote import __version__

        typer.echo(f"covote {__version__}")
        raise typer.Exit


def register_commands() -> None:
    """Let every command that is installed add itself."""
    for name in COMMANDS:
        if find_spec(f"covote.cli.{name}"):
            import_module(f"covote.cli.{name}").register(app)


def run(arguments: list[str] | None = None) -> int:
    """Run the application and return the exit code: 0, or 2 with one sentence on standard error."""
    register_commands()
    warnings.simplefilter("default")
    warnings.showwarning = _show_warning
    _show_readings()
    try:
        code = app(args=arguments, prog_name="covote", standalone_mode=False)
    except typer.Exit as stop:
        return stop.exit_code
    except _UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # a group alone: its message is the help
            typer.echo(error.format_message())
            return 0
        typer.echo(f"Error: {error.format_message()}", err=True)
        return 2
    except CovoteError as error:
        typer.echo(f"Error: {in_options(str(error))}", err=True)
        return 2
    except (KeyboardInterrupt, typer.Abort):
        typer.echo("Stopped.", err=True)
        return 130
    except BrokenPipeError:
        return 0
    except Exception as error:
        if not isinstance(error, MemoryError) and type(error).__name__ != "OutOfMemoryException":  # DuckDB's own
            raise
        typer.echo("Error: Not enough memory. Try --engine disk, or a larger --memory-limit.", err=True)
        return 2
    return code if isinstance(code, int) else 0


def in_options(text: str) -> str:
    """The library's advice in the words of the command line.

    >>> in_options('Pass duplicates="first", "last" or "majority" to keep one label.')
    'Pass --duplicates first, last or majority to keep one label.'
    >>> in_options('Pass annotator="who is it", or pass delimiter=.')
    "Pass --annotator 'who is it', or pass --delimiter."
    """

    def option(found: re.Match[str]) -> str:
        name, value, others = found.groups()
        name = name.replace("_", "-")
        value = "" if value == "True" else value
        return f"--{name}" + (f" {shlex.quote(value[1:-1])}" if value else "") + others.replace('"', "")

    return _KEYWORD.sub(option, text)


def _show_readings() -> None:
    """What the library says about columns and exports goes to standard error, one line each."""

    class Lines(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            typer.echo(f"Read: {in_options(record.getMessage())}", err=True)

    log = logging.getLogger("covote.reading")
    log.handlers = [Lines()]
    log.setLevel(logging.INFO)
    log.propagate = False


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    typer.echo(f"Note: {in_options(str(message))}", err=True)


def main() -> None:
    """The `covote` command."""
    sys.exit(run())
