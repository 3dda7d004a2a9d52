"""One session of a managed agent: its events in order, and the run that they make; see `managed_agent`."""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from check_workbench.errors import InputError
from check_workbench.records import Run
from check_workbench.sources.messages import text_of
from check_workbench.sources.spans import span
from check_workbench.sources.times import when
from check_workbench.sources.totals import is_number, number, whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from check_workbench.records import Span

CREATE = "client.beta.sessions.create"
SEND = "client.beta.sessions.events.send"
STREAM = "client.beta.sessions.events.stream"
_CALLS = {"agent.tool_use": "tool", "agent.custom_tool_use": "tool", "agent.mcp_tool_use": "mcp_tool"}
_RESULTS = {
    "agent.tool_result": "tool_use_id",
    "agent.mcp_tool_result": "mcp_tool_use_id",
    "user.custom_tool_result": "custom_tool_use_id",
}
_READ = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_OF_CALL = frozenset({"type", "id", "name", "input", "processed_at"})
_EMPTY: tuple[Any, ...] = (None, "", [], {})
_FAILED = ("session.error", "session.status_terminated")


@dataclass(slots=True)
class Session:
    """What was recorded of one session so far."""

    run_id: str
    line: int
    """Where it starts in the file."""
    about: Mapping[str, Any] = field(default_factory=dict)
    _events: dict[int, dict[str, Any]] = field(default_factory=dict)
    _count: int = 0
    _seen: set[str] = field(default_factory=set)
    _sent: dict[str, deque[int]] = field(default_factory=dict)
    """Places of events that were sent and did not come back in the stream so far, by what they say."""
    _forms: dict[tuple[str, ...], None] = field(default_factory=dict)
    """The keys that events were sent with."""

    @property
    def events(self) -> list[dict[str, Any]]:
        """Those of the stream, and those that were sent and did not come back in it."""
        return list(self._events.values())

    def take(self, method: str, payload: Any) -> None:
        """Take one line.

        Parameters
        ----------
        method
            What was called.
        payload
            What it was called with, or what it gave.

        Raises
        ------
        InputError
            If the payload is not what the method has.
        """
        if method == CREATE:
            self.about = _object(payload, "a session")
            self._name(payload.get("id"))
        elif method == SEND:
            if not isinstance(payload, list) or len(payload) != 2 or not isinstance(payload[1], dict):
                raise InputError(f"what is sent must be [session id, {{events}}], got {payload!r:.80}")
            if self.about and payload[0] != self.run_id:
                raise InputError(f"events for session {payload[0]!r:.80} lie inside the recording of {self.run_id}")
            sent = payload[1].get("events")
            for event in [_event(event) for event in (sent if isinstance(sent, list) else [sent])]:
                place = self._add(event)
                if "id" not in event:
                    form = tuple(sorted(event))
                    self._forms[form] = None
                    self._sent.setdefault(_words(event, form), deque()).append(place)
            self._name(payload[0])
        else:
            self._stream(_event(payload))

    def _name(self, value: Any) -> None:
        if not isinstance(value, str) or not value:
            raise InputError(f"the id of a session must be text, got {value!r:.80}")
        self.run_id = value

    def _stream(self, event: dict[str, Any]) -> None:
        id_ = event.get("id")
        if isinstance(id_, str):
            if id_ in self._seen:
                return
            self._seen.add(id_)
        if event["type"].startswith("user."):
            said = [_words(event, form) for form in self._forms if event.keys() >= set(form)]
            waiting = [places for words in said if (places := self._sent.get(words))]
            if waiting:
                del self._events[min(waiting, key=lambda places: places[0]).popleft()]
        self._add(event)

    def _add(self, event: dict[str, Any]) -> int:
        self._count += 1
        self._events[self._count] = event
        return self._count


def _words(event: Mapping[str, Any], form: Iterable[str]) -> str:
    """Return what an event says under some keys as a text."""
    return json.dumps({key: event[key] for key in form}, sort_keys=True)


def run_of(session: Session) -> Run:
    """Make a run of a session.

    Parameters
    ----------
    session
        All that was recorded of it.

    Raises
    ------
    ValueError
        If a time or an id is none.
    """
    told, events = _Telling(_model(session.about)), session.events
    for event in events:
        told.add(event)
    spans = told.spans()
    agent = session.about.get("agent")
    agent = agent if isinstance(agent, dict) else {}
    started = when(session.about.get("created_at")) or min((s.started_at for s in spans if s.started_at), default=None)
    ended = max((at for at in (when(event.get("processed_at")) for event in events) if at), default=None)
    return Run(
        run_id=session.run_id,
        workflow=_text(agent.get("name")),
        status=_status(events, told.last_reply),
        started_at=started,
        ended_at=ended,
        input=told.first_request,
        final_output=told.last_reply,
        system_prompt=_text(agent.get("system")),
        metrics=_metrics(spans, None if started is None or ended is None else ended - started),
        attributes={key: value for key, value in session.about.items() if key != "id" and value not in _EMPTY} or None,
        events=told.others or None,
        spans=spans,
    )


