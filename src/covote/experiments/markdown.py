"""Results in, the page of the documentation out: what is the same as in the paper, what is not, and the numbers."""

from __future__ import annotations

from collections.abc import Sequence

from covote.experiments.grid import Cell, Grid
from covote.experiments.reasons import missed_reasons
from covote.experiments.results import Results

_HEAD = """# The paper, reproduced

Every table and the figure of {source}, run again by one command. This page is written by that command; do not edit it.

```
{command}
```

{software}

Each cell shows our number, its standard error over trials or its 90 % interval where there is one, and in brackets
the paper's. The best of a column is bold; lower is better everywhere. `n/a`: the method does not apply (two classes
only). No setting is tuned to a data set, and truth is used for scoring alone.
"""


def markdown(results: Results) -> str:
    """The whole document."""
    parts = [_HEAD.format(source=results.source, command=results.command, software=results.software)]
    if results.checks:
        parts.append("## What it must show\n\n" + _checks(results) + _reasons(results))
    for part in results.parts:
        experiment = part.experiment
        notes = "".join(f"{note}\n\n" for note in part.notes)
        parts.append(
            f"## {experiment.title}\n\n`covote reproduce {experiment.name}`\n\n"
            f"**As in the paper.** {experiment.same}\n\n**Not as in the paper.** {experiment.other}\n\n{notes}"
            + "\n".join(_grid(grid) for grid in part.grids)
        )
    return "\n".join(parts)


def _checks(results: Results) -> str:
    rows = [("what", "bar", "", "measured"), ("---",) * 4]
    for c in results.checks:
        verdict = "not measured" if c.reached is None else "reached" if c.reached else "**missed**"
        rows.append((c.name, c.bar, verdict, c.found))
    return _table(rows)


def _reasons(results: Results) -> str:
    texts = [f"**{name}.** {text}\n" for name, text in missed_reasons(results.checks).items()]
    return "\n" + "\n".join(texts) if texts else ""


def _grid(grid: Grid) -> str:
    head = ["", *(f"{c.dataset} {c.level}".strip() for c in grid.columns)]
    rows = [tuple(head), ("---", *("---:" for _ in grid.columns))]
    rows += [(method, *(_cell(cell) for cell in cells)) for method, cells in grid.lines]
    about = f"{grid.about}\n\n" if grid.about else ""
    failures = "".join(f"- {failure}\n" for failure in grid.failures if "not applicable" not in failure)
    return f"### {grid.title}\n\n{about}{_table(rows)}" + (f"\n{failures}" if failures else "")


def _cell(cell: Cell | None) -> str:
    if cell is None:
        return ""
    ours = f"**{cell.ours}**" if cell.best else cell.ours
    spread = f" {cell.spread}" if cell.spread.startswith("±") else f" [{cell.spread}]" if cell.spread else ""
    return f"{ours}{spread}" + (f" ({cell.paper})" if cell.paper else "")


def _table(rows: Sequence[tuple[str, ...]]) -> str:
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |\n" for row in rows)
