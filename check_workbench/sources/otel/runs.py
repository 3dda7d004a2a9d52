"""The spans of one trace to a run.

| trace | run |
|---|---|
| trace id, lower-case hexadecimal | `run_id` |
| `neatlogs.workflow.name`, `traceloop.workflow.name`, `gen_ai.workflow.name`; `service.name` of the root; the first | |
| agent's name; `ai.telemetry.functionId`; the name of a root that is an agent or chain | `workflow` |
| `session.id`, `langfuse.session.id`, …, `gen_ai.conversation.id`, of the first span with one | `session_id` |
| first start, last end | `started_at`, `ended_at`, `metrics.duration_ms` |
| input of the root; else of the first agent or chain that has one; else of the first `llm` | `input` |
| output of the root; else of the agent or chain that ended last; else of the `llm` that ended last | `final_output` |
| system message of the first `llm` that has one | `system_prompt` |
| `neatlogs.trace.interrupted`; the root's status `error` | `status` `interrupted`, `error` |
| a final output | `status` `ok` |
| none, though inputs and outputs of models were recorded | `status` `no_output` |
| tokens and costs of `llm`, `embedding` and `reranker` spans; if they have none, of the outermost spans | `metrics` |
| attributes of the resource, the scope: what is the same for all spans | `attributes.resource`, `attributes.scope` |
| … what is not | each span's `attributes.otel.resource`, `attributes.otel.scope` |

The root is the span without a parent in the trace, first of all one without any parent, then the one that started
first. A parent that is not in the trace stays as it is. An `llm` span that directly holds another one is the same
call seen from outside: its type is `chain`, so that calls count once.
Of messages, `input` is the text of the last user message, and `final_output` that of the last reply.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from check_workbench.records import Run
from check_workbench.sources.otel import outcome
from check_workbench.sources.otel.metrics import metrics_of
from check_workbench.sources.otel.spans import Made, span_of
from check_workbench.sources.otel.trees import fitted

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from check_workbench.sources.otel.contexts import Context, Contexts
    from check_workbench.sources.otel.recorded import Recorded

ODD_TIME = "with a time that is none between 1970 and 2200: left out, it is in attributes.otel"


def run_of(trace_id: str, spans: Iterable[Recorded], contexts: Contexts, repairs: Counter[str]) -> Run:
    """Make a run of all spans of a trace.

    Parameters
    ----------
    trace_id
        The trace.
    spans
        In file order.
    contexts
        What was recorded around them.
    repairs
        Counts what had to be repaired.
    """
    kept, names = fitted(spans, contexts.__getitem__, repairs)
    shared, own = _shared({told.context: contexts[told.context] for told in kept})
    made = [span_of(told, own[told.context]) for told in kept]
    repairs[ODD_TIME] += sum(one.odd_times for one in made)
    made = _calls_once(made)
    root = _root(made, names)
    return _run(trace_id, made, root, shared, contexts[kept[root].context])


def _shared(contexts: dict[int, Context]) -> tuple[dict[str, Any], dict[int, dict[str, Any]]]:
    """Split what was recorded around spans into what is the same for all of them, and what each context has alone."""
    shared: dict[str, Any] = {}
    own: dict[int, dict[str, Any]] = {place: {} for place in contexts}
    for field in ("resource", "scope", "around"):
        values = {place: getattr(context, field) for place, context in contexts.items()}
        first, *others = {id(value): value for value in values.values()}.values()
        same = {k: v for k, v in first.items() if all(k in value and value[k] == v for value in others)}
        if same:
            shared[field] = same
        for place, value in values.items():
            if alone := {k: v for k, v in value.items() if k not in same}:
                own[place][field] = alone
    return shared, own


def _calls_once(made: list[Made]) -> list[Made]:
    outer = {one.span.parent_id for one in made if one.span.type == "llm"}
    if outer == {None}:
        return made
    return [
        one._replace(span=replace(one.span, type="chain"))
        if one.span.type == "llm" and one.span.span_id is not None and one.span.span_id in outer
        else one
        for one in made
    ]


def _root(made: Sequence[Made], names: Sequence[str]) -> int:
    known = set(names)

    def order(place: int) -> tuple[bool, bool, datetime, int]:
        one = made[place].span
        return one.parent_id in known, one.parent_id is not None, one.started_at or outcome.LAST, place

    return min(range(len(made)), key=order)


def _run(trace_id: str, made: Sequence[Made], root: int, shared: dict[str, Any], around: Context) -> Run:
    spans = tuple([one.span for one in made])
    top = spans[root]
    started = min((one.started_at for one in spans if one.started_at is not None), default=None)
    ended = max((one.ended_at for one in spans if one.ended_at is not None), default=None)
    metrics = metrics_of(made)
    if started is not None and ended is not None and ended >= started:
        metrics["duration_ms"] = (ended - started).total_seconds() * 1000
    final = outcome.final_output(top, spans)
    return Run(
        run_id=trace_id,
        workflow=outcome.workflow(made, top, around),
        session_id=outcome.session(made, around),
        status=outcome.status(made, top, final),
        started_at=started,
        ended_at=ended,
        input=outcome.request(top, spans),
        final_output=final,
        system_prompt=outcome.rules(made),
        metrics=metrics or None,
        attributes=shared or None,
        spans=spans,
    )
