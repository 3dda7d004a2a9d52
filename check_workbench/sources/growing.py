"""The spans of a run while the results of its calls still come in."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from check_workbench.sources.spans import span

if TYPE_CHECKING:
    from check_workbench.records import Span

    Row = dict[str, Any]
    """Fields of a span."""


class Growing:
    """Rows in the order in which they began; each becomes a span in the end.

    Examples
    --------
    >>> told = Growing()
    >>> _ = told.call("c1", type="tool", name="Read")
    >>> told.answer("c1").update(output="text", status="ok")
    >>> [(one.name, one.span_id, one.output) for one in told.spans()]
    [('Read', 'c1', 'text')]
    """

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self._ids: set[str] = set()
        self._waiting: dict[str, deque[Row]] = {}

    def add(self, *, span_id: Any = None, **fields: Any) -> Row:
        """Add a row; an id that is no text, or that another row has, is none."""
        row: Row = {**fields, "span_id": self._claimed(span_id)}
        self.rows.append(row)
        return row

    def call(self, id_: Any, **fields: Any) -> Row:
        """Add the row of a call, which waits for its result."""
        row = self.add(span_id=id_, **fields)
        if isinstance(id_, str):
            self._waiting.setdefault(id_, deque()).append(row)
        return row

    def answer(self, id_: Any) -> Row | None:
        """Take the first call with this id that waits for a result, if there is one."""
        calls = self._waiting.get(id_) if isinstance(id_, str) else None
        return calls.popleft() if calls else None

    def waits(self, id_: str) -> bool:
        """Say whether a call with this id waits for its result."""
        return bool(self._waiting.get(id_))

    def spans(self) -> tuple[Span, ...]:
        """Return the spans; empty attributes are none."""
        return tuple(span(**{**row, "attributes": row.get("attributes") or None}) for row in self.rows)

    def _claimed(self, id_: Any) -> str | None:
        if not isinstance(id_, str) or not id_ or id_.startswith("#") or id_ in self._ids:
            return None
        self._ids.add(id_)
        return id_


def tool_type(name: str | None) -> str:
    """Return the type of a call's span by the name of its tool; `mcp__server__tool` is how agents name those of MCP.

    Examples
    --------
    >>> tool_type("mcp__tickets__create"), tool_type("Read")
    ('mcp_tool', 'tool')
    """
    return "mcp_tool" if name is not None and name.startswith("mcp__") else "tool"
