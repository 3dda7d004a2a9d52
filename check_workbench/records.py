"""Recorded work and what people said of it: `Run`, `Span`, `Step`, `Decision`.

The dataclass fields are the one field list: tables, the Arrow schema and the documentation derive from
`columns`. Records are values; identity, keys and digests belong to the store.
"""

from __future__ import annotations

import dataclasses
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

Kind = Literal["text", "json", "time", "integer", "number", "flag"]
"""How a field is stored: `text` also holds any JSON value in its text form (see `text_form` in the store)."""

RUN_STATUSES = ("ok", "error", "no_output", "interrupted")
RUN_MODES = ("live", "test")
SPAN_STATUSES = ("ok", "error")
WORK_DECISIONS = ("approved", "rejected", "returned", "failed", "edited", "completed")
CHECK_DECISIONS = ("problem", "no_problem", "unclear")
FINDING_DECISIONS = ("confirmed", "dismissed", "reopened")
DECISIONS = (*WORK_DECISIONS, *CHECK_DECISIONS, *FINDING_DECISIONS)
PROBLEM_DECISIONS = ("rejected", "returned", "failed", "edited", "problem", "confirmed", "reopened")
CLEAN_DECISIONS = ("approved", "no_problem", "dismissed")
PROVENANCES = ("blind", "saw_verdict", "prefilled", "imported")


def _field(kind: Kind, doc: str, *, default: Any = None, choices: tuple[str, ...] = ()) -> Any:
    return dataclasses.field(default=default, metadata={"kind": kind, "doc": doc, "choices": choices})


def _required(kind: Kind, doc: str, *, choices: tuple[str, ...] = ()) -> Any:
    return dataclasses.field(metadata={"kind": kind, "doc": doc, "choices": choices})


