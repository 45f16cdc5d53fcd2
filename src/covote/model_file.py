"""Models on disk: one `.npz` without pickles, with a format version inside."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable, Hashable, Mapping
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from covote.errors import CovoteError, FileError, InputError
from covote.model import Link, Model, Pool, Scores

FORMAT = 2


def save_model(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a `Model`; the file appears whole or not at all."""
    if not isinstance(model, Model):
        msg = f"save_model takes a model, got {type(model).__name__}. Pass fit.model_."
        raise InputError(msg)
    arrays = {"prior": model.prior, "confusion": model.confusion, **_labelling_arrays(model.labelling)}
    write_npz(path, "model", arrays, _names(model))


def load_model(path: str | os.PathLike[str]) -> Model:
    """Read a model; a damaged, foreign or newer file is a clear error."""
    arrays, names = read_npz(path, "model", ("prior", "confusion"), _LABELLING)
    try:
        classes, annotators = names["classes"], names["annotators"]
        labelling = _labelling(arrays)
        return Model(arrays["prior"], arrays["confusion"], tuple(classes), tuple(annotators), labelling)
    except (CovoteError, KeyError, TypeError, ValueError) as error:
        msg = f"The file {path} is damaged: its model does not fit together. Save the model again."
        raise FileError(msg) from error


_LABELLING = ("table", "bias", "link", "hard", "votes", "pool")


def _labelling_arrays(scores: Scores | None) -> dict[str, Any]:
    if scores is None:
        return {}
    found = {"table": scores.table, "bias": scores.bias, "link": np.array(scores.link)}
    if (pool := scores.pool) is not None:
        numbers = np.array([pool.hard_share, pool.model_weight, pool.vote_weight, pool.floor])
        found |= {"hard": pool.hard, "votes": pool.votes, "pool": numbers}
    return found


def _labelling(arrays: Mapping[str, Any]) -> Scores | None:
    """What `_labelling_arrays` wrote, checked for its shapes; None for files without it."""
    if "table" not in arrays:
        return None
    confusion, table, bias, link = (arrays[name] for name in ("confusion", "table", "bias", "link"))
    if table.shape != confusion.shape or bias.shape != arrays["prior"].shape or str(link) not in _LINKS:
        msg = "The scores do not fit the model."
        raise ValueError(msg)
    pool = None
    if str(link) == "pool":
        share, model_weight, vote_weight, floor = arrays["pool"].tolist()
        if arrays["hard"].shape != table.shape[:2] or arrays["votes"].shape != table.shape[:1]:
            msg = "The pool does not fit the model."
            raise ValueError(msg)
        pool = Pool(arrays["hard"], share, arrays["votes"], model_weight, vote_weight, floor)
    return Scores(table, bias, _LINKS[str(link)], pool)


_LINKS: dict[str, Link] = {"log": "log", "linear": "linear", "pool": "pool"}


def _names(model: Model) -> dict[str, Any]:
    return {"classes": list(model.classes), "annotators": list(model.annotators)}


def write_npz(
    path: str | os.PathLike[str], kind: str, arrays: Mapping[str, Any], values: Mapping[str, list[Any]]
) -> None:
    """Write arrays and lists of labels or ids to one file, under a temporary name that is moved into place."""
    target = Path(path)
    header = {"format": FORMAT, "kind": kind, **{name: [encode_value(v) for v in vs] for name, vs in values.items()}}
    temporary = target.with_name(target.name + ".tmp")
    try:
        with temporary.open("wb") as file:
            np.savez_compressed(file, header=np.array(json.dumps(header)), **arrays)
        temporary.replace(target)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        msg = f"Cannot write {target}: {error.strerror or error}. Choose a folder that exists and can be written."
        raise FileError(msg) from error


def read_npz(
    path: str | os.PathLike[str], kind: str, arrays: tuple[str, ...], optional: tuple[str, ...] = ()
) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """Read what `write_npz` wrote: the arrays named, those of `optional` that are there, and the lists."""
    try:
        with open(path, "rb") as raw, np.load(raw, allow_pickle=False) as file:
            header = json.loads(str(file["header"]))
            if header["format"] > FORMAT:
                msg = f"The file {path} has format {header['format']}, newer than {FORMAT}. Install a newer covote."
                raise FileError(msg)
            if header["kind"] != kind:
                msg = f"The file {path} holds a {header['kind']}, not a {kind}. Pass the right file."
                raise FileError(msg)
            found = {name: np.asarray(file[name]) for name in (*arrays, *(n for n in optional if n in file))}
        lists = {k: [decode_value(v) for v in vs] for k, vs in header.items() if k not in ("format", "kind")}
    except FileError:
        raise
    except FileNotFoundError:
        msg = f"The file {path} does not exist. Check the path."
        raise FileError(msg) from None
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile, AttributeError) as error:
        msg = f"The file {path} cannot be read as a covote {kind}: it is damaged or of another kind."
        raise FileError(msg) from error
    return found, lists


def encode_value(value: Hashable) -> Any:
    """A label or id as JSON that keeps its type."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, tuple):
        return {"tuple": [encode_value(v) for v in value]}
    for kind, name in ((datetime, "datetime"), (date, "date")):
        if isinstance(value, kind):
            return {name: value.isoformat()}
    if isinstance(value, Decimal):
        return {"decimal": str(value)}
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    msg = f"Labels and ids of type {type(value).__name__} cannot be saved. Use text or numbers."
    raise FileError(msg)


def decode_value(value: Any) -> Any:
    """The inverse of `encode_value`."""
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    if kind == "tuple":
        return tuple(decode_value(v) for v in content)
    read: dict[str, Callable[[str], Any]] = {
        "datetime": datetime.fromisoformat,
        "date": date.fromisoformat,
        "decimal": Decimal,
        "bytes": bytes.fromhex,
    }
    return read[kind](content)
