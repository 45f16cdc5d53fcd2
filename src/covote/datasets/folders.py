"""Where data sets are: a name in, the folder that holds its files out."""

from __future__ import annotations

import os
import sys
from difflib import get_close_matches
from pathlib import Path

from covote.datasets.known import KNOWN
from covote.errors import FileError, InputError

CROWD_FILES = (("crowd.txt", "truth.txt"), ("labels.csv", "truth.csv"))
"""Pairs of file names that make any folder a data set: the answers and the truth."""


def cache_folder() -> Path:
    """The user's own folder for what covote downloads and computes, by the custom of the operating system."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = str(Path.home() / "Library" / "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "covote"


def data_folders() -> list[Path]:
    """Folders that are searched for data sets, in this order; not all need exist.

    COVOTE_DATA, then ../shared/data beside the working folder and beside a checkout of the project, then the cache.
    """
    given = os.environ.get("COVOTE_DATA")
    source = Path(__file__).parents[2]
    roots = [Path.cwd(), *([source.parent] if source.name == "src" else [])]
    beside = [root.parent / "shared" / "data" for root in roots]
    folders = [*([Path(given)] if given else []), *beside, cache_folder() / "data"]
    return list(dict.fromkeys(folders))


def download_folder() -> Path:
    """Where downloads go: COVOTE_DATA if set, else the user's cache."""
    given = os.environ.get("COVOTE_DATA")
    return Path(given) if given else cache_folder() / "data"


def dataset_path(name: str) -> Path:
    """The folder that holds the files of the data set, or an error that says where it was looked for."""
    for folder in data_folders():
        for place in _places(folder, name):
            if _complete(place, name):
                return place
    looked = ", ".join(str(f) for f in data_folders())
    if name in KNOWN:
        msg = f"Data set '{name}' is not in {looked}. Download it with: covote datasets fetch {name}"
        raise FileError(msg)
    names = dataset_names()
    likely = get_close_matches(name, names, 1)
    hint = f" Did you mean '{likely[0]}'?" if likely else ""
    msg = f"There is no data set '{name}' in {looked}.{hint} Data sets are: {', '.join(names)}."
    raise InputError(msg)


def dataset_names() -> list[str]:
    """The paper's data sets, then whatever else the data folders hold."""
    found: set[str] = set()
    for folder in data_folders():
        if folder.is_dir():
            nested = (place for sub in _subfolders(folder) for place in (sub, *_subfolders(sub)))
            found.update(place.name for place in nested if crowd_files(place) is not None)
    return [*KNOWN, *sorted(found - set(KNOWN))]


def crowd_files(place: Path) -> tuple[Path, Path] | None:
    """The files of answers and truth in a folder, or None."""
    for crowd, truth in CROWD_FILES:
        if (place / crowd).is_file() and (place / truth).is_file():
            return place / crowd, place / truth
    return None


def _places(folder: Path, name: str) -> list[Path]:
    if not folder.is_dir() or Path(name).name != name:
        return []
    first = [folder / KNOWN[name].folder] if name in KNOWN else []
    return [*first, folder / name, *(sub / name for sub in _subfolders(folder))]


def _complete(place: Path, name: str) -> bool:
    if name in KNOWN and KNOWN[name].kind == "uci":
        return all((place / Path(file.path).name).is_file() for file in KNOWN[name].files)
    return crowd_files(place) is not None


def _subfolders(folder: Path) -> list[Path]:
    try:
        return sorted(p for p in folder.iterdir() if p.is_dir() and not p.name.startswith("."))
    except OSError:  # not ours to read
        return []
