"""What a trust decision was about, as it stood then: the document, its numbers, who answered, which labels."""

from __future__ import annotations

import dataclasses
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from check_workbench import __version__
from check_workbench.checks import is_rule, kind_of, thresholds

if TYPE_CHECKING:
    from check_workbench.certificates.hygiene import Sample
    from check_workbench.checks import Check
    from check_workbench.checks.check import Item
    from check_workbench.store import Store


def described(check: Check, store: Store, labels: Sample) -> dict[str, Any]:
    """Return everything that a reader needs to make the decision again; no clock and no folder of this machine.

    Parameters
    ----------
    check
        The check as its file stands.
    store
        The store, for its name.
    labels
        The labels and the work.
    """
    days = labels.usable["decided_at"].dropna()
    return {
        "file": None if check.file is None else shown_file(check.file),
        "dialect": check.dialect,
        "items": [asked(item) for item in check.items],
        "thresholds": [{"item": t.item, "key": t.key, "value": t.value} for t in thresholds(check)],
        "asked": check.asked,
        "document": check.document,
        "answered_by": _answered_by(labels),
        "labels_from": None if days.empty else days.min().date().isoformat(),
        "labels_to": None if days.empty else days.max().date().isoformat(),
        "database": "in memory" if store.path is None else store.path.name,
        "package": f"check_workbench {__version__}",
    }


def shown_file(file: str) -> str:
    """Return a file as it was given; of an absolute path only the name, since the folder says nothing elsewhere.

    Examples
    --------
    >>> shown_file("checks/refund.check.yaml"), shown_file("/checks/refund.check.yaml")
    ('checks/refund.check.yaml', 'refund.check.yaml')
    """
    path = PurePath(file)
    return path.name if path.is_absolute() else file


def asked(item: Item) -> str:
    """Return what an item asks or measures, in one line.

    Examples
    --------
    >>> from check_workbench.checks import AtLeast, Item, Repeat
    >>> asked(Item(asks=Repeat(), cut=AtLeast(value=3)))
    'rule repeat: same tool, input'
    """
    if not is_rule(item.asks):
        return str(getattr(item.asks, "ask", ""))
    set_here = {
        field.name: getattr(item.asks, field.name)
        for field in dataclasses.fields(item.asks)
        if field.name == "same" or getattr(item.asks, field.name) != field.default
    }
    words = "; ".join(f"{name} {_plain(value)}" for name, value in set_here.items())
    return f"rule {kind_of(item.asks)}{f': {words}' if words else ''}"


def _plain(value: Any) -> str:
    if dataclasses.is_dataclass(value):
        parts = [(f.name, getattr(value, f.name)) for f in dataclasses.fields(value)]
        return ", ".join(f"{name} {_plain(part)}" for name, part in parts if part)
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _answered_by(labels: Sample) -> list[str]:
    by = labels.population[["method", "model"]].fillna("").drop_duplicates().itertuples(index=False, name=None)
    return sorted({" ".join(part for part in pair if part) for pair in by} - {""})
