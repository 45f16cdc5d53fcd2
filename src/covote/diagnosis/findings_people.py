"""Findings about people and labels: a diagnosis in, sentences on copying, spammers, fit and expected error out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from covote.diagnosis.annotators import Kind
from covote.diagnosis.value import Diagnosis, Finding, Severity

GOOD, NOTE, WARNING, CRITICAL = Severity.GOOD, Severity.NOTE, Severity.WARNING, Severity.CRITICAL


def dependence_findings(d: Diagnosis) -> Iterator[Finding]:
    """Who depends on whom."""
    dep = d.dependence
    for group in dep.groups:
        size = len(group.annotators)
        yield Finding(
            WARNING,
            f"{size} annotators answer like one another",
            f"{names_of(group.annotators)}: their errors go together with correlation {group.correlation:.2f}, so they "
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
    if not dep.tested and len(d.classes) > 1 and d.overlap.pairs and dep.annotators > 2:
        yield Finding(
            NOTE,
            "Copying cannot be looked for",
            f"No pair shares ten items with ten answers a class each, which takes {10 * len(d.classes)} answers of an "
            f"annotator.",
            "Get more answers per annotator.",
        )
    if dep.tested and not dep.alarms and len(d.classes) > 1:
        yield Finding(
            GOOD,
            "No sign of copying",
            "The one pair tested agrees no more than independent annotators would."
            if dep.tested == 1
            else f"None of {dep.tested} pairs tested agrees more than independent annotators would.",
            "Nothing to do.",
        )


def annotator_findings(d: Diagnosis) -> Iterator[Finding]:
    """Who answers at random, backwards, or always the same."""
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
            names = names_of(tuple(r.annotator for r in sorted(rows, key=lambda r: -r.answers)))
            yield Finding(
                severity if share >= 1 else NOTE,
                f"{counted(len(rows), 'annotator is', 'annotators are')} {words}",
                f"{names}: {share:.1f} % of the answers.",
                advice,
            )
    stuck = [r for r in d.annotators if r.one_label is not None]
    if stuck:
        yield Finding(
            NOTE,
            f"{counted(len(stuck), 'annotator always gives', 'annotators always give')} the same label",
            ", ".join(f"{r.annotator}: {r.one_label} ({r.answers} times)" for r in stuck[:5])
            + ("..." if stuck[5:] else ""),
            "Their answers tell nothing about the class; check whether they saw the other choices.",
        )
    thin = [r for r in d.annotators if r.kind is Kind.THIN]
    alone = [r for r in d.annotators if r.kind is Kind.ALONE]
    if alone and len(d.classes) > 1 and d.overlap.pairs:
        names = names_of(tuple(r.annotator for r in alone))
        yield Finding(
            NOTE,
            f"{counted(len(alone), 'annotator was', 'annotators were')} compared with nobody",
            f"{names}: fewer than ten answers to items that somebody else answered, so nothing is known of them.",
            "Let others answer some of their items: `covote plan` proposes which.",
        )
    if len(thin) > len(d.annotators) / 4:
        yield Finding(
            NOTE,
            "Many annotators gave few answers",
            f"{len(thin)} of {len(d.annotators)} gave fewer than ten.",
            "Little is known of them; give more items to fewer annotators.",
        )


def fit_findings(d: Diagnosis) -> Iterator[Finding]:
    """Whether the model pays."""
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


def label_findings(d: Diagnosis) -> Iterator[Finding]:
    """What the labels are worth."""
    if d.labels is None or len(d.classes) < 2:
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


def counted(number: int, one: str, many: str) -> str:
    """The number with the right form of the noun.

    >>> counted(1, "vote", "votes"), counted(2, "vote", "votes")
    ('1 vote', '2 votes')
    """
    return f"{number} {one if number == 1 else many}"


def names_of(names: tuple[Any, ...], most: int = 8) -> str:
    """Some names, and how many more there are."""
    return ", ".join(map(str, names[:most])) + (f" and {len(names) - most} more" if len(names) > most else "")
