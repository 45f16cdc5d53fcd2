"""Results that survive: settings in, what was measured before under exactly these out; one JSON line each."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from covote import __version__
from covote.errors import FileError

_PACKAGE = Path(__file__).parent.parent
_IRRELEVANT = ("cli", "report", "diagnose", "plan")
_RELEVANT_HERE = ("crowds.py", "measure.py")
"""Of the experiments' own modules, only these decide what is measured."""


class ResultCache:
    """A file of JSON lines, {"key", "settings", "result"}; lines are added whole, damaged ones are passed over.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> ResultCache(folder).add({"method": "kos"}, {"error": 0.5})
    >>> ResultCache(folder).get({"method": "kos"}), ResultCache(folder).get({"method": "multispa"})
    ({'error': 0.5}, None)
    """

    def __init__(self, folder: Path, *, fresh: bool = False) -> None:
        self.path = folder / "results.jsonl"
        self._known, self._torn = _read(self.path)
        if fresh:  # what is measured now is added, and counts from then on
            self._known.clear()

    def get(self, settings: Mapping[str, Any]) -> dict[str, Any] | None:
        """What was measured under these settings by this very code, or None."""
        return self._known.get(settings_key(settings))

    def add(self, settings: Mapping[str, Any], result: dict[str, Any]) -> None:
        """Keep a result; it is on disk when this returns."""
        key = settings_key(settings)
        line = json.dumps({"key": key, "settings": dict(settings), "result": result}) + "\n"
        if self._torn:  # end the line that a killed run left unfinished
            line, self._torn = "\n" + line, False
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            _append(self.path, line.encode())
        except OSError as error:
            msg = f"Cannot write to {self.path}: {error.strerror or error}. Choose another folder with --cache."
            raise FileError(msg) from error
        self._known[key] = result


def settings_key(settings: Mapping[str, Any]) -> str:
    """A hash of the settings, the version and the source of what they run."""
    text = json.dumps([__version__, source_fingerprint(), settings], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


@lru_cache(maxsize=1)
def source_fingerprint() -> str:
    """A hash of every module that decides a result: a changed method is measured again."""
    digest = hashlib.sha256()
    for path in sorted(_PACKAGE.rglob("*.py")):
        parts = path.relative_to(_PACKAGE).parts
        if parts[0] in _IRRELEVANT or (parts[0] == "experiments" and parts[-1] not in _RELEVANT_HERE):
            continue
        digest.update("/".join(parts).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def _append(path: Path, line: bytes) -> None:
    # one write in append mode: lines of two runs do not mix, and a run that is killed loses at most its last line
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        os.write(handle, line)
        os.fsync(handle)
    finally:
        os.close(handle)


def _read(path: Path) -> tuple[dict[str, dict[str, Any]], bool]:
    """Results by key, and whether the last line is unfinished."""
    known: dict[str, dict[str, Any]] = {}
    text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    for line in text.splitlines():
        try:
            entry = json.loads(line)
            known[entry["key"]] = dict(entry["result"])
        except (ValueError, KeyError, TypeError):
            continue
    return known, bool(text) and not text.endswith("\n")
