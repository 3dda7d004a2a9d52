"""Which work people should judge next, so that the fewest decisions settle what a check is worth."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, get_args

from check_workbench.calibration import looks as ledger
from check_workbench.calibration.units import gather_as_read
from check_workbench.certificates.hygiene import sample
from check_workbench.certificates.showing import shown_sides
from check_workbench.errors import InputError, UnknownNameError
from check_workbench.evaluation import evaluate, read
from check_workbench.files import write_file
from check_workbench.labelling.drawing import Purpose, for_recall, for_trust
from check_workbench.labelling.outcome import KEEP_APART, NextLabels
from check_workbench.labelling.paper import Paper, keep_other, paper, written
from check_workbench.labelling.pool import pool
from check_workbench.labelling.prospects import prospects
from check_workbench.labelling.wording import about
from check_workbench.plans import CHANGES, Change, Plan, plan
from check_workbench.store.returning import DRAW

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Unpack

    import pandas as pd

    from check_workbench.checks import Check
    from check_workbench.store import Store

__all__ = ["NextLabels", "label_next"]


class Choices(TypedDict, total=False):
    """The further options of `label_next`."""

    purpose: Purpose
    plan: Plan | None
    seed: int


def label_next(
    check: Check | str | Path | Iterable[Check | str | Path],
    store: Store,
    n: int = 200,
    sheet: str | Path | None = None,
    **choices: Unpack[Choices],
) -> NextLabels:
    """Choose the work that people should judge next, and write a sheet for them.

    The same call on the same store chooses the same work, a larger `n` the same and more, and once labels came back the
    next call reads on. No label's content is read, so this is no look.

    Parameters
    ----------
    check
        One check or several, or files, folders or `FILE#ID` that hold them. Several share one sheet: work that serves
        more than one of them is read once.
    store
        Runs, answers and decisions.
    n
        How many labels for each check.
    sheet
        A CSV file to write, for people without a notebook. `Store.load_decisions` reads it back, and knows what was
        drawn. Nothing in it says what the check found.
    **choices
        `purpose`: `trust` (default) draws with equal probability from the side that the plan bounds; `recall` from all
        work, flagged or not, with the probabilities that calibration needs. `plan`: whose bounds are to be proven; as
        the last `trust` of this check had it, else what passes (`change="replace_approval"`). `seed`: another seed,
        another draw.

    Returns
    -------
    NextLabels
        What was drawn, from how much, and what the labels can prove at best.

    Raises
    ------
    InputError
        If a check cannot be read, an option is not possible, or the sheet would be written over something else.

    Notes
    -----
    Source: permanent random numbers (Ohlsson 1995), so that samples for several checks overlap as far as equal
    probability allows; systematic sampling (Madow 1949) for recall.

    Examples
    --------
    >>> import check_workbench as cw
    >>> from check_workbench.checks import AtLeast, Check, Item, Repeat
    >>> loop = Check(id="loop", dialect="neatroots", items=(Item(asks=Repeat(), cut=AtLeast(value=3)),))
    >>> label_next(loop, cw.open(), n=20).readings
    0
    """
    purpose, seed = _checked(n, choices)
    found = read(check)
    results = evaluate(found, store)
    looks = ledger.ledger(store)
    draws, proven = [], {}
    for one in found:
        bounds = choices.get("plan") or _last_plan(one, looks)
        units = gather_as_read(one, store, results.scores, kind=bounds.labels, reads=ledger.reads(looks))
        here = pool(units, store, bounds, looks=looks, seed=seed)
        equal = purpose == "trust"
        drawn = for_trust(here, bounds, n, looks=looks) if equal else for_recall(here, n, looks=looks, seed=seed)
        draws.append(drawn)
        seen = shown_sides(sample(units, store, bounds, looks), looks, one, bounds)
        proven[one.id] = prospects(drawn, bounds, looks, shown=seen) if equal else ()
    on_paper = paper(draws)
    made = NextLabels(
        draws=tuple(draws),
        prospects=proven,
        n=n,
        seed=seed,
        name=on_paper.name,
        readings=len(on_paper.rows),
        notes=tuple(words for draw in draws for words in about(draw, n)),
    )
    return made if sheet is None or not on_paper.rows else _handed_out(made, on_paper, store, Path(sheet))


def _checked(n: int, choices: Choices) -> tuple[Purpose, int]:
    for name in choices:
        if name not in Choices.__annotations__:
            raise UnknownNameError.of("option of label_next", name, Choices.__annotations__)
    purpose, seed = choices.get("purpose", "trust"), choices.get("seed", 0)
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise InputError(f"n must be a whole number from 1, got {n!r}.")
    if purpose not in get_args(Purpose):
        raise InputError(f"purpose must be one of {', '.join(get_args(Purpose))}, got {purpose!r}.")
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise InputError(f"seed must be a whole number from 0, got {seed!r}.")
    if not isinstance(choices.get("plan"), Plan | None):
        raise InputError(f"plan must be a Plan, made by plan(change='enforce', ...); got {choices.get('plan')!r}.")
    return purpose, seed


def _last_plan(check: Check, looks: pd.DataFrame) -> Plan:
    """Return the plan of the change that `trust` was asked about last, else of replacing the approval."""
    mine = looks[(looks["call"] == "trust") & (looks["check_id"] == check.id) & looks["change"].isin(CHANGES)]
    change: Change = mine["change"].iloc[-1] if len(mine) else "replace_approval"
    return plan(change)


def _handed_out(made: NextLabels, on_paper: Paper, store: Store, path: Path) -> NextLabels:
    """Write the sheet, once the store knows what was drawn."""
    if store.read_only:
        raise InputError(
            f"{path}: the store is open to read only, so the draw cannot be kept and nothing could come back"
        )
    content = written(on_paper, made.draws, store)
    keep_other(path, content)
    for place, draw in enumerate(made.draws):
        result = {**on_paper.recorded(place, draw), "seed": made.seed, "n": made.n}
        ledger.record(store, draw.check, ledger.Look(call=DRAW, labels=[], result=result))
    write_file(path, content)
    return dataclasses.replace(made, file=str(path), notes=(*made.notes, KEEP_APART))
