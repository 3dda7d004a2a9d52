"""Values as OpenTelemetry exports write them: ids, attributes, states, events."""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING, Any

from check_workbench.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

TRACE, SPAN = 32, 16
"""Hexadecimal digits of an id."""
_BASE64 = {TRACE: (24, "=="), SPAN: (12, "=")}
_HEX = "0123456789abcdef"
_NO_ID = frozenset({"", "0" * TRACE, "0" * SPAN})
_KINDS: dict[int, str] = dict(enumerate(("", "internal", "server", "client", "producer", "consumer")))
_STATES = {"0": None, "1": False, "2": True, "UNSET": None, "OK": False, "ERROR": True, "": None}
_WHOLE = re.compile(r"-?\d{1,19}")
_VALUES = frozenset({"values", "Values"})
_EVENT = {"event_name": "name", "timeUnixNano": "time", "time_unix_nano": "time", "timestamp": "time"}
CONTAINERS = (dict, list)
DEEPEST = 100
"""Levels of lists and objects that a span may hold."""


def identifier(value: Any, digits: int) -> str | None:
    """Return an id as lower-case hexadecimal digits; what is neither hexadecimal nor base64 stays as it is.

    Parameters
    ----------
    value
        As recorded; nothing, an empty text and an id of zeros mean that there is none.
    digits
        `TRACE` or `SPAN`, by which base64 is told.

    Raises
    ------
    InputError
        If it is no text and no number.

    Examples
    --------
    >>> identifier("tH12H+eb6IruQTQs3VJyaA==", TRACE), identifier("0xAB", SPAN), identifier("0000000000000000", SPAN)
    ('b47d761fe79be88aee41342cdd527268', 'ab', None)
    """
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        value = f"{value:0{digits}x}"
    if value is None:
        return None
    if not isinstance(value, str):
        raise InputError(f"an id must be text, got {value!r:.80}")
    if value in _NO_ID:
        return None
    if not value.strip(_HEX):
        return value
    length, padding = _BASE64[digits]
    if len(value) == length and value.endswith(padding):
        return _from_base64(value)
    bare = value.lower().removeprefix("0x")
    return (bare if bare not in _NO_ID else None) if not bare.strip(_HEX) else value


def _from_base64(value: str) -> str | None:
    try:
        found = base64.b64decode(value.replace("-", "+").replace("_", "/"), validate=True).hex()
    except (binascii.Error, ValueError):
        return value
    return None if found in _NO_ID else found


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


def failed(code: Any) -> bool | None:
    """Say what the code of a status means: true is an error, false is fine, None is not set.

    Raises
    ------
    InputError
        If it is none of them.

    Examples
    --------
    >>> failed("STATUS_CODE_ERROR"), failed(1), failed("Unset")
    (True, False, None)
    """
    if code is None:
        return None
    name = str(code).upper().removeprefix("STATUSCODE.").removeprefix("STATUS_CODE_")
    if name not in _STATES:
        raise InputError(f"a status must be UNSET, OK or ERROR, got {code!r:.80}")
    return _STATES[name]


def kind_of(value: Any) -> str | None:
    """Return the kind of a span: internal, server, client, producer or consumer; None where it is not told.

    Examples
    --------
    >>> kind_of("SPAN_KIND_CLIENT"), kind_of(1), kind_of(0)
    ('client', 'internal', None)
    """
    if isinstance(value, int):
        return _KINDS.get(value, str(value)) or None
    if not isinstance(value, str):
        return None
    name = value.lower().removeprefix("span_kind_").removeprefix("spankind.")
    return None if name in {"", "unspecified"} else name


def events_of(given: Any) -> list[dict[str, Any]]:
    """Return events with `name`, `time`, `attributes`, and what else was recorded of them.

    Examples
    --------
    >>> events_of([{"timestamp": 5, "fields": [{"key": "event", "value": "exception"}]}])
    [{'name': 'exception', 'time': 5, 'attributes': {}}]
    """
    return [_event(item) for item in given] if isinstance(given, list) else []


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


def _event(item: Any) -> dict[str, Any]:
    if not isinstance(item, dict):
        return {"name": "event", "value": item}
    named: dict[str, Any] = item
    event = {_EVENT.get(key, key): value for key, value in named.items() if value or value is False}
    given = attributes_of(event.get("attributes") or event.pop("fields", None) or {})
    if "name" not in event:
        event = {"name": given.get("event", "event"), **event}
        given = {key: value for key, value in given.items() if key != "event"}
    event["attributes"] = given
    return event


def _odd_attributes(given: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for place, item in enumerate(given if isinstance(given, list) else [given], start=1):
        key = item.get("key") if isinstance(item, dict) else None
        value = plain(item.get("value")) if isinstance(key, str) else item
        name = bare = key if isinstance(key, str) else f"#{place}"
        copies = 1
        while name in found and found[name] != value:
            copies += 1
            name = f"{bare}~{copies}"
        found[name] = value
    return found


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
