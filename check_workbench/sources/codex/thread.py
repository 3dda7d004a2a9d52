"""One thread of `codex exec --json`, event by event; see `exec_events` for what becomes of what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from check_workbench.errors import InputError
from check_workbench.records import Run
from check_workbench.sources.growing import Growing
from check_workbench.sources.messages import text_of
from check_workbench.sources.totals import is_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from check_workbench.sources.growing import Row

_INPUTS = ("command", "arguments", "changes", "query", "items", "prompt")
_OUTPUTS = ("aggregated_output", "result", "results")
_ITEM = frozenset({"id", "type", "text", "status", "error", "tool", *_INPUTS, *_OUTPUTS})
_COUNTS = {"input_tokens": "prompt_tokens", "output_tokens": "completion_tokens"}
_FAILED = ("failed", "declined")


class CodexThread:
    """The run of a thread while its events come in.

    Parameters
    ----------
    run_id
        Its id, if it does not name itself.
    attributes
        What is known of it beside its events.
    """

    def __init__(self, run_id: str, attributes: Mapping[str, Any] | None = None) -> None:
        self._run_id = run_id
        self._thread_id: str | None = None
        self._attributes = attributes
        self._rows = Growing()
        self._items: dict[str, Row] = {}
        self._thinking: Row | None = None
        """A thought that no message followed yet."""
        self._final: str | None = None
        self._status: str | None = None
        self._metrics: dict[str, float] = {}
        self._events: list[Mapping[str, Any]] = []

    def add(self, event: Mapping[str, Any]) -> None:
        """Take the next event.

        Raises
        ------
        InputError
            If it is none.
        """
        type_ = event.get("type")
        if not isinstance(type_, str):
            raise InputError(f"an event must have a type, got {type_!r:.80}")
        if type_.startswith("item."):
            item = event.get("item")
            if not isinstance(item, dict):
                raise InputError(f"the item of {type_} must be an object, got {type(item).__name__}")
            self._item(item, done=type_ == "item.completed")
        elif type_ == "thread.started" and isinstance(event.get("thread_id"), str) and event["thread_id"]:
            self._thread_id = event["thread_id"]
        elif type_ in ("turn.failed", "error"):
            self._status = "error"
            self._failure(event.get("error", event.get("message")))
        elif type_ in ("turn.started", "turn.completed"):
            self._turn(event.get("usage"))
        else:
            self._events.append(event)

    def run(self) -> Run:
        """Return the run."""
        counted = self._metrics
        if counted.keys() >= {"prompt_tokens", "completion_tokens"}:
            counted["total_tokens"] = counted["prompt_tokens"] + counted["completion_tokens"]
        return Run(
            run_id=self._thread_id or self._run_id,
            workflow="codex",
            session_id=self._thread_id,
            status=self._status or ("ok" if self._final else "no_output"),
            final_output=self._final,
            metrics=counted or None,
            attributes=self._attributes or None,
            events=self._events or None,
            spans=self._rows.spans(),
        )

    def _turn(self, usage: Any) -> None:
        """Begin a turn, or end one; a turn that failed ends otherwise."""
        self._status = None
        for key, value in usage.items() if isinstance(usage, dict) else ():
            if is_number(value):
                name = _COUNTS.get(key) or str(key)
                self._metrics[name] = self._metrics.get(name, 0) + value

    def _failure(self, error: Any) -> None:
        message = error.get("message") if isinstance(error, dict) else error
        told = text_of(message) or "error"
        last = self._rows.rows[-1] if self._rows.rows else {}
        if (last.get("type"), last.get("error")) != ("system", told):
            self._rows.add(type="system", name="error", status="error", error=told)

    def _item(self, item: Mapping[str, Any], *, done: bool) -> None:
        kind = item.get("type")
        if kind == "error":
            self._failure(item)
        elif kind in ("agent_message", "reasoning"):
            if done:
                self._speak(item, thinks=kind == "reasoning")
        elif isinstance(kind, str) and kind:
            self._thinking = None
            self._work(item, kind, done=done)
        else:
            raise InputError(f"an item must have a type, got {kind!r:.80}")

    def _speak(self, item: Mapping[str, Any], *, thinks: bool) -> None:
        text = text_of(item.get("text"))
        row = self._thinking or self._rows.add(type="llm", span_id=item.get("id"), output=None, attributes={})
        row["attributes"] |= {key: value for key, value in item.items() if key not in _ITEM and value is not None}
        self._thinking = row if thinks else None
        if thinks:
            row["attributes"]["thinking"] = "\n".join(t for t in (row["attributes"].get("thinking"), text) if t)
        else:
            row["output"] = self._final = text

    def _work(self, item: Mapping[str, Any], kind: str, *, done: bool) -> None:
        id_, tool = item.get("id"), item.get("tool")
        row = self._items.get(id_) if isinstance(id_, str) else None
        if row is None:
            row = self._rows.add(span_id=id_, type="mcp_tool" if kind == "mcp_tool_call" else "tool")
            if isinstance(id_, str):
                self._items[id_] = row
        code = item.get("exit_code")
        row.update(
            name=tool if isinstance(tool, str) and tool else kind,
            input=next((item[key] for key in _INPUTS if item.get(key) is not None), None),
            attributes={key: value for key, value in item.items() if key not in _ITEM and value is not None},
        )
        if not done:
            return
        output = next((item[key] for key in _OUTPUTS if item.get(key) is not None), None)
        failed = bool(item.get("error")) or item.get("status") in _FAILED or (is_number(code) and code != 0)
        row.update(output=output, status="error" if failed else "ok")
        if failed:
            error = item.get("error")
            told = error.get("message", error) if isinstance(error, dict) else error
            row["error"] = text_of(told) or text_of(output) or "error"
