"""One Langfuse trace with its observations to a run.

| trace | run |
|---|---|
| `id` | `run_id` |
| `name`, else `traceName` or the name of the only root | `workflow` |
| `sessionId`; `timestamp`, else the first start; the last end | `session_id`, `started_at`, `ended_at` |
| `input`, `output`, else those of the only root observation | `input`, `final_output` |
| a root observation of level ERROR | `status` `error`; else `ok` with an output, `no_output` with an input alone |
| `totalCost`, `latency` (s), else of the observations | `metrics.total_cost`, `metrics.duration_ms` |
| `usageDetails` of observations | `metrics.prompt_tokens`, `completion_tokens`, `total_tokens` |
| observations of level ERROR and WARNING | `metrics.errors`, `metrics.warnings` |
| everything else: `tags`, `userId`, `environment`, `metadata`, … | `attributes` |

Usage and cost of an observation inside another that has some are part of it, and not added again. An observation that
is there twice counts once, as it was last.

| observation | span |
|---|---|
| `type` | `type`: GENERATION is `llm`, others are themselves in lower case |
| … SPAN, which says nothing, with an `openinference.span.kind` | that kind; `attributes.type` keeps SPAN |
| `name`; of a tool `gen_ai.tool.name` or `tool.name` of its metadata | `name`; the other is `attributes.name` |
| `level` ERROR, `statusMessage`; any other level | `status` `error`, `error`; `ok`, WARNING stays in `attributes` |
| `usageDetails`, else `usage` | `tokens_in`, `tokens_out`: all kinds of input, all kinds of output |
| `model`, else `providedModelName` | `model` |
| `input`, `output`, `metadata` | decoded where they are JSON in a text, or in a text in a text; see `encoded` |
| tool calls in the output of a GENERATION | `tool` spans, if no observation of the trace is a tool; see `called` |
| everything else: `latency` (ms or s, so the times are used), `modelParameters`, costs, … | `attributes` |
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeGuard

from check_workbench.errors import InputError
from check_workbench.records import Run
from check_workbench.sources.called import called
from check_workbench.sources.encoded import meant
from check_workbench.sources.langfuse.usage import metrics, tokens
from check_workbench.sources.spans import span
from check_workbench.sources.times import when

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from check_workbench.records import Span

_ENCODED = ("input", "output", "metadata", "modelParameters")
_IO = frozenset({"input", "output"})
_EMPTY: tuple[Any, ...] = (None, "", [], {})
_OF_RUN = frozenset({"id", "name", "sessionId", "timestamp", "input", "output", "totalCost", "latency"})
_PARTS = frozenset({"observations", "scores", "corrections"})
_OF_SPAN = frozenset({"id", "traceId", "parentObservationId", "name", "input", "output", "startTime", "endTime"})
_MODELS = ("model", "providedModelName")
_CONTEXT = ("traceName", "sessionId", "userId", "tags", "release")
"""What an observation of an enriched export repeats of its trace."""
_KIND = "openinference.span.kind"
_TOOL_NAMES = ("gen_ai.tool.name", "tool.name")


def run_of(trace: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> Run:
    """Make a run of a trace and its observations.

    Parameters
    ----------
    trace
        The trace, keys in camelCase; its own observations are not looked at.
    rows
        Its observations.

    Raises
    ------
    ValueError
        If something that a run needs is missing or wrong.
    """
    run_id = trace.get("id")
    if not isinstance(run_id, str) or not run_id:
        raise InputError(f"the id of a trace must be text, got {run_id!r:.80}")
    observations = list({_id(row): _decoded(row) for row in rows}.values())
    recorded = [_span(row) for row in observations]
    spans = called(recorded)
    told = {**{key: row[key] for row in observations for key in _CONTEXT if row.get(key)}, **_decoded(trace)}
    root = _only_root(observations)
    started = when(told.get("timestamp")) or min((s.started_at for s in spans if s.started_at), default=None)
    ended = max((s.ended_at for s in spans if s.ended_at), default=None)
    lasted = None if started is None or ended is None else (ended - started) / timedelta(milliseconds=1)
    given, final = told.get("input", root.get("input")), told.get("output", root.get("output"))
    return Run(
        run_id=run_id,
        workflow=next((n for n in (told.get("name"), told.get("traceName"), root.get("name")) if _is_text(n)), None),
        session_id=told["sessionId"] if _is_text(told.get("sessionId")) else None,
        status=_status(observations, given, final),
        started_at=started,
        ended_at=ended,
        input=given,
        final_output=final,
        metrics=metrics(told, observations, recorded, lasted),
        attributes={k: v for k, v in told.items() if k not in _OF_RUN | _PARTS | {"traceName"}} or None,
        spans=spans,
    )


def _decoded(row: Mapping[str, Any]) -> dict[str, Any]:
    """Decode what is JSON in a text, and leave out what is empty; an empty object may have gone in or out."""
    found = {key: meant(value) if key in _ENCODED else value for key, value in row.items()}
    return {key: value for key, value in found.items() if value not in ((None, "") if key in _IO else _EMPTY)}


def _span(row: Mapping[str, Any]) -> Span:
    kind = row.get("type")
    if not isinstance(kind, str):
        raise InputError(f"the type of an observation must be text, got {kind!r:.80}")
    type_, tool = _type(kind, row), _tool(row)
    level, message = row.get("level"), row.get("statusMessage")
    failed = level == "ERROR"
    tokens_in, tokens_out = tokens(row)
    used = _OF_SPAN | {"model"} | ({"level", "statusMessage"} if failed else set())
    kept = {key: value for key, value in row.items() if key not in used and (key, value) != ("level", "DEFAULT")}
    if type_ == ("llm" if kind == "GENERATION" else kind.lower()):
        del kept["type"]
    name = row["name"] if _is_text(row.get("name")) else None
    if type_ == "tool" and tool not in (None, name):
        name, kept["name"] = tool, name
    return span(
        type=type_,
        name=name,
        span_id=_id(row),
        parent_id=row.get("parentObservationId"),
        input=row.get("input"),
        output=row.get("output"),
        status="error" if failed else None if level is None else "ok",
        error=(message if _is_text(message) else "level ERROR") if failed else None,
        started_at=when(row.get("startTime")),
        ended_at=when(row.get("endTime")),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        model=next((row[key] for key in _MODELS if _is_text(row.get(key))), None),
        attributes=kept or None,
    )


def _type(kind: str, row: Mapping[str, Any]) -> str:
    if kind == "GENERATION":
        return "llm"
    named = _otel(row).get(_KIND)
    return (named if kind == "SPAN" and _is_text(named) else kind).lower()


def _tool(row: Mapping[str, Any]) -> str | None:
    attributes = _otel(row)
    return next((attributes[key] for key in _TOOL_NAMES if _is_text(attributes.get(key))), None)


def _otel(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the attributes of the OpenTelemetry span that an observation was made of."""
    metadata = row.get("metadata")
    attributes = meant(metadata.get("attributes")) if isinstance(metadata, dict) else None
    return attributes if isinstance(attributes, dict) else {}


def _only_root(observations: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    roots = _roots(observations)
    return roots[0] if len(roots) == 1 else {}


def _roots(observations: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    known = {row["id"] for row in observations}
    return [row for row in observations if row.get("parentObservationId") not in known]


def _status(observations: Sequence[Mapping[str, Any]], given: Any, final: Any) -> str | None:
    if any(row.get("level") == "ERROR" for row in _roots(observations)):
        return "error"
    return "ok" if final is not None else "no_output" if given is not None else None


def _id(row: Mapping[str, Any]) -> str:
    value, parent = row.get("id"), row.get("parentObservationId")
    if not _is_text(value) or not isinstance(parent, str | None):
        raise InputError(f"the id of an observation and of its parent must be text, got {value!r:.80}, {parent!r:.80}")
    return value


def _is_text(value: Any) -> TypeGuard[str]:
    return isinstance(value, str) and bool(value)
