"""Minimax conditional entropy: answers in, beliefs of items and soft-count confusions out.

D. Zhou, Q. Liu, J. Platt, C. Meek, "Aggregating ordinal labels from crowds by minimax conditional entropy",
ICML 2014, and "Regularized minimax conditional entropy for crowdsourcing", 2015.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from covote.engines.base import Engine, InMemory
from covote.errors import InputError
from covote.methods.dawid_skene import SAFE
from covote.methods.loop import iterate
from covote.methods.majority_vote import majority_vote
from covote.methods.naming import name_order
from covote.model import Fit, Model, Progress, columns, normalised

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Kind = Literal["categorical", "ordinal"]

_FIRST_STEPS = 5
"""Steps of the multipliers towards the vote shares before the beliefs of items are first re-estimated."""


def minmax_entropy(
    engine: Engine,
    *,
    kind: Kind = "categorical",
    gamma: float = 0.25,
    max_iter: int = 1000,
    tol: float = 1e-8,
    accelerate: bool = True,
    progress: Progress | None = None,
) -> Fit:
    """Beliefs Q of items that minimise, and answer probabilities that maximise, the regularised conditional entropy.

    The dual has multipliers sigma for annotators and tau for items: Pr(m answers k on item n of class c) is the
    softmax over k of sigma[m, c, k] + tau[n, c, k], and the minimax problem becomes: maximise
    sum_n log sum_c prod_m Pr(answer of m | c) - alpha / 2 |tau|^2 - beta / 2 |sigma|^2. Each pass sets Q by Bayes'
    rule, then moves tau, then sigma up a quadratic bound, so the objective (the history, with its sign turned) falls
    monotonically; pairs of passes are extrapolated under the same guarantee.

    beta = gamma K^2 and alpha = beta * (answers per annotator / answers per item), the papers' scaling, with beta
    held below the answers per annotator and cell of its matrix: with many classes and few answers K^2 would drown
    the data. `ordinal` lets multipliers depend on (c, k) only through the side of each threshold on which they lie,
    so that near classes are confused more easily than far ones. Labels depend on the items' own multipliers:
    `posterior` holds them; the model, for new items, comes from soft counts.
    """
    engine = engine.in_memory()
    annotations = engine.annotations
    if not gamma > 0:
        msg = f"gamma is {gamma}, but the regularisation must be above 0. Pass a positive gamma, for example 0.25."
        raise InputError(msg)
    if len(engine.classes) < 2 or annotations.n_labels == 0:
        return majority_vote(engine)
    problem = _problem(engine, kind, gamma)
    run = iterate(
        problem.step,
        problem.start(),
        max_iter=max_iter,
        tol=tol,
        project=(lambda x, _: x) if accelerate else None,
        progress=progress,
    )
    belief = problem.belief(run.state)
    soft = problem.soft_counts(belief)
    order = np.arange(len(engine.classes)) if len(problem.known) else name_order(soft)  # gold items name the classes
    belief, soft = np.ascontiguousarray(belief[:, order]), soft[:, :, order]
    model = _model(engine, belief, soft, problem.weight)
    return Fit(model.scores(), model, run.status, tuple(-h for h in run.history), posterior=belief)


@dataclass(frozen=True, eq=False)
class _Problem:
    """The answers with the regularisation; states are sigma's and theta's parameters in one vector."""

    offsets: Ints
    answer: NDArray[np.integer]
    weight: Floats  # (items,) or empty
    known: Floats  # (items, K) or empty: beliefs that are certain, rows of -1 elsewhere
    basis: Floats  # (K, K, P): multipliers from parameters; empty for the categorical kind, where P = K * K
    reach: Floats  # (K, P): bound of the curvature by parameter, for each class
    alpha: float
    beta: float
    n_annotators: int
    n_classes: int

    @property
    def n_items(self) -> int:
        return len(self.offsets) - 1

    def step(self, state: Floats) -> tuple[Floats, float]:
        return self._pass(state, self.known, np.empty((self.n_items, self.n_classes)))

    def start(self) -> Floats:
        votes = self._votes()
        state = np.zeros((self.n_annotators + self.n_items) * self._size)
        for _ in range(_FIRST_STEPS):
            state, _ = self._pass(state, votes, np.empty_like(votes))
        return state

    def belief(self, state: Floats) -> Floats:
        belief = np.empty((self.n_items, self.n_classes))
        self._pass(state, self.known, belief)
        return belief

    def soft_counts(self, belief: Floats) -> Floats:
        """Belief summed over the answers given: (annotators, labels, classes)."""
        M, K = self.n_annotators, self.n_classes
        item = np.repeat(np.arange(self.n_items), np.diff(self.offsets))
        share = belief * self.weight[:, None] if len(self.weight) else belief
        counts = [np.bincount(self.answer, share[item, c], minlength=M * K) for c in range(K)]
        return np.stack(counts, axis=-1).reshape(M, K, K).astype(np.float64)

    @property
    def _size(self) -> int:
        return int(self.reach.shape[1])

    def _pass(self, state: Floats, known: Floats, belief: Floats) -> tuple[Floats, float]:  # belief  # OUT
        from covote.kernels import entropy

        M, K, P = self.n_annotators, self.n_classes, self._size
        own, theta = state[: M * P].reshape(M, P), state[M * P :].reshape(self.n_items, P).copy()
        sigma = np.einsum("ckp,mp->mck", self.basis, own) if len(self.basis) else own.reshape(M, K, K)
        slope = np.zeros((M, K, K + 1))
        value = entropy.entropy_pass(
            self.offsets,
            self.answer,
            self.weight,
            known,
            self.basis,
            np.ascontiguousarray(sigma),
            self.alpha,
            theta,
            belief,
            slope,
        )
        mass, slope = slope[:, :, K], slope[:, :, :K]
        gain = np.einsum("ckp,mck->mp", self.basis, slope) if len(self.basis) else slope.reshape(M, -1)
        new = own + (gain - self.beta * own) / (0.5 * mass @ self.reach + self.beta)
        return np.concatenate([new.ravel(), theta.ravel()]), float(value) - 0.5 * self.beta * float((own**2).sum())

    def _votes(self) -> Floats:
        K = self.n_classes
        item = np.repeat(np.arange(self.n_items), np.diff(self.offsets))
        votes = np.bincount(item * K + self.answer % K, minlength=self.n_items * K).reshape(-1, K) + 1e-9
        shares = votes / votes.sum(axis=1, keepdims=True)
        return np.where(self.known >= 0, self.known, shares) if len(self.known) else np.asarray(shares)


def _problem(engine: InMemory, kind: Kind, gamma: float) -> _Problem:
    a = engine.annotations
    K, M, N = a.n_classes, a.n_annotators, a.n_items
    weight = np.empty(0) if engine.weight is None else np.asarray(engine.weight, np.float64)
    known = np.empty((0, K))
    if engine.gold is not None:
        known = np.where(engine.gold[:, None] >= 0, np.eye(K)[engine.gold], -1.0)
    beta = min(gamma * K**2, a.n_labels / (M * K**2))  # no stronger than the answers in a cell of an average matrix
    alpha = beta * N / M  # answers per annotator / answers per item
    if kind == "ordinal":
        basis = ordinal_basis(K)
        inner = np.einsum("ckp,ckq->cpq", basis, basis)  # non-negative: row sums bound its curvature
        return _Problem(a.offsets, a.answer, weight, known, basis, inner.sum(axis=2), alpha, beta, M, K)
    reach = np.repeat(np.eye(K), K, axis=1)  # (K, K * K)
    return _Problem(a.offsets, a.answer, weight, known, np.empty((0, K, K * K)), reach, alpha, beta, M, K)


def ordinal_basis(n_classes: int) -> Floats:
    """Which of the four quarters of every threshold (class above or not, label above or not) holds (c, k).

    Shape (classes, labels, 4 (K - 1)).

    >>> ordinal_basis(2)[1, 0].tolist()
    [0.0, 0.0, 1.0, 0.0]
    """
    K = n_classes
    above = np.arange(K)[:, None] > np.arange(K - 1)  # (values, thresholds)
    quarter = 2 * above[:, None, :] + above[None, :, :]  # (classes, labels, thresholds)
    return np.asarray(np.eye(4)[quarter].reshape(K, K, -1))


def _model(engine: Engine, belief: Floats, soft: Floats, weight: Floats) -> Model:
    mass = (belief * weight[:, None]).sum(axis=0) if len(weight) else belief.sum(axis=0)
    confusion = columns(soft + SAFE.counts(soft.sum(axis=2)))
    return Model(normalised(mass), confusion, engine.classes, engine.annotators)
