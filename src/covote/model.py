"""Model: a class prior and one confusion matrix per annotator; Fit: a model with how it was reached."""

from __future__ import annotations

import enum
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from covote.errors import InputError

Floats = NDArray[np.float64]
Progress = Callable[[int, int, float], None]
"""Called as `progress(iteration, limit, objective)` after each iteration."""

Link = Literal["log", "linear", "pool"]

FLOOR = 1e-6
"""The paper's threshold Delta: entries of a confusion matrix below it are raised to it before use."""


@dataclass(frozen=True, eq=False)
class Pool:
    """What joins a model with votes: log-probabilities of both, each with a weight, are added up item by item."""

    hard: Floats  # (annotators, labels): log-probability of an answer to an item whose answers tell no class
    hard_share: float  # share of such items
    votes: Floats  # (annotators,): votes that an answer counts
    model_weight: float
    vote_weight: float
    floor: float  # mass spread over all classes before logs are taken


@dataclass(frozen=True, eq=False)
class Scores:
    """What an engine needs to label: each answer adds a row of `table`, each item starts from `bias`.

    With link "log" the sums are log-probabilities (posterior = softmax); with link "linear" they are votes
    (posterior = shares of the positive part); with link "pool" log-probabilities are joined with votes by `pool`.
    """

    table: Floats  # (annotators, labels, classes)
    bias: Floats  # (classes,)
    link: Link = "log"
    pool: Pool | None = None

    def weighted(self, weight: Floats | None) -> Scores:
        """An answer of annotator m counts as weight[m] independent answers; `None` leaves all as they are."""
        return self if weight is None else replace(self, table=self.table * weight[:, None, None])


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What an engine labels with where labels are no sums over answers: a row of probabilities for every item.

    `first` (items,), sorted, says to which item a row belongs, by the row of the table where the item came first;
    without it rows are in the order of the engine's items.
    """

    posterior: Floats  # (items, classes)
    first: NDArray[np.int64] | None = None

    def rows(self, first: NDArray[np.int64] | None) -> Floats:
        """The probabilities of the items that came first in these rows; of all of them for None."""
        if self.first is None or first is None:
            return self.posterior
        place = np.minimum(np.searchsorted(self.first, first), len(self.first) - 1)
        if np.any(self.first[place] != first):
            msg = "The table gave other rows when it was read again. Store it, or persist it, and fit again."
            raise InputError(msg)
        return self.posterior[place]


@dataclass(frozen=True, eq=False)
class Model:
    """The Dawid-Skene model: `confusion[m, label, class]` = Pr(label given class), `prior[class]` = Pr(class).

    >>> m = Model(np.array([0.5, 0.5]), np.eye(2)[None], ("no", "yes"), ("ann",))
    >>> m.n_classes, m.accuracy.tolist()
    (2, [1.0])
    """

    prior: Floats  # (classes,)
    confusion: Floats  # (annotators, labels, classes)
    classes: tuple[Hashable, ...]
    annotators: tuple[Hashable, ...]
    labelling: Scores | None = None  # what the fit labels with, where that is not `scores()`

    def __post_init__(self) -> None:
        K, M = len(self.classes), len(self.annotators)
        if self.prior.shape != (K,) or self.confusion.shape != (M, K, K):
            msg = (
                f"A model of {M} annotators and {K} classes needs a prior of shape ({K},) and confusions of shape "
                f"({M}, {K}, {K}), got {self.prior.shape} and {self.confusion.shape}."
            )
            raise InputError(msg)
        for name, sums in (("prior", self.prior.sum()), ("confusion", self.confusion.sum(axis=1))):
            values = getattr(self, name)
            if not np.all(np.isfinite(values)) or np.any(values < 0) or not np.allclose(sums, 1, atol=1e-8):
                msg = f"The {name} of a model must be probabilities that sum to 1. Normalise it first."
                raise InputError(msg)

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    @property
    def n_annotators(self) -> int:
        return len(self.annotators)

    @property
    def accuracy(self) -> Floats:
        """Pr(label = class) for every annotator under the model's prior, shape (annotators,)."""
        return np.asarray(np.einsum("mkk,k->m", self.confusion, self.prior))

    @property
    def informativeness(self) -> Floats:
        """Bits that one answer tells about the class (mutual information), shape (annotators,)."""
        joint = self.confusion * self.prior  # (annotators, labels, classes)
        marginal = joint.sum(axis=2, keepdims=True) * self.prior
        with np.errstate(divide="ignore", invalid="ignore"):
            bits: Floats = np.where(joint > 0, joint * np.log2(joint / marginal), 0.0)
        return np.asarray(np.maximum(bits.sum(axis=(1, 2)), 0.0))

    def permuted(self, order: NDArray[np.intp]) -> Model:
        """The same model with class columns reordered: new class k is old class `order[k]` (labels stay)."""
        return replace(self, prior=self.prior[order], confusion=self.confusion[:, :, order], labelling=None)

    def floored(self, floor: float = FLOOR) -> Model:
        """Entries below `floor` raised to it, then normalised (the paper's thresholding)."""
        prior, confusion = normalised(np.maximum(self.prior, floor)), columns(self.confusion, floor)
        return replace(self, prior=prior, confusion=confusion, labelling=None)

    def labels_with(self) -> Scores:
        """The scores that the fit labelled with: its own, or the log-probabilities of the model."""
        return self.floored().scores() if self.labelling is None else self.labelling

    def scores(self, *, uniform: bool = False) -> Scores:
        """Log-probabilities for labelling: MAP with the model's prior, or ML (`uniform=True`) without it."""
        with np.errstate(divide="ignore"):
            bias = np.zeros(self.n_classes) - np.log(self.n_classes) if uniform else np.log(self.prior)
            return Scores(np.log(self.confusion), bias)