def _parts(doc: str) -> Any:
    return dataclasses.field(default=(), metadata={"kind": None, "doc": doc, "choices": ()})


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One step that the agent took inside a run."""

    type: str = _required("text", "What it was: llm, tool, mcp_tool, agent, retriever, …")
    name: str | None = _field("text", "The tool, model or agent that was called")
    span_id: str | None = _field("text", "Its id, unique in the run; without one, `#` and its place in the file from 1")
    parent_id: str | None = _field("text", "The span that called it")
    input: Any = _field("text", "What went in: text, or any JSON value")
    output: Any = _field("text", "What came out: text, or any JSON value")
    status: str | None = _field("text", "ok or error", choices=SPAN_STATUSES)
    error: str | None = _field("text", "The error message")
    started_at: datetime | None = _field("time", "Start, UTC")
    ended_at: datetime | None = _field("time", "End, UTC")
    duration_ms: float | None = _field("number", "Duration in milliseconds; without one, end minus start")
    tokens_in: int | None = _field("integer", "Tokens read by the model")
    tokens_out: int | None = _field("integer", "Tokens written by the model")
    model: str | None = _field("text", "The model that answered")
    attributes: Mapping[str, Any] | None = _field("json", "Everything else that was recorded")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One submission of a process, one turn or one row: the unit that step checks judge."""

    step_id: str = _required("text", "The step's id in its process")
    attempt: int | None = _field("integer", "Which submission of the step, from 1")
    kind: str | None = _field("text", "agent, task, approve, …")
    instructions: str | None = _field("text", "What the step asked for")
    body: str | None = _field("text", "The process text that the actor saw")
    input: Any = _field("text", "What went in")
    expected: Any = _field("text", "What was expected, where that is known")
    output: Any = _field("text", "What was submitted")
    summary: str | None = _field("text", "The submission's summary")
    evidence: Any = _field("json", "References to files and links")
    metadata: Any = _field("json", "Anything recorded beside the submission")
    accepted: bool | None = _field("flag", "Whether the process accepted the submission")
    by: str | None = _field("text", "Who submitted it")
    at: datetime | None = _field("time", "When it was submitted, UTC")
    round: int | None = _field("integer", "Which fix round")
    process_version: str | None = _field("text", "Version or content hash of the process")
    run_data: Any = _field("json", "The run data at that moment")
    candidate: Any = _field("json", "The held submission that a recorded verdict speaks of")
    check: Any = _field("json", "A recorded verdict record")
    changed_set: Any = _field("json", "The changed set of a coding turn")
    attributes: Mapping[str, Any] | None = _field("json", "Everything else that was recorded")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One recorded piece of agent work."""

    run_id: str = _required("text", "Its id, unique in the store")
    workflow: str | None = _field("text", "The agent, workflow or process that ran")
    session_id: str | None = _field("text", "The session, customer or conversation that it belongs to")
    mode: str | None = _field("text", "live or test; missing means live", choices=RUN_MODES)
    status: str | None = _field("text", "How it ended: ok, error, no_output, interrupted", choices=RUN_STATUSES)
    started_at: datetime | None = _field("time", "Start, UTC")
    ended_at: datetime | None = _field("time", "End, UTC")
    input: Any = _field("text", "What the person asked for")
    final_output: Any = _field("text", "The final answer")
    system_prompt: str | None = _field("text", "The system prompt")
    metrics: Mapping[str, Any] | None = _field("json", "Numbers of the whole run: total_tokens, duration_ms, …")
    attributes: Mapping[str, Any] | None = _field("json", "Everything else that was recorded")
    state: Any = _field("json", "The state of the world after the run")
    events: Any = _field("json", "Recorded events, in order")
    spans: tuple[Span, ...] = _parts("Its spans in file order")
    steps: tuple[Step, ...] = _parts("Its steps in file order")


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What a person said about a run, a step, a span or a finding, and how they came to say it."""

    run_id: str = _required("text", "The run")
    decision: str = _required("text", "What was decided", choices=DECISIONS)
    check_id: str | None = _field("text", "The check that it is about; without one it is about the work")
    question: int | None = _field("integer", "The check's question, from 0")
    step_id: str | None = _field("text", "The step")
    span_id: str | None = _field("text", "The span")
    attempt: int | None = _field("integer", "The attempt; missing means the first")
    answer: Any = _field("text", "The level or name that the person chose")
    decided_by: str | None = _field("text", "Who decided")
    decided_at: datetime | None = _field("time", "When, UTC")
    verdict_seen: bool | None = _field("flag", "Whether the check's verdict could be seen before deciding")
    provenance: str | None = _field("text", "How the label came to be", choices=PROVENANCES)
    probability_sampled: float | None = _field("number", "Probability with which the unit was drawn, in (0, 1]")
    project: str | None = _field("text", "The project")
    note: str | None = _field("text", "What the person wrote")


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One field of a record as it is stored and documented."""

    name: str
    kind: Kind
    required: bool
    doc: str
    choices: tuple[str, ...]


def columns(record: type[Run | Span | Step | Decision]) -> tuple[Column, ...]:
    """List the stored fields of a record type, in order.

    Examples
    --------
    >>> [c.name for c in columns(Decision) if c.required]
    ['run_id', 'decision']
    """
    return tuple(
        Column(
            name=f.name,
            kind=f.metadata["kind"],
            required=f.default is dataclasses.MISSING,
            doc=f.metadata["doc"],
            choices=f.metadata["choices"],
        )
        for f in dataclasses.fields(record)
        if f.metadata["kind"] is not None
    )


def person(name: str | None) -> str | None:
    """Return a name as it tells people apart, in whatever case and with whatever spaces it is written; None for nobody.

    Examples
    --------
    >>> person(" Ann  Lee"), person("ann lee"), person("  ")
    ('ann lee', 'ann lee', None)
    """
    return " ".join(unicodedata.normalize("NFKC", name or "").casefold().split()) or None


def is_problem(decision: str) -> bool | None:
    """Say whether a decision means a problem, or None where it says neither.

    An edit counts as a problem: the work did not pass as it was.

    Examples
    --------
    >>> is_problem("rejected"), is_problem("dismissed"), is_problem("completed")
    (True, False, None)
    """
    if decision in PROBLEM_DECISIONS:
        return True
    return False if decision in CLEAN_DECISIONS else None
