"""Whether a call that Codex ran failed: by its exit code, by its words, or by the event that ended it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from check_workbench.sources.json_text import decode
from check_workbench.sources.messages import text_of
from check_workbench.sources.totals import is_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from check_workbench.sources.growing import Row

_HEADER = re.compile(
    r"(?:Chunk ID: [^\n]*\n)?(?:Wall time: [^\n]*\n)?(?:Exit code: |Process exited with code )(-?\d{1,9})\b"
)
_REFUSALS = (
    "failed to parse function arguments",
    "unsupported call",
    "unsupported custom tool call",
    "apply_patch verification failed",
    "exec command rejected by user",
    "execution error",
    "aborted by user",
)
"""How the output of a call starts that Codex itself refused or stopped."""


def judge(row: Row) -> None:
    """Say of a call whether it failed, by the exit code with which Codex heads its output.

    Parameters
    ----------
    row
        The call, answered.
    """
    output = row["output"]
    if not isinstance(output, str):
        return
    code = exit_code(output)
    if code is not None:
        row["attributes"]["exit_code"] = code
    if code not in (None, 0) or output.startswith(_REFUSALS):
        row.update(status="error", error=output)


def exit_code(output: str) -> int | None:
    r"""Return the exit code in the output of a command, None where none is told.

    Examples
    --------
    >>> exit_code("Exit code: 2\nWall time: 0.1 seconds\nOutput:\n"), exit_code('{"metadata": {"exit_code": 1}}')
    (2, 1)
    """
    if found := _HEADER.match(output):
        return int(found[1])
    if not output.startswith("{") or '"exit_code"' not in output:
        return None
    try:
        told = decode(output).get("metadata")
    except ValueError:
        return None
    code = told.get("exit_code") if isinstance(told, dict) else None
    return code if isinstance(code, int) and not isinstance(code, bool) else None


def end(row: Row, event: Mapping[str, Any]) -> None:
    """Add to a call what the event says that ended it: its time, exit code or result.

    Parameters
    ----------
    row
        The call.
    event
        `exec_command_end`, `mcp_tool_call_end` or `patch_apply_end`.
    """
    took, code, result = event.get("duration"), event.get("exit_code"), event.get("result")
    if isinstance(took, dict) and is_number(took.get("secs")) and is_number(took.get("nanos")):
        row["duration_ms"] = took["secs"] * 1000.0 + took["nanos"] / 1e6
    if is_number(code):
        row["attributes"]["exit_code"] = code
    if event.get("type") == "mcp_tool_call_end":
        row["type"] = "mcp_tool"
    good = result.get("Ok") if isinstance(result, dict) else None
    refused = isinstance(result, dict) and "Err" in result
    failed = (is_number(code) and code != 0) or event.get("success") is False or refused
    if failed or (isinstance(good, dict) and good.get("isError", good.get("is_error")) is True):
        told = result["Err"] if refused and isinstance(result, dict) else row.get("output")
        row.update(status="error", error=text_of(told) or "error")
