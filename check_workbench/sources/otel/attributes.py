"""Attributes as OpenTelemetry exports write them: lists of keys and typed values, or plain objects."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable

_WHOLE = re.compile(r"-?\d{1,19}")
_VALUES = frozenset({"values", "Values"})
CONTAINERS = (dict, list)
DEEPEST = 100
"""Levels of lists and objects that a span may hold."""


def attributes_of(given: Any) -> dict[str, Any]:
    """Return attributes by name: of a list of keys and typed values, or of an object.

    A key that comes twice keeps both values, the second as `key~2`; what has no key is kept under its place, `#3`.

    Examples
    --------
    >>> attributes_of([{"key": "n", "value": {"intValue": "7"}}, {"key": "s", "value": {"stringValue": "x"}}])
    {'n': 7, 's': 'x'}
    """
    if isinstance(given, dict):
        return given
    found: dict[str, Any] = {}
    try:
        for item in given:
            value = item["value"]
            found[item["key"]] = value["stringValue"] if "stringValue" in value else plain(value)
        "".join(found)  # a key that is no text
    except (TypeError, KeyError):
        return _odd_attributes(given)
    return found if len(found) == len(given) else _odd_attributes(given)


def plain(value: Any) -> Any:
    """Return what a typed value holds; a value of no known type stays as it is.

    Examples
    --------
    >>> plain({"arrayValue": {"values": [{"boolValue": True}, {"doubleValue": 0.5}]}})
    [True, 0.5]
    """
    if not isinstance(value, dict) or len(value) > 1:
        return value
    for kind, inner in value.items():
        read = _PLAIN.get(kind)
        return value if read is None else read(inner)
    return None


def all_of(items: Iterable[Any], read: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    """Return the values of items by their keys, as `attributes_of` says of keys that come twice or are none.

    Parameters
    ----------
    items
        What was listed.
    read
        Reads the value of an item that has a key.

    Examples
    --------
    >>> all_of([{"key": "n", "value": 7}, {"key": "n", "value": 8}, "x"], lambda item: item["value"])
    {'n': 7, 'n~2': 8, '#3': 'x'}
    """
    found: dict[str, Any] = {}
    copies: dict[str, int] = {}
    for place, item in enumerate(items, start=1):
        key = item.get("key") if isinstance(item, dict) else None
        value = read(item) if isinstance(key, str) else item
        name = bare = key if isinstance(key, str) else f"#{place}"
        if name in found and found[name] != value:
            name = free_name(bare, found, copies)
        found[name] = value
    return found


def free_name(name: str, taken: Container[str], copies: dict[str, int]) -> str:
    """Return a name with the first number behind it that is free; `copies` remembers how far that was.

    Examples
    --------
    >>> free_name("a", {"a", "a~2"}, {})
    'a~3'
    """
    copy = copies.get(name, 1) + 1
    while f"{name}~{copy}" in taken:
        copy += 1
    copies[name] = copy
    return f"{name}~{copy}"


def too_deep(values: Iterable[Any]) -> bool:
    """Say whether values hold more levels than a span may have."""
    level = list(values)
    for _ in range(DEEPEST):
        level = [
            inner
            for value in level
            if isinstance(value, CONTAINERS)
            for inner in (value.values() if isinstance(value, dict) else value)
            if isinstance(inner, CONTAINERS)
        ]
        if not level:
            return False
    return True


def _odd_attributes(given: Any) -> dict[str, Any]:
    return all_of(given if isinstance(given, list) else [given], lambda item: plain(item.get("value")))


def _whole(inner: Any) -> Any:
    return int(inner) if isinstance(inner, str) and _WHOLE.fullmatch(inner) else inner


def _same(inner: Any) -> Any:
    return inner


def _array(inner: Any) -> Any:
    values = _listed(inner)
    return inner if values is None else [plain(value) for value in values]


def _object(inner: Any) -> Any:
    values = _listed(inner)
    return inner if values is None else attributes_of(values)


def _listed(inner: Any) -> list[Any] | None:
    if inner == {}:
        return []
    found = next((inner[key] for key in _VALUES if key in inner), None) if isinstance(inner, dict) else None
    return found if isinstance(found, list) else None


_READ = {
    "string": _same,
    "bool": _same,
    "int": _whole,
    "double": _same,
    "bytes": _same,
    "array": _array,
    "kvlist": _object,
}
_PLAIN = {kind + ending: read for kind, read in _READ.items() for ending in ("Value", "_value")}
