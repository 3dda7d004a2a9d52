"""The labels that bets count: few of any cluster."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from check_workbench.calibration.units import name_of, records
from check_workbench.stats.clusters import typical_size

if TYPE_CHECKING:
    import pandas as pd


def apart(labels: pd.DataFrame) -> pd.DataFrame:
    """Return one label of each cluster, of small clusters rarely one; a label that was read before stands for its own.

    Which one of those that were read together depends on names alone: the first of a session may be easier than
    the others.

    Parameters
    ----------
    labels
        With `cluster` and `read`.
    """
    if not labels["cluster"].duplicated().any():
        return labels
    size = labels["cluster"].map(labels["cluster"].value_counts())
    typical = typical_size(labels["cluster"].value_counts())
    place = [_chance(name_of(row)) for row in records(labels)]
    kept = [_chance(str(name)) * typical < n for name, n in zip(labels["cluster"], size, strict=True)]
    ordered = labels.assign(place=place)[np.array(kept, dtype=bool)].sort_values(["read", "place"], na_position="last")
    return labels.loc[ordered.drop_duplicates("cluster").index.sort_values()]


def _chance(name: str) -> float:
    """Return a number from 0 to 1 that depends on a name alone, as if drawn at random."""
    return int.from_bytes(hashlib.sha256(name.encode(errors="surrogatepass")).digest()[:8]) / 2**64
