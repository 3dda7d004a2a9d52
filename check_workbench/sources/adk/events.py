"""Events of an ADK session to a run.

| event | becomes |
|---|---|
| `author` `user` with content | a span of type `user`, text in `input`; the first is the run's `input` as well |
| another author with content | a span of type `llm`: the agent in `name`, text in `output`, model, token counts |
| no content | a span of type `event` with the author's name |
| `function_call` in a part | a `tool` span below it, its id the `span_id`; a transfer to another agent is one, too |
| `function_response` in a part | `output` and `ended_at` of the call with its id, else a `tool` span of its own |
| a response with `error`, or with `status` `error` | `error` and `status` of the call |
| `error_code`, `error_message` | `error` and `status` of the span; of the last event also the run's `status` |
| `interrupted` of the last event | the run's `status` `interrupted` |
| `timestamp`, `id` | `started_at`, `span_id` |
| last text of an agent | `final_output`; `status` is `ok` with one, else `no_output` |
| counts of `usage_metadata`, added up, and the number of events | `metrics` |
| parts that are neither text nor calls, `actions` that are not empty, everything else | `attributes` of the span |
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from check_workbench.errors import InputError
from check_workbench.records import Run
from check_workbench.sources.messages import text_of
from check_workbench.sources.spans import span
from check_workbench.sources.times import when
from check_workbench.sources.totals import number, whole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from check_workbench.records import Span

_USAGE = {
    "total_token_count": "total_tokens",
    "prompt_token_count": "prompt_tokens",
    "candidates_token_count": "completion_tokens",
}
_USED = frozenset({"id", "timestamp", "author", "content", "actions", "model_version", "error_code", "error_message"})
_CALLS = ("function_call", "function_response")
_EMPTY: tuple[Any, ...] = (None, {}, [], "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """What is stored of a session beside its events."""

    app: str | None
    user: str | None
    id: str | None
    state: Mapping[str, Any]
    created: Any
    updated: Any


def run_of(session: Session, events: Sequence[Mapping[str, Any]]) -> Run:
    """Make a run of a session.

    Parameters
    ----------
    session
        The session.
    events
        Its events in the order of their times.

    Raises
    ------
    ValueError
        If the session has no name, or an event is not what it must be.

    Examples
    --------
    >>> said = {"author": "user", "content": {"parts": [{"text": "To Athens."}]}, "timestamp": 1.7e9}
    >>> session = Session(app="travel", user="u", id="s", state={}, created=None, updated=None)
    >>> run = run_of(session, [said])
    >>> run.run_id, run.input, run.status
    ('travel/u/s', 'To Athens.', 'no_output')
    """
    key = (session.app, session.user, session.id)
    if not all(isinstance(part, str) and part for part in key):
        raise InputError(f"app_name, user_id and id must be text that is not empty, got {key!r:.200}")
    told = _Telling()
    for event in events:
        told.add(event)
    last = events[-1] if events else {}
    return Run(
        run_id=f"{session.app}/{session.user}/{session.id}",
        workflow=session.app,
        session_id=session.id,
        status=_status(last, told.last_reply),
        started_at=when(session.created),
        ended_at=when(session.updated),
        input=told.first_request,
        final_output=told.last_reply,
        metrics={"events": len(events), **told.tokens},
        attributes={"user_id": session.user},
        state=dict(session.state) or None,
        spans=told.spans(),
    )


def parts_of(event: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the parts of what was said in an event.

    Raises
    ------
    InputError
        If they are no list of objects.

    Examples
    --------
    >>> parts_of({"content": {"parts": [{"text": "To Athens."}]}}), parts_of({})
    ([{'text': 'To Athens.'}], [])
    """
    content = event.get("content")
    parts = content.get("parts") if isinstance(content, dict) else content
    if parts is None:
        return []
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        raise InputError("the content of an event must have a list of parts that are objects")
    return parts


def _status(last: Mapping[str, Any], reply: str | None) -> str:
    if last.get("error_code") or last.get("error_message"):
        return "error"
    if last.get("interrupted") is True:
        return "interrupted"
    return "ok" if reply else "no_output"


