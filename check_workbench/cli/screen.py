"""What a command shows: its outcome on stdout, everything else on stderr."""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
import sys
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of a command."""

    text: str
    data: Any
    """The JSON document."""
    code: int = 0


def ensure_streams() -> None:
    """Put nothingness where a stream was closed by the caller, so that no file that is opened later takes its place."""
    closed = [name for name in ("stdin", "stdout", "stderr") if getattr(sys, name) is None]
    for name in closed:
        flags = os.O_RDONLY if name == "stdin" else os.O_WRONLY
        setattr(sys, name, os.fdopen(os.open(os.devnull, flags), "r" if name == "stdin" else "w", encoding="utf-8"))
    if "stdout" in closed:
        announce("check-workbench: stdout is closed, so nothing is shown")


def show(outcome: Outcome, *, as_json: bool) -> None:
    """Write the outcome to stdout; a reader that has gone away is no error."""
    if as_json:
        _write(sys.stdout, json.dumps(plain(outcome.data), allow_nan=False))
    elif outcome.text:
        _write(sys.stdout, outcome.text)


def announce(text: str) -> None:
    """Write a line to stderr."""
    _write(sys.stderr, text.rstrip())


def failed(error: BaseException, code: int, *, as_json: bool, debug: bool, message: str | None = None) -> int:
    """Say what went wrong and return the exit code.

    Parameters
    ----------
    error
        What was raised.
    code
        The exit code.
    as_json
        Whether stdout is promised one JSON document: then it is `{"error": {"kind", "message"}}`.
    debug
        Whether to show the traceback.
    message
        Words in place of the error's own.
    """
    said = message or _words(error)
    if debug:
        announce("".join(traceback.format_exception(error)))
    announce(f"check-workbench: {said}")
    if as_json:
        show(Outcome(text="", data={"error": {"kind": type(error).__name__, "message": said}}), as_json=True)
    return code


def table(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """Lay rows out in columns, numbers to the right.

    Examples
    --------
    >>> print(table([{"check": "loop", "n": 12}, {"check": "streak", "n": 3}], ["check", "n"]))
    check    n
    loop    12
    streak   3
    """
    cells = [[_cell(row.get(name)) for name in columns] for row in rows]
    right = [bool(rows) and all(isinstance(row.get(name), int | float | None) for row in rows) for name in columns]
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    lines = (
        "  ".join(text.rjust(w) if r else text.ljust(w) for text, w, r in zip(line, widths, right, strict=True))
        for line in [list(columns), *cells]
    )
    return "\n".join(line.rstrip() for line in lines)


def counted(count: int, noun: str) -> str:
    """Write a count with its noun.

    Examples
    --------
    >>> counted(1, "error"), counted(1569, "run")
    ('1 error', '1,569 runs')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it: what is not a number becomes null, times become ISO 8601.

    Examples
    --------
    >>> plain({"at": float("nan"), "n": (1, 2)})
    {'at': None, 'n': [1, 2]}
    """
    if isinstance(value, dict):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return plain(value.item()) if hasattr(value, "item") else str(value)


def _words(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror and not type(error).__module__.startswith("check_workbench"):
        place = f"{error.filename}: " if error.filename else ""
        return f"{place}{error.strerror}"
    return str(error) or type(error).__name__


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.3g}"
    return str(value)


def _write(stream: TextIO, text: str) -> None:
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    try:
        stream.write(f"{text}\n")
        stream.flush()
    except OSError as error:
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if not isinstance(error, BrokenPipeError) and stream is sys.stdout:
            raise
