"""Web-agent runs that people judged: action histories as runs in our JSONL form, labels as decisions in our CSV form.

The runs come from the judge records of `online_mind2web_webjudge` (three judges saw overlapping sets of runs), the
label from its human answers to whether the run repeats itself.
"""

from __future__ import annotations

import csv
import gzip
import json
import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

JUDGES = ("webjudge_7B", "webjudge_gpt4o", "webjudge_o4_mini")
CHECK = "looping"
_ACTION = re.compile(r"^\d+\. (.*?)(?=^\d+\. |\Z)", re.MULTILINE | re.DOTALL)
_REASONING = re.compile(r"\.? *Reasoning: ", re.DOTALL)


def runs(realdata: Path) -> Iterator[dict[str, Any]]:
    """Yield each labelled run once, with one tool span an action."""
    labels = _labels(_folder(realdata))
    seen: set[str] = set()
    for record in _records(_folder(realdata)):
        key = _key(record)
        run_id = "/".join(key)
        if key in labels and run_id not in seen:
            seen.add(run_id)
            yield {
                "run_id": run_id,
                "workflow": key[1],
                "input": record["goal"],
                "spans": [_span(action) for action in _actions(record["input_text"])],
            }


def decisions(realdata: Path) -> Iterator[dict[str, str]]:
    """Yield the human label of each run."""
    labels = _labels(_folder(realdata))
    for run in runs(realdata):
        looping = labels[tuple(run["run_id"].split("/"))]
        decision = "problem" if looping else "no_problem"
        yield {"run_id": run["run_id"], "check_id": CHECK, "decision": decision, "decided_by": "person"}


def write(realdata: Path, folder: Path, *, check_id: str = CHECK) -> tuple[Path, Path]:
    """Write `runs.jsonl` and `decisions.csv` into a folder and return both paths.

    Parameters
    ----------
    realdata
        The folder of recorded runs.
    folder
        Where to write.
    check_id
        The check that the decisions are about.
    """
    runs_file, decisions_file = folder / "runs.jsonl", folder / "decisions.csv"
    runs_file.write_text("".join(json.dumps(run) + "\n" for run in runs(realdata)), "utf-8")
    with decisions_file.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["run_id", "check_id", "decision", "decided_by"])
        writer.writeheader()
        writer.writerows(row | {"check_id": check_id} for row in decisions(realdata))
    return runs_file, decisions_file


def _folder(realdata: Path) -> Path:
    return realdata / "online_mind2web_webjudge" / "agent_reward_bench"


def _records(folder: Path) -> Iterator[dict[str, Any]]:
    for judge in JUDGES:
        with gzip.open(folder / judge / "judgments.jsonl.gz", "rt", encoding="utf-8") as lines:
            yield from map(json.loads, lines)


def _key(record: Mapping[str, Any]) -> tuple[str, ...]:
    """Return benchmark, agent and task; two benchmarks share a folder."""
    path = PurePosixPath(record["source_file"])
    benchmark = path.parts[-4].removesuffix("++")
    return benchmark, record["agent"], path.stem


def _labels(folder: Path) -> dict[tuple[str, ...], bool]:
    answers = json.loads(gzip.decompress((folder / JUDGES[0] / "results.json.gz").read_bytes()))["webjudge"]
    with (folder / "results_order.csv").open(encoding="utf-8", newline="") as file:
        return {
            (row["benchmark"].removesuffix("++"), row["agent"], row["task_id"]): bool(
                answers[row["benchmark"]][row["agent"]]["trajectory_looping"]["y_human"][int(row["position"])],
            )
            for row in csv.DictReader(file)
        }


def _actions(text: str) -> list[str]:
    history = text.split("Action History:", 1)[-1]
    return [_REASONING.split(found[1], maxsplit=1)[0].strip() for found in _ACTION.finditer(history)]


def _span(action: str) -> dict[str, Any]:
    return {"type": "tool", "name": action.split("(", 1)[0], "input": action}
