"""What a file holds that was given as something else: runs, decisions or recorded answers."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from check_workbench.sources.heads import HEAD_BYTES, first_keys
from check_workbench.sources.json_items import BROKEN_GZIP, opened

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

OF_RUNS = ("spans", "steps", "workflow", "final_output")
OF_ANSWERS = ("probability", "probabilities", "choice", "level", "passed", "score")
WAYS = {
    "decisions": "these look like decisions; load them with --decisions (in Python store.load_decisions)",
    "answers": "these look like recorded answers; load them with --answers (in Python store.load_answers)",
    "runs": "these look like recorded runs; give the file as a PATH (in Python store.load)",
}
"""What a file holds, and how it is loaded."""


def other_than(path: Path, wanted: str) -> str | None:
    """Say how a file must be loaded that cannot be what it was given as.

    Parameters
    ----------
    path
        A CSV or JSON file; gzip is seen through.
    wanted
        What it was given as, one of `WAYS`.

    Returns
    -------
    str or None
        The way; None where the file may be what was wanted, or cannot be told.
    """
    try:
        with opened(path) as stream:
            head = stream.read(HEAD_BYTES).decode("utf-8", errors="replace").removeprefix("\ufeff")
    except (*BROKEN_GZIP, OSError):
        return None
    in_json = head.lstrip()[:1] in {"{", "["}
    found = [kind for kind in kinds(first_keys(head) if in_json else _header(head)) if in_json or kind != "runs"]
    return None if not found or wanted in found else WAYS[found[0]]


def kinds(names: Iterable[str]) -> tuple[str, ...]:
    """Say what records with such names may be.

    Examples
    --------
    >>> kinds(["run_id", "decision", "check_id"]), kinds(["run_id", "check_id", "probability"]), kinds(["run_id"])
    (('decisions',), ('answers',), ())
    """
    found = set(names)
    if "run_id" not in found:
        return ()
    fits = {
        "runs": found & set(OF_RUNS),
        "decisions": "decision" in found,
        "answers": "check_id" in found and found & set(OF_ANSWERS),
    }
    return tuple(kind for kind, fit in fits.items() if fit)


def _header(text: str) -> list[str]:
    lines = text.splitlines()
    if not lines or "\0" in lines[0]:
        return []
    delimiter = max(",;\t", key=lines[0].count)
    return [cell.strip() for cell in next(csv.reader(lines[:1], delimiter=delimiter), [])]
