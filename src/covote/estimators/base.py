"""Aggregator, the base of every estimator: a table of answers in, labels and a picture of every annotator out."""

from __future__ import annotations

import abc
import os
import warnings
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from importlib import import_module  # the report sits above this module and is loaded when asked for
from typing import Any, ClassVar, Literal, Self, cast

import numpy as np
from numpy.typing import NDArray

from covote.annotations import Loaded
from covote.annotations.history import History, read_history
from covote.annotations.native import to_list
from covote.counts import PairCounts
from covote.engines.base import Engine
from covote.engines.history import WithHistory
from covote.engines.memory import MemoryEngine
from covote.errors import ConvergenceWarning, InputError, NotFittedError
from covote.estimators.checks import check_options
from covote.estimators.tables import label_table, match_annotations, open_engine, probability_table, read_table
from covote.labels import choose_labels
from covote.model import Beliefs, Fit, Model, Progress, Scores, Status

Floats = NDArray[np.float64]


@dataclass(kw_only=True, eq=False)
class Aggregator(abc.ABC):
    """Base of the estimators, in scikit-learn's manners: the constructor stores options, `fit` learns.

    `table` is whatever `covote.annotations.load` takes (a path, a frame, a matrix, triples) and keyword arguments of
    `fit` are its options (`item=`, `annotator=`, `label=`, `columns=`, `duplicates=` ...). A frame in gives the same
    kind of frame out; triples or an array give a plain mapping.
    """

    engine: Literal["auto", "memory", "disk"] = "auto"
    """Where the answers are held: in memory, or encoded on disk and read part after part. "auto": Spark and Dask frames
    stay where they are; files that would not fit go to disk; everything else is read into memory. The answer is the
    same."""
    memory_limit: str | None = None
    """Memory to use when the answers are on disk, such as "4GB"; half of what is free when None."""
    threads: int | None = None
    """Threads of the in-memory engine; all cores when None. The answer does not depend on it."""
    intervals: bool = False
    """Bootstrap intervals of everything learnt, as `intervals_` (for methods with a model)."""

    takes_history: ClassVar[bool] = False
    """Whether `fit(history=...)` enters the method as counts."""

    method_name: str = field(default="", init=False, repr=False)
    """The name under which `METHODS` made it."""

    @abc.abstractmethod
    def _run(self, engine: Engine, progress: Progress | None) -> Fit:
        """The method itself: an engine in, a fit out."""

    def fit(
        self, table: Any, *, gold: Any = None, history: Any = None, progress: Progress | None = None, **reading: Any
    ) -> Self:
        """Learn from the answers; `gold` gives the true labels of some items, which the fit takes as certain.

        `history` tells of answers given before, to items of known class: rows of annotator, class, label, count
        (`covote.annotations.history`). They count as much as answers to gold items, and leave the class prior alone.
        """
        check_options(self)
        past = None if history is None else self._read_history(history)
        engine = open_engine(
            table,
            gold,
            reading,
            place=self.engine,
            threads=self.threads,
            memory_limit=self.memory_limit,
            classes=() if past is None else past.classes,
        )
        return self._learn(engine, progress, run=self._with_past(past))

    def fit_engine(self, engine: Engine, *, progress: Progress | None = None) -> Self:
        """Learn from answers that an engine holds already."""
        return self._learn(engine, progress)

    def _read_history(self, history: Any) -> History:
        if not self.takes_history:
            msg = f"{type(self).__name__} cannot use history. Use one of: mv-ds, multispa-ds, one-coin-ds, ibcc."
            raise InputError(msg)
        return read_history(history)

    def _with_past(self, past: History | None) -> Callable[[Any, Progress | None], Fit] | None:
        if past is None:
            return None
        return lambda engine, progress: self._run(cast(Engine, WithHistory.of(engine, past)), progress)

    def _learn(
        self,
        source: Any,  # an engine, or pair counts
        progress: Progress | None,
        run: Callable[[Any, Progress | None], Fit] | None = None,
    ) -> Self:
        check_options(self)
        self.engine_ = source
        for name in ("posterior_", "_chosen", "loaded_"):
            self.__dict__.pop(name, None)
        self.annotators_, self.classes_ = source.annotators, source.classes
        self.fit_ = (run or self._run)(source, progress)
        labels = source.label_counts
        self._votes = np.asarray((labels() if callable(labels) else labels).sum(axis=0))
        if self.fit_.status is Status.LIMIT:
            warnings.warn(f"{type(self).__name__}: {self.fit_.status.value}", ConvergenceWarning, stacklevel=3)
        if self.intervals:
            self.intervals_ = import_module("covote.estimators.bootstrapped").intervals_of(self)
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
        return label_table(loaded, choose_labels(posterior, self._votes))

    def predict_proba(self, table: Any, **reading: Any) -> Any:
        """Probability of every class for new items."""
        loaded, posterior = self._score_new(table, reading)
        return probability_table(loaded, posterior)

    @property
    def labels_(self) -> Any:
        """The chosen label of every item, in the order of the input."""
        return self._answers.label_table(self._labelling)

    def label_table(self, *, confidence: bool = False, probabilities: bool = False) -> Any:
        """The chosen label of every item beside, on request, its probability and that of every class."""
        return self._answers.label_table(self._labelling, confidence=confidence, probabilities=probabilities)

    @property
    def probas_(self) -> Any:
        """Probability of every class for every item; rows sum to 1, ties are shown as ties."""
        return self._answers.label_table(self._labelling, label=False, probabilities=True)

    @cached_property
    def loaded_(self) -> Loaded:
        """The encoded answers with the ids of their items, brought into memory where they are elsewhere."""
        return self._answers.in_memory().loaded

    @property
    def _answers(self) -> Engine:
        """The engine, or an error where the fit saw counts alone."""
        engine = self._fitted.engine_
        if isinstance(engine, PairCounts):
            msg = "This was fitted on counts, which know no items. Use model_ and predict, or label(table)."
            raise NotFittedError(msg)
        found: Engine = engine
        return found

    @property
    def _labelling(self) -> Scores | Beliefs:
        """What labels come from: scores, or probabilities by item where they are no sums over answers."""
        fit, engine = self._fitted.fit_, self._answers
        return fit.scores if fit.posterior is None else engine.beliefs(fit.posterior)

    @property
    def confidence_(self) -> Floats:
        """Probability of the chosen label of every item, shape (items,)."""
        return self._chosen[1]

    @property
    def model_(self) -> Model:
        """The fitted Dawid-Skene model, with what the fit labels with."""
        model = self._fitted.fit_.model
        if model is None:
            msg = f"{type(self).__name__} learns no model of the annotators. Use one of the Dawid-Skene methods."
            raise NotFittedError(msg)
        return replace(model, labelling=self.fit_.scores)

    @property
    def priors_(self) -> dict[Hashable, float]:
        """Probability of every class."""
        return dict(zip(self.model_.classes, self.model_.prior.tolist(), strict=True))

    @property
    def errors_(self) -> dict[Hashable, Floats]:
        """Confusion matrix of every annotator: rows are labels, columns are classes, columns sum to 1."""
        return dict(zip(self.model_.annotators, self.model_.confusion, strict=True))

    def report(self, path: str | os.PathLike[str], **options: Any) -> Any:
        """Write one HTML page that shows the result, and return it; options as in `covote.report.write_report`."""
        return import_module("covote.report").write_report(self._fitted, path, **options)

    def _repr_html_(self) -> str:
        """What a notebook shows: a compact report of a fit, else the options."""
        return str(import_module("covote.report.notebook").compact(self))

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
        return self._answers.posterior(self._labelling, certain=True)

    @property
    def codes_(self) -> NDArray[np.int64]:
        """Code of the chosen label of every item, shape (items,)."""
        return self._chosen[0]

    @cached_property
    def _chosen(self) -> tuple[NDArray[np.int64], Floats]:
        """Codes and probabilities of the chosen labels; the whole posterior is made only where it is needed."""
        return self._answers.labels(self._labelling)

    def _score_new(self, table: Any, reading: dict[str, Any]) -> tuple[Loaded, Floats]:
        self._fitted  # noqa: B018 - raises before fit
        loaded = read_table(table, None, reading)[0]
        matched = match_annotations(loaded.annotations, self.annotators_, self.classes_)
        engine = MemoryEngine(matched, threads=self.threads)
        named = replace(loaded, annotations=matched, labels=self._label_values(loaded))
        return named, engine.posterior(self.fit_.scores)

    def _label_values(self, loaded: Loaded) -> Any:
        """Labels in the user's own kind of column, from the new table or the fitted one, whichever has all classes."""
        fitted = self.engine_.loaded if isinstance(self.engine_, MemoryEngine) else loaded
        known = fitted if fitted.kind == loaded.kind else loaded
        if loaded.kind in ("file", "duckdb"):
            return None
        columns = (x.labels for x in (loaded, known) if x.labels is not None)
        return next((c for c in columns if set(self.classes_) <= set(to_list(c))), None)
