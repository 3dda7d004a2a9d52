"""One Claude Code session, line by line; see `claude_code` for what becomes of what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from check_workbench.errors import InputError
from check_workbench.records import Run
from check_workbench.sources.blocks import blocks_of
from check_workbench.sources.claude_code.chains import Chains
from check_workbench.sources.claude_code.replies import Replies
from check_workbench.sources.growing import Growing, tool_type
from check_workbench.sources.messages import text_of
from check_workbench.sources.times import when

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from check_workbench.sources.blocks import Block, Blocks
    from check_workbench.sources.growing import Row

    Line = tuple[int, dict[str, Any]]
    """A record and the line of the file where it stands."""

_SHARED = ("cwd", "gitBranch", "version", "userType", "entrypoint", "slug", "permissionMode")
"""What is the same on most lines of a session."""
_STRUCTURE = frozenset({"type", "uuid", "parentUuid", "sessionId", "agentId", "isSidechain", "timestamp", "message"})
_TITLES = {"summary": "summary", "custom-title": "customTitle", "ai-title": "aiTitle"}
_INTERRUPTED = "[Request interrupted by user"


class Session:
    """The run of a session, or of one of its sub-agents, while its lines come in."""

    def __init__(self, session_id: str, agent: str | None) -> None:
        self.repeated = 0
        self._session_id = session_id
        self._agent = agent
        self._told = Growing()
        self._chains = Chains(whole=agent is not None)
        self._replies = Replies(self._told)
        self._shared: dict[str, Any] = {}
        self._titles: list[str] = []
        self._events: list[Mapping[str, Any]] = []
        self._times: list[datetime] = []
        self._prompt: str | None = None
        self._harness: str | None = None
        self._final: str | None = None
        self._status: str | None = None

    @property
    def spans_told(self) -> int:
        """How many spans there are so far."""
        return len(self._told.rows)

    def add(self, record: dict[str, Any]) -> None:
        """Take the next line.

        Raises
        ------
        InputError
            If it is none of a session.
        """
        type_ = record.get("type")
        at = when(record.get("timestamp"))
        title = record.get(_TITLES.get(str(type_), ""))
        if isinstance(title, str):
            self._titles.append(title)
        elif not self._chains.add(record, at, self._told):
            self.repeated += 1
        else:
            if type_ in ("user", "assistant", "system"):
                self._speak(record, at)
            else:
                self._events.append(record)
            self._times += [] if at is None else [at]

    def run(self) -> Run:
        """Return the run."""
        self._chains.mark_abandoned()
        metrics = self._replies.metrics()
        return Run(
            run_id=self._session_id if self._agent is None else f"{self._session_id}/{self._agent}",
            workflow="claude-code",
            session_id=self._session_id,
            status=self._status or ("ok" if self._final else "no_output"),
            started_at=min(self._times, default=None),
            ended_at=max(self._times, default=None),
            input=self._prompt if self._prompt is not None else self._harness,
            final_output=self._final,
            metrics=metrics or None,
            attributes=self._shared | ({"titles": self._titles} if self._titles else {}) or None,
            events=self._events or None,
            spans=self._told.spans(),
        )

    def _speak(self, record: dict[str, Any], at: datetime | None) -> None:
        for key in _SHARED:
            if key not in self._shared and record.get(key) is not None:
                self._shared[key] = record[key]
        type_, message = record["type"], record.get("message")
        if type_ == "system":
            self._notice(record, at)
            return
        if not isinstance(message, dict):
            raise InputError(f"the message of a {type_} line must be an object, got {type(message).__name__}")
        found = blocks_of(message.get("content"))
        if type_ == "user":
            self._said(record, found, at)
        else:
            self._replied(record, message, found, at)

    def _said(self, record: dict[str, Any], found: Blocks, at: datetime | None) -> None:
        rest = self._rest(record)
        for block in found.results:
            self._result(block, at, rest)
            rest = {}
        if found.text is None:
            if not found.results:
                self._chains.own(record, self._told.add(type="user", started_at=at, attributes=rest))
            return
        type_, name = self._kind(record)
        given = rest | ({"content": found.others} if found.others else {})
        uuid = record.get("uuid")
        row = self._told.add(span_id=uuid, type=type_, name=name, input=found.text, started_at=at, attributes=given)
        self._chains.own(record, row)
        if not self._chains.aside(record):
            self._heard(type_, found.text)

    def _heard(self, type_: str, text: str) -> None:
        if text.startswith(_INTERRUPTED):
            self._status = "interrupted"
        elif type_ == "system":
            self._harness = text if self._harness is None else self._harness
        elif self._prompt is None:
            self._prompt = text

    def _kind(self, record: Mapping[str, Any]) -> tuple[str, str | None]:
        if record.get("isCompactSummary") is True:
            return "system", "compact_summary"
        if record.get("isMeta") is True:
            return "system", "meta"
        return ("agent" if self._chains.starts_aside(record) else "user"), None

    def _result(self, block: Block, at: datetime | None, rest: dict[str, Any]) -> None:
        row = self._told.answer(block.get("tool_use_id"))
        if row is None:
            row = self._told.add(type="tool", started_at=at, attributes={})
        content = block.get("content")
        output = text_of(content)
        failed = block.get("is_error") is True
        row.update(
            output=output,
            status="error" if failed else "ok",
            error=(output or "error") if failed else None,
            ended_at=at,
        )
        row["attributes"] |= rest
        if blocks_of(content).others:
            row["attributes"]["content"] = content

    def _replied(self, record: dict[str, Any], message: Mapping[str, Any], found: Blocks, at: datetime | None) -> None:
        row = self._replies.add(record, message, found, self._chains.before(record) or at)
        row["ended_at"] = at or row.get("ended_at")
        row["attributes"] |= self._rest(record)
        self._chains.own(record, row)
        for block in found.calls:
            self._chains.own(record, self._call(block, at))
        for block in found.results:
            self._result(block, at, {})
        if self._chains.aside(record):
            return
        self._status = "error" if record.get("isApiErrorMessage") is True else None
        if found.text:
            self._final = found.text
        if found.calls:
            self._final = None

    def _call(self, block: Block, at: datetime | None) -> Row:
        name = block.get("name") if isinstance(block.get("name"), str) else None
        given = block.get("input")
        type_ = "mcp_tool" if block["type"] == "mcp_tool_use" else tool_type(name)
        row = self._told.call(block.get("id"), type=type_, name=name, input=given, started_at=at, attributes={})
        self._chains.may_begin(given, row)
        return row

    def _notice(self, record: dict[str, Any], at: datetime | None) -> None:
        content, subtype = record.get("content"), record.get("subtype")
        text = content if content is None or isinstance(content, str) else text_of(content)
        failed = record.get("level") == "error" or subtype == "api_error"
        row = self._told.add(
            span_id=record.get("uuid"),
            type="system",
            name=subtype if isinstance(subtype, str) else None,
            input=text,
            status="error" if failed else None,
            error=(text or "error") if failed else None,
            started_at=at,
            attributes=self._rest(record, "content", "subtype"),
        )
        self._chains.own(record, row)

    def _rest(self, record: Mapping[str, Any], *used: str) -> dict[str, Any]:
        """Return what no field took and the run does not say already."""
        return {
            key: value
            for key, value in record.items()
            if key not in _STRUCTURE and key not in used and value is not None and self._shared.get(key) != value
        }
