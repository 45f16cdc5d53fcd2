"""A zstd file -> whether it is whole, told from its frame headers, since DuckDB takes a cut file for a shorter one."""

from __future__ import annotations

import os
from typing import BinaryIO

_FRAME = 0xFD2FB528
_SKIPPABLE = 0x184D2A50


def is_whole(path: str) -> bool:
    """Whether every frame of the file has its last block; nothing is unpacked.

    The layout is that of RFC 8878, section 3.1.
    """
    size = os.path.getsize(path)
    with open(path, "rb") as stream:
        while stream.tell() < size:
            magic = _number(stream, 4)
            if magic & ~0xF == _SKIPPABLE:
                _skip(stream, _number(stream, 4))
            elif magic != _FRAME or not _skip_frame(stream, size):
                return False
        return stream.tell() == size


def _skip_frame(stream: BinaryIO, size: int) -> bool:
    descriptor = _number(stream, 1)
    single = bool(descriptor & 0x20)
    content = (int(single), 2, 4, 8)[descriptor >> 6]
    _skip(stream, (0 if single else 1) + (0, 1, 2, 4)[descriptor & 3] + content)
    last = 0
    while not last:
        if stream.tell() + 3 > size:
            return False
        block = _number(stream, 3)
        last, kind = block & 1, block >> 1 & 3
        _skip(stream, 1 if kind == 1 else block >> 3)  # kind 1 repeats one byte
    _skip(stream, 4 if descriptor & 4 else 0)  # checksum
    return stream.tell() <= size


def _number(stream: BinaryIO, width: int) -> int:
    return int.from_bytes(stream.read(width), "little")


def _skip(stream: BinaryIO, count: int) -> None:
    stream.seek(count, os.SEEK_CUR)