class _Telling:
    """The spans of a session while its events come in; each is a dictionary of the fields of a `Span`."""

    def __init__(self, model: str | None) -> None:
        self._model = model
        self._rows: list[dict[str, Any]] = []
        self._by_id: dict[str, dict[str, Any]] = {}
        self._request: dict[str, Any] | None = None
        self.others: list[dict[str, Any]] = []
        """Events that are no part of a span."""
        self.first_request: str | None = None
        self.last_reply: str | None = None

    def add(self, event: dict[str, Any]) -> None:
        kind = event["type"]
        if kind == "user.message":
            self._say(event)
        elif kind == "agent.message":
            self._reply(event)
        elif kind == "span.model_request_start":
            self._request = self._row(event, type="llm", model=self._model)
        elif kind in _CALLS:
            self._call(event, _CALLS[kind])
        elif not self._completes(event):
            self.others.append(event)

    def spans(self) -> tuple[Span, ...]:
        return tuple([span(**{name: value for name, value in row.items() if name[0] != "_"}) for row in self._rows])

    def _row(self, event: dict[str, Any], **fields: Any) -> dict[str, Any]:
        id_ = event.get("id")
        if not isinstance(id_, str | None):
            raise InputError(f"the id of an event must be text, got {id_!r:.80}")
        row = {"span_id": id_, "started_at": when(event.get("processed_at")), **fields}
        self._rows.append(row)
        if id_ is not None:
            self._by_id[id_] = row
        return row

    def _say(self, event: dict[str, Any]) -> None:
        text = text_of(event.get("content"))
        if self.first_request is None:
            self.first_request = text
        self._row(event, type="user", input=text)

    def _reply(self, event: dict[str, Any]) -> None:
        text = text_of(event.get("content"))
        self.last_reply = text or self.last_reply
        row = self._row(event, type="llm", model=self._model) if self._request is None else self._request
        row["output"] = text if row.get("output") is None else f"{row['output']}\n{text}"

    def _call(self, event: dict[str, Any], type_: str) -> None:
        self._row(
            event,
            type=type_,
            name=_text(event.get("name")),
            parent_id=None if self._request is None else self._request["span_id"],
            input=event.get("input"),
            attributes={key: value for key, value in event.items() if key not in _OF_CALL} or None,
        )

    def _completes(self, event: dict[str, Any]) -> bool:
        """Complete the span that an event speaks of, and say whether there is one."""
        kind = event["type"]
        key = "model_request_start_id" if kind == "span.model_request_end" else _RESULTS.get(kind, "tool_use_id")
        row = self._by_id.get(str(event.get(key)))
        if row is None:
            return False
        if kind == "span.model_request_end":
            _end_request(row, event)
            self._request = None
        elif kind == "user.tool_confirmation":
            _confirm(row, event)
        elif kind in _RESULTS:
            _end_call(row, event)
        else:
            return False
        return True


def _end_request(row: dict[str, Any], event: Mapping[str, Any]) -> None:
    usage = event.get("model_usage")
    usage = usage if isinstance(usage, dict) else {}
    read = [usage[key] for key in _READ if is_number(usage.get(key))]
    row["ended_at"] = when(event.get("processed_at"))
    row["status"] = "error" if event.get("is_error") is True else "ok"
    row["tokens_in"] = whole(sum(read) if read else None)
    row["tokens_out"] = whole(number([usage.get("output_tokens")]))
    row["attributes"] = {"model_usage": usage} if usage else None


def _confirm(row: dict[str, Any], event: Mapping[str, Any]) -> None:
    said = {"confirmation": event.get("result"), "deny_message": event.get("deny_message")}
    row["attributes"] = {**(row.get("attributes") or {}), **{k: v for k, v in said.items() if v is not None}}
    row["_confirmed"] = when(event.get("processed_at"))


def _end_call(row: dict[str, Any], event: Mapping[str, Any]) -> None:
    content = event.get("content")
    plain = isinstance(content, list) and all(isinstance(p, dict) and p.get("type") == "text" for p in content)
    output = text_of(content) if plain else content
    failed = event.get("is_error") is True
    row["output"], row["status"] = output, "error" if failed else "ok"
    row["error"] = (text_of(content) or "error") if failed else None
    row["ended_at"] = when(event.get("processed_at"))
    since = row.get("_confirmed")
    if since is not None and row["ended_at"] is not None:
        row["duration_ms"] = (row["ended_at"] - since) / timedelta(milliseconds=1)


def _status(events: Sequence[Mapping[str, Any]], reply: str | None) -> str:
    if any(event["type"] in _FAILED for event in events):
        return "error"
    states = [event for event in events if event["type"].startswith("session.status_")]
    last = states[-1] if states else {"type": "session.status_idle"}
    reason = last.get("stop_reason")
    why = reason.get("type") if isinstance(reason, dict) else None
    if why == "retries_exhausted":
        return "error"
    if last["type"] != "session.status_idle" or why == "requires_action":
        return "interrupted"
    return "ok" if reply else "no_output"


def _metrics(spans: Sequence[Span], lasted: timedelta | None) -> dict[str, float]:
    read = sum(one.tokens_in or 0 for one in spans)
    written = sum(one.tokens_out or 0 for one in spans)
    found = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
    told = found if any(one.tokens_in is not None or one.tokens_out is not None for one in spans) else {}
    times = {} if lasted is None else {"duration_ms": lasted / timedelta(milliseconds=1)}
    return {**times, **told, "errors": sum(one.status == "error" for one in spans)}


def _model(about: Mapping[str, Any]) -> str | None:
    agent = about.get("agent")
    model = agent.get("model") if isinstance(agent, dict) else None
    return _text(model.get("id") if isinstance(model, dict) else model)


def _event(value: Any) -> dict[str, Any]:
    event = _object(value, "an event")
    if not isinstance(event.get("type"), str):
        raise InputError(f"the type of an event must be text, got {event.get('type')!r:.80}")
    return event


def _object(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{what} must be an object, got {type(value).__name__}")
    return value


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
