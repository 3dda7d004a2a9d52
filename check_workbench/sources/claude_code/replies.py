"""Replies of the Anthropic API that came in pieces: one message, several lines, one usage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from check_workbench.sources.totals import is_number, whole

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from check_workbench.sources.blocks import Blocks
    from check_workbench.sources.growing import Growing, Row

READ = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
"""What a model read: the API counts what came from the cache, or went into it, beside the rest."""
_TAKEN = frozenset({"id", "type", "role", "model", "content", "usage"})


class Replies:
    """The `llm` rows of a run, one a message.

    Parameters
    ----------
    told
        The run's rows.
    """

    def __init__(self, told: Growing) -> None:
        self._told = told
        self._by_id: dict[str, Row] = {}
        self._rows: list[Row] = []
        self._costs: dict[str | int, float] = {}
        """By message; each of its lines repeats what it cost."""

    def add(
        self, record: Mapping[str, Any], message: Mapping[str, Any], found: Blocks, started_at: datetime | None
    ) -> Row:
        """Add a piece of a message to its row, and return that."""
        id_ = message.get("id")
        row = self._by_id.get(id_) if isinstance(id_, str) else None
        if row is None:
            model = message.get("model")
            row = self._told.add(
                span_id=record.get("uuid"),
                type="llm",
                model=model if isinstance(model, str) else None,
                output=None,
                started_at=started_at,
                attributes={},
            )
            self._rows.append(row)
            if isinstance(id_, str):
                self._by_id[id_] = row
                row["attributes"]["message_id"] = id_
        if is_number(record.get("costUSD")):
            key = id_ if isinstance(id_, str) else len(self._rows)
            self._costs[key] = max(record["costUSD"], self._costs.get(key, 0))
        _join(row, message, found)
        return row

    def metrics(self) -> dict[str, float]:
        """Return the tokens and costs of the run, each message once."""
        known = [row for row in self._rows if row.get("tokens_in") is not None or row.get("tokens_out") is not None]
        found: dict[str, float] = {}
        if known:
            found["prompt_tokens"] = sum(row.get("tokens_in") or 0 for row in known)
            found["completion_tokens"] = sum(row.get("tokens_out") or 0 for row in known)
            found["total_tokens"] = found["prompt_tokens"] + found["completion_tokens"]
        if self._costs:
            found["total_cost"] = sum(self._costs.values())
        return found


def tokens_of(usage: Any) -> tuple[int | None, int | None]:
    """Return the tokens that a model read and wrote, by the usage of a message.

    Examples
    --------
    >>> tokens_of({"input_tokens": 3, "cache_read_input_tokens": 900, "output_tokens": 20})
    (903, 20)
    """
    if not isinstance(usage, dict):
        return None, None
    read = [count for key in READ if (count := whole_of(usage.get(key))) is not None]
    return whole(sum(read)) if read else None, whole_of(usage.get("output_tokens"))


def whole_of(value: Any) -> int | None:
    """Return a number of tokens, None where it is none that can be."""
    return whole(value) if is_number(value) else None


def _join(row: Row, message: Mapping[str, Any], found: Blocks) -> None:
    kept = row["attributes"]
    for key, text in (("output", found.text), ("thinking", found.thinking)):
        holder = row if key == "output" else kept
        if text is not None:
            before = holder.get(key)
            holder[key] = text if before is None else f"{before}\n{text}"
    if found.others:
        kept.setdefault("content", []).extend(found.others)
    read, written = tokens_of(message.get("usage"))
    if (written or 0) >= (row.get("tokens_out") or 0) and message.get("usage") is not None:
        kept["usage"] = message["usage"]
        row.update(tokens_in=read, tokens_out=written)
    kept.update({key: value for key, value in message.items() if key not in _TAKEN and value is not None})
