"""A diagnosis in, some lines of text for a person out."""

from __future__ import annotations

from covote.diagnosis.annotators import AnnotatorRow, Estimate
from covote.diagnosis.findings_people import counted
from covote.diagnosis.value import Diagnosis

_MARK = {"critical": "!!", "warning": "! ", "note": "- ", "good": "ok"}
_SHOWN = 3


def summarised(d: Diagnosis) -> str:
    """Verdict, findings, the best and weakest annotators, and the numbers of the theory."""
    return "\n".join(
        [f"Verdict: {d.verdict.value}. {d.explanation}", "", *_findings(d), "", *_people(d), "", *_theory(d)]
    )


def _findings(d: Diagnosis) -> list[str]:
    lines = []
    for f in d.findings:
        lines.append(f"{_MARK[f.severity.value]} {f.title}. {f.evidence}")
        if f.advice != "Nothing to do.":
            lines.append(f"   -> {f.advice}")
    return lines


def _people(d: Diagnosis) -> list[str]:
    ranked = sorted(d.annotators, key=lambda r: (-r.bits.value, -r.answers))
    shown = ranked if len(ranked) <= 2 * _SHOWN else [*ranked[:_SHOWN], *ranked[-_SHOWN:]]
    return ["Annotators by what an answer tells (bits):", *(_person(r) for r in shown)]


def _person(r: AnnotatorRow) -> str:
    worst = (
        f", {r.worst_class} called {r.worst_label} in {100 * r.worst_rate:.0f} %" if r.worst_class is not None else ""
    )
    answers = counted(r.answers, "answer", "answers")
    return (
        f"  {r.annotator}: {answers}, bits {_range(r.bits, 2)}, accuracy {_range(r.accuracy, 2)}, {r.kind.value}{worst}"
    )


def _range(e: Estimate, digits: int) -> str:
    ends = "" if e.low is None or e.high is None else f" [{e.low:.{digits}f}, {e.high:.{digits}f}]"
    return f"{e.value:.{digits}f}{ends}"


def _theory(d: Diagnosis) -> list[str]:
    i, dep = d.identifiability, d.dependence
    if not d.overlap.pairs or len(d.classes) < 2:
        return ["Pair counts: none to look at."]
    relation = "=" if i.scatter.exact else "<="
    lines = [
        f"Independent votes: {dep.effective_votes:.1f} of {dep.annotators}.",
        f"Flat directions of pair counts: {i.flat_directions} of {i.parameters} ({i.unavoidable} in any crowd).",
        f"Scatter of the rows: gamma {relation} {i.scatter.gamma:.3f}, {i.scatter.needed:.3f} suffices.",
        _theorem_3(d),
    ]
    best = min(i.anchors, key=lambda a: a.epsilon, default=None)
    if best is not None:
        lines.append(
            f"Theorem 1: anchors come nearest for {best.annotator} (epsilon {best.epsilon:.2f}, worst class "
            f"{best.worst_class}); the error bound is {best.error_bound:.3g}"
            + (", which says nothing (above 1.41)." if best.error_bound > 2**0.5 else ".")
        )
    if i.left_out:
        lines.append(f"Left out: {i.left_out}.")
    return lines


def _theorem_3(d: Diagnosis) -> str:
    g = d.overlap.groups
    if not g.first:
        return f"Theorem 3: no two annotators share as many items as there are classes ({len(d.classes)})."
    apart = len(g.unattached)
    rest = "everybody else shares items with them" if not apart else f"{apart} of the others share none with either"
    return (
        f"Theorem 3: two groups of {len(g.first)} and {len(g.second)} annotators all share {g.fewest_shared:g} items "
        f"or more; {rest}."
    )
