"""From numbers to sentences: a diagnosis in, findings with severity, evidence and advice out."""

from __future__ import annotations

from collections.abc import Iterator

from covote.diagnosis.findings_people import (
    annotator_findings,
    counted,
    dependence_findings,
    fit_findings,
    label_findings,
)
from covote.diagnosis.identifiability import STRANDED, Evidence, Move, Verdict, too_few_items
from covote.diagnosis.value import Diagnosis, Finding, Severity
from covote.model import Model

GOOD, NOTE, WARNING, CRITICAL = Severity.GOOD, Severity.NOTE, Severity.WARNING, Severity.CRITICAL

WORTH_SAYING = 0.7
"""A crowd worth less than this share of its votes is said so in the first line."""

PULLED = 0.02
"""A fit that all answers together would move by more than this, and beyond its own range, sits in a flat valley."""


def findings(d: Diagnosis, model: Model) -> tuple[Finding, ...]:
    """All findings, worst first."""
    crowd = [*_overlap(d), *_identification(d, model)]
    people = [*dependence_findings(d), *annotator_findings(d), *fit_findings(d), *label_findings(d)]
    order = (CRITICAL, WARNING, NOTE, GOOD)
    return tuple(sorted([*crowd, *people], key=lambda f: order.index(f.severity)))


def explanation(d: Diagnosis) -> str:
    """The verdict in a sentence or two."""
    dep = d.dependence
    told = _identified(d)
    if dep.effective_votes < WORTH_SAYING * dep.annotators:
        told += f" But they are worth {dep.effective_votes:.1f} independent votes of {dep.annotators}."
    return told


def _identified(d: Diagnosis) -> str:
    i = d.identifiability
    if i.broken:
        return f"No model can be trusted as it stands: {i.broken}."
    evidence = i.from_answers or i.from_pairs
    source = "the answers" if i.from_answers else "the pair counts"
    free = (
        f"leave the class shares free by up to {evidence.prior_width:.2f} and {100 * evidence.shift:.0f} % of an "
        f"annotator's answers"
    )
    if evidence.verdict is Verdict.IDENTIFIED:
        return f"The model is pinned down: {source} {free}."
    if evidence.verdict is Verdict.WEAK:
        return f"The model is pinned down loosely: {source} {free}; {_mixed(d)}."
    return f"Other models explain {source} as well: they {free}; {_mixed(d)}."


def _mixed(d: Diagnosis) -> str:
    worst = d.identifiability.mixing[:1]
    if not worst:
        return "no two classes stand out"
    return f"classes {worst[0].first} and {worst[0].second} are the hardest to tell apart"


def _overlap(d: Diagnosis) -> Iterator[Finding]:
    o = d.overlap
    if o.annotators < 3:
        yield Finding(
            CRITICAL,
            "Fewer than three annotators",
            "One annotator answered, and there is nobody to compare it with."
            if o.annotators == 1
            else "Two annotators can disagree, and nobody can say who is right.",
            "Let two more annotators answer the same items."
            if o.annotators == 1
            else "Let a third annotator answer the same items.",
        )
    elif o.pairs == 0:
        yield Finding(
            CRITICAL,
            "No two annotators share an item",
            f"{o.annotators} annotators answered {o.items} items, each item once.",
            "Give items to several annotators each; `covote plan` proposes which.",
        )
        return
    elif o.bipartite and len(o.components) == 1:
        yield Finding(
            CRITICAL,
            "Two camps that never meet within",
            "The annotators fall into two camps, and nobody shares an item with a member of its own camp.",
            "Give some items to two annotators of the same camp; `covote plan` proposes which.",
        )
    if len(o.components) > 1:
        apart = sum(c.answers for c in o.components[1:]) / max(o.answers, 1e-300)
        where = f" and {o.items_outside} items" if o.items_outside else ""
        yield Finding(
            CRITICAL if apart > STRANDED else NOTE,
            "The crowd falls into groups that share no item",
            f"{len(o.components)} groups; {len(o.outside)} annotators{where} ({100 * apart:.1f} % of the answers) lie "
            f"outside the largest.",
            "Give items of one group to annotators of the other: `covote plan` does this first.",
        )
    thin = [link for link in o.thin_links if link.shared < len(d.classes) and link.cuts_off > 1]
    if thin:
        yield Finding(
            WARNING,
            "Parts of the crowd hang on thin links",
            f"{thin[0].cuts_off} annotators are tied to the rest by {thin[0].shared:g} items shared by {thin[0].first} "
            f"and {thin[0].second}.",
            "Let annotators of both sides answer the same items.",
        )
    if o.items_with_one is not None and o.items_with_one > o.items / 5:
        yield Finding(
            NOTE,
            "Many items have one answer only",
            f"{o.items_with_one} of {o.items} items: they rest on one annotator's word and compare nobody.",
            "Give some of them to a second annotator.",
        )


