"""Draws of what to label next, each with the probability that its unit was drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from check_workbench.errors import InputError, UndefinedError
from check_workbench.stats.arrays import floats

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from check_workbench.stats.arrays import Floats, Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """What was drawn, in random order."""

    rows: Ints
    """Places of the drawn units."""
    probability: Floats
    """Inclusion probability of each drawn unit."""


def draw(size: int, take: int, *, seed: int = 0) -> Draw:
    """Draw units with equal probability, without replacement.

    Parameters
    ----------
    size
        How many units there are.
    take
        How many to draw; all of them if there are fewer.
    seed
        Same seed, same draw.

    Raises
    ------
    UndefinedError
        Where there is nothing to draw from.

    Examples
    --------
    >>> found = draw(10, 4, seed=1)
    >>> len(set(found.rows.tolist())), found.probability
    (4, array([0.4, 0.4, 0.4, 0.4]))
    """
    if size < 1 or take < 1:
        raise UndefinedError(f"nothing can be drawn: {take} of {size} units were asked for.")
    rows = np.random.default_rng(seed).permutation(size)[:take]
    return Draw(rows=rows, probability=np.full(len(rows), len(rows) / size))


def stratified(strata: ArrayLike, take: int, *, spread: Mapping[Any, float] | None = None, seed: int = 0) -> Draw:
    """Draw units from every stratum, without replacement.

    Each stratum gives at least one unit if `take` allows; the rest is shared out in proportion to the stratum's size
    times its spread (Neyman's allocation where the spread is the expected standard deviation).

    Parameters
    ----------
    strata
        One key per unit.
    take
        How many to draw in all.
    spread
        Weight of each stratum's key, at least 0; None means that all are equal.
    seed
        Same seed, same draw.

    Raises
    ------
    UndefinedError
        Where there is nothing to draw from.

    Notes
    -----
    Source: Neyman (1934), Journal of the Royal Statistical Society 97.

    Examples
    --------
    >>> found = stratified(["rare"] * 10 + ["common"] * 90, 10, spread={"rare": 9, "common": 1})
    >>> sorted(found.probability.round(3).tolist())[::9]
    [0.056, 0.5]
    """
    keys = np.asarray(strata)
    if not keys.size or take < 1:
        raise UndefinedError(f"nothing can be drawn: {take} of {keys.size} units were asked for.")
    names, group = np.unique(keys, return_inverse=True)
    size = np.bincount(group)
    weight = _spread(names.tolist(), spread)
    share = _allocated(size, weight, min(take, len(keys)))
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(keys))
    ordered = order[np.argsort(group[order], kind="stable")]
    first = np.cumsum(size) - size
    rows = np.concatenate([ordered[at : at + some] for at, some in zip(first, share, strict=True)])
    rows = rng.permutation(rows)
    return Draw(rows=rows, probability=(share / size)[group[rows]])


def inclusion(weight: ArrayLike, take: int) -> Floats:
    """Return probabilities that are proportional to weights, at most 1, and sum to `take`.

    Parameters
    ----------
    weight
        One number above 0 per unit.
    take
        How many units are to be drawn; all of them if there are fewer.

    Raises
    ------
    InputError
        Where a weight is not above 0: a unit that is never drawn would be missing from every estimate.

    Examples
    --------
    >>> inclusion([8, 1, 1], 2)
    array([1. , 0.5, 0.5])
    """
    wish = floats(weight, "weight")
    if (wish <= 0).any():
        raise InputError("every weight must be above 0, so that every unit can be drawn.")
    take = min(take, len(wish))
    found = np.zeros(len(wish))
    while (left := take - int((found == 1).sum())) > 0:
        rest = found < 1
        found[rest] = left * wish[rest] / wish[rest].sum()
        if (over := found > 1).any():
            found[over] = 1
        else:
            break
    return found


def systematic(probability: ArrayLike, *, seed: int = 0) -> Ints:
    """Draw units in steps of equal length along the sum of their probabilities, from a random start.

    Each unit is drawn with exactly its probability, and units that stand beside each other share the draws evenly: in
    a sorted list every group of neighbours gets its part.

    Parameters
    ----------
    probability
        Inclusion probabilities, in the order of the list.
    seed
        Same seed, same draw.

    Returns
    -------
    array
        Places of the drawn units, in order; as many as the probabilities sum to.

    Notes
    -----
    Source: Madow (1949), Annals of Mathematical Statistics 20.

    Examples
    --------
    >>> systematic([0.5] * 8, seed=1)
    array([0, 2, 4, 6])
    """
    steps = np.concatenate([[0.0], np.cumsum(floats(probability, "probability"))]).round(9)
    passed = np.floor(steps + np.random.default_rng(seed).random())
    return np.flatnonzero(np.diff(passed) > 0)


def _spread(names: list[Any], spread: Mapping[Any, float] | None) -> Floats:
    if spread is None:
        return np.ones(len(names))
    missing = [name for name in names if name not in spread]
    if missing:
        raise InputError(f"spread has no weight for {', '.join(map(repr, missing[:5]))}.")
    weight = np.array([float(spread[name]) for name in names])
    if not np.isfinite(weight).all() or (weight < 0).any():
        raise InputError("every weight in spread must be a number of at least 0.")
    return weight


def _allocated(size: Ints, weight: Floats, take: int) -> Ints:
    """Share out `take` units: one each as far as they go, then each next one where the share is furthest behind."""
    given = np.zeros(len(size), dtype=np.int64)
    wish = size * weight
    by_wish = np.argsort(-wish, kind="stable")
    given[by_wish[:take]] = 1
    for _ in range(take - int(given.sum())):
        open_ = given < size
        behind = np.where(open_, wish / (given + 0.5), -1.0)
        given[int(np.argmax(behind))] += 1
    return given
