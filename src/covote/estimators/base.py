"""Aggregator, the base of every estimator: a table of answers in, labels and a picture of every annotator out."""

from __future__ import annotations

import abc
import warnings
from collections.abc import Hashable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from covote.annotations import Annotations, Loaded, Truth, Vocabulary, load, load_truth
from covote.engines.base import Engine
from covote.engines.memory import MemoryEngine
from covote.errors import ConvergenceWarning, CrowdWarning, InputError, NotFittedError
from covote.labels import choose_labels
from covote.model import Fit, Model, Progress, Status

Floats = NDArray[np.float64]


@dataclass(kw_only=True, eq=False)
class Aggregator(abc.ABC):
    """Base of the estimators, in scikit-learn's manners: the constructor stores options, `fit` learns.

    `table` is whatever `covote.annotations.load` takes (a path, a frame, a matrix, triples) and keyword arguments of
    `fit` are its options (`item=`, `annotator=`, `label=`, `columns=`, `duplicates=` ...). A frame in gives the same
    kind of frame out; triples or an array give a plain mapping.
    """

    threads: int | None = None
    """Threads of the in-memory engine; all cores when None. The answer does not depend on it."""

    method_name: str = field(default="", init=False, repr=False)
    """The name under which `METHODS` made it."""

    @abc.abstractmethod
    def _run(self, engine: Engine, progress: Progress | None) -> Fit:
        """The method itself: an engine in, a fit out."""

    def fit(self, table: Any, *, gold: Any = None, progress: Progress | None = None, **reading: Any) -> Self:
        """Learn from the answers; `gold` gives the true labels of some items, which the fit takes as certain."""
        loaded, gold_codes = _read(table, gold, reading)
        engine = MemoryEngine(loaded.annotations, gold=gold_codes, threads=self.threads)
        self.loaded_, self.engine_ = loaded, engine
        for name in ("posterior_", "codes_"):
            self.__dict__.pop(name, None)
        self.fit_ = self._run(engine, progress)
        if self.fit_.status is Status.LIMIT:
            warnings.warn(f"{type(self).__name__}: {self.fit_.status.value}", ConvergenceWarning, stacklevel=2)
        return self

    def fit_predict(self, table: Any, **options: Any) -> Any:
        """Fit, then the chosen label of every item."""
        return self.fit(table, **options).labels_

    def fit_predict_proba(self, table: Any, **options: Any) -> Any:
        """Fit, then the probability of every class for every item."""
        return self.fit(table, **options).probas_

    def predict(self, table: Any, **reading: Any) -> Any:
        """Labels for new items by what was learnt; annotators the fit does not know are named and ignored."""
        loaded, posterior = self._score_new(table, reading)
        return _label_table(loaded, choose_labels(posterior, self._votes))

    def predict_proba(self, table: Any, **reading: Any) -> Any:
        """Probability of every class for new items."""
        loaded, posterior = self._score_new(table, reading)
        return _probability_table(loaded, self._vocabulary, posterior)

    @property
    def labels_(self) -> Any:
        """The chosen label of every item, in the order of the input."""
        return _label_table(self._fitted.loaded_, self.codes_)

    @property
    def probas_(self) -> Any:
        """Probability of every class for every item; rows sum to 1, ties are shown as ties."""
        return _probability_table(self._fitted.loaded_, self._vocabulary, self.posterior_)

    @property
    def confidence_(self) -> Floats:
        """Probability of the chosen label of every item, shape (items,)."""
        return np.asarray(self.posterior_[np.arange(len(self.codes_)), self.codes_])

    @property
    def model_(self) -> Model:
        """The fitted Dawid-Skene model."""
        model = self._fitted.fit_.model
        if model is None:
            msg = f"{type(self).__name__} learns no model of the annotators. Use one of the Dawid-Skene methods."
            raise NotFittedError(msg)
        return model

    @property
    def priors_(self) -> dict[Hashable, float]:
        """Probability of every class."""
        return dict(zip(self.model_.classes, self.model_.prior.tolist(), strict=True))

    @property
    def errors_(self) -> dict[Hashable, Floats]:
        """Confusion matrix of every annotator: rows are labels, columns are classes, columns sum to 1."""
        return dict(zip(self.model_.annotators, self.model_.confusion, strict=True))

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002 - scikit-learn's signature
        """The options, by name."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.init}

    def set_params(self, **options: Any) -> Self:
        """Change options; unknown names are an error."""
        known = self.get_params()
        for name, value in options.items():
            if name not in known:
                msg = f"{type(self).__name__} has no option '{name}'. Options are: {', '.join(known)}."
                raise InputError(msg)
            setattr(self, name, value)
        return self

    @property
    def _fitted(self) -> Self:
        if not hasattr(self, "fit_"):
            msg = f"This {type(self).__name__} is not fitted yet. Call fit(table) first."
            raise NotFittedError(msg)
        return self

    @cached_property
    def posterior_(self) -> Floats:
        """Probability of every class for every item, shape (items, classes)."""
        fit = self._fitted.fit_
        posterior = fit.posterior if fit.posterior is not None else self.engine_.posterior(fit.scores)
        gold = self.engine_.gold
        if gold is not None:
            posterior = posterior.copy()
            posterior[gold >= 0] = np.eye(posterior.shape[1])[gold[gold >= 0]]
        return posterior

    @cached_property
    def codes_(self) -> NDArray[np.int64]:
        """Code of the chosen label of every item, shape (items,)."""
        return choose_labels(self.posterior_, self._votes)

    @property
    def _votes(self) -> Floats:
        return np.asarray(self._fitted.engine_.label_counts().sum(axis=0))

    @property
    def _vocabulary(self) -> Vocabulary:
        return self._fitted.loaded_.annotations.classes

    def _score_new(self, table: Any, reading: dict[str, Any]) -> tuple[Loaded, Floats]:
        known = self._fitted.loaded_.annotations
        loaded, _ = _read(table, None, reading)
        matched = match_annotations(loaded.annotations, tuple(known.annotators), tuple(known.classes))
        engine = MemoryEngine(matched, threads=self.threads)
        return replace(loaded, annotations=matched), engine.posterior(self.fit_.scores)


def _read(table: Any, gold: Any, reading: dict[str, Any]) -> tuple[Loaded, NDArray[np.int64] | None]:
    truth = gold if gold is None or isinstance(gold, Truth) else load_truth(gold)
    if truth is not None and "classes" not in reading and not isinstance(table, (Annotations, Loaded)):
        loaded = load(table, **reading)
        unseen = [c for c in truth.labels if c not in set(loaded.annotations.classes)]
        if unseen:
            loaded = load(table, **reading, classes=_sorted_classes([*loaded.annotations.classes, *unseen]))
    elif isinstance(table, Annotations):
        loaded = Loaded(table, "mapping", ("item", "annotator", "label"))
    else:
        loaded = table if isinstance(table, Loaded) else load(table, **reading)
    return loaded, None if truth is None else truth.codes(loaded.annotations)


def _sorted_classes(classes: list[Any]) -> list[Any]:
    unique = list(dict.fromkeys(classes))
    try:
        return sorted(unique)
    except TypeError:
        return unique


def match_annotations(new: Annotations, annotators: tuple[Hashable, ...], classes: tuple[Hashable, ...]) -> Annotations:
    """The same answers in the codes of a fitted model; unknown annotators and labels are dropped with a warning."""
    who, what = Vocabulary(list(annotators)).encode(new.annotators), Vocabulary(list(classes)).encode(new.classes)
    _warn_unknown("annotators", [a for a, code in zip(new.annotators, who, strict=True) if code < 0])
    _warn_unknown("labels", [c for c, code in zip(new.classes, what, strict=True) if code < 0])
    annotator, label = who[new.annotator], what[new.label]
    keep = (annotator >= 0) & (label >= 0)
    return Annotations.from_codes(
        new.item[keep],
        annotator[keep],
        label[keep],
        items=new.items,
        annotators=Vocabulary(list(annotators)),
        classes=Vocabulary(list(classes)),
    )


def _warn_unknown(what: str, names: list[Any]) -> None:
    if names:
        shown = ", ".join(map(str, names[:5])) + (", ..." if len(names) > 5 else "")
        msg = f"The model does not know {len(names)} {what} ({shown}); their answers are ignored."
        warnings.warn(msg, CrowdWarning, stacklevel=5)


def _label_table(loaded: Loaded, codes: NDArray[np.int64]) -> Any:
    return loaded.item_table({loaded.names[2]: loaded.label_column(codes)})


def _probability_table(loaded: Loaded, classes: Vocabulary, posterior: Floats) -> Any:
    if loaded.kind == "mapping":
        return loaded.item_table({"probability": [dict(zip(classes, row, strict=True)) for row in posterior.tolist()]})
    return loaded.item_table(dict(zip(column_names(classes, loaded.names[0]), posterior.T, strict=True)))


def column_names(classes: Vocabulary, *taken: str) -> list[str]:
    """One column name a class: the label as text, made distinct from each other and from those taken."""
    names = [str(c) for c in classes]
    if len(set(names)) < len(names) or set(names) & set(taken):
        names = [f"probability of {c!r}" for c in classes]
    return names
