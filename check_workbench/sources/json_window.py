"""A window that moves over a JSON text and decodes one value after the other."""

from __future__ import annotations

import codecs
import json
import re
from typing import IO, Any

from check_workbench.sources.json_text import DECODER, fault_of, may_hold_halves, mended

CHUNK = 1 << 20
_UTF8 = codecs.getincrementaldecoder("utf-8")
_GAP = re.compile(r"[ \t\r\n,\ufeff]*")
_BRACKET = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[{}\[\]]', re.DOTALL)
_AFTER_JUNK = re.compile(r"[,\]{\n]")
_TAIL = 32
"""An error this close to the window's end may only mean that the rest has not been read yet."""


class _Text:
    """Bytes in, text out; remembers what must be looked at more closely, and how many lines went by."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.lines = 0
        self.foreign = False
        """Whether there were bytes that are no UTF-8; they come out as lone surrogates."""
        self.halves = False
        """Whether an escape of a lone surrogate may have gone by."""
        self.ended = False
        self._stream = stream
        self._decoder = _UTF8("strict")
        self._before = b""

    def read(self, size: int) -> str:
        """Return some more text; an empty one means that there is none."""
        text = ""
        while not text and not self.ended:
            data = self._stream.read(size)
            self.ended = not data
            self.lines += data.count(b"\n")
            self.halves = self.halves or may_hold_halves(self._before + data)
            self._before = data[-2:]
            text = self._decoded(data)
        return text

    def _decoded(self, data: bytes) -> str:
        state = self._decoder.getstate()
        try:
            return self._decoder.decode(data, self.ended)
        except UnicodeDecodeError:
            self.foreign = True
            self._decoder = _UTF8("surrogateescape")
            self._decoder.setstate(state)
            return self._decoder.decode(data, self.ended)


class Window:
    """The part of a text that is in memory; what was decoded is dropped.

    Parameters
    ----------
    stream
        Decompressed bytes.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._source = _Text(stream)
        self._text = ""
        self._at = 0
        self._start = 0
        self._line = 1
        self._marked = 0
        self._skip()
        self._array = self._text.startswith("[", self._at)
        self._at += self._array

    def opens_value(self) -> bool:
        """Move to the next value and say whether there is one."""
        self._skip()
        self._start = self._at
        return self._at < len(self._text) and not (self._array and self._text[self._at] == "]")

    def peek(self) -> str:
        """Move to the next character that is no gap and return it; empty at the end."""
        self._skip()
        self._start = self._at
        return self._text[self._at : self._at + 1]

    def enter(self, bracket: str) -> bool:
        """Step into an object or array if one with this bracket comes next, and say whether it did."""
        if self.peek() != bracket:
            return False
        self._at += 1
        return True

    def leave(self, bracket: str) -> bool:
        """Step out of an object or array if this closing bracket comes next, and say whether it did."""
        return self.enter(bracket)

    def key(self) -> str:
        """Read the key of a member and the colon behind it.

        Raises
        ------
        ValueError
            If there is none.
        """
        if self.peek() != '"':
            raise ValueError("a key in quotes must come here" if self.peek() else "the text ends inside an object")
        key: str = self.value()
        if not self.enter(":"):
            raise ValueError(f"a colon must follow the key {key!r:.80}")
        return key

    def resume(self) -> bool:
        """Move to the next line that starts with a brace, behind something broken, and say whether there is one."""
        found = self._text.find("\n{", max(0, self._at - 1))
        while found < 0:
            self._at = max(self._at, len(self._text) - 1)
            if not self._grow():
                return False
            found = self._text.find("\n{", self._at)
        self._at = found + 1
        return True

    def line(self) -> int:
        """Return the line, from 1, on which the value starts that was reached last."""
        self._line += self._text.count("\n", self._marked, self._start)
        self._marked = self._start
        return self._line

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
        if self._source.foreign:
            _refuse_foreign_bytes(self._text[self._at : end])
        if self._source.halves:
            value = _whole(value)
        self._at = end
        return value

    def jump(self) -> bool:
        """Move behind the broken value that starts here, by its brackets, and say whether that was possible."""
        end = self._closing()
        while end is None and self._grow():
            end = self._closing()
        if end is None:
            return False
        self._at = end
        return True

    def jump_inside(self) -> bool:
        """Do the same, but not past a line that starts with a brace, where another record begins."""
        end = self._closing()
        while end is None and "\n{" not in self._text[self._at :] and self._grow():
            end = self._closing()
        if end is None or "\n{" in self._text[self._at : end + 2]:
            return False
        self._at = end
        return True

    def ending(self) -> str | None:
        """Say what is wrong with the end of the text, once no value is left."""
        if not self._array:
            return None
        if self._at >= len(self._text):
            return "the array is not closed: the file is cut short"
        self._at += 1
        self.opens_value()
        return "the text behind the array was not read" if self._at < len(self._text) else None

    def _attempt(self) -> tuple[Any, int | None]:
        try:
            value, end = DECODER.raw_decode(self._text, self._at)
        except json.JSONDecodeError as error:
            where = error.pos - self._at + 1
            if self._may_be_unfinished(error) and self._grow():
                return None, None
            raise ValueError(f"{fault_of(error)} at character {where} of the record") from None
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
        self._at = self._gap()
        while self._at == len(self._text) and self._grow():
            self._at = self._gap()

    def _gap(self) -> int:
        found = _GAP.match(self._text, self._at)
        return found.end() if found else self._at

    def _grow(self) -> bool:
        self._line = 1 + self._source.lines - self._text.count("\n", self._at)
        self._marked = self._at
        more = self._source.read(max(CHUNK, len(self._text) - self._at))
        if not more:
            return False
        self._text = self._text[self._at :] + more
        self._at = self._start = self._marked = 0
        return True


def _whole(value: Any) -> Any:
    try:
        return mended(value)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _refuse_foreign_bytes(text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("the text must be UTF-8") from None
