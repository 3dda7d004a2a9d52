"""How sure one can be that all ready decisions of a call hold at the same time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from check_workbench.certificates.wording import many, share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from check_workbench.certificates.certificate import Certificate
    from check_workbench.plans import Plan


def joint(entries: Sequence[Certificate], plan: Plan) -> dict[str, Any] | None:
    """Return the union bound over all checks that labels tested, whether they came out ready or not.

    Parameters
    ----------
    entries
        The decisions of one call.
    plan
        Their plan.

    Returns
    -------
    dict or None
        `ready`, `tested`, and `confidence`; None of a single check.
    """
    if len(entries) < 2:
        return None
    tested = sum(any(bound["n"] for bound in entry.details.get("bounds", ())) for entry in entries)
    ready = sum(entry.outcome == "ready" for entry in entries)
    return {"ready": ready, "tested": tested, "confidence": round(max(0.0, 1 - tested * plan.share), 12)}


def in_words(found: dict[str, Any] | None, plan: Plan) -> str | None:
    """Say how sure all ready decisions are together, and how they could be surer; None where nothing is ready."""
    if found is None or not found["ready"]:
        return None
    each = f"{many(found['tested'], 'check')} tested, each with a {share(plan.share)} chance of error"
    who = (
        "the one ready decision holds" if found["ready"] == 1 else f"all {found['ready']} ready decisions hold together"
    )
    said = f"{who} with confidence at least {share(found['confidence'])} ({each})"
    if found["tested"] <= plan.checks:
        return said
    return f"{said}; for {share(plan.confidence)}, plan for checks: {found['tested']} before any label is read"