def normalised(mass: Floats) -> Floats:
    """Scale to sum 1; uniform where there is no mass."""
    total = mass.sum()
    return mass / total if total > 0 else np.full(len(mass), 1 / max(len(mass), 1))


def pick(number: Floats, cumulative: Floats) -> NDArray[np.int64]:
    """Where numbers (n,) in [0, 1) fall among cumulative probabilities (n, K) or (K,).

    >>> pick(np.array([0.1, 0.95]), np.array([0.5, 0.9, 1.0])).tolist()
    [0, 2]
    """
    return np.asarray(np.minimum((number[:, None] >= cumulative).sum(axis=1), cumulative.shape[-1] - 1), np.int64)


def columns(mass: Floats, floor: float = 0.0) -> Floats:
    """Scale the columns of (..., labels, classes) to sum 1, entries below `floor` raised to it; empty ones uniform."""
    total = mass.sum(axis=-2, keepdims=True)
    safe = np.where(total > 0, mass / np.where(total > 0, total, 1), 1 / mass.shape[-2])
    if floor > 0:
        safe = np.maximum(safe, floor)
        safe = safe / safe.sum(axis=-2, keepdims=True)
    return safe


class Status(enum.Enum):
    """How a fit ended; the value is the sentence to show."""

    DIRECT = "Computed directly, without iteration."
    CONVERGED = "Converged: the last change was below the tolerance."
    LIMIT = "Stopped at the iteration limit before the tolerance was reached; raise max_iter or tol."
    PLANNED = "Ran its planned rounds; further ones would fit noise."
    FALLBACK = "The method could not identify the model from these answers and fell back to a simpler start."


@dataclass(frozen=True, eq=False)
class Fit:
    """A model (or, for methods without one, only scores) with its status and the history of its objective."""

    scores: Scores
    model: Model | None = None
    status: Status = Status.DIRECT
    history: tuple[float, ...] = ()
    notes: tuple[str, ...] = ()  # sentences the user should read
    details: Mapping[str, Any] = field(default_factory=dict)  # method-specific values, e.g. who was identified
    posterior: Floats | None = None  # (items, classes), only where labels are not sums of scores over answers

    @property
    def n_iter(self) -> int:
        return max(len(self.history) - 1, 0)
