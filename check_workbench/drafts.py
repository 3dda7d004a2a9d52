"""A check tried on a few runs with and without the problem, before it is saved."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from check_workbench import evaluation, html
from check_workbench.checks import Check, thresholds
from check_workbench.errors import InputError, UnknownNameError
from check_workbench.evaluation.rows import rows_of
from check_workbench.evaluation.units import runs_of
from check_workbench.results import DECIDED
from check_workbench.rewriting import Rewrite, rewrite_files

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd

    from check_workbench.evaluation import Results
    from check_workbench.evaluators import Evaluator
    from check_workbench.store import Store

__all__ = ["Draft", "preview"]

COLUMNS = ["run", "step", "attempt", "expected", "status", "score", "separated", "quotes", "reason"]
HEADS = {"separated": "as expected", "quotes": "words in the run"}
MIME = "application/vnd.check-workbench+json"
CONFIDENCE = 0.90
"""With which the bound on missed problems is stated."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Draft:
    """A check, and how it judged the runs that it was tried on."""

    check: Check
    rows: pd.DataFrame
    """`run step attempt expected status score separated quotes reason`: one row per unit."""
    results: Results
    text: str | None
    """The document as it was read; None where the check came from no file."""

    @property
    def separated(self) -> int:
        """How many units were judged as expected."""
        return int(self.rows["separated"].sum())

    @property
    def statement(self) -> str:
        """What the preview shows, and how little it proves."""
        problems = int((self.rows["expected"] == "problem").sum())
        said = f"separates {self.separated} of {len(self.rows)}"
        undecided = int((~self.rows["status"].isin(DECIDED)).sum())
        if undecided:
            said += f" ({undecided} left out: no decision)"
        if not problems:
            return f"{said}; without a run that has the problem nothing is known of what the check misses"
        bound = miss_bound(problems)
        return (
            f"{said}; with {problems} that have the problem even a perfect result only bounds the miss rate at "
            f"{100 * bound:.1f} % ({100 * CONFIDENCE:.1f} % sure)"
        )

    @property
    def note(self) -> str:
        """What the preview costs."""
        runs = self.rows["run"].nunique()
        return (
            f"the runs shown here ({runs}) no longer count when trust is decided for this check, since it may now fit "
            "them (reason: fit); trust needs other runs"
        )

    def save(self, path: str | Path) -> Path:
        """Write the document as it was previewed; all of it, or nothing.

        Parameters
        ----------
        path
            Where to; a file that exists must be the one that the check was read from, unchanged since.

        Raises
        ------
        InputError
            If the check came from no file, or something else would be overwritten.
        """
        if self.text is None:
            raise InputError(f"{self.check.id} cannot be saved: it was made in Python and has no document")
        target = Path(path)
        if target.exists():
            self._require_same(target, self.text)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            rewrite_files([Rewrite(path=target, old=None, new=self.text.encode())])
        return target

    def _require_same(self, target: Path, text: str) -> None:
        source = Path(self.check.file or "")
        if not (source.is_file() and target.samefile(source)):
            raise InputError(f"{target} exists and is not the file that {self.check.id} was read from; name another")
        if _read_text(target) != text:
            raise InputError(f"{target} was changed since the preview; preview it again before it is saved")

    def to_json(self) -> dict[str, Any]:
        """Return the draft as plain values."""
        return {
            "check": self.check.id,
            "separated": self.separated,
            "n": len(self.rows),
            "statement": self.statement,
            "rows": rows_of(self.rows),
            "left_out": self.results.to_json()["left_out"],
        }

    def _repr_html_(self) -> str:
        rows = [{**row, "quotes": " … ".join(row["quotes"]) or None} for row in rows_of(self.rows)]
        heads = {name: HEADS.get(name, name) for name in COLUMNS}
        return html.fragment(
            html.table(rows, heads, caption=f"{self.check.id} on {len(rows)} runs"), self.statement, self.note
        )

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        document = {"kind": "preview", **self.to_json()}
        return {"text/plain": repr(self), "text/html": self._repr_html_(), MIME: document}

    def __repr__(self) -> str:
        return "\n".join([f"Draft of {self.check.id}: {self.statement}", *self._lines()])

    def _lines(self) -> Iterator[str]:
        for row in rows_of(self.rows):
            step = "" if row["step"] is None else f" {row['step']} (attempt {row['attempt']})"
            score = "" if row["score"] is None else f" {row['score']:g}"
            mark = "as expected" if row["separated"] else "not as expected"
            why = f" ({row['reason']})" if row["reason"] else ""
            yield f"  {row['run']}{step}: {row['expected']}, {row['status']}{score}{why}; {mark}"
            yield from (f"    “{quote}”" for quote in row["quotes"])
        yield f"  note: {self.note}"


