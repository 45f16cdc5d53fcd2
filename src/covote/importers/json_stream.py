"""A stream of JSON text -> its values one at a time, so that a file of any size fits in memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import IO, Any

CHUNK = 2**20
_SPACE = " \t\r\n"


class CutError(ValueError):
    """The text ends or breaks inside a value; the message says where."""


def elements(stream: IO[str]) -> Iterator[Any]:
    """The elements of one JSON array.

    >>> import io
    >>> list(elements(io.StringIO('[{"a": 1}, {"a": [2, 3]}]')))
    [{'a': 1}, {'a': [2, 3]}]
    """
    buffer = _Buffer(stream)
    buffer.expect("[")
    if buffer.skip() == "]":
        return
    while True:
        yield buffer.value()
        mark = buffer.skip()
        if mark == "]":
            return
        buffer.expect(",")


def documents(stream: IO[str]) -> Iterator[Any]:
    r"""The values of JSON lines; a value may also run over several lines.

    >>> import io
    >>> list(documents(io.StringIO('{"a": 1}\n\n{"a": 2}\n')))
    [{'a': 1}, {'a': 2}]
    """
    buffer = _Buffer(stream)
    while buffer.skip():
        yield buffer.value()


class _Buffer:
    """The text that is read but not yet used."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._text = ""
        self._place = 0
        self._before = 0  # characters dropped from the front
        self._done = 0
        self._decode = json.JSONDecoder().raw_decode

    def skip(self) -> str:
        """The next character that is no space, left where it is; empty at the end."""
        while True:
            while self._place < len(self._text) and self._text[self._place] in _SPACE:
                self._place += 1
            if self._place < len(self._text):
                return self._text[self._place]
            if not self._more():
                return ""

    def expect(self, mark: str) -> None:
        """Pass this character, or raise."""
        if self.skip() != mark:
            raise self._cut()
        self._place += 1

    def value(self) -> Any:
        """The next value; more text is read until it is whole."""
        self.skip()
        while True:
            try:
                value, end = self._decode(self._text, self._place)
            except json.JSONDecodeError as error:
                if self._broken(error) or not self._more():
                    raise self._cut() from None
                continue
            except RecursionError:
                raise self._cut() from None
            if end < len(self._text) or not self._more():  # a number may go on in the next chunk
                self._place = end
                self._done += 1
                return value

    def _broken(self, error: json.JSONDecodeError) -> bool:
        """Whether no text to come can mend the value: it breaks before the end of what was read."""
        return error.pos < len(self._text) - 16 and not error.msg.startswith("Unterminated string")

    def _more(self) -> bool:
        """Read on; as much again as is held, so that a long value is not tried too often."""
        chunk = self._stream.read(max(CHUNK, len(self._text) - self._place))
        if not chunk:
            return False
        self._before += self._place
        self._text = self._text[self._place :] + chunk
        self._place = 0
        return True

    def _cut(self) -> CutError:
        start = self._before + self._place + 1
        return CutError(f"record {self._done + 1}, which starts at character {start}, is not whole")
