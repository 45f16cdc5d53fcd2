"""Crowds drawn from known models: a model of the answers in; answers, truth and the best possible labels out.

An item has a state. A state belongs to a class, and every annotator answers by its own row of probabilities given the
state: a hard item or one that looks like another class is one more state. Copiers take the answer of one other
annotator with some probability. So the posterior of the truth is known exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from covote.annotations import Annotations, Vocabulary


@dataclass(frozen=True)
class Drawn:
    """One crowd: answers as (items, annotators), -1 where there is none, and the posterior of who knows the model."""

    answers: np.ndarray
    truth: np.ndarray
    oracle: np.ndarray  # (items, classes)
    groups: dict | None = None  # annotator -> group, where they are told to the default

    @property
    def annotations(self):
        item, who = np.nonzero(self.answers >= 0)
        names = [Vocabulary(np.arange(n)) for n in (*self.answers.shape, self.oracle.shape[1])]
        labels = self.answers[item, who]
        return Annotations.from_codes(item, who, labels, items=names[0], annotators=names[1], classes=names[2])


@dataclass(frozen=True)
class World:
    """How answers come about: probabilities of labels (annotators, labels, states), and states with their classes."""

    table: np.ndarray
    prior: np.ndarray  # (states,)
    home: np.ndarray  # (states,): the class of a state
    copiers: np.ndarray | None = None  # annotators who copy annotator 0
    copying: float = 0.0  # with this probability

    def draw(self, items, answers, rng):
        """`answers` annotators, drawn at random, answer each item."""
        people = len(self.table)
        state = rng.choice(len(self.prior), items, p=self.prior)
        label = np.stack([_pick(table[:, state].T, rng) for table in self.table], axis=1)  # (items, annotators)
        asked = rng.random((items, people)).argsort(axis=1).argsort(axis=1) < answers
        if self.copiers is not None:  # they copy where annotator 0 answers
            copied = (rng.random((items, len(self.copiers))) < self.copying) & asked[:, :1]
            label[:, self.copiers] = np.where(copied, label[:, :1], label[:, self.copiers])
        return Drawn(np.where(asked, label, -1), self.home[state], self.posterior(np.where(asked, label, -1)))

    def posterior(self, answers):
        """Probabilities of the classes of all items, (items, classes), for one who knows the world."""
        log = np.tile(np.log(self.prior), (len(answers), 1))
        for m, table in enumerate(self.table):
            known = np.flatnonzero(answers[:, m] >= 0)
            given = table[answers[known, m]]  # (answers, states)
            if self.copiers is not None and m in self.copiers:
                source = answers[known, 0]
                copied = self.copying * (source >= 0)[:, None]
                given = copied * (source == answers[known, m])[:, None] + (1 - copied) * given
            log[known] += np.log(np.maximum(given, 1e-300))
        p = np.exp(log - log.max(axis=1, keepdims=True))
        classes = np.zeros((len(p), self.home.max() + 1))
        for state, k in enumerate(self.home):
            classes[:, k] += p[:, state]
        return classes / classes.sum(axis=1, keepdims=True)


def _pick(rows, rng):
    """One label from every row of probabilities."""
    return np.minimum((rng.random(len(rows))[:, None] > np.cumsum(rows, axis=1)).sum(axis=1), rows.shape[1] - 1)


def matrices(right, classes, rng):
    """Matrices (annotators, labels, classes) of annotators who are right with these probabilities; each errs its way."""
    wrong = rng.dirichlet(np.ones(classes), size=(len(right), classes)).transpose(0, 2, 1)
    wrong[:, np.arange(classes), np.arange(classes)] = 1e-12
    return right[:, None, None] * np.eye(classes) + (1 - right)[:, None, None] * wrong / wrong.sum(
        axis=1, keepdims=True
    )


def plain(table, prior):
    """The Dawid-Skene model itself: states are classes."""
    return World(table, prior, np.arange(len(prior)))
