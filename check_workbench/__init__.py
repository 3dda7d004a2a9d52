"""Calibrate checks over agent runs against human decisions, and say when they may be trusted.

The public names are loaded on first use; importing the package itself loads no heavy library.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from check_workbench.calibration import calibrate
    from check_workbench.certificates import trust
    from check_workbench.changes import diff, gate
    from check_workbench.comparison import compare
    from check_workbench.dialects import read_checks
    from check_workbench.drafts import preview
    from check_workbench.engines import connect
    from check_workbench.evaluation import evaluate
    from check_workbench.labelling import label_next
    from check_workbench.monitoring import audit
    from check_workbench.plans import plan
    from check_workbench.store import Store
    from check_workbench.store import open_store as open  # noqa: A004

__version__ = "0.1.0"

_HOMES = {
    "Store": ("store", "Store"),
    "audit": ("monitoring", "audit"),
    "calibrate": ("calibration", "calibrate"),
    "compare": ("comparison", "compare"),
    "connect": ("engines", "connect"),
    "diff": ("changes", "diff"),
    "evaluate": ("evaluation", "evaluate"),
    "label_next": ("labelling", "label_next"),
    "gate": ("changes", "gate"),
    "open": ("store", "open_store"),
    "plan": ("plans", "plan"),
    "preview": ("drafts", "preview"),
    "read_checks": ("dialects", "read_checks"),
    "trust": ("certificates", "trust"),
}

__all__ = [
    "Store",
    "audit",
    "calibrate",
    "compare",
    "connect",
    "diff",
    "evaluate",
    "gate",
    "label_next",
    "open",
    "plan",
    "preview",
    "read_checks",
    "trust",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        message = f"module 'check_workbench' has no attribute {name!r}"
        raise AttributeError(message)
    module, attribute = _HOMES[name]
    value = getattr(importlib.import_module(f"check_workbench.{module}"), attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
