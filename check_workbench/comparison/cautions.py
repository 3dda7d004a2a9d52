"""What the labels of a comparison are not: all of one kind, or unseen when the check got its cut."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from check_workbench.calibration import looks

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from check_workbench.checks import Check
    from check_workbench.store import Store


def cautions(check: Check, store: Store, rows: pd.DataFrame) -> Iterator[str]:
    """Yield what whoever reads the numbers has to know of their labels.

    Parameters
    ----------
    check
        The check.
    store
        Asked for the calls that read labels.
    rows
        Compared units.
    """
    kinds = Counter(rows["about"])
    if set(kinds) - {"check"} and set(kinds) - {"work"}:
        told = (("check", "the check"), ("work", "the work"), ("check+work", "both, which vote together"))
        counts = ", ".join(f"{kinds[kind]:,} of {words}" for kind, words in told if kinds[kind])
        yield f"of {len(rows):,} labels people speak in {counts}: they are counted together, people are compared apart"
    ledger = looks.ledger(store)
    since = looks.cut_since(store, check, ledger)
    read = looks.read_before(ledger, since)
    n = sum(any(int(key) in read for key in keys) for keys in rows["decision_keys"])
    if n:
        by = ", ".join(looks.readers(ledger, since, rows))
        yield (
            f"{n:,} of {len(rows):,} labels were read (by {by}) before the check got its present text and cuts, which "
            "may be chosen by them: what is counted here may flatter it"
        )