def _identification(d: Diagnosis, model: Model) -> Iterator[Finding]:
    i = d.identifiability
    if len(d.classes) < 2:
        yield Finding(
            CRITICAL,
            "Only one label was ever given",
            f"{counted(round(d.overlap.answers), 'answer', 'answers')}, always {d.classes[0]}.",
            "If other classes can occur, name them (classes=...) and check how the answers were collected.",
        )
        return
    if model.prior.min() * max(d.overlap.items, 1) < 1 and not too_few_items(d.overlap, model):
        gone = model.classes[int(model.prior.argmin())]
        yield Finding(
            CRITICAL,
            f"Class {gone} has vanished",
            f"The fitted share of class {gone} is {model.prior.min():.1e}: less than one item of {d.overlap.items}.",
            "If its label was a slip or a misspelling, correct it. Else try another start or more smoothing; where "
            "annotators vote for one class or abstain, an abstention is information and should be a label.",
        )
    extra = i.flat_directions - i.unavoidable
    if extra > 0 and not i.broken:
        yield Finding(
            WARNING,
            "More is left open than need be",
            f"{i.flat_directions} directions change no pair count, {extra} more than the {i.unavoidable} that every "
            f"crowd of {len(d.classes)} classes leaves to the signs.",
            "Some annotators answer alike whatever the class, or share too few items with too few others: get answers "
            "from annotators who tell the classes apart, on shared items.",
        )
    yield from _pairs_alone(d)
    if i.from_answers is not None and d.overlap.annotators > 2:  # of fewer, enough has been said
        yield _verdict_finding(d, i.from_answers, "all answers")


def _pairs_alone(d: Diagnosis) -> Iterator[Finding]:
    i = d.identifiability
    if i.from_answers is None and d.overlap.pairs and d.overlap.annotators > 2:
        yield _verdict_finding(d, i.from_pairs, "pair counts alone")
    elif i.from_pairs.verdict is not Verdict.IDENTIFIED and not i.broken:
        yield Finding(
            NOTE,
            f"Pair counts alone leave the model {i.from_pairs.verdict.value}",
            f"{counted(i.flat_directions, 'flat direction', 'flat directions')}: the class shares can move by up to "
            f"{i.from_pairs.prior_width:.2f} and "
            f"{100 * i.from_pairs.shift:.0f} % of an annotator's answers without any pair count changing. Most free: "
            f"{_moves(i.from_pairs.largest_moves[:3])}.",
            "MultiSPA and MultiSPA-KL see pair counts only, so their optimum is not unique here; finish with EM "
            "(multispa-ds), which sees all answers to an item together.",
        )
    if i.broken:
        return
    if i.pull_prior is not None and i.from_answers and i.pull_prior > max(PULLED, 1.5 * i.from_answers.prior_width):
        yield Finding(
            WARNING,
            "This fit sits in a flat valley, and the answers pull it along",
            f"Along the directions that pair counts leave open, all answers together would move the class shares by "
            f"{i.pull_prior:.2f}; most: {_moves(i.pull[:3], sign=True)}.",
            "These parameters are probably wrong by about as much. Continue with EM: method multispa-ds, or "
            "init=this model.",
        )


def _verdict_finding(d: Diagnosis, evidence: Evidence, source: str) -> Finding:
    if evidence.verdict is Verdict.IDENTIFIED:
        return Finding(
            GOOD,
            f"Identified by {source}",
            f"Class shares are free by at most {evidence.prior_width:.3f}, and on average {100 * evidence.shift:.1f} % "
            f"of an annotator's answers.",
            "Nothing to do.",
        )
    if d.identifiability.broken:
        told = d.identifiability.broken
        return Finding(
            CRITICAL,
            f"Not identified by {source}",
            f"{told[0].upper()}{told[1:]}.",
            "See what `covote plan` proposes; true labels for some items of every part settle it, too (gold=...).",
        )
    severity = WARNING if evidence.verdict is Verdict.WEAK else CRITICAL
    return Finding(
        severity,
        f"{evidence.verdict.value.capitalize()} by {source}",
        f"Class shares are free by up to {evidence.prior_width:.2f} and on average {100 * evidence.shift:.0f} % of an "
        f"annotator's answers; {_mixed(d)}. Most free: {_moves(evidence.largest_moves[:3])}.",
        "Get more answers per item, from annotators who know these classes; true labels for some items settle it "
        "(gold=...).",
    )


def _moves(moves: tuple[Move, ...], *, sign: bool = False) -> str:
    texts = []
    for m in moves:
        size = f"{m.move:+.2f}" if sign else f"{abs(m.move):.2f}"
        what = f"share of class {m.klass}" if m.annotator is None else f"{m.annotator} saying {m.label} for {m.klass}"
        texts.append(f"{what} ({size})")
    return ", ".join(texts) if texts else "nothing"
