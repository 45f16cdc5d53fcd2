"""One transfer: an address and a partial file in, the partial file longer out; bounded in bytes and in seconds."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from ssl import SSLError
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

_CHUNK = 1 << 16
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
_PARTIAL, _BEYOND_THE_END = 206, 416


class TransferError(Exception):
    """A transfer failed; `passing` says whether another try may help."""

    def __init__(self, message: str, *, passing: bool = False) -> None:
        super().__init__(message)
        self.passing = passing


@dataclass(frozen=True)
class Limits:
    """What a transfer may take."""

    size: int | None  # exact bytes of the whole file, where known
    most: int  # bytes after which the transfer is refused
    silence: float  # seconds without a byte
    until: float  # time.monotonic() after which it is given up


def download(url: str, part: Path, limits: Limits, progress: Callable[[int, int], None] | None = None) -> None:
    """Append to `part` what is missing of the file at `url`; what arrived before a failure is kept for the next try."""
    if urlsplit(url).scheme not in ("http", "https"):
        msg = f"{url} is not an http or https address"
        raise TransferError(msg)
    have = part.stat().st_size if part.exists() else 0
    if limits.size is not None and have >= limits.size:
        return  # whole already; the checksum tells
    try:
        with _opened(url, have, limits) as answer:
            start = have if _continues(answer, have) else 0
            _receive(url, answer, part, start, limits, progress)
    except HTTPError as error:
        error.close()
        if error.code == _BEYOND_THE_END:
            part.unlink(missing_ok=True)  # not a beginning of this file
        msg = f"{url} answered {error.code} {error.reason}"
        raise TransferError(msg, passing=error.code in _PASSING or error.code == _BEYOND_THE_END) from error
    except (URLError, HTTPException, TimeoutError, ConnectionError, SSLError) as error:
        reason = getattr(error, "reason", None) or error
        silent = isinstance(error, TimeoutError) or isinstance(reason, TimeoutError)
        what = f"was silent for {limits.silence:g} seconds" if silent else f"failed ({reason})"
        msg = f"{url} {what}"
        raise TransferError(msg, passing=True) from error
    finally:
        if part.exists() and not part.stat().st_size:
            part.unlink()


def _opened(url: str, have: int, limits: Limits) -> Any:
    headers = {"User-Agent": "covote", "Accept-Encoding": "identity", **({"Range": f"bytes={have}-"} if have else {})}
    request = Request(url, headers=headers)  # noqa: S310 - the scheme was checked
    return urlopen(request, timeout=limits.silence)  # noqa: S310


def _continues(answer: Any, have: int) -> bool:
    """Whether the server sends the rest that was asked for, and not the whole file again."""
    return (
        bool(have)
        and answer.status == _PARTIAL
        and str(answer.headers.get("Content-Range")).startswith(f"bytes {have}-")
    )


def _receive(
    url: str, answer: Any, part: Path, start: int, limits: Limits, progress: Callable[[int, int], None] | None
) -> None:
    promised = answer.headers.get("Content-Length")
    total = limits.size or (start + int(promised) if promised and promised.isdigit() else 0)
    done = start
    with part.open("ab" if start else "wb") as out:
        while block := answer.read1(_CHUNK):  # read1: what has arrived, so that little is lost when it stops
            done += len(block)
            if done > limits.most:
                break
            out.write(block)
            if progress is not None:
                progress(done, total)
            if time.monotonic() > limits.until:
                msg = f"{url} is too slow: {done} bytes arrived before the time was up"
                raise TransferError(msg)
    if done > limits.most:
        part.unlink()
        msg = f"{url} sends more than the {limits.most} bytes expected"
        raise TransferError(msg)
    if done < total:
        msg = f"{url} stopped after {done} of {total} bytes"
        raise TransferError(msg, passing=True)
