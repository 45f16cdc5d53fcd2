"""Any table of answers, a class and some true labels in, a Rate out."""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covote.annotations import Annotations, Loaded, load_truth
from covote.errors import ColumnError, CovoteError, InputError
from covote.estimators.bootstrapped import intervals_of
from covote.estimators.registry import aggregate
from covote.estimators.tables import read_table
from covote.rates import Items, Rate, Settings, measure_rate
from covote.rates.estimate import UNKNOWN, item_variance

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FEWEST_ITEMS = 30
"""Items below which no model of the judges is believed without gold."""

MOST_REFITS, FEWEST_REFITS, MANY = 100, 20, 200_000
"""Refits behind the share by the model alone; fewer for tables of more than so many answers."""


def rate(
    table: Any,
    *,
    positive: Hashable,
    gold: Any = None,
    by: Any = None,
    pair: Any = None,
    method: str = "auto",
    width: float | None = None,
    sampled: bool = False,
    level: float = 0.9,
    seed: int = 0,
    **reading: Any,
) -> Rate:
    """The share of items of the class `positive`, with an interval, corrected by gold labels where there are some.

    `gold` holds the true labels of some items, chosen at random (a file, a frame, a mapping). Judges are fitted
    without it, then prediction-powered inference corrects them: the interval is right however bad they are. `by` names
    the column of systems (or maps items to systems) and `pair` that of inputs, for paired differences. `width` asks how
    many more gold labels an interval that wide takes. `sampled` takes the items for a sample of more: the
    interval is then for the population. Other arguments: `covote.load`.

    >>> votes = [(i, judge, "pass" if (i + (judge == i % 7)) % 3 else "fail") for i in range(120) for judge in range(3)]
    >>> found = rate(votes, positive="pass", gold={i: "pass" if i % 3 else "fail" for i in range(0, 120, 4)})
    >>> found.low < 2 / 3 < found.high
    True
    """
    loaded, codes = read_table(table, gold, reading)
    a = loaded.annotations
    code = _code(positive, list(a.classes))
    truth = np.full(a.n_items, UNKNOWN) if codes is None else np.where(codes == -1, UNKNOWN, codes == code)
    probability = np.asarray(aggregate(loaded, method).posterior_[:, code], dtype=np.float64)
    pairs = None if pair is None else _group(pair, table, loaded)[0]
    items = Items(probability, truth.astype(np.int64), pairs, *_model(loaded, code, seed))
    systems = {} if by is None else _systems(by, table, loaded)
    return measure_rate(
        items,
        systems,
        positive=list(a.classes)[code],
        method=method,
        settings=Settings(level=level, sampled=sampled),
        width=width,
    )


def _model(loaded: Loaded, code: int, seed: int) -> tuple[Floats | None, float]:
    """Probabilities by a Dawid-Skene model, and the variance of their mean over refits on redrawn items.

    Infinite where no model can be learnt: fewer than three annotators, one class, few items.
    """
    a = loaded.annotations
    if a.n_annotators < 3 or a.n_classes < 2 or a.n_items < FEWEST_ITEMS:
        return None, float("inf")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit = aggregate(loaded, "multispa-ds")
            refits = MOST_REFITS if a.n_labels <= MANY else FEWEST_REFITS
            shares = intervals_of(fit, replicates=refits, seed=seed).class_shares
    except CovoteError:
        return None, float("inf")
    probability = np.asarray(fit.posterior_[:, code], dtype=np.float64)
    spread = float(shares.high[code] - shares.low[code]) / (2 * Settings().z)
    return probability, max(spread**2 - item_variance(probability), 0.0)


def _code(positive: Hashable, classes: list[Any]) -> int:
    if positive in classes:
        return classes.index(positive)
    spelled = [str(c) for c in classes]
    if str(positive) not in spelled:
        msg = f"No answer is '{positive}'. Labels are: {', '.join(spelled[:10])}. Pass one of them as positive=."
        raise InputError(msg)
    return spelled.index(str(positive))


def _systems(by: Any, table: Any, loaded: Loaded) -> dict[Hashable, Ints]:
    group, names = _group(by, table, loaded)
    return {name: np.flatnonzero(group == g) for g, name in enumerate(names)}


def _group(source: Any, table: Any, loaded: Loaded) -> tuple[Ints, list[Hashable]]:
    """A code for every item and the values behind the codes: from a column of the table, or from a mapping."""
    column = isinstance(source, str)
    if column and isinstance(table, (Annotations, Loaded, np.ndarray, list, tuple)):
        msg = f"A table without named columns has no column '{source}'. Pass a mapping from items to its values."
        raise InputError(msg)
    try:
        found = load_truth(table, item=loaded.names[0], label=source) if column else load_truth(source)
    except ColumnError as error:
        msg = f"There is no column '{source}' in this table. Pass the name of one of its columns, or a mapping."
        raise InputError(msg) from error
    except InputError as error:
        where = f"Column '{source}'" if column else "The mapping"
        msg = f"{where} gives some item several values, or holds none at all. Give every item one."
        raise InputError(msg) from error
    value = dict(zip(found.items, found.labels, strict=True))
    items = loaded.annotations.items.to_list()
    lacking = next((i for i in items if i not in value), None)
    if lacking is not None:
        msg = f"Item {lacking!r} has no value in {source if column else 'the mapping'}. Give every item one."
        raise InputError(msg)
    values = [value[i] for i in items]
    place = {name: g for g, name in enumerate(dict.fromkeys(values))}  # in the order of the items
    return np.array([place[v] for v in values], np.int64), list(place)
