"""Rows in, Markdown tables out; and pages whose measured part a command replaces."""

from __future__ import annotations

BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(map(str, row)) + " |" for row in rows)])


def write_measured(path, parts):
    """Replace what is between the markers of a page."""
    before, rest = path.read_text().split(BEGIN)
    path.write_text(f"{before}{BEGIN}\n\n" + "\n\n".join(parts) + f"\n\n{END}{rest.split(END)[1]}")
