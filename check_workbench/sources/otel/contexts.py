"""What the spans of a block share: resource, scope, and what stands around them."""

from __future__ import annotations

from typing import Any, NamedTuple

_NOTHING: dict[str, Any] = {}


class Context(NamedTuple):
    """What spans of one block share."""

    resource: dict[str, Any]
    """Attributes of what was running."""
    scope: dict[str, Any]
    """The instrumentation that recorded them."""
    around: dict[str, Any]
    """What was recorded around the list of spans."""


class Contexts:
    """The contexts of a file, equal ones once."""

    def __init__(self) -> None:
        self._contexts: list[list[dict[str, Any]]] = []
        self._known: dict[str, dict[str, Any]] = {}

    def open(self) -> int:
        """Begin a context that is still empty, and return its place."""
        self._contexts.append([_NOTHING, _NOTHING, _NOTHING])
        return len(self._contexts) - 1

    def set(self, *places: int, **parts: dict[str, Any]) -> None:
        """Say what contexts hold, before or after their spans came by."""
        for name, value in parts.items():
            field, told = Context._fields.index(name), self._known.setdefault(repr(value), value)
            for place in places:
                self._contexts[place][field] = told

    def __getitem__(self, place: int) -> Context:
        return Context(*self._contexts[place])
