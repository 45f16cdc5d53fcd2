"""What the reproduction must show: rows in, for each bar what was measured and whether it was reached."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan

from covote.experiments.amt import DEFAULT, PAPER
from covote.experiments.rows import Row, published
from covote.experiments.settings import BAYES, METHODS

OURS = ("multispa", "multispa-kl", "multispa-ds")
BASELINES = ("spectral-ds", "tensor-admm", "mv-ds", "minmax-entropy", "eigen-ratio", "kos", "ghosh-svd")


@dataclass(frozen=True)
class Check:
    """A bar, what was measured, and whether it was reached (None: not measured)."""

    name: str
    bar: str
    found: str
    reached: bool | None


class Numbers:
    """Means by (dataset, level, method) of one experiment, panel and metric."""

    def __init__(self, rows: Iterable[Row], metric: str, panel: str = "") -> None:
        chosen = [r for r in rows if r.metric == metric and r.panel == panel]
        self.places = list(dict.fromkeys((r.dataset, r.level) for r in chosen))
        self.mean = {(r.dataset, r.level, r.method): r.mean for r in chosen if r.mean is not None}

    def get(self, place: tuple[str, float | None], method: str) -> float:
        """NaN where there is no number."""
        return self.mean.get((*place, method), float("nan"))


def all_checks(rows: Mapping[str, Sequence[Row]]) -> list[Check]:
    """Every check whose experiment was run."""
    makers = {"amt": _amt, "uci": _uci, "mse": _mse, "synthetic": _synthetic, "annotators": _annotators}
    return [check for name, make in makers.items() if name in rows for check in make(rows[name])]


def _amt(rows: Sequence[Row]) -> list[Check]:
    paper = Numbers(rows, "error", PAPER)
    checks = [_beside_paper("amt: multispa, multispa-kl, multispa-ds", paper, OURS)]
    for method in OURS:
        ours = _mean(paper.get(p, method) for p in paper.places)
        theirs = _mean(published("amt", "error", *p, method) or float("nan") for p in paper.places)
        name = f"amt: {method}, mean over the sets"
        checks.append(_at_most(name, f"at most the paper's {theirs:.2f}", ours, theirs))
    checks.append(_beside_paper("amt: baselines", paper, BASELINES))
    for dataset, bar in (("web", 12.5), ("bluebird", 10.2)):
        found = paper.get((dataset, None), "minmax-entropy")
        checks.append(_at_most(f"amt: minmax-entropy on {dataset}", f"at most {bar}", found, bar))
    everybody = Numbers(rows, "error", DEFAULT)
    gaps = {p[0]: everybody.get(p, "multispa-ds") - everybody.get(p, "majority-vote") for p in everybody.places}
    checks.append(_worst("amt, all annotators: multispa-ds by default", "nowhere above majority vote", gaps, 0.0))
    return checks


def _beside_paper(name: str, numbers: Numbers, methods: Sequence[str]) -> Check:
    gaps = {}
    for place in numbers.places:
        for method in methods:
            theirs = published("amt", "error", *place, method)
            if theirs is not None:
                gaps[f"{method} on {place[0]}"] = numbers.get(place, method) - theirs
    return _worst(name, "each error at most 1.5 points above the paper's", gaps, 1.5)


def _uci(rows: Sequence[Row]) -> list[Check]:
    numbers = Numbers(rows, "error")
    gaps = {_place(p): min(numbers.get(p, m) for m in OURS) - numbers.get(p, "majority-vote") for p in numbers.places}
    thin = [p for p in numbers.places if p[1] == 0.2]
    kl, vote = (_mean(numbers.get(p, m) for p in thin) for m in ("multispa-kl", "majority-vote"))
    return [
        _worst("uci: best of our three, nine columns", "at most 0.5 points above majority vote", gaps, 0.5),
        _at_most("uci: multispa-kl at p = 0.2, mean over the sets", f"below majority vote's {vote:.2f}", kl, vote),
    ]


def _mse(rows: Sequence[Row]) -> list[Check]:
    numbers = Numbers(rows, "mse")
    ratios = {}
    for place in numbers.places:
        theirs = [v for m in METHODS if (v := published("mse", "mse", *place, m)) is not None]
        ratios[_place(place)] = numbers.get(place, "multispa-ds") / min(theirs)
    return [_worst("mse: multispa-ds", "at most 1.1 times the paper's best of the column", ratios, 1.1, "times")]


def _synthetic(rows: Sequence[Row]) -> list[Check]:
    numbers = Numbers(rows, "error")
    gaps = {_place(p): numbers.get(p, "multispa-ds") - numbers.get(p, BAYES) for p in numbers.places}
    checks = [_worst("synthetic: multispa-ds", "within 0.6 points of the Bayes rule", gaps, 0.6)]
    half = [p for p in numbers.places if p[1] == 0.5]
    for method in ("tensor-admm", "spectral-ds"):
        gaps = {_place(p): numbers.get(p, method) - numbers.get(p, BAYES) for p in half}
        checks.append(_worst(f"synthetic: {method} at p = 0.5", "within 1 point of the Bayes rule", gaps, 1.0))
    return checks


def _annotators(rows: Sequence[Row]) -> list[Check]:
    numbers = Numbers(rows, "mse")
    kl = [numbers.get(p, "multispa-kl") for p in numbers.places]
    steps = {f"M = {b[1]:g}": y / x for (b, x, y) in zip(numbers.places[1:], kl, kl[1:], strict=False)}
    ratios = {f"M = {p[1]:g}": numbers.get(p, "multispa-kl") / numbers.get(p, "multispa") for p in numbers.places}
    return [
        _worst("annotators: multispa-kl", "MSE falls with M", steps, 1.0, "times the MSE before"),
        _worst("annotators: multispa-kl", "below multispa at each M", ratios, 1.0, "times"),
    ]


def _worst(name: str, bar: str, gaps: Mapping[str, float], limit: float, unit: str = "points") -> Check:
    """The largest of several values against one limit; a value that is missing is a miss."""
    missing = [place for place, gap in gaps.items() if isnan(gap)]
    known = {place: gap for place, gap in gaps.items() if not isnan(gap)}
    over = sorted((p for p in known if known[p] > limit + 1e-9), key=lambda p: -known[p])
    found = ""
    if known:
        worst = max(known, key=lambda p: known[p])
        found = f"{len(known) - len(over)} of {len(gaps)}; worst {round(known[worst], 2) + 0.0:+.2f} {unit} ({worst})"
        if unit != "points":
            found = found.replace("+", "")
    if len(over) > 1:
        found += "; over it: " + ", ".join(f"{p} {known[p]:.2f}" for p in over)
    if missing:
        found += f"; no number: {', '.join(missing[:4])}" + (
            f" and {len(missing) - 4} more" if len(missing) > 4 else ""
        )
    return Check(name, bar, found.removeprefix("; "), not over and not missing)


def _at_most(name: str, bar: str, found: float, limit: float) -> Check:
    return Check(name, bar, "" if isnan(found) else f"{found:.2f}", None if isnan(found) else found <= limit + 1e-9)


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed) if listed else float("nan")


def _place(place: tuple[str, float | None]) -> str:
    return place[0] if place[1] is None else f"{place[0]} p = {place[1]:g}"
