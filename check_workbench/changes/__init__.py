"""What changed between two versions of a check, and whether a folder of checks still keeps what was once measured."""

from __future__ import annotations

from check_workbench.changes.differing import diff
from check_workbench.changes.gating import gate
from check_workbench.changes.outcome import Difference
from check_workbench.changes.passage import Gate

__all__ = ["Difference", "Gate", "diff", "gate"]
