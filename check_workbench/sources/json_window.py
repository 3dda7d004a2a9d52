"""A window that moves over a JSON text and decodes one value after the other."""

from __future__ import annotations

import codecs
import json
import re
from typing import IO, Any

from check_workbench.sources.json_text import DECODER, whole

CHUNK = 1 << 20
_GAP = re.compile(r"[ \t\r\n,\ufeff]*")
_BRACKET = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[{}\[\]]', re.DOTALL)
_AFTER_JUNK = re.compile(r"[,\]{\n]")
_TAIL = 32
"""An error this close to the window's end may only mean that the rest has not been read yet."""


class Window:
    """The part of a text that is in memory; what was decoded is dropped."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.line = 1
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._text = ""
        self._at = 0
        self._ended = False
        self._skip()
        self._array = self._text.startswith("[", self._at)
        self._move(self._at + self._array)

    def opens_value(self) -> bool:
        """Move to the next value and say whether there is one."""
        self._skip()
        return self._at < len(self._text) and not (self._array and self._text[self._at] == "]")

    def value(self) -> Any:
        """Decode the value that starts here and move behind it.

        Raises
        ------
        ValueError
            If it is broken; the window stays where it starts.
        """
        end = None
        while end is None:
            value, end = self._attempt()
        text = self._text[self._at : end]
        if not text.isascii():
            _refuse_foreign_bytes(text)
        self._move(end)
        return whole(value, text)

    def jump(self) -> bool:
        """Move behind the broken value that starts here, by its brackets, and say whether that was possible."""
        end = self._closing()
        while end is None and self._grow():
            end = self._closing()
        if end is None:
            return False
        self._move(end)
        return True

    def ending(self) -> str | None:
        """Say what is wrong with the end of the text, once no value is left."""
        if not self._array:
            return None
        if self._at >= len(self._text):
            return "the array is not closed: the file is cut short"
        self._move(self._at + 1)
        self._skip()
        return "the text behind the array was not read" if self._at < len(self._text) else None

    def _attempt(self) -> tuple[Any, int | None]:
        try:
            value, end = DECODER.raw_decode(self._text, self._at)
        except json.JSONDecodeError as error:
            where = error.pos - self._at + 1
            if self._may_be_unfinished(error) and self._grow():
                return None, None
            raise ValueError(f"{error.msg} at character {where} of the record") from None
        except RecursionError:
            raise ValueError("it is nested too deeply") from None
        return value, None if end == len(self._text) and self._grow() else end

    def _may_be_unfinished(self, error: json.JSONDecodeError) -> bool:
        return error.msg.startswith("Unterminated string") or error.pos >= len(self._text) - _TAIL

    def _closing(self) -> int | None:
        if self._text[self._at] not in "{[":
            found = _AFTER_JUNK.search(self._text, self._at + 1)
            return found.start() if found else None
        depth = 0
        for token in _BRACKET.finditer(self._text, self._at):
            bracket = token[0]
            depth += (bracket in "{[") - (bracket in "}]")
            if depth == 0:
                return token.end()
        return None

    def _skip(self) -> None:
        self._move(self._gap())
        while self._at == len(self._text) and self._grow():
            self._move(self._gap())

    def _gap(self) -> int:
        found = _GAP.match(self._text, self._at)
        return found.end() if found else self._at

    def _move(self, to: int) -> None:
        self.line += self._text.count("\n", self._at, to)
        self._at = to

    def _grow(self) -> bool:
        if self._ended:
            return False
        more = ""
        while not more and not self._ended:
            data = self._stream.read(max(CHUNK, len(self._text) - self._at))
            self._ended = not data
            more = self._decoder.decode(data, final=self._ended)
        if more:
            self._text, self._at = self._text[self._at :] + more, 0
        return bool(more)


def _refuse_foreign_bytes(text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("the text must be UTF-8") from None
