"""From numbers to sentences: a diagnosis in, findings with severity, evidence and advice out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from covote.diagnosis.annotators import Kind
from covote.diagnosis.identifiability import STRANDED, Evidence, Move, Verdict
from covote.diagnosis.value import Diagnosis, Finding, Severity
from covote.model import Model

GOOD, NOTE, WARNING, CRITICAL = Severity.GOOD, Severity.NOTE, Severity.WARNING, Severity.CRITICAL

PULLED = 0.02
"""A fit that all answers together would move by more than this, and beyond its own range, sits in a flat valley."""


def findings(d: Diagnosis, model: Model) -> tuple[Finding, ...]:
    """All findings, worst first."""
    found = [*_overlap(d), *_identification(d, model), *_dependence(d), *_annotators(d), *_fit(d), *_labels(d)]
    order = (CRITICAL, WARNING, NOTE, GOOD)
    return tuple(sorted(found, key=lambda f: order.index(f.severity)))


def explanation(d: Diagnosis) -> str:
    """The verdict in one sentence."""
    i = d.identifiability
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
            f"{o.annotators} annotators answered; two can disagree, and nobody can say who is right.",
            "Let a third annotator answer the same items.",
        )
    elif o.bipartite:
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
    if model.prior.min() * max(d.overlap.items, 1) < 1:
        gone = model.classes[int(model.prior.argmin())]
        yield Finding(
            CRITICAL,
            f"Class {gone} has vanished",
            f"The fitted share of class {gone} is {model.prior.min():.1e}: less than one item of {d.overlap.items}.",
            "The fit has collapsed. Try another start or more smoothing; where annotators vote for one class or "
            "abstain, an abstention is information and should be a label.",
        )
    extra = i.flat_directions - i.unavoidable
    if extra > 0:
        yield Finding(
            WARNING,
            "More is left open than need be",
            f"{i.flat_directions} directions change no pair count, {extra} more than the {i.unavoidable} that every "
            f"crowd of {len(d.classes)} classes leaves to the signs.",
            "Some annotators answer alike whatever the class, or share too few items with too few others: get answers "
            "from annotators who tell the classes apart, on shared items.",
        )
    yield from _pairs_alone(d)
    if i.from_answers is not None:
        yield _verdict_finding(d, i.from_answers, "all answers")


def _pairs_alone(d: Diagnosis) -> Iterator[Finding]:
    i = d.identifiability
    if i.from_answers is None:
        yield _verdict_finding(d, i.from_pairs, "pair counts alone")
    elif i.from_pairs.verdict is not Verdict.IDENTIFIED:
        yield Finding(
            NOTE,
            f"Pair counts alone leave the model {i.from_pairs.verdict.value}",
            f"{_counted(i.flat_directions, 'flat direction', 'flat directions')}: the class shares can move by up to "
            f"{i.from_pairs.prior_width:.2f} and "
            f"{100 * i.from_pairs.shift:.0f} % of an annotator's answers without any pair count changing. Most free: "
            f"{_moves(i.from_pairs.largest_moves[:3])}.",
            "MultiSPA and MultiSPA-KL see pair counts only, so their optimum is not unique here; finish with EM "
            "(multispa-ds), which sees all answers to an item together.",
        )
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


def _dependence(d: Diagnosis) -> Iterator[Finding]:
    dep = d.dependence
    for group in dep.groups:
        size = len(group.annotators)
        yield Finding(
            WARNING,
            f"{size} annotators answer like one another",
            f"{_names(group.annotators)}: their errors go together with correlation {group.correlation:.2f}, so they "
            f"are worth {group.effective_votes:.1f} independent votes.",
            "Count them as one source: keep the best, or replace them by annotators who work apart."
            + ("" if dep.given_truth else " A few true labels tell whether they copy each other or are simply right."),
        )
    if dep.alarms and dep.unexplained:
        yield Finding(
            NOTE,
            "Some pairs agree more than the model explains",
            f"{dep.unexplained} of {dep.tested} pairs tested, outside any group.",
            "Often a sign that some items are harder than others, which makes confidences too high.",
        )
    if dep.tested and not dep.alarms:
        yield Finding(
            GOOD,
            "No sign of copying",
            f"None of {dep.tested} pairs agrees more than independent annotators would.",
            "Nothing to do.",
        )


def _annotators(d: Diagnosis) -> Iterator[Finding]:
    told = [
        (
            Kind.CONTRARY,
            WARNING,
            "worse than random",
            "Ask them what they understood; their answers are read backwards.",
        ),
        (Kind.RANDOM, WARNING, "no better than random", "Stop assigning items to them."),
    ]
    answers = max(d.overlap.answers, 1e-300)
    against = sum(r.answers for r in d.annotators if r.skill.value < 0) / answers
    if against > 0.5:
        yield Finding(
            CRITICAL,
            "The names of the classes are in doubt",
            f"{100 * against:.0f} % of the answers come from annotators whose label and class mostly differ. Which "
            f"class is called what rests on the few who seem to know.",
            "Give the true labels of a few items of each class (gold=...): that fixes the names.",
        )
    for kind, severity, words, advice in told:
        rows = [r for r in d.annotators if r.kind is kind]
        if rows:
            share = 100 * sum(r.answers for r in rows) / answers
            names = _names(tuple(r.annotator for r in sorted(rows, key=lambda r: -r.answers)))
            yield Finding(
                severity if share >= 1 else NOTE,
                f"{_counted(len(rows), 'annotator is', 'annotators are')} {words}",
                f"{names}: {share:.1f} % of the answers.",
                advice,
            )
    stuck = [r for r in d.annotators if r.one_label is not None]
    if stuck:
        yield Finding(
            NOTE,
            f"{_counted(len(stuck), 'annotator always gives', 'annotators always give')} the same label",
            ", ".join(f"{r.annotator}: {r.one_label} ({r.answers} times)" for r in stuck[:5])
            + ("..." if stuck[5:] else ""),
            "Their answers tell nothing about the class; check whether they saw the other choices.",
        )
    thin = [r for r in d.annotators if r.kind is Kind.THIN]
    if len(thin) > len(d.annotators) / 4:
        yield Finding(
            NOTE,
            "Many annotators gave few answers",
            f"{len(thin)} of {len(d.annotators)} gave fewer than ten.",
            "Little is known of them; give more items to fewer annotators.",
        )


def _fit(d: Diagnosis) -> Iterator[Finding]:
    if d.model_fit is None:
        return
    for rival in ("one-coin", "majority vote"):
        other = d.model_fit.of(rival)
        if other.behind < 2 * other.behind_error:
            yield Finding(
                NOTE,
                f"A confusion matrix each does no better than {rival}",
                f"On {d.model_fit.answers} held-out answers it gains {other.behind:+.4f} nats an answer (error "
                f"{other.behind_error:.4f}).",
                "There are few answers per annotator: shrink more, or use the simpler model.",
            )
            return
    coin = d.model_fit.of("one-coin")
    yield Finding(
        GOOD,
        "A confusion matrix for each annotator pays",
        f"On {d.model_fit.answers} held-out answers it beats one accuracy each by {coin.behind:.3f} nats an answer and "
        f"majority vote by {d.model_fit.of('majority vote').behind:.3f}.",
        "Nothing to do.",
    )


def _labels(d: Diagnosis) -> Iterator[Finding]:
    if d.labels is None:
        return
    q = d.labels
    ends = "" if q.low is None else f" (between {100 * q.low:.1f} and {100 * (q.high or 0):.1f} %)"
    text = f"If the model is right, {100 * q.expected_error:.1f} % of the labels are wrong{ends}."
    if q.true_error is None:
        yield Finding(NOTE, "Expected error", text, "Check a few labels by hand, the least certain first.")
        return
    text += f" Against the truth of {q.items_with_truth} items it is {100 * q.true_error:.1f} %."
    if q.renamed_error is not None and q.renamed_error < q.true_error - 0.05:
        yield Finding(
            CRITICAL,
            "The classes are found but misnamed",
            f"{text} With the classes renamed it would be {100 * q.renamed_error:.1f} %.",
            "Pass the true labels of a few items to the fit (gold=...).",
        )
        return
    spread = 2 * np.sqrt(max(q.true_error * (1 - q.true_error), 1e-4) / q.items_with_truth)
    fair = q.true_error <= max(q.expected_error, q.high or 0.0) + spread
    advice = (
        "Nothing to do." if fair else "The model is too sure of itself: items differ in difficulty, or votes depend."
    )
    yield Finding(GOOD if fair else WARNING, "Error of the labels", text, advice)


def _counted(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _names(names: tuple[Any, ...], most: int = 8) -> str:
    return ", ".join(map(str, names[:most])) + (f" and {len(names) - most} more" if len(names) > most else "")
