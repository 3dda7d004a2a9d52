"""The workbench's own runs: JSON lines, one run a line, `run_id` required. The store reads them set-based."""

from __future__ import annotations

from typing import TYPE_CHECKING

from check_workbench.sources.format import Format

if TYPE_CHECKING:
    from check_workbench.sources.format import Head


_ABOUT_RUNS = ("check_id", "decision", "feedback_source")
"""Keys of decisions, recorded answers and feedback of LangSmith, which name a run_id as well."""
_OF_RUNS = ("spans", "steps", "workflow", "final_output")


def _detect(head: Head) -> str | None:
    if "run_id" not in head.keys or head.shape != "lines":
        return None
    if any(key in head.keys for key in _ABOUT_RUNS) and not any(key in head.keys for key in _OF_RUNS):
        return None
    return "its first line is an object with run_id"


FORMAT = Format(name="workbench", summary="our own JSON lines, one run a line", detect=_detect, read=None)
