"""The blocks of an OTLP document: resources, and scopes in them, whose spans come by one at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from check_workbench.sources.json_pieces import BEGIN, END
from check_workbench.sources.otel.attributes import attributes_of
from check_workbench.sources.otel.reading import objects

if TYPE_CHECKING:
    from check_workbench.sources.json_pieces import Piece
    from check_workbench.sources.otel.contexts import Contexts

RESOURCES = ("resourceSpans", "resource_spans", "batches")
SCOPES = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans", "instrumentation_library_spans")
_SCOPE = frozenset({"scope", "instrumentationLibrary", "instrumentation_library"})
_SCHEMA = frozenset({"schemaUrl", "schema_url"})
_UNSAID = frozenset({"attributes", "droppedAttributesCount", "dropped_attributes_count"})


class Block:
    """The resource and the scope whose spans come by."""

    def __init__(self, contexts: Contexts) -> None:
        self._contexts = contexts
        self._inside: list[str] = []
        self._resource: dict[str, Any] = {}
        self._scope: dict[str, Any] = {}
        self._places: list[int] = []
        """The contexts of the resource."""
        self.context = contexts.open()

    def add(self, piece: Piece) -> str | None:
        """Take in what is no span; return words about what is not read."""
        if piece.what == BEGIN:
            self._begin(piece.key)
        elif piece.what == END:
            self._inside.pop()
        elif self._inside and self._inside[-1] in SCOPES:
            return self._say_scope(piece.key, piece.value)
        elif self._inside and self._inside[-1] in RESOURCES:
            return self._say_resource(piece.key, piece.value)
        else:
            return _left_out(piece)
        return None

    def _begin(self, key: str) -> None:
        self._inside = [*self._inside, key] if key else [key]
        if key in RESOURCES:
            self._resource, self._places = {}, []
        self._scope = {}
        self.context = self._contexts.open()
        self._places.append(self.context)
        self._contexts.set(self.context, resource=self._resource, scope=self._scope)

    def _say_scope(self, key: str, value: Any) -> str | None:
        if key in _SCOPE:
            told = objects(value)
            given = told.get("attributes")
            scope = {name: inner for name, inner in told.items() if inner and name not in _UNSAID}
            self._scope = {**self._scope, **scope, **({"attributes": attributes_of(given)} if given else {})}
        elif key in _SCHEMA:
            self._scope = {**self._scope, "schema_url": value} if value else self._scope
        else:
            return _unknown(key, value)
        self._contexts.set(self.context, scope=self._scope)
        return None

    def _say_resource(self, key: str, value: Any) -> str | None:
        if key == "resource":
            self._resource = {**self._resource, **attributes_of(objects(value).get("attributes") or {})}
        elif key in _SCHEMA:
            self._resource = {**self._resource, "schema_url": value} if value else self._resource
        else:
            return _unknown(key, value)
        self._contexts.set(*self._places, resource=self._resource)
        return None


def _left_out(piece: Piece) -> str | None:
    if not piece.key:
        return f"a record must be an object, got {type(piece.value).__name__}: it is left out"
    return _unknown(piece.key, piece.value)


def _unknown(key: str, value: Any) -> str | None:
    return f"{key} holds no spans and is left out" if value and key not in _UNSAID else None
