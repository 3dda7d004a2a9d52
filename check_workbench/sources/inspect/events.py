"""What the events of an Inspect sample say that its messages do not: times, tokens, graders, calls of sub-agents."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Event = Mapping[str, Any]


@dataclass(slots=True, kw_only=True)
class Observed:
    """The events of one sample, sorted by what they are good for."""

    models: list[Event] = field(default_factory=list)
    """Model calls of the agent, scorers' left out."""
    tools: dict[str, Event] = field(default_factory=dict)
    """Tool calls by id."""
    graders: dict[str, str] = field(default_factory=dict)
    """Scorer to the model that it asked."""
    grading: list[Mapping[str, Any]] = field(default_factory=list)
    """What each model call of a scorer used; replies from the cache used nothing."""
    scored_at: dict[str, Any] = field(default_factory=dict)
    """Scorer to the time of its score."""
    attachments: Mapping[str, Any] = field(default_factory=dict)
    """Texts that events refer to."""
    counts: Counter[str] = field(default_factory=Counter)
    """How many events there are of each kind."""
    first: Any = None
    """Time of the first event."""
    last: Any = None
    """Time of the last event."""


def observe(events: Any, attachments: Mapping[str, Any]) -> Observed:
    """Sort the events of a sample.

    Parameters
    ----------
    events
        The recorded list; anything else counts as no events.
    attachments
        Texts that they refer to.

    Examples
    --------
    >>> begin = {"event": "span_begin", "id": "s", "type": "scorer", "name": "match"}
    >>> asked = {"event": "model", "span_id": "s", "output": {"model": "gpt-4o-mini"}}
    >>> seen = observe([begin, asked], {})
    >>> seen.graders, seen.models, dict(seen.counts)
    ({'match': 'gpt-4o-mini'}, [], {'span_begin': 1, 'model': 1})
    """
    seen = Observed(attachments=attachments)
    scorers = _Scorers()
    for event in _flat(events):
        kind = str(event.get("event"))
        seen.counts[kind] += 1
        seen.last = event.get("timestamp") or seen.last
        seen.first = seen.first or seen.last
        scorer = scorers.around(event)
        if kind == "tool" and isinstance(event.get("id"), str) and scorer is None:
            seen.tools[event["id"]] = event
        elif kind == "model" and scorer is None:
            seen.models.append(event)
        elif kind == "model" and scorer is not None:
            _grade(seen, scorer, event)
        elif kind == "score" and scorer is not None:
            seen.scored_at[scorer] = event.get("timestamp")
    return seen


def _grade(seen: Observed, scorer: str, event: Event) -> None:
    if model := model_of(event):
        seen.graders[scorer] = model
    output = event.get("output")
    usage = output.get("usage") if isinstance(output, dict) else None
    if isinstance(usage, dict) and event.get("cache") != "read":
        seen.grading.append(usage)


def model_of(event: Event) -> str | None:
    """Return the model that answered, else the one that was asked."""
    output = event.get("output")
    answered = output.get("model") if isinstance(output, dict) else None
    model = answered or event.get("model")
    return model if isinstance(model, str) else None


class _Scorers:
    """Which scorer the events lie in: newer logs nest spans by id, older ones write steps around them."""

    def __init__(self) -> None:
        self._spans: dict[Any, str] = {}
        self._step: str | None = None

    def around(self, event: Event) -> str | None:
        kind = event.get("event")
        if kind == "span_begin":
            outer = self._spans.get(_key(event.get("parent_id")))
            name = str(event.get("name")) if event.get("type") == "scorer" else outer
            if name is not None:
                self._spans[_key(event.get("id"))] = name
        elif kind == "step" and event.get("type") == "scorer":
            self._step = str(event.get("name")) if event.get("action") == "begin" else None
        return self._spans.get(_key(event.get("span_id")), self._step)


def _key(id_: Any) -> str | None:
    return id_ if isinstance(id_, str) else None


def _flat(events: Any) -> Iterator[Event]:
    """Yield events and the ones inside them, in order."""
    waiting = [iter(events if isinstance(events, list) else ())]
    while waiting:
        event = next(waiting[-1], None)
        if event is None:
            waiting.pop()
        elif isinstance(event, dict):
            yield event
            if isinstance(event.get("events"), list):
                waiting.append(iter(event["events"]))
