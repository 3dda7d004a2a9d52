"""One span of an MLflow trace.

| recorded | span |
|---|---|
| `span_id`, `parent_span_id`, as base64 in MLflow 3; `context.span_id`, `parent_id` in MLflow 2 | ids in hexadecimal |
| `mlflow.spanType`: `CHAT_MODEL` and `LLM`; `UNKNOWN`; any other | `type` `llm`; `span`; in lower case |
| `mlflow.spanInputs`, `mlflow.spanOutputs` | `input`, `output` |
| `start_time_unix_nano`, `end_time_unix_nano`, in MLflow 2 `start_time`, `end_time` | `started_at`, `ended_at` |
| status ERROR, with its message; OK | `status` `error`, `error`; `ok` |
| `mlflow.chat.tokenUsage`; `mlflow.llm.model` | `tokens_in`, `tokens_out`; `model` |
| all other attributes, which are JSON in a text | `attributes` |
| `events`, `links` | `attributes.events`, `attributes.links` |
"""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Any

from check_workbench.errors import InputError
from check_workbench.sources.json_text import decode
from check_workbench.sources.spans import span
from check_workbench.sources.times import when
from check_workbench.sources.totals import number, whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from check_workbench.records import Span

_TYPES = {"CHAT_MODEL": "llm", "LLM": "llm", "UNKNOWN": "span"}
_INPUTS, _OUTPUTS, _TYPE = "mlflow.spanInputs", "mlflow.spanOutputs", "mlflow.spanType"
_USAGE, _MODEL, _TRACE = "mlflow.chat.tokenUsage", "mlflow.llm.model", "mlflow.traceRequestId"
_TAKEN = frozenset({_INPUTS, _OUTPUTS, _TYPE, _USAGE, _MODEL, _TRACE})
_BASE64 = 12
"""Characters in which 8 bytes are written."""


def span_of(row: Any) -> Span:
    """Make a span.

    Parameters
    ----------
    row
        As recorded.

    Raises
    ------
    ValueError
        If something that a span needs is missing or wrong.
    """
    if not isinstance(row, dict):
        raise InputError(f"a span must be an object, got {type(row).__name__}")
    given = row.get("attributes") or {}
    if not isinstance(given, dict):
        raise InputError(f"the attributes of a span must be an object, got {type(given).__name__}")
    told = {key: _plain(value) for key, value in given.items()}
    context = row.get("context")
    usage = told.get(_USAGE)
    usage = usage if isinstance(usage, dict) else {}
    failed, message = _status(row)
    kind = told.get(_TYPE)
    kept = {key: value for key, value in told.items() if key not in _TAKEN and value is not None}
    kept.update({key: row[key] for key in ("events", "links") if row.get(key)})
    return span(
        type=_TYPES.get(kind, kind.lower()) if isinstance(kind, str) and kind else "span",
        name=row["name"] if isinstance(row.get("name"), str) else None,
        span_id=id_of(context.get("span_id") if isinstance(context, dict) else row.get("span_id")),
        parent_id=id_of(row.get("parent_span_id", row.get("parent_id"))),
        input=told.get(_INPUTS),
        output=told.get(_OUTPUTS),
        status="error" if failed else None if failed is None else "ok",
        error=(message or "error") if failed else None,
        started_at=when(row.get("start_time_unix_nano", row.get("start_time"))),
        ended_at=when(row.get("end_time_unix_nano", row.get("end_time"))),
        tokens_in=whole(number([usage.get("input_tokens")])),
        tokens_out=whole(number([usage.get("output_tokens")])),
        model=told[_MODEL] if isinstance(told.get(_MODEL), str) else None,
        attributes=kept or None,
    )


def id_of(value: Any) -> str | None:
    """Return the id of a span as hexadecimal digits, which MLflow 3 writes in base64.

    Examples
    --------
    >>> id_of("hnkxwErDfWM="), id_of("9ab66a0b5590b337")
    ('867931c04ac37d63', '9ab66a0b5590b337')
    """
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise InputError(f"the id of a span must be text, got {value!r:.80}")
    if len(value) != _BASE64 or not value.endswith("="):
        return value
    try:
        return base64.b64decode(value, validate=True).hex()
    except binascii.Error:
        return value


def _status(row: Mapping[str, Any]) -> tuple[bool | None, str | None]:
    status = row.get("status")
    told = (
        status if isinstance(status, dict) else {"code": row.get("status_code"), "message": row.get("status_message")}
    )
    code, message = told.get("code"), told.get("message")
    failed = {"ERROR": True, "OK": False}.get(str(code).removeprefix("STATUS_CODE_"))
    return failed, message if isinstance(message, str) else None


def _plain(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return decode(value)
    except ValueError:
        return value
