"""How the lines of a Claude Code session follow each other: side chains of sub-agents, and prompts written anew."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from check_workbench.sources.growing import Growing, Row


@dataclass(slots=True)
class _Place:
    """A line in its chain."""

    at: datetime | None
    parent: str | None
    caller: Row | None
    """The call that began the side chain in which it lies."""
    rows: list[Row] = field(default_factory=list)
    children: list[str] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)
    """Those children that are prompts of a person."""


class Chains:
    """The lines of a session by `uuid`.

    Parameters
    ----------
    whole
        Whether all of them are one side chain, which is then no side chain of anything.
    """

    def __init__(self, *, whole: bool) -> None:
        self._whole = whole
        self._places: dict[str, _Place] = {}
        self._beginning: dict[str, list[Row]] = {}
        """Calls that may begin a side chain, by their prompt."""

    def add(self, record: Mapping[str, Any], at: datetime | None, told: Growing) -> bool:
        """Place a line and say whether it is new."""
        uuid, parent = record.get("uuid"), record.get("parentUuid")
        if not isinstance(uuid, str):
            return True
        if uuid in self._places:
            return False
        above = self._places.get(parent) if isinstance(parent, str) else None
        caller = above.caller if above is not None else self._caller(record, told)
        self._places[uuid] = _Place(at=at, parent=parent if above is not None else None, caller=caller)
        if above is not None:
            above.children.append(uuid)
            if not self.aside(record) and _is_prompt(record):
                above.prompts.append(uuid)
        return True

    def aside(self, record: Mapping[str, Any]) -> bool:
        """Say whether a line lies in a side chain of this run."""
        return record.get("isSidechain") is True and not self._whole

    def starts_aside(self, record: Mapping[str, Any]) -> bool:
        """Say whether a line is the prompt of a side chain of this run."""
        place = self._place(record)
        return self.aside(record) and place is not None and place.parent is None

    def before(self, record: Mapping[str, Any]) -> datetime | None:
        """Return the time of the line that a line follows."""
        parent = record.get("parentUuid")
        above = self._places.get(parent) if isinstance(parent, str) else None
        return above.at if above is not None else None

    def may_begin(self, given: Any, call: Row) -> None:
        """Remember a call whose prompt a side chain may begin with."""
        prompt = given.get("prompt") if isinstance(given, dict) else None
        if isinstance(prompt, str):
            self._beginning.setdefault(prompt, []).append(call)

    def own(self, record: Mapping[str, Any], row: Row) -> None:
        """Say that a row came from a line."""
        place = self._place(record)
        if place is not None:
            place.rows.append(row)
        if self.aside(record):
            row["attributes"] = {"sidechain": True} | (row.get("attributes") or {})
            row["parent_id"] = place.caller["span_id"] if place is not None and place.caller is not None else None

    def mark_abandoned(self) -> None:
        """Mark all that followed a prompt that was written anew."""
        left = [uuid for place in self._places.values() for uuid in place.prompts[:-1]]
        seen: set[str] = set()
        while left:
            uuid = left.pop()
            if uuid in seen:
                continue
            seen.add(uuid)
            place = self._places[uuid]
            left.extend(place.children)
            for row in place.rows:
                row["attributes"] = {"abandoned": True} | (row.get("attributes") or {})

    def _place(self, record: Mapping[str, Any]) -> _Place | None:
        uuid = record.get("uuid")
        return self._places.get(uuid) if isinstance(uuid, str) else None

    def _caller(self, record: Mapping[str, Any], told: Growing) -> Row | None:
        message = record.get("message")
        prompt = message.get("content") if isinstance(message, dict) else None
        if not self.aside(record) or not isinstance(prompt, str):
            return None
        calls = self._beginning.get(prompt, [])
        waits = next((n for n, call in enumerate(calls) if call["span_id"] and told.waits(call["span_id"])), None)
        return None if waits is None else calls.pop(waits)


def _is_prompt(record: Mapping[str, Any]) -> bool:
    message = record.get("message")
    if record.get("type") != "user" or record.get("isMeta") is True or not isinstance(message, dict):
        return False
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    return isinstance(content, str) or not any(isinstance(b, dict) and b.get("type") == "tool_result" for b in blocks)
