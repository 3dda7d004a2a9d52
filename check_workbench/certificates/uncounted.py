"""Errors that weigh more than a test counts: copies of their work, and errors of earlier looks that went away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from check_workbench.calibration.units import decided, name_of, records
from check_workbench.certificates.hygiene import CONTENT
from check_workbench.stats.certify import own_cut
from check_workbench.stats.intervals import percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from check_workbench.calibration.units import Units
    from check_workbench.certificates.hygiene import Sample
    from check_workbench.certificates.tested import Tested
    from check_workbench.plans import Side
    from check_workbench.store import Store


def uncounted(found: Tested, sample: Sample, units: Units, trusts: pd.DataFrame, store: Store) -> Iterator[str]:
    """Yield in words that a bound which holds would not hold with these errors.

    Parameters
    ----------
    found
        A test that certifies.
    sample
        All work.
    units
        The labels as they are.
    trusts
        Earlier trust decisions about what the check asks, for this change.
    store
        Asked for the content of work.
    """
    target, upper = found.bound.target, found.upper or 0.0
    copies = 0 if found.wrong is None else copies_of(found.wrong, sample.population, store)
    inside = max(1, round(found.coverage * len(sample.population)))
    if copies and upper + copies / inside > target:
        yield (
            f"copies: {copies} further pieces of {inside} on this side have the content of a counted error, and the "
            f"test counts copies once: with them the risk may be {percent(min(1.0, upper + copies / inside))}"
        )
    gone = gone_errors(found.bound.side, units, trusts)
    errors, n = found.errors + len(gone), found.n + len(gone)
    if gone and not own_cut(errors, n, alpha=target, delta=found.delta).certified:
        named = ", ".join(gone[:5]) + (", …" if len(gone) > 5 else "")
        yield (
            f"gone: {len(gone)} errors that an earlier look counted have no label or no verdict now ({named}), and "
            "with them the bound does not hold: evaluate that work again, or label it"
        )


def copies_of(wrong: pd.DataFrame, work: pd.DataFrame, store: Store) -> int:
    """Count the work that has the verdict and the content of an error, beyond the errors themselves.

    Parameters
    ----------
    wrong
        The counted errors.
    work
        All work.
    store
        Asked for the content; runs without content have no copies.
    """
    if wrong.empty:
        return 0
    same = work[work["verdict"].isin(set(wrong["verdict"]))]
    content = store.sql(CONTENT, [sorted({*same["run_id"], *wrong["run_id"]})]).set_index("run_id")["content"]
    errors, others = ([*zip(part["run_id"].map(content), part["step_id"], strict=True)] for part in (wrong, same))
    bad = {error for error in errors if isinstance(error[0], str)}
    return max(0, sum(other in bad for other in others) - sum(error in bad for error in errors))


def gone_errors(side: Side, units: Units, trusts: pd.DataFrame) -> list[str]:
    """Name the work of errors that earlier looks counted, and that has no label or no verdict now."""
    there = {name_of(row) for row in records(units.labelled[decided(units.labelled)])}
    counted = [
        row
        for result in trusts["result"]
        for row in result.get("certificate", {}).get("details", {}).get("counted_errors", ())
    ]
    return sorted({row["unit"] for row in counted if row["side"] == side} - there)
