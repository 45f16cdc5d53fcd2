"""Results in, one self-contained HTML page out: tables with ours, the paper's and the difference, plots inline."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from covote.experiments.checks import Check
from covote.experiments.grid import MINUS, Cell, Grid
from covote.experiments.plots import DARK, HOW_TO_DRAW, LIGHT, Plot, can_draw, svg
from covote.experiments.reasons import missed_reasons
from covote.experiments.results import Part, Results

_STYLE = """
:root { $light --ground: #fbfaf7; --panel: #fff; --good: #2f7d4f; color-scheme: light; }
@media (prefers-color-scheme: dark) {
  :root { $dark --ground: #14171b; --panel: #1c2026; --good: #7fcf9d; color-scheme: dark; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.55 system-ui, "Segoe UI", sans-serif; }
main { max-width: 72rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 1rem; }
h2 { font-size: 1.45rem; margin: 0 0 1rem; }
h3 { font-size: 1.05rem; margin: 2rem 0 0.25rem; }
p { max-width: 48rem; margin: 0 0 0.75rem; }
section { margin-top: 3rem; padding-top: 1.5rem; border-top: 1px solid var(--grid); }
a { color: var(--accent); }
nav { display: flex; gap: 0.25rem 1rem; flex-wrap: wrap; }
.muted, small { color: var(--muted); font-size: 0.85rem; }
.scroll { overflow-x: auto; margin: 0.75rem 0; }
table { border-collapse: collapse; font-size: 0.9rem; font-variant-numeric: tabular-nums; background: var(--panel); }
th, td { padding: 0.35rem 0.8rem; text-align: right; vertical-align: top; white-space: nowrap; }
tr { border-bottom: 1px solid var(--grid); }
th { color: var(--muted); font-weight: 500; font-size: 0.8rem; }
th[scope=row], .text th, .text td { text-align: left; }
th[scope=row] { color: var(--ink); font-size: 0.9rem; }
.text td { white-space: normal; }
td small { display: block; line-height: 1.35; font-size: 0.75rem; }
.less { color: var(--good); } .more { color: var(--warm); }
.miss { color: var(--warm); font-weight: 600; } .met { color: var(--good); }
figure { margin: 1.5rem 0; overflow-x: auto; }
figure svg { display: block; height: auto; }
dt { font-weight: 600; } dd { margin: 0 0 0.75rem; max-width: 52rem; }
"""


def page(results: Results) -> str:
    """The whole page."""
    sections = "".join(_section(part, results.plots.get(part.experiment.name, [])) for part in results.parts)
    links = "".join(f'<a href="#{p.experiment.name}">{escape(p.experiment.title)}</a>' for p in results.parts)
    no_plots = "" if can_draw() else f'<p class="muted">{escape(HOW_TO_DRAW)}</p>'
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>The paper, reproduced by covote</title><style>{_style()}</style></head><body><main>"
        "<h1>The paper, reproduced</h1>"
        f"<p>Every table and the figure of {escape(results.source)}, run again by covote {escape(results.version)}. "
        "Numbers are ours; below each the paper's and the difference (ours less the paper's). The best of a column is "
        "bold. Lower is better everywhere.</p>"
        f'<p class="muted">{escape(results.made)}</p>{no_plots}<nav>{links}</nav>'
        f"{_checks(results.checks)}{sections}</main></body></html>\n"
    )


def _style() -> str:
    def text(colours: dict[str, str]) -> str:
        return " ".join(f"--{name}: {value};" for name, value in colours.items())

    return _STYLE.replace("$light", text(LIGHT)).replace("$dark", text(DARK))


def _checks(checks: Sequence[Check]) -> str:
    if not checks:
        return ""
    rows = "".join(
        f"<tr><th scope=row>{escape(c.name)}</th><td>{escape(c.bar)}</td>"
        f'<td class="{"met" if c.reached else "miss"}">{_verdict(c)}</td><td>{escape(c.found)}</td></tr>'
        for c in checks
    )
    head = "<tr><th>what</th><th>bar</th><th></th><th>measured</th></tr>"
    why = "".join(f"<p><b>{escape(name)}.</b> {escape(text)}</p>" for name, text in missed_reasons(checks).items())
    table = f'<div class="scroll"><table class="text">{head}{rows}</table></div>'
    return f'<section id="checks"><h2>What it must show</h2>{table}{why}</section>'


def _verdict(check: Check) -> str:
    return "not measured" if check.reached is None else "reached" if check.reached else "missed"


def _section(part: Part, plots: Sequence[Plot]) -> str:
    experiment = part.experiment
    figures = "".join(_figure(plot) for plot in plots) if can_draw() else ""
    tables = "".join(_table(grid) for grid in part.grids)
    notes = "".join(f"<p>{escape(note)}</p>" for note in part.notes)
    return (
        f'<section id="{experiment.name}"><h2>{escape(experiment.title)}</h2>'
        f"<dl><dt>As in the paper</dt><dd>{escape(experiment.same)}</dd>"
        f"<dt>Not as in the paper</dt><dd>{escape(experiment.other)}</dd></dl>{notes}{figures}{tables}</section>"
    )


def _figure(plot: Plot) -> str:
    drawn = svg(plot).replace("<svg ", f'<svg role="img" aria-label="{escape(plot.text)}" ', 1)
    return f'<figure>{drawn}<figcaption class="muted">{escape(plot.title)}.</figcaption></figure>'


def _table(grid: Grid) -> str:
    groups: list[tuple[str, int]] = []
    for column in grid.columns:
        if groups and groups[-1][0] == column.dataset:
            groups[-1] = (column.dataset, groups[-1][1] + 1)
        else:
            groups.append((column.dataset, 1))
    top = "".join(f'<th colspan="{n}">{escape(name)}</th>' for name, n in groups)
    levels = "".join(f"<th>{escape(c.level)}</th>" for c in grid.columns)
    second = f"<tr><th></th>{levels}</tr>" if any(c.level for c in grid.columns) else ""
    body = "".join(
        f"<tr><th scope=row>{escape(method)}</th>{''.join(_cell(cell) for cell in cells)}</tr>"
        for method, cells in grid.lines
    )
    about = f'<p class="muted">{escape(grid.about)}</p>' if grid.about else ""
    failures = "".join(f"<small>{escape(f)}</small><br>" for f in grid.failures)
    return (
        f'<h3>{escape(grid.title)}</h3>{about}<div class="scroll"><table><tr><th></th>{top}</tr>{second}{body}</table>'
        f"</div>{failures}"
    )


def _cell(cell: Cell | None) -> str:
    if cell is None:
        return "<td></td>"
    ours = f"<b>{escape(cell.ours)}</b>" if cell.best else escape(cell.ours)
    lines = [f"<small>{escape(cell.spread)}</small>"] if cell.spread else []
    if cell.paper:
        kind = "less" if cell.difference.startswith(MINUS) else "more" if cell.difference.startswith("+") else ""
        change = f' <span class="{kind}">{escape(cell.difference)}</span>' if cell.difference else ""
        lines.append(f"<small>paper {escape(cell.paper)}{change}</small>")
    return f"<td>{ours}{''.join(lines)}</td>"
