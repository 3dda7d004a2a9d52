"""Paths into a record: how they are written, and what they find.

| written | means |
|---|---|
| `goal`, `info.model`, `"swap = False".winner` | a key, a key of what lies there, a key in quotes |
| `history[0]`, `history[-1]` | the first, the last element |
| `history[].role`, `scores.*` | every element, every member |
| `history[{place}]`, `{judge}.score`, `Q{question}` | the same, and its place or key (or the rest of the key) is kept as `$place`, `$judge`, `$question` |
| `.` | the thing itself |
| `^task` | a key of what lies around: of the element or record around an element, of the object around a record |
| `$judge`, `$order.task_id` | something kept or joined, and a key of it |

A text that holds JSON is looked into as if it were that JSON.
"""  # noqa: E501 - a row of the table is one line

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from check_workbench.sources.json_text import decode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

LONGEST = 1_000
"""Characters in a path."""
MOST_STEPS = 32
_NAME = r"[A-Za-z_]\w*"
_TOKEN = re.compile(
    rf'"(?P<quoted>[^"]*)"'
    rf"|\[(?P<index>-?\d{{1,9}}|\{{{_NAME}\}}|)\]"
    rf"|(?P<every>\*(?=[.\[]|$))"
    rf"|(?P<before>[^.\[\]{{}}\"*]*)\{{(?P<member>{_NAME})\}}(?P<after>[^.\[\]{{}}\"*]*)"
    r"|(?P<key>[^.\[\]{}\"*]+)",
)
_VARIABLE = re.compile(rf"\$({_NAME})")


class PathError(ValueError):
    """A path that cannot be read, and how many characters into it."""

    def __init__(self, message: str, at: int = 0) -> None:
        super().__init__(message)
        self.at = at


class Key(NamedTuple):
    """A member of an object."""

    name: str


class At(NamedTuple):
    """An element of a list."""

    place: int


class Every(NamedTuple):
    """Every element of a list; its place may be kept."""

    kept: str | None


class Members(NamedTuple):
    """Every member of an object whose key starts and ends so; the part between may be kept."""

    before: str
    kept: str | None
    after: str

    def part(self, key: str) -> str | None:
        """Return what lies between start and end of a key, or None where it does not fit."""
        if not (key.startswith(self.before) and key.endswith(self.after)):
            return None
        middle = key[len(self.before) : len(key) - len(self.after)]
        return middle if len(key) >= len(self.before) + len(self.after) and (middle or not self.kept) else None


Step = Key | At | Every | Members


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Path:
    """Where something lies."""

    text: str
    up: int
    """How many things further out it starts."""
    variable: str | None
    steps: tuple[Step, ...]
    spreads: bool = False
    """Whether it can find several things."""
    optional: bool = False
    """Whether it is nothing to be told that it finds nothing in a whole file."""

    @property
    def kept(self) -> tuple[str, ...]:
        """The names under which it keeps places and keys."""
        return tuple(s.kept for s in self.steps if isinstance(s, Every | Members) and s.kept)


class Hit(NamedTuple):
    """Something that a path found."""

    value: Any
    kept: Mapping[str, Any]
    where: tuple[int, ...] = ()
    """The places, from 0, of the elements and members through which the way led."""
    through: tuple[Any, ...] = ()
    """Those elements and members."""


def parse(text: str) -> Path:
    """Read a path.

    Raises
    ------
    PathError
        If it is none; with the place of the first character that does not fit.

    Examples
    --------
    >>> parse('runs[{n}]."a.b".Q{q}').steps
    (Key(name='runs'), Every(kept='n'), Key(name='a.b'), Members(before='Q', kept='q', after=''))
    """
    if len(text) > LONGEST:
        raise PathError(f"a path must have at most {LONGEST:,} characters, got {len(text):,}")
    up = len(text) - len(text.lstrip("^"))
    at, variable = up, None
    if found := _VARIABLE.match(text, at):
        variable, at = found[1], found.end()
        if up:
            raise PathError(f"${variable} is known everywhere, it must come without ^")
    if (text[at:] == "." and variable is None) or (at and at == len(text)):
        return Path(text=text, up=up, variable=variable, steps=())
    steps = tuple(_steps(text, at, after_variable=variable is not None))
    if len(steps) > MOST_STEPS:
        raise PathError(f"a path must have at most {MOST_STEPS} parts, got {len(steps)}")
    spreads = any(isinstance(step, Every | Members) for step in steps)
    return Path(text=text, up=up, variable=variable, steps=steps, spreads=spreads)


