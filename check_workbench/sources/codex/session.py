"""One Codex session, line by line; see `codex_rollout` for what becomes of what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from check_workbench.errors import InputError
from check_workbench.records import Run
from check_workbench.sources.codex.calls import end, judge
from check_workbench.sources.messages import text_of
from check_workbench.sources.response_items import Items
from check_workbench.sources.times import when
from check_workbench.sources.totals import is_number, whole

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

_REPEATED = frozenset({"user_message", "agent_message", "agent_reasoning", "agent_reasoning_raw_content"})
_HARNESS = ("<environment_context>", "<user_instructions>", "# AGENTS.md instructions")
"""How messages of the user start that Codex wrote itself."""
_COUNTS = {"input_tokens": "prompt_tokens", "output_tokens": "completion_tokens", "total_tokens": "total_tokens"}


class CodexSession:
    """The run of a session while its lines come in."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        """Ids of the sessions that name themselves in the file; the first one is this session's."""
        self._items = Items()
        self._meta: dict[str, Any] = {}
        self._prompt: str | None = None
        self._status: str | None = None
        self._totals: Mapping[str, Any] | None = None
        self._events: list[Mapping[str, Any]] = []
        self._times: list[datetime] = []

    @property
    def spans_told(self) -> int:
        """How many spans there are so far."""
        return len(self._items.rows.rows)

    def add(self, record: Mapping[str, Any]) -> None:
        """Take the next line.

        Raises
        ------
        InputError
            If it is none of a session.
        """
        payload, kind, at = record.get("payload"), record.get("type"), when(record.get("timestamp"))
        if at is not None:
            self._times.append(at)
        if payload is None:
            self._bare(record)
            return
        if not isinstance(payload, dict):
            raise InputError(f"the payload of a line must be an object, got {type(payload).__name__}")
        if kind == "response_item":
            self.item(payload, at)
        elif kind == "event_msg":
            self._event(payload, record, at)
        else:
            self._context(payload, record, at)

    def name(self, meta: Mapping[str, Any]) -> None:
        """Take what the session says of itself."""
        if isinstance(meta.get("id"), str) and meta["id"]:
            self.ids.append(meta["id"])
        self._meta = {key: value for key, value in meta.items() if key not in ("id", "timestamp")}

    def item(self, item: Mapping[str, Any], at: datetime | None = None) -> None:
        """Take an item of the Responses API."""
        row = self._items.add(item, at)
        if row is not None:
            judge(row)

    def run(self, run_id: str) -> Run:
        """Return the run; a session that names itself has that id."""
        told, system = self._items, self._meta.get("base_instructions") or self._meta.get("instructions")
        given = system.get("text") if isinstance(system, dict) else system
        return Run(
            run_id=self.ids[0] if self.ids else run_id,
            workflow="codex",
            session_id=self.ids[0] if self.ids else None,
            status=self._status or ("ok" if told.final else "no_output"),
            started_at=min(self._times, default=None),
            ended_at=max(self._times, default=None),
            input=self._prompt if self._prompt is not None else self._said(),
            final_output=told.final,
            system_prompt=given if isinstance(given, str) else told.system,
            metrics=self._metrics(),
            attributes={k: v for k, v in self._meta.items() if v is not None and v is not system} or None,
            events=self._events or None,
            spans=told.rows.spans(),
        )

    def _bare(self, record: Mapping[str, Any]) -> None:
        if "type" in record or "role" in record:
            self.item(record, when(record.get("timestamp")))
        elif isinstance(record.get("id"), str) and not self._meta:
            self.name(record)
        else:
            self._events.append(record)

    def _context(self, payload: Mapping[str, Any], record: Mapping[str, Any], at: datetime | None) -> None:
        kind = record.get("type")
        if kind == "session_meta" and not self._meta:
            self.name(payload)
            return
        if kind == "compacted":
            more = {key: value for key, value in payload.items() if key != "message"}
            text = text_of(payload.get("message"))
            self._items.rows.add(type="system", name="compacted", input=text, started_at=at, attributes=more)
            return
        if kind == "session_meta" and isinstance(payload.get("id"), str):
            self.ids.append(payload["id"])
        elif kind == "turn_context" and isinstance(payload.get("model"), str):
            self._items.model = payload["model"]
        self._events.append(record)

    def _event(self, payload: Mapping[str, Any], record: Mapping[str, Any], at: datetime | None) -> None:
        named = payload.get("type")
        kind = named if isinstance(named, str) else ""
        if kind == "user_message":
            self._status = None
            self._prompt = text_of(payload.get("message")) if self._prompt is None else self._prompt
        if kind == "token_count":
            self._count(payload.get("info"))
        elif kind not in _REPEATED:
            self._events.append(record)
        if kind == "turn_aborted":
            self._status = "interrupted"
        elif kind == "error":
            self._status, message = "error", text_of(payload.get("message")) or "error"
            self._items.rows.add(type="system", name="error", status="error", error=message, started_at=at)
        elif kind in ("exec_command_end", "mcp_tool_call_end", "patch_apply_end"):
            row = self._items.calls.get(str(payload.get("call_id")))
            if row is not None:
                end(row, payload)

    def _count(self, info: Any) -> None:
        totals = info.get("total_token_usage") if isinstance(info, dict) else None
        if not isinstance(totals, dict) or totals == self._totals:
            return
        self._totals = totals
        last, reply = info.get("last_token_usage"), self._items.reply
        if isinstance(last, dict) and reply is not None and "usage" not in reply["attributes"]:
            reply["attributes"]["usage"] = last
            for field, key in (("tokens_in", "input_tokens"), ("tokens_out", "output_tokens")):
                reply[field] = whole(last[key]) if is_number(last.get(key)) else None

    def _metrics(self) -> dict[str, float] | None:
        totals = self._totals or {}
        return {new: totals[old] for old, new in _COUNTS.items() if is_number(totals.get(old))} or None

    def _said(self) -> str | None:
        said = [row["input"] for row in self._items.rows.rows if row["type"] == "user" and row["input"] is not None]
        return next((text for text in said if not text.lstrip().startswith(_HARNESS)), self._items.prompt)
