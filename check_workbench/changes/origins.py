"""How the numbers of a check came about, as far as the ledger of looks or the lock knows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from check_workbench.calibration.looks import own
from check_workbench.calibration.units import records
from check_workbench.checks import thresholds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pandas as pd

    from check_workbench.checks import Check, Threshold

CONCLUDED = {"met": 1, "chosen": 2, "certified": 3}
"""How a number may have been concluded, the stronger the higher; what was merely looked at is none of them."""
FIELDS = {"pass": "pass_at", "fail": "fail_below", "confidence": "confidence"}
"""What the cut calls the numbers that it does not call its value."""


def tunable(check: Check) -> list[Threshold]:
    """Return the numbers of a check that stand in its document and could be tuned."""
    return [threshold for threshold in thresholds(check) if threshold.value is not None]


def origins(check: Check, looks: pd.DataFrame, entry: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """Say of each tunable number how it came about.

    Parameters
    ----------
    check
        The check as it stands.
    looks
        All looks in the store.
    entry
        What the lock says of the check.

    Returns
    -------
    list of dict
        `item key value by`; `by` is None for a number that no `calibrate` and no `trust` has measured, and its `how`
        is `looked` where one has measured it, but neither chose, confirmed nor certified it.
    """
    mine = own(looks, check)
    at_text = records(mine[(mine["asked"] == check.asked) & mine["call"].isin(["calibrate", "trust"])])
    found = []
    for threshold in tunable(check):
        by = _strongest([*_locked(check, threshold, entry), *_by(threshold, at_text)])
        found.append({"item": threshold.item, "key": threshold.key, "value": threshold.value, "by": by})
    return found


def concluded(by: Mapping[str, Any] | None) -> bool:
    """Say whether a number came about by a conclusion: calibrate chose or confirmed it, or trust certified it."""
    return by is not None and by.get("how") in CONCLUDED


def kind_of(made: Iterable[Mapping[str, Any]]) -> str:
    """Return which labels the numbers of a check were concluded on: `work` where none rests on labels of the check."""
    kinds = {one["by"].get("kind") for one in made if concluded(one["by"])}
    return "work" if kinds == {"work"} else "check"


def certified(check: Check, looks: pd.DataFrame, entry: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """Return the bounds that hold for a check as it stands: of its latest positive trust decisions, one a change."""
    mine = own(looks, check)
    trusts = records(mine[(mine["asked"] == check.asked) & (mine["call"] == "trust")])
    found: dict[str, list[dict[str, Any]]] = {}
    for look in trusts:
        if _ready(look) and all(_then(look, t) == t.value for t in tunable(check)):
            made = look["result"]["certificate"]
            found[look["change"]] = [
                {
                    "change": look["change"],
                    "plan": look["plan_digest"],
                    **{name: bound[name] for name in ("side", "target", "n", "errors")},
                    "bound": None if bound["upper"] is None else round(bound["upper"], 4),
                }
                for bound in made["details"]["bounds"]
            ]
    if not found and entry is not None and entry["asked"] == check.asked and _same_numbers(check, entry):
        return list(entry["certified"])
    return [bound for change in sorted(found) for bound in found[change]]


def _strongest(evidence: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the strongest evidence, of equal ones the last."""
    ranked = [(CONCLUDED.get(by.get("how", ""), 0), place, by) for place, by in enumerate(evidence)]
    return max(ranked, key=lambda one: one[:2])[2] if ranked else None


def _by(threshold: Threshold, looks: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield what each look says of a number, oldest first."""
    for look in looks:
        here = _then(look, threshold) == threshold.value
        count = len(look["labels"])
        if look["call"] == "trust" and here and count:
            made = look["result"].get("certificate", {})
            told = {"call": "trust", "change": look["change"], "plan": look["plan_digest"]}
            kind = look["result"].get("choosing", {}).get("labels", "check")
            how = "certified" if _ready(look) else "looked"
            yield {**told, "how": how, "outcome": made.get("outcome"), "kind": kind, "labels": count}
        if look["call"] == "calibrate" and count:
            yield from _calibrated(threshold, look, here=here)


def _calibrated(threshold: Threshold, look: Mapping[str, Any], *, here: bool) -> Iterator[dict[str, Any]]:
    kind, goal = look["result"].get("labels", "check"), look["result"].get("goal")
    told = {"call": "calibrate", "kind": kind, "labels": len(look["labels"])}
    found = [one if isinstance(one, dict) else {"at": one} for one in look["result"].get("chosen", ())]
    mine = [
        one for one in found if (one.get("item", threshold.item), one.get("key", threshold.key)) == _place(threshold)
    ]
    for one in mine if here else ():
        yield {**told, "how": "met" if one.get("met") else "looked", "goal": one.get("goal", goal)}
    for one in mine:
        if one["at"] == threshold.value:
            yield {**told, "how": "chosen", "goal": one.get("goal", goal)}


def _ready(look: Mapping[str, Any]) -> bool:
    return bool(look["result"].get("certificate", {}).get("outcome") == "ready")


def _then(look: Mapping[str, Any], threshold: Threshold) -> float | None:
    """Return the number that a look was about: the one that it certified, else the one of the document."""
    changes = look["result"].get("certificate", {}).get("details", {}).get("changes", ())
    for change in changes if _ready(look) else ():
        if (change["item"], change["key"]) == _place(threshold):
            return _float(change["value"])
    cuts = look["cutoffs"]
    if threshold.item >= len(cuts):
        return None
    return _float(cuts[threshold.item].get(FIELDS.get(threshold.key, "value")))


def _locked(check: Check, threshold: Threshold, entry: Mapping[str, Any] | None) -> Iterator[dict[str, Any]]:
    if entry is not None and entry["asked"] == check.asked:
        yield from (known["by"] for known in entry["thresholds"] if _is(known, threshold) and known["by"])


def _same_numbers(check: Check, entry: Mapping[str, Any]) -> bool:
    return all(any(_is(known, t) for known in entry["thresholds"]) for t in tunable(check))


def _is(known: Mapping[str, Any], threshold: Threshold) -> bool:
    return (known["item"], known["key"], known["value"]) == (threshold.item, threshold.key, threshold.value)


def _place(threshold: Threshold) -> tuple[int, str]:
    return threshold.item, threshold.key


def _float(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None
