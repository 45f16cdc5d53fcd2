"""The `covote` command: open, call the library, print."""

from covote.cli.app import main

__all__ = ["main"]
