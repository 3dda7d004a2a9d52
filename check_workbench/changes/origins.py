"""How the numbers of a check came about, as far as the ledger of looks or the lock knows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from check_workbench.calibration.looks import own
from check_workbench.calibration.units import records
from check_workbench.checks import thresholds

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pandas as pd

    from check_workbench.checks import Check, Threshold

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
        `item key value by`; `by` is None for a number that no `calibrate` and no `trust` has measured.
    """
    mine = own(looks, check)
    at_text = records(mine[(mine["asked"] == check.asked) & mine["call"].isin(["calibrate", "trust"])])
    found = []
    for threshold in tunable(check):
        by = _by(threshold, at_text) or _locked(check, threshold, entry)
        found.append({"item": threshold.item, "key": threshold.key, "value": threshold.value, "by": by})
    return found


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


def _by(threshold: Threshold, looks: Iterable[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Return the strongest evidence, of equal ones the latest: trusted, chosen, then measured and kept."""
    ranked = [(rank, place, by) for place, look in enumerate(looks) for rank, by in _evidence(threshold, look)]
    return max(ranked, key=lambda one: one[:2])[2] if ranked else None


def _evidence(threshold: Threshold, look: Mapping[str, Any]) -> Iterable[tuple[int, dict[str, Any]]]:
    here = _then(look, threshold) == threshold.value
    if look["call"] == "trust":
        if here and look["labels"]:
            made = look["result"].get("certificate", {})
            told = {"call": "trust", "change": look["change"], "plan": look["plan_digest"]}
            yield (3 if _ready(look) else 1), {**told, "outcome": made.get("outcome"), "labels": len(look["labels"])}
        return
    told = {"call": "calibrate", "goal": look["result"].get("goal"), "labels": len(look["labels"])}
    if here and look["labels"]:
        yield 1, {**told, "chosen": False}
    if any(_concludes(threshold, chosen) for chosen in look["result"].get("chosen", ())):
        yield 2, {**told, "chosen": True}


def _concludes(threshold: Threshold, chosen: Any) -> bool:
    """Say whether what a calibration chose is the number that stands in the document now."""
    if isinstance(chosen, dict):
        return bool((chosen["item"], chosen["key"], chosen["at"]) == (threshold.item, threshold.key, threshold.value))
    return bool(chosen == threshold.value)


def _ready(look: Mapping[str, Any]) -> bool:
    return bool(look["result"].get("certificate", {}).get("outcome") == "ready")


def _then(look: Mapping[str, Any], threshold: Threshold) -> float | None:
    """Return the number that a look was about: the one that it certified, else the one of the document."""
    changes = look["result"].get("certificate", {}).get("details", {}).get("changes", ())
    for change in changes if _ready(look) else ():
        if (change["item"], change["key"]) == (threshold.item, threshold.key):
            return _float(change["value"])
    cuts = look["cutoffs"]
    if threshold.item >= len(cuts):
        return None
    return _float(cuts[threshold.item].get(FIELDS.get(threshold.key, "value")))


def _locked(check: Check, threshold: Threshold, entry: Mapping[str, Any] | None) -> Any:
    if entry is None or entry["asked"] != check.asked:
        return None
    same = (known["by"] for known in entry["thresholds"] if _is(known, threshold))
    return next(same, None)


def _same_numbers(check: Check, entry: Mapping[str, Any]) -> bool:
    return all(any(_is(known, t) for known in entry["thresholds"]) for t in tunable(check))


def _is(known: Mapping[str, Any], threshold: Threshold) -> bool:
    return (known["item"], known["key"], known["value"]) == (threshold.item, threshold.key, threshold.value)


def _float(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None
