"""What spans without blocks say each for themselves: resource and scope, and what stands around their list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from check_workbench.sources.otel.attributes import attributes_of
from check_workbench.sources.otel.reading import objects, one_span

if TYPE_CHECKING:
    from collections.abc import Callable

    from check_workbench.sources.format import Rejected
    from check_workbench.sources.gathering import Part
    from check_workbench.sources.otel.contexts import Contexts

_SCOPES = ("scope", "instrumentation_scope", "instrumentationScope")
_SHARED = frozenset({"resource", *_SCOPES})


class SharedParts:
    """The contexts of spans that each say their own resource and scope."""

    def __init__(self, contexts: Contexts) -> None:
        self._contexts = contexts
        self._places: dict[str, int] = {}

    def say(self, around: dict[str, Any]) -> None:
        """Say what stands around the list, once all of it is known."""
        self._contexts.set(*self._places.values(), around=around)

    def span(self, value: Any, around: dict[str, Any], file: str, locate: Callable[[], int]) -> Part | Rejected:
        """Read one span."""
        if not isinstance(value, dict):
            return one_span(value, 0, file, locate)
        told = {key: inner for key, inner in value.items() if key not in _SHARED}
        ids = told.get("context")
        if isinstance(ids, dict) and "trace_id" in ids:
            del told["context"]
            told = {**ids, **told}
        resource, scope = value.get("resource"), next((value[key] for key in _SCOPES if value.get(key)), None)
        return one_span(told, self._place(resource, scope, around), file, locate)

    def _place(self, resource: Any, scope: Any, around: dict[str, Any]) -> int:
        key = repr((resource, scope))
        if key not in self._places:
            self._places[key] = self._contexts.open()
            told = objects(scope) or ({"name": scope} if scope else {})
            self._contexts.set(
                self._places[key],
                resource=attributes_of(objects(resource).get("attributes", objects(resource))),
                scope={name: inner for name, inner in told.items() if inner},
                around=dict(around),
            )
        return self._places[key]
