"""Stream large JSON objects of known outline: step into some members, decode everything else whole."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any, NamedTuple

from check_workbench.sources.format import Rejected
from check_workbench.sources.json_items import BROKEN_GZIP
from check_workbench.sources.json_text import reason_of
from check_workbench.sources.json_window import Window

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from collections.abc import Set as AbstractSet

_CLOSING = {"{": "}", "[": "]"}
BEGIN, VALUE, END = "begin", "value", "end"


class Piece(NamedTuple):
    """Where an object begins or ends that is stepped into, or a member or element that was decoded whole."""

    what: str
    """`BEGIN`, `VALUE` or `END`."""
    key: str
    """The key under which it stands; of an element the key of its array; empty for an object of the file."""
    value: Any
    locate: Callable[[], int]
    """Finds the line where it starts, until the next piece is read."""


def pieces(
    stream: IO[bytes], file: str, *, into: AbstractSet[str], each: AbstractSet[str]
) -> Iterator[Piece | Rejected]:
    """Walk through the objects of a JSON file.

    Parameters
    ----------
    stream
        Decompressed bytes of one object, of several, or of an array of them.
    file
        The file's name in rejected records.
    into
        Keys of objects, and of arrays of objects, that are stepped into, at any depth.
    each
        Keys of arrays whose elements come one by one.

    Yields
    ------
    Piece or Rejected
        In file order. What is broken is rejected; the walk goes on behind it where that can be seen.

    Examples
    --------
    >>> import io
    >>> data = io.BytesIO(b'{"list": [{"id": 7, "spans": [1, 2]}]}')
    >>> [(p.what, p.key, p.value) for p in pieces(data, "f", into={"list"}, each={"spans"}) if p.what != "end"]
    [('begin', '', None), ('begin', 'list', None), ('value', 'id', 7), ('value', 'spans', 1), ('value', 'spans', 2)]
    """
    window = None
    try:
        window = Window(stream)
        while window.opens_value():
            try:
                yield from _object(window, file, into, each)
            except ValueError as error:
                line, found = window.line(), window.resume()
                ending = "" if found else "; nothing after it could be read"
                yield Rejected(file=file, line=line, reason=reason_of(error) + ending)
                if not found:
                    return
        if problem := window.ending():
            yield Rejected(file=file, line=window.line(), reason=problem)
    except BROKEN_GZIP as error:
        reason = f"the compressed file is broken after this record: {error}"
        yield Rejected(file=file, line=window.line() if window else 1, reason=reason)


def _object(window: Window, file: str, into: AbstractSet[str], each: AbstractSet[str]) -> Iterator[Piece | Rejected]:
    if window.peek() != "{":
        yield _value(window, "", file)
        return
    window.enter("{")
    yield Piece(BEGIN, "", None, window.line)
    inside = [("", "}")]
    while inside:
        key, closing = inside[-1]
        if window.leave(closing):
            inside.pop()
            if closing == "}":
                yield Piece(END, key, None, window.line)
            continue
        name = key if closing == "]" else window.key()
        bracket = window.peek()
        if not bracket:
            raise ValueError("the text ends inside an object: the file is cut short")
        if (bracket == "{" and name in into) or (bracket == "[" and closing == "}" and (name in into or name in each)):
            window.enter(bracket)
            inside.append((name, _CLOSING[bracket]))
            if bracket == "{":
                yield Piece(BEGIN, name, None, window.line)
        else:
            yield _value(window, name, file)


def _value(window: Window, name: str, file: str) -> Piece | Rejected:
    try:
        return Piece(VALUE, name, window.value(), window.line)
    except ValueError as error:
        line = window.line()
        if not window.jump_inside():
            raise
        return Rejected(file=file, line=line, reason=reason_of(error))
