"""Write docs/cli.md from the commands' own help, so that it cannot drift: `python scripts/write_cli_docs.py`."""

from __future__ import annotations

import contextlib
import io
import os
from pathlib import Path

PARTS = {"datasets": ("list", "path", "fetch")}
TARGET = Path(__file__).parent.parent / "docs" / "cli.md"


def cli_page() -> str:
    """The page as it should be."""
    os.environ["COLUMNS"] = "100"
    os.environ["TERMINAL_WIDTH"] = "100"
    from covote.cli.app import COMMANDS, run

    parts = ["# The command line\n\nMade from `--help` by `scripts/write_cli_docs.py`; a test compares.\n"]
    for name in COMMANDS:
        for command in ([name], *([name, part] for part in PARTS.get(name, ()))):
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                run([*command, "--help"])
            lines = "\n".join(line.rstrip() for line in out.getvalue().strip().splitlines())
            parts.append(f"\n## covote {' '.join(command)}\n\n```\n{lines}\n```\n")
    return "".join(parts)


if __name__ == "__main__":
    TARGET.write_text(cli_page(), encoding="utf-8")
