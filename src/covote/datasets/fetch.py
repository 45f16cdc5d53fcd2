"""The downloader: a data set's name in, its files in a data folder out, checked byte for byte or not there at all."""

from __future__ import annotations

import hashlib
import time
import zipfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from covote.datasets.download import Limits, TransferError, download
from covote.datasets.folders import download_folder
from covote.datasets.known import KNOWN, KnownSet, Origin, RemoteFile
from covote.errors import FileError, InputError

Progress = Callable[[str, int, int], None]
"""Called as `progress(file, bytes so far, bytes in all)`; the last is 0 where it is not known."""

ARCHIVE_LIMIT = 20_000_000
"""Most bytes of a zip archive; the files wanted from it are a fraction of this."""


@dataclass(frozen=True)
class Patience:
    """How long to try."""

    silence: float = 30.0  # seconds without a byte
    total: float = 900.0  # seconds for a file
    retries: int = 3
    pause: float = 1.0  # seconds before the first retry; it doubles with each


def fetch_dataset(
    name: str, folder: Path | None = None, *, progress: Progress | None = None, patience: Patience | None = None
) -> Path:
    """Download one of the paper's data sets from its public origin and return its folder.

    Files that are there and right are left alone. A download that was cut off goes on where it stopped; a file whose
    bytes are not the expected ones is an error and is removed.
    """
    if name not in KNOWN:
        msg = f"Data set '{name}' has no public origin that covote knows. Data sets to fetch are: {', '.join(KNOWN)}."
        raise InputError(msg)
    target = download_folder() if folder is None else Path(folder)
    return fetch_known(KNOWN[name], target, progress=progress, patience=patience)


def fetch_known(
    known: KnownSet, folder: Path, *, progress: Progress | None = None, patience: Patience | None = None
) -> Path:
    """Download the files of a set into a data folder; return the set's own folder."""
    for file in known.files:
        try:
            fetch_file(file, folder, progress=progress, patience=patience or Patience())
        except OSError as error:
            msg = f"Cannot write to {folder}: {error.strerror or error}. Choose a folder that can be written."
            raise FileError(msg) from error
    return folder / known.folder


def fetch_file(file: RemoteFile, folder: Path, *, progress: Progress | None, patience: Patience) -> Path:
    """Download one file, trying its origins in turn, unless it is there already."""
    target = folder / file.path
    if target.is_file() and _is_right(target, file):
        return target
    made = [place for place in target.parents if not place.exists()]
    target.parent.mkdir(parents=True, exist_ok=True)
    failures = []
    try:
        for origin in file.origins:
            try:
                return _from_origin(file, origin, target, progress, patience)
            except TransferError as error:
                failures.append(str(error))
    finally:
        _remove_empty(made)
    msg = f"Could not download {file.path}: {'; '.join(failures)}. Try again later, or put the file at {target}."
    raise FileError(msg)


def _from_origin(file: RemoteFile, origin: Origin, target: Path, progress: Progress | None, patience: Patience) -> Path:
    part = target.with_name(f".{target.name}.zip.part" if origin.member else f".{target.name}.part")
    resumed = part.exists()
    limits = Limits(
        size=None if origin.member else file.size,
        most=ARCHIVE_LIMIT if origin.member else file.size,
        silence=patience.silence,
        until=time.monotonic() + patience.total,
    )
    _patiently(origin.url, part, limits, patience, _named(progress, file))
    whole = _unpacked(part, origin.member, file) if origin.member else part
    if _is_right(whole, file):
        whole.replace(target)
        return target
    whole.unlink(missing_ok=True)
    if resumed:  # the first half may have been of another version: once more from the beginning
        return _from_origin(file, origin, target, progress, patience)
    msg = f"{origin.url} did not send the expected bytes (sha256 {file.sha256[:12]}...), which were removed"
    raise TransferError(msg)


def _patiently(
    url: str, part: Path, limits: Limits, patience: Patience, progress: Callable[[int, int], None] | None
) -> None:
    """Download with retries, each going on where the last one stopped."""
    for attempt in range(patience.retries + 1):
        try:
            download(url, part, limits, progress)
        except TransferError as error:
            if not error.passing or attempt == patience.retries or time.monotonic() > limits.until:
                raise
            time.sleep(patience.pause * 2**attempt)
        else:
            return


def _unpacked(archive: Path, member: str, file: RemoteFile) -> Path:
    """The member of a zip archive beside it, no more than one byte larger than expected; the archive is removed."""
    out = archive.with_name(f".{Path(member).name}.part")
    try:
        with zipfile.ZipFile(archive) as packed, packed.open(member) as source:
            out.write_bytes(source.read(file.size + 1))
    except (zipfile.BadZipFile, KeyError, EOFError, RuntimeError, NotImplementedError, ValueError) as error:
        out.unlink(missing_ok=True)
        msg = f"the archive with {member} cannot be unpacked ({error})"
        raise TransferError(msg) from error
    finally:
        archive.unlink(missing_ok=True)
    return out


def _is_right(path: Path, file: RemoteFile) -> bool:
    if not path.is_file() or path.stat().st_size != file.size:
        return False
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest() == file.sha256


def _remove_empty(made: list[Path]) -> None:
    """Remove the folders made for a download that left nothing, innermost first."""
    with suppress(OSError):  # the first that holds something ends it
        for place in made:
            place.rmdir()


def _named(progress: Progress | None, file: RemoteFile) -> Callable[[int, int], None] | None:
    if progress is None:
        return None
    return lambda done, total: progress(file.path, done, total)