class _Telling:
    """The rows of a session while its events come in."""

    def __init__(self) -> None:
        self.first_request: str | None = None
        self.last_reply: str | None = None
        self.tokens: Counter[str] = Counter()
        self._rows: list[dict[str, Any]] = []
        self._waiting: dict[str, dict[str, Any]] = {}
        self._ids: set[str] = set()

    def spans(self) -> tuple[Span, ...]:
        return tuple(span(**row) for row in self._rows)

    def add(self, event: Mapping[str, Any]) -> None:
        parts = parts_of(event)
        calls = [part for part in parts if isinstance(part.get("function_call"), dict)]
        results = [part for part in parts if isinstance(part.get("function_response"), dict)]
        said = [part for part in parts if not any(isinstance(part.get(key), dict) for key in _CALLS)]
        beside = _beside(event, said)
        if said or calls or not results:
            parent = self._say(event, parts, said, beside)
            beside = {}
            for part in calls:
                self._call(part, event, parent)
        for part in results:
            self._answer(part["function_response"], event, beside)
            beside = {}

    def _say(
        self,
        event: Mapping[str, Any],
        parts: Sequence[Any],
        said: Sequence[Mapping[str, Any]],
        beside: dict[str, Any],
    ) -> str | None:
        author, text = event.get("author"), _text(said)
        id_, error = self._fresh(event.get("id")), event.get("error_message") or event.get("error_code")
        row = {"span_id": id_, "started_at": when(event.get("timestamp")), "attributes": beside or None}
        if error:
            row |= {"status": "error", "error": text_of(error)}
        if author == "user" and parts:
            self._rows.append({"type": "user", "input": text, **row})
            self.first_request = self.first_request or text
            return id_
        usage = self._count(event.get("usage_metadata"))
        model = event.get("model_version")
        type_ = "llm" if parts else "event"
        self._rows.append({"type": type_, "name": author, "output": text, "model": model, **usage, **row})
        self.last_reply = text or self.last_reply
        return id_

    def _count(self, usage: Any) -> dict[str, int]:
        counts = usage if isinstance(usage, dict) else {}
        found = {key: count for key in _USAGE if (count := whole(number([counts.get(key)]))) is not None}
        self.tokens.update({_USAGE[key]: count for key, count in found.items()})
        named = {"prompt_token_count": "tokens_in", "candidates_token_count": "tokens_out"}
        return {named[key]: count for key, count in found.items() if key in named}

    def _call(self, part: Mapping[str, Any], event: Mapping[str, Any], parent: str | None) -> None:
        call = part["function_call"]
        beside = {key: value for key, value in part.items() if key != "function_call" and value is not None}
        row = {
            "type": "tool",
            "name": call.get("name"),
            "span_id": self._fresh(call.get("id")),
            "parent_id": parent,
            "input": call.get("args"),
            "started_at": when(event.get("timestamp")),
            "attributes": {"author": event.get("author"), **beside},
        }
        self._rows.append(row)
        if isinstance(call.get("id"), str):
            self._waiting[call["id"]] = row

    def _answer(self, answer: Mapping[str, Any], event: Mapping[str, Any], beside: dict[str, Any]) -> None:
        at = when(event.get("timestamp"))
        id_ = answer.get("id")
        row = self._waiting.pop(id_, None) if isinstance(id_, str) else None
        if row is None:
            row = {"type": "tool", "name": answer.get("name"), "started_at": at, "attributes": {}}
            self._rows.append(row)
        error = _complaint(answer.get("response"))
        row |= {"output": answer.get("response"), "ended_at": at, "status": "error" if error else "ok", "error": error}
        row["attributes"] = {**row["attributes"], **beside} or None

    def _fresh(self, id_: Any) -> str | None:
        """Return an id the first time it comes; a repeated one cannot name a span."""
        if not isinstance(id_, str) or not id_ or id_ in self._ids:
            return None
        self._ids.add(id_)
        return id_


def _text(parts: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the text of what was said, thoughts left out."""
    texts = [part["text"] for part in parts if isinstance(part.get("text"), str) and part.get("thought") is not True]
    return "\n".join(texts) if texts else None


def _beside(event: Mapping[str, Any], said: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    found = {key: value for key, value in event.items() if key not in _USED and value not in _EMPTY}
    actions = event.get("actions")
    kept = {k: v for k, v in actions.items() if v not in _EMPTY} if isinstance(actions, dict) else actions
    if kept:
        found["actions"] = kept
    if odd := [part for part in said if part.keys() != {"text"}]:
        found["parts"] = odd
    return found


def _complaint(response: Any) -> str | None:
    if not isinstance(response, dict):
        return None
    error = response.get("error")
    if error or str(response.get("status")).lower() == "error":
        return text_of(error or response.get("error_message") or response.get("message")) or "error"
    return None
