"""`diff`: the runs whose verdict two versions of a check disagree on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from check_workbench.calibration import looks
from check_workbench.calibration.units import decision_keys, joined
from check_workbench.certificates.wording import many
from check_workbench.changes.outcome import Difference
from check_workbench.changes.pairing import changed, paired, tallied, transitions
from check_workbench.changes.revisions import other_version
from check_workbench.checks import is_rule, thresholds
from check_workbench.errors import InputError
from check_workbench.evaluation import evaluate, read, require_store
from check_workbench.evaluation.checking import judge_runs
from check_workbench.evaluation.questions import Source
from check_workbench.evaluation.units import runs_of
from check_workbench.labels import labels_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any

    import pandas as pd

    from check_workbench.checks import Check
    from check_workbench.store import Store


def diff(check: Check | str | Path, store: Store, *, against: Check | str | Path = "HEAD") -> Difference:
    """List the runs whose verdict changed between two versions of a check, with what people decided beside them.

    Recorded answers and measurements are used; no evaluator is asked. The labels that were read are noted in the
    store. The other version leaves no trace there: a version that was only compared is not one that was in use.

    Parameters
    ----------
    check
        The present version: a check, or a file or `FILE#ID` that holds one.
    store
        Runs, decisions and answers.
    against
        The version before: a git revision of the check's file, another file, `FILE#ID`, or a check.

    Returns
    -------
    Difference
        Verdicts from and to, every changed run, and McNemar's test where people decided.

    Raises
    ------
    InputError
        If either version cannot be read, or they judge different steps. Missing labels are no error.

    Examples
    --------
    >>> import check_workbench as cw
    >>> from check_workbench.checks import AtLeast, Check, Item, Repeat
    >>> loop = Check(id="loop", dialect="neatroots", items=(Item(asks=Repeat(), cut=AtLeast(value=3)),))
    >>> diff(loop, cw.open(), against=loop)
    loop: 0 of 0 verdicts differ from loop
      no work that both versions pass or fail has a label, so nothing says which is better
      note: the two versions say the same: neither what they ask nor a number differs
    """
    require_store(store)
    found = read(check)
    if len(found) != 1:
        names = ", ".join(one.id for one in found)
        raise InputError(f"diff takes one check, got {len(found)}: {names}. Name one as FILE#ID.")
    new = found[0]
    old, name = other_version(new, against)
    if old.step_id != new.step_id:
        raise InputError(f"{new.id} judges {_place(new)}, the other version {_place(old)}: no work is judged by both.")
    with store.hold():
        results = evaluate(new, store).scores, judge_runs([old], runs_of(store), Source(store=store)).scores
        labels = labels_for(new, store)
    now = joined(new, results[0], labels.frame)
    before = joined(old, results[1], labels.frame)
    rows, tests = paired(before, now)
    counts, left_out = tallied(rows)
    if now.unmatched:
        left_out["not_evaluated"] = now.unmatched
    notes = [*labels.notes, *_notes(old, new, rows, tests)]
    seen = looks.Look(call="diff", labels=decision_keys(now.labelled), result={"against": old.document})
    if not looks.record(store, new, seen):
        notes.append("the store is open to read only, so this look at the labels is not recorded")
    return Difference(
        check=new.id,
        against=name,
        moved=tuple(_moved(old, new)),
        transitions=transitions(rows),
        changed=tuple(changed(rows)),
        tally=counts,
        left_out={**labels.excluded, **left_out},
        notes=tuple(notes),
    )


def _place(check: Check) -> str:
    return "whole runs" if check.step_id is None else f"the step {check.step_id}"


def _moved(old: Check, new: Check) -> Iterator[dict[str, Any]]:
    """Yield every threshold whose number differs; None stands for a number that is not there."""
    was = {(t.item, t.key): t.value for t in thresholds(old)}
    now = {(t.item, t.key): t.value for t in thresholds(new)}
    for item, key in dict.fromkeys([*was, *now]):
        pair = was.get((item, key)), now.get((item, key))
        if pair[0] != pair[1]:
            yield {"item": item, "key": key, "from": pair[0], "to": pair[1]}


def _notes(old: Check, new: Check, rows: pd.DataFrame, tests: int) -> Iterator[str]:
    if old.document == new.document:
        yield "the two versions say the same: neither what they ask nor a number differs"
    if old.id != new.id:
        yield f"the other version is the check {old.id}; the labels are those of {new.id}"
    if old.asked != new.asked:
        yield from _about_text(new, rows)
    elif old.document != new.document and not [*_moved(old, new)]:
        yield "neither the text nor a number differs, but flags, or the names or levels that pass"
    if tests:
        yield f"{many(tests, 'unit')} of test runs {'is' if tests == 1 else 'are'} left out"
    sessions = rows.loc[rows["labelled"], "session_id"].dropna()
    if sessions.duplicated().any():
        yield "some labelled runs share a session; the test takes them as independent, so p may be too small"


def _about_text(new: Check, rows: pd.DataFrame) -> Iterator[str]:
    if all(is_rule(item.asks) for item in new.items):
        yield "what the rule measures differs; each version was measured on its own"
        return
    silent = {name: int(rows[name].eq("not_checked").sum()) for name in ("from", "to")}
    yield (
        "what it asks differs, and an answer counts only for the text that was asked: "
        f"{many(silent['from'], 'unit')} {'has' if silent['from'] == 1 else 'have'} no answer to the text before, "
        f"{many(silent['to'], 'unit')} none to the present one; "
        "evaluate both with an evaluator"
    )
