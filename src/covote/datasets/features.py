"""The UCI tables: a folder of original files in, rows of features and their classes out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from covote.errors import FileError

_ADULT_NUMBERS = frozenset({0, 2, 4, 10, 11, 12})  # age, fnlwgt, education-num, capital-gain, -loss, hours a week


@dataclass(frozen=True, eq=False)
class FeatureTable:
    """Rows of features, numbers as floats and categories as text, and the class of each row."""

    rows: list[list[Any]]
    classes: list[str]


def read_features(name: str, folder: Path) -> FeatureTable:
    """Read the adult, mushroom or nursery table; a missing value ('?') is a category of its own."""
    read = {"adult": _adult, "mushroom": _mushroom, "nursery": _nursery}[name]
    try:
        return read(folder)
    except (OSError, UnicodeDecodeError, ValueError, IndexError) as error:
        msg = f"The files of data set '{name}' in {folder} cannot be read ({error}). Remove them and fetch them again."
        raise FileError(msg) from error


def _adult(folder: Path) -> FeatureTable:
    fields = [*_fields(folder / "adult.data", 15), *_fields(folder / "adult.test", 15)]
    rows = [[float(v) if j in _ADULT_NUMBERS else v for j, v in enumerate(f[:-1])] for f in fields]
    return FeatureTable(rows, [f[-1].rstrip(".") for f in fields])


def _mushroom(folder: Path) -> FeatureTable:
    fields = _fields(folder / "agaricus-lepiota.data", 23)
    return FeatureTable([f[1:] for f in fields], [f[0] for f in fields])


def _nursery(folder: Path) -> FeatureTable:
    # two rows of 12,960 are 'recommend': the paper has four classes
    fields = [f for f in _fields(folder / "nursery.data", 9) if f[-1] != "recommend"]
    return FeatureTable([f[:-1] for f in fields], [f[-1] for f in fields])


def _fields(path: Path, width: int) -> list[list[str]]:
    lines = path.read_text(encoding="ascii").splitlines()
    fields = [[v.strip() for v in line.split(",")] for line in lines if line.strip() and not line.startswith("|")]
    if not fields or any(len(f) != width for f in fields):
        msg = f"{path.name} must have {width} columns in every row"
        raise ValueError(msg)
    return fields
