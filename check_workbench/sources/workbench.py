"""The workbench's own runs: JSON lines, one run a line, `run_id` required. The store reads them set-based."""

from __future__ import annotations

from typing import TYPE_CHECKING

from check_workbench.sources.format import Format

if TYPE_CHECKING:
    from check_workbench.sources.format import Head


def _detect(head: Head) -> str | None:
    if "run_id" not in head.keys or head.shape != "lines":
        return None
    return "its first line is an object with run_id"


FORMAT = Format(name="workbench", summary="our own JSON lines, one run a line", detect=_detect, read=None)