def preview(
    check: Check | str | Path,
    store: Store,
    *,
    problem: Sequence[str],
    clean: Sequence[str],
    evaluator: Evaluator | str | None = None,
) -> Draft:
    """Try a check on runs that have the problem and on runs that do not.

    Only these runs are measured. The store notes that they were shown, so that their labels are never used to certify
    what was written in view of them.

    Parameters
    ----------
    check
        The check, its file, or `FILE#ID`.
    store
        The recorded runs.
    problem
        Ids of runs that have the problem.
    clean
        Ids of runs that do not.
    evaluator
        Who is asked for answers that nobody recorded.

    Raises
    ------
    UnknownNameError
        If the store has no such run.
    InputError
        If the check cannot be read, or a run is named on both sides.
    """
    evaluation.require_store(store)
    found = evaluation.read(check)
    if len(found) != 1:
        names = ", ".join(repr(one.id) for one in found)
        raise InputError(f"preview takes one check, got {len(found)}: {names}. Write FILE#ID.")
    expected = _expected(problem, clean)
    text = _read_text(Path(file)) if (file := found[0].file) and Path(file).is_file() else None
    with store.hold() if evaluator is None else contextlib.nullcontext():
        runs = _known_runs(expected, store)
        results = evaluation.over(found, store, runs, evaluator=evaluator)
        _record_look(found[0], store, sorted(expected))
    return Draft(check=found[0], rows=_table(results, expected), results=results, text=text)


def miss_bound(problems: int, *, confidence: float = CONFIDENCE) -> float:
    """Return the share of problems that may be missed although none of those shown was.

    Parameters
    ----------
    problems
        How many runs with the problem were shown, at least 1.
    confidence
        With which the bound holds.

    The exact binomial bound at no miss: 1 - δ^(1/n).

    Examples
    --------
    >>> round(miss_bound(3), 2)
    0.54
    """
    return float(1 - (1 - confidence) ** (1 / problems))


def _expected(problem: Sequence[str], clean: Sequence[str]) -> dict[str, str]:
    for name, ids in (("problem", problem), ("clean", clean)):
        if isinstance(ids, str):
            raise InputError(f"{name} must be a list of run ids, got the text {ids!r}")
    both = sorted(set(problem) & set(clean))
    if both:
        raise InputError(f"a run either has the problem or does not, but both name {', '.join(map(repr, both))}")
    if not problem and not clean:
        raise InputError("preview needs at least one run in problem or clean, got none")
    return {**dict.fromkeys(problem, "problem"), **dict.fromkeys(clean, "clean")}


def _known_runs(expected: dict[str, str], store: Store) -> pd.DataFrame:
    runs = runs_of(store, expected)
    missing = sorted(set(expected) - set(runs["run_id"]))
    if missing:
        known = store.sql("select run_id from runs order by run_id limit 10000")["run_id"].tolist()
        raise UnknownNameError.of("run of the store", missing[0], known)
    return runs


def _table(results: Results, expected: dict[str, str]) -> pd.DataFrame:
    import pandas as pd

    quotes: dict[tuple[str, str | None], list[str]] = {}
    for finding in rows_of(results.findings):
        if finding["quote"]:
            quotes.setdefault((finding["run"], finding["step"]), []).append(finding["quote"])
    rows = []
    for verdict in rows_of(results.verdicts):
        wanted = expected[verdict["run"]]
        right = ("fail",) if wanted == "problem" else ("pass",)
        shown = quotes.get((verdict["run"], verdict["step"]), [])
        rows.append({**verdict, "expected": wanted, "separated": verdict["status"] in right, "quotes": shown})
    table = pd.DataFrame(rows, columns=COLUMNS)
    order = table["expected"].map({"problem": 0, "clean": 1})
    table = table.assign(order=order).sort_values(["order", "run", "attempt"], kind="stable").drop(columns="order")
    return table.reset_index(drop=True)


def _record_look(check: Check, store: Store, runs: list[str]) -> None:
    import pandas as pd

    if store.read_only:
        return
    shown = json.dumps(runs)
    sql = "select count(*) as n from looks where call = 'preview' and asked = ? and document = ? and runs::varchar = ?"
    if store.sql(sql, [check.asked, check.document, shown])["n"][0]:
        return
    look = {
        "look": int(store.sql("select coalesce(max(look), 0) + 1 as next from looks")["next"][0]),
        "at": datetime.now(UTC).replace(tzinfo=None),
        "call": "preview",
        "check_id": check.id,
        "asked": check.asked,
        "document": check.document,
        "cutoffs": json.dumps([{"item": t.item, "key": t.key, "value": t.value} for t in thresholds(check)]),
        "labels": "[]",
        "runs": shown,
        "result": "{}",
    }
    store.insert("looks", pd.DataFrame([look]))


def _read_text(path: Path) -> str:
    with path.open(encoding="utf-8", newline="") as stream:
        return stream.read()