def walk(value: Any, steps: tuple[Step, ...]) -> Iterator[Hit]:
    """Yield what steps find in a value, in its order; null only where it is itself an element or member.

    Examples
    --------
    >>> [(hit.value, dict(hit.kept)) for hit in walk({"Q0": 3, "Q1": 4, "id": 7}, parse("Q{n}").steps)]
    [(3, {'n': '0'}), (4, {'n': '1'})]
    """
    yield from _walk(Hit(value, {}), steps, 0)


def straight(value: Any, steps: Iterable[Step]) -> Any:
    """Return what steps that do not spread find in a value, or None.

    Examples
    --------
    >>> straight({"runs": [{"id": 7}]}, parse("runs[0].id").steps)
    7
    """
    for step in steps:
        if isinstance(step, Key | At):
            value = _one(_opened(value), step)
    return value


def keys_of(value: Any) -> tuple[str, ...]:
    """Return the keys of an object, also of one written as text or as the first of a list."""
    inside = _opened(value)
    if isinstance(inside, list) and inside:
        inside = inside[0]
    return tuple(inside) if isinstance(inside, dict) else ()


def _walk(hit: Hit, steps: tuple[Step, ...], done: int) -> Iterator[Hit]:
    while done < len(steps):
        step, inside = steps[done], _opened(hit.value)
        done += 1
        if isinstance(step, Every | Members):
            for found in _several(inside, step):
                where, through = (*hit.where, *found.where), (*hit.through, found.value)
                yield from _walk(Hit(found.value, {**hit.kept, **found.kept}, where, through), steps, done)
            return
        hit = hit._replace(value=_one(inside, step))
    if hit.value is not None or (steps and isinstance(steps[-1], Every | Members)):
        yield hit


def _one(value: Any, step: Key | At) -> Any:
    if isinstance(step, Key):
        return value.get(step.name) if isinstance(value, dict) else None
    if isinstance(value, list) and -len(value) <= step.place < len(value):
        return value[step.place]
    return None


def _several(value: Any, step: Every | Members) -> Iterator[Hit]:
    if isinstance(step, Every):
        if isinstance(value, list):
            for index, item in enumerate(value):
                yield Hit(item, {step.kept: index} if step.kept else {}, (index,))
    elif isinstance(value, dict):
        fitting = ((part, item) for key, item in value.items() if (part := step.part(key)) is not None)
        for index, (part, item) in enumerate(fitting):
            yield Hit(item, {step.kept: part} if step.kept else {}, (index,))


def _opened(value: Any) -> Any:
    """Return what lies in a value; JSON text is decoded."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return value
    try:
        return decode(value)
    except ValueError:
        return value


def _steps(text: str, at: int, *, after_variable: bool) -> Iterator[Step]:
    start, first = at, not after_variable
    while at < len(text):
        dot = text[at] == "."
        if dot and not first:
            at += 1
        if at == len(text):
            raise PathError("a part must follow the point", at)
        found = _TOKEN.match(text, at)
        if found is None or (dot and first) or not (first or dot or text[at] == "["):
            raise PathError(f"{text[at:][:20]!r} is no part of a path", at)
        if dot and found["index"] is not None:
            raise PathError("a place in brackets must come without a point before it", at)
        yield _step(found)
        at, first = found.end(), False
    if at == start:
        raise PathError("a path must not be empty", at)


def _step(found: re.Match[str]) -> Step:
    if (index := found["index"]) is not None:
        return Every(index[1:-1] or None) if index[:1] in ("", "{") else At(int(index))
    if found["every"]:
        return Members("", None, "")
    if found["member"]:
        return Members(found["before"], found["member"], found["after"])
    return Key(found["quoted"] if found["quoted"] is not None else found["key"].strip())
