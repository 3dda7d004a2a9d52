"""Which sheets drew which work, and so how much work each label stands for.

Work that every sheet treated alike is a cell. Whatever came back of it, and in whatever order the sheets were drawn,
its labels are an equal draw of it: each stands for as many units as the cell has for each label.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import hypergeom

from check_workbench.calibration.cautions import SUSPICIOUS, Selection
from check_workbench.calibration.units import KEY
from check_workbench.store.returning import DRAW

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from check_workbench.checks import Check
    from check_workbench.store import Store

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

EQUAL = 1e-9
"""Weights closer than this are equal."""
_DRAWS = "select result from looks where call = ? and check_id = ? and asked = ? order by look"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """One draw for one check, as the ledger keeps it."""

    purpose: str
    drawn: dict[tuple[Any, ...], float]
    """The probability that the label of each drawn unit carries."""
    chances: tuple[float, ...]
    """By stratum, how likely each of its units without a label was drawn; 0 where the sheet left it out."""
    stratum: dict[tuple[Any, ...], int]
    """The stratum of each unit that was there and could have been drawn, or had been by an earlier sheet."""


def sheets_of(check: Check, store: Store) -> tuple[Sheet, ...]:
    """Return the draws for the present text of a check, oldest first.

    Parameters
    ----------
    check
        The check.
    store
        Asked for its ledger.
    """
    found = store.sql(_DRAWS, [DRAW, check.id, check.asked])["result"]
    return tuple(_sheet(json.loads(result)) for result in found)


def _sheet(result: dict[str, Any]) -> Sheet:
    strata = result.get("strata", [])
    return Sheet(
        purpose=result["purpose"],
        drawn={(run, step or "", attempt or 1): probability for _, run, step, attempt, probability in result["rows"]},
        chances=tuple(stratum["chance"] for stratum in strata),
        stratum={_named(unit): place for place, stratum in enumerate(strata) for unit in stratum["units"]},
    )


def _named(unit: str | list[Any]) -> tuple[Any, ...]:
    return (unit, "", 1) if isinstance(unit, str) else tuple(unit)


def recorded(units: pd.DataFrame, chances: pd.Series[float], by: Sequence[Any]) -> list[dict[str, Any]]:
    """Return the strata of a draw as the ledger keeps them.

    Parameters
    ----------
    units
        `run_id step_id attempt` of all work that was there and could be drawn, or had been.
    chances
        How likely each was drawn.
    by
        What parts the strata, a value per unit.
    """
    names = [run if (step, attempt) == ("", 1) else [run, step, attempt] for run, step, attempt in _keys(units)]
    strata: dict[Any, list[Any]] = {}
    for key, name in zip(zip(by, chances.astype(float), strict=True), names, strict=True):
        strata.setdefault(key, []).append(name)
    return [
        {"chance": key[1], "units": sorted(strata[key], key=str)}
        for key in sorted(strata, key=lambda k: (-k[1], str(k)))
    ]


def placed(table: pd.DataFrame, sheets: Sequence[Sheet]) -> pd.DataFrame:
    """Return units with their cells.

    Parameters
    ----------
    table
        Units with labels.
    sheets
        All sheets; those of which nothing came back change nothing.

    Returns
    -------
    DataFrame
        With `on_sheet` (a sheet drew this label), `cell` (None for work that no sheet knew), `chance` (that some sheet
        drew the unit), and `covered` (a sheet for trust could draw it).
    """
    keys, labelled = list(_keys(table)), table["labelled"].to_numpy(dtype=bool)
    carried = table["probability_sampled"].to_numpy(dtype=np.float64)
    on_sheet, covered = np.zeros(len(table), dtype=bool), np.zeros(len(table), dtype=bool)
    missed, cells = np.ones(len(table)), [""] * len(table)
    for sheet in sheets:
        drawn = np.array([sheet.drawn.get(key, np.nan) for key in keys], dtype=np.float64)
        mine = labelled & np.isclose(drawn, carried, rtol=1e-9, atol=0)
        if not mine.any() or not sheet.stratum:
            continue
        on_sheet |= mine
        place = np.array([sheet.stratum.get(key, -1) for key in keys], dtype=np.int64)
        chance = np.where(place < 0, 0.0, np.array([*sheet.chances, 0.0])[place])
        missed *= 1 - chance
        covered |= (chance > 0) & (sheet.purpose == "trust")
        cells = [f"{cell}/{at if at >= 0 else ''}" for cell, at in zip(cells, place, strict=True)]
    named = [cell if cell.strip("/") else None for cell in cells]
    return table.assign(on_sheet=on_sheet, covered=covered, chance=1 - missed, cell=np.array(named, dtype=object))


def explained(units: pd.DataFrame) -> bool:
    """Say whether sheets of this store drew every label that says with which probability it was drawn."""
    drawn = units["labelled"] & units["probability_sampled"].notna()
    return bool(drawn.any() and (units["on_sheet"] | ~drawn).all())


def strays(units: pd.DataFrame) -> Flags:
    """Say which labels nobody drew from a cell of which others were drawn, so that they cannot stand for it."""
    found: Flags = (units["labelled"] & units["cell"].notna() & ~units["on_sheet"]).to_numpy(dtype=bool)
    return found


def standing(units: pd.DataFrame) -> Selection:
    """Return for how many units each label stands, and which units no label stands for.

    Labels of work that no sheet knew stand for themselves.

    Parameters
    ----------
    units
        Units with cells, without strays.

    Notes
    -----
    Source: Holt and Smith (1979), Post stratification, JRSS A 142.
    """
    labelled = units["labelled"].to_numpy(dtype=bool)
    known = units["cell"].notna().to_numpy(dtype=bool)
    cell = np.full(len(units), -1)
    cell[known] = np.unique(units.loc[known, "cell"].to_numpy(dtype=str), return_inverse=True)[1]
    size, told, chance = (
        np.bincount(cell[some], weights=values[some], minlength=cell.max() + 1)
        for some, values in (
            (known, np.ones(len(units))),
            (known & labelled, np.ones(len(units))),
            (known, units["chance"].to_numpy(dtype=np.float64)),
        )
    )
    group = _joined(size, told, chance / np.maximum(size, 1))
    spoken = group >= 0
    whole = np.bincount(group[spoken], weights=size[spoken], minlength=len(size))
    each = whole / np.maximum(told, 1)
    weights = np.where(known, each[group[cell]], 1.0)[labelled]
    silent = np.zeros(len(units), dtype=bool)
    silent[known] = ~spoken[cell[known]]
    flagged = (units["verdict"] != "pass").to_numpy(dtype=bool)
    return Selection(
        recall_known=not silent.any(),
        flagged_known=not (silent & flagged).any(),
        weights=None if np.ptp(weights) < EQUAL else weights,
        words="; ".join(_words(weights, silent, flagged, strangers=int((~known & ~labelled).sum()))) or None,
    )


def _joined(size: NDArray[Any], told: NDArray[Any], chance: Floats) -> NDArray[np.int64]:
    """Return the cell whose labels speak for each cell: its own; where it has none, -1, or the most likely alike.

    A cell may have no label by chance, as small ones do; then the cell speaks whose units were drawn as likely.
    """
    group = np.where(told > 0, np.arange(len(size)), -1)
    with_labels = np.flatnonzero(told > 0)
    for place in np.flatnonzero((told == 0) & (chance > 0)):
        near = with_labels[np.argmin(np.abs(np.log(chance[with_labels] / chance[place])))]
        if hypergeom(size[place] + size[near], told[near], size[place]).pmf(0) >= SUSPICIOUS:
            group[place] = near
    return group


def _words(weights: Floats, silent: Flags, flagged: Flags, *, strangers: int) -> Iterator[str]:
    if np.ptp(weights) >= EQUAL:
        some = f"{weights.min():.3g} to {weights.max():.3g}"
        yield f"each label stands for {some} units, those that every sheet treated like its own"
    if silent.any():
        parts = [(int((silent & flagged).sum()), "does not pass"), (int((silent & ~flagged).sum()), "passes")]
        which = " and ".join(f"{_units(count)} that it {does}" for count, does in parts if count)
        unknown = "precision and recall are" if (silent & flagged).any() else "recall is"
        yield f"no sheet brought labels that speak for {which}: {unknown} unknown"
    if strangers:
        yield f"{_units(strangers)} came after every sheet, or none could draw them: the numbers are of all others"


def _units(count: int) -> str:
    return f"{count} unit{'' if count == 1 else 's'}"


def unexplained(units: pd.DataFrame) -> str:
    """Say what is assumed of probabilities that no sheet of the store explains."""
    count = int((units["labelled"] & units["probability_sampled"].notna() & ~units["on_sheet"]).sum())
    return (
        f"assumed: one draw gave all probabilities that labels carry, because {count} of them come from no sheet that "
        "this store knows; of several draws each label would count work that others count too"
    )


def _keys(table: pd.DataFrame) -> Iterator[tuple[Any, ...]]:
    return table[KEY].itertuples(index=False, name=None)
