"""Spans and annotations of Phoenix, however they were written, in one form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_ATTRIBUTES = "attributes."
_RESULT = "result."
_OF_SPAN = ("name", "parent_id", "start_time", "end_time", "status_code", "status_message", "events")
_READ = frozenset({*_OF_SPAN, "id", "context", "attributes", "span_kind"})
_PARTS = (_ATTRIBUTES, "context.")
_KIND = "openinference.span.kind"
_OF_ANNOTATION = ("label", "score", "explanation")


def span_in(row: Any) -> dict[str, Any] | None:
    """Return the span in a record under the names of OpenTelemetry, None where there is none.

    What else a record of nothing but a span says stays under its own name; `id` only counts rows of Phoenix.

    Parameters
    ----------
    row
        A record of the API, or a row of a data frame.

    Examples
    --------
    >>> span_in({"context.trace_id": "a1", "context.span_id": "b2", "span_kind": "LLM", "attributes.x": None})
    {'trace_id': 'a1', 'span_id': 'b2', 'attributes': {'openinference.span.kind': 'LLM'}}
    """
    if not isinstance(row, dict) or "span_kind" not in row:
        return None
    context = row.get("context")
    ids = context if isinstance(context, dict) else _named(row, "context.")
    if ids.get("trace_id") is None:
        return None
    given = row.get("attributes")
    attributes = dict(_taken_apart({**(given if isinstance(given, dict) else {}), **_named(row, _ATTRIBUTES)}))
    kind = row["span_kind"]
    told = {key: row[key] for key in _OF_SPAN if row.get(key) is not None}
    odd = {"given_attributes": given} if given and not isinstance(given, dict) else {}
    more = (
        {} if "annotator_kind" in row else {k: v for k, v in row.items() if k not in _READ and not k.startswith(_PARTS)}
    )
    return {**more, **odd, **ids, **told, "attributes": {**attributes, **({} if kind is None else {_KIND: kind})}}


def _named(row: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    return {key.removeprefix(prefix): value for key, value in row.items() if key.startswith(prefix)}


def annotation_in(row: Any) -> dict[str, Any] | None:
    """Return the annotation in a record under the names of the API, its result taken apart; None where there is none.

    Parameters
    ----------
    row
        A record of the API, or a row of a data frame.

    Examples
    --------
    >>> annotation_in({"annotator_kind": "CODE", "annotation_name": "length", "result.score": 0.5, "span_id": "b2"})
    {'annotator_kind': 'CODE', 'name': 'length', 'score': 0.5, 'span_id': 'b2'}
    """
    if not isinstance(row, dict) or "annotator_kind" not in row:
        return None
    result = row.get("result")
    said = {**row, **(result if isinstance(result, dict) else {})}
    said.update({key.removeprefix(_RESULT): value for key, value in row.items() if key.startswith(_RESULT)})
    found = {"annotator_kind": row["annotator_kind"], "name": row.get("annotation_name", row.get("name"))}
    ids = {"span_id": row.get("span_id", row.get("context.span_id"))}
    ids["trace_id"] = row.get("trace_id", row.get("context.trace_id"))
    rest = {key: said.get(key) for key in (*_OF_ANNOTATION, "metadata", "user_id", "updated_at", "created_at")}
    where = {key: row.get(key) for key in ("session_id", "document_position")}
    return {**found, **{key: value for key, value in {**rest, **ids, **where}.items() if value is not None}}


def _taken_apart(attributes: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield attributes with lists of objects taken apart, as a span carries them: `messages.0.role`."""
    waiting = list(reversed(attributes.items()))
    while waiting:
        key, value = waiting.pop()
        if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
            inside = [(f"{key}.{n}.{name}", inner) for n, one in enumerate(value) for name, inner in one.items()]
            waiting.extend(reversed(inside))
        elif isinstance(value, float) and value.is_integer() and "token_count" in key:
            yield key, int(value)
        elif value is not None:
            yield key, value
