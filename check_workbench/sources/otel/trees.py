"""Make the spans of one trace fit together: each once, each id once, no span its own ancestor."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from check_workbench.sources.otel.attributes import free_name

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterable, Mapping

    from check_workbench.sources.otel.contexts import Context
    from check_workbench.sources.otel.recorded import Recorded

TWICE = "recorded once more, word for word, and counted once"
RENAMED = "with the id of another one, but other content: renamed, ~2 behind the id"
CUT = "in a circle of parents: put at the top, the recorded parent is in attributes.otel.parent_id"


def fitted(
    spans: Iterable[Recorded], context: Callable[[int], Context], repairs: Counter[str]
) -> tuple[list[Recorded], list[str]]:
    """Return the spans that are stored, and the id that each will have.

    Parameters
    ----------
    spans
        All spans of a trace, in file order.
    context
        Finds what was recorded around a span.
    repairs
        Counts what had to be repaired.
    """
    kept: list[Recorded] = []
    names: dict[str, int] = {}
    copies: dict[str, int] = {}
    contents: dict[str, set[str]] = {}
    for told in spans:
        name = told.span_id or f"#{len(kept) + 1}"
        place = names.get(name)
        if place is not None:
            known = contents.setdefault(name, {_content(kept[place], context)})
            before = len(known)
            known.add(_content(told, context))
            if len(known) == before:
                repairs[TWICE] += 1
                continue
            repairs[RENAMED] += 1
            name = free_name(name, names, copies)
            told = told._replace(span_id=name)  # noqa: PLW2901
        names[name] = len(kept)
        kept.append(told)
    for name in _looped({name: kept[place].parent_id for name, place in names.items()}):
        repairs[CUT] += 1
        told = kept[names[name]]
        kept[names[name]] = told._replace(parent_id=None, rest={**told.rest, "parent_id": told.parent_id})
    return kept, list(names)


def _content(told: Recorded, context: Callable[[int], Context]) -> str:
    """Return what a span says as a text that is equal where it says the same."""
    return json.dumps([told[1:], context(told.context)], sort_keys=True, default=repr)


def _looped(parents: Mapping[str, str | None]) -> list[str]:
    """Name one span of each circle of parents."""
    safe: set[str] = set()
    found = []
    for start in parents:
        path: dict[str, None] = {}
        at: str | None = start
        while at is not None and at in parents and at not in safe:
            if at in path:
                found.append(at)
                break
            path[at] = None
            at = parents[at]
        safe.update(path)
    return found
