"""The memory of this machine, and sizes as people write them."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from covote.errors import InputError

_UNITS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def free_memory() -> int:
    """Bytes of memory that programs can still take, as far as the system tells."""
    try:
        facts = Path("/proc/meminfo").read_text(encoding="ascii")
        return int(re.search(r"MemAvailable:\s+(\d+)", facts)[1]) * 1024  # type: ignore[index]
    except (OSError, TypeError):
        pass
    if hasattr(os, "sysconf"):
        return int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    return _windows_memory()


def _windows_memory() -> int:
    import ctypes

    class Status(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ulong), ("load", ctypes.c_ulong)] + [
            (name, ctypes.c_ulonglong) for name in ("total", "free", "pages", "free_pages", "space", "left", "more")
        ]

    status = Status(length=ctypes.sizeof(Status))
    if sys.platform == "win32":
        ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status))
    return int(status.free)


def size_in_bytes(text: str) -> int:
    """Bytes of a size as people write it.

    >>> size_in_bytes("4GB"), size_in_bytes("512 MiB")
    (4000000000, 536870912)
    """
    found = re.fullmatch(r"\s*([\d.]+)\s*([kmgt]?)(i?)b?\s*", text.lower())
    try:
        number = float(found[1]) if found else 0.0
    except ValueError:
        number = 0.0
    if found is None or number <= 0:
        msg = f"Option --memory-limit needs a size such as 4GB, got '{text}'."
        raise InputError(msg)
    return int(number * (1024 if found[3] else 1000) ** _UNITS[found[2]])
