"""Tool calls that a tracing tool recorded only inside of what the model answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from check_workbench.sources.encoded import meant
from check_workbench.sources.spans import span
from check_workbench.sources.tool_calls import calls_in, results_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from check_workbench.records import Span
    from check_workbench.sources.tool_calls import Call, Result


def called(spans: Sequence[Span]) -> tuple[Span, ...]:
    """Add a tool span for each call in the output of an `llm` span, where the trace has no tool spans of its own.

    A trace with any `tool` span, or with a span named like the tool that was called, tells of its calls itself; only a
    recording of nothing but the model needs this. Such a span lies in the one that asked for it and starts when that
    ended; its result is the one that a later request brings, if any does. `attributes.found_in` says `output`.

    Parameters
    ----------
    spans
        The spans of one trace, inputs and outputs decoded.

    Examples
    --------
    >>> from check_workbench.records import Span
    >>> asked = {"tool_calls": [{"id": "c", "function": {"name": "pay", "arguments": "{}"}}]}
    >>> told = {"role": "tool", "tool_call_id": "c", "content": "paid"}
    >>> found = called([Span(type="llm", output=asked), Span(type="llm", input=[told])])
    >>> [(one.type, one.name, one.status) for one in found]
    [('llm', None, None), ('tool', 'pay', 'ok'), ('llm', None, None)]
    """
    if any(one.type == "tool" for one in spans):
        return tuple(spans)
    calls = [calls_in(meant(one.output)) if one.type == "llm" else [] for one in spans]
    if not any(calls):
        return tuple(spans)
    names = {one.name for one in spans if one.type != "llm"}
    results = {found.id: found for one in spans if one.type == "llm" for found in results_in(meant(one.input))}
    ids = {one.span_id for one in spans}
    made: list[Span] = []
    for one, asked in zip(spans, calls, strict=True):
        made.append(one)
        for call in asked:
            if call.name not in names and call.id not in ids:
                made.append(_tool(call, one, results.get(call.id) if call.id else None))
                ids.add(call.id or "")
    return tuple(made)


def _tool(call: Call, asked: Span, result: Result | None) -> Span:
    failed = result is not None and result.failed
    return span(
        type="tool",
        name=call.name,
        span_id=call.id,
        parent_id=asked.span_id,
        input=call.arguments,
        output=None if result is None else result.output,
        status=None if result is None else "error" if failed else "ok",
        error=str(result.output) if result is not None and failed else None,
        started_at=asked.ended_at,
        attributes={"found_in": "output"},
    )
