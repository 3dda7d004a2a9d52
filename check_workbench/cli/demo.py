"""`demo`: the whole way on sample data, by the very commands that a user would type."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from check_workbench.cli.arguments import parser
from check_workbench.cli.screen import Outcome
from check_workbench.errors import InputError
from check_workbench.files import write_file

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

MARKER = ".check-workbench-demo"
REFUNDS, VENDORS, REPORT, REPLACE_REPORT = "refunds.duckdb", "vendors.duckdb", "trust.html", "replace.html"
OWN = (MARKER, *(f"{name}{end}" for name in (REFUNDS, VENDORS) for end in ("", ".wal")), REPORT, REPLACE_REPORT)
SCREENING = "data/vendors/PROCESS.md#vendor-check/check_vendor"
TERMS = "data/vendors/PROCESS.md#vendor-check/write_terms"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One command of the demo, and what it shows."""

    title: str
    words: tuple[str, ...]

    @property
    def line(self) -> str:
        """The command as one types it."""
        return shlex.join(("check-workbench", *self.words))


LOAD = Stage(
    title="1. Load the runs of a refund agent, what people said of them, and what a model judge answered",
    words=(
        *("load", "data/refunds/runs.jsonl", "--db", REFUNDS),
        *("--decisions", "data/refunds/labels.csv", "--answers", "data/refunds/answers.jsonl"),
    ),
)
EVALUATE = Stage(
    title="2. Evaluate the checks over all runs",
    words=("evaluate", "data/refunds/checks", "--db", REFUNDS),
)
CALIBRATE = Stage(
    title="3. Calibrate their thresholds against what people said",
    words=("calibrate", "data/refunds/checks", "--db", REFUNDS, "--goal", "precision>=0.8"),
)
LOAD_PROCESS = Stage(
    title="4. Load a process with approvals, and what the approvers decided",
    words=("load", "data/vendors/runs.jsonl", "--db", VENDORS, "--decisions", "data/vendors/decisions.csv"),
)
ENFORCE = Stage(
    title="5. May the advisory checks of that process be enforced?",
    words=(
        *("trust", SCREENING, TERMS, "--db", VENDORS, "--change", "enforce"),
        *("--max-false-fail", "0.1", "--confidence", "0.9", "--report", REPORT),
    ),
)
REPLACE = Stage(
    title="6. May the screening check even replace the approval?",
    words=(
        *("trust", SCREENING, "--db", VENDORS, "--change", "replace_approval"),
        *("--max-false-pass", "0.05", "--confidence", "0.9", "--report", REPLACE_REPORT),
    ),
)
STAGES = (LOAD, EVALUATE, CALIBRATE, LOAD_PROCESS, ENFORCE, REPLACE)
SAID = {
    "ready": "Yes. {errors} of {n} blind decisions spoke against it; its risk is at most {risk}, within the plan",
    "need_labels": "Not yet. About {labels_needed} more blind decisions settle it, if no further error comes",
    "too_weak": "No. It errs too often, and more labels will not change that",
    "unusable": "No. The decisions at hand cannot settle it",
}
UNREACHABLE = "Not yet. The check decides nothing at its present cut, so no number of decisions settles it"
CHANGES = {"enforce": "be enforced", "replace_approval": "replace the approval"}
WARNING = "A check is no security boundary: where a hard guarantee is needed, a person stays on the step."


def demo(arguments: argparse.Namespace) -> Outcome:
    """Run the demo in a folder of its own; its exit code is 0 whatever is decided about the checks."""
    folder = Path(arguments.out)
    prepare(folder)
    with contextlib.chdir(folder):
        outcomes = {stage: _ran(stage) for stage in STAGES}
    decided = [*outcomes[ENFORCE].data["checks"], *outcomes[REPLACE].data["checks"]]
    report = folder / REPORT
    data = {
        "load": _together(outcomes[LOAD].data, outcomes[LOAD_PROCESS].data),
        "calibrate": outcomes[CALIBRATE].data,
        "trust": {"checks": decided},
        "report": str(report),
    }
    lines = [line for stage, outcome in outcomes.items() for line in _told(stage, outcome)]
    return Outcome(text="\n".join([*lines, *_closing(decided, folder)]), data=data)


def prepare(folder: Path) -> None:
    """Lay the sample data into a folder that is new, empty, or the demo's own.

    Raises
    ------
    InputError
        If the folder holds anything that the demo did not write, or that was changed since.
    """
    from check_workbench.samples import sample_data

    if folder.exists() and not folder.is_dir():
        raise InputError(f"--out must be a folder, but {folder} is a file; choose another with --out DIR")
    source = sample_data()
    files = [p for p in _files(source) if p.suffix != ".py"]
    present = {p.relative_to(folder).as_posix() for p in _files(folder)} if folder.exists() else set()
    if present and MARKER not in present:
        raise InputError(f"{folder} holds files that are not the demo's; choose another folder with --out DIR")
    copies = {f"data/{p.relative_to(source).as_posix()}": p for p in files}
    foreign = sorted(name for name in present - set(OWN) if not _same(folder / name, copies.get(name)))
    if foreign:
        listed = ", ".join(foreign[:5]) + (", …" if len(foreign) > 5 else "")
        raise InputError(
            f"{folder} holds {listed}, which is new or changed since the demo wrote it; choose another --out"
        )
    for name in OWN:
        (folder / name).unlink(missing_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    write_file(folder / MARKER, b"Written by check-workbench demo; it may overwrite what it wrote here.\n")
    for name, path in copies.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_file(folder / name, path.read_bytes())


def _ran(stage: Stage) -> Outcome:
    arguments = parser().parse_args(stage.words)
    outcome: Outcome = arguments.run(arguments)
    return outcome


def _together(first: Any, second: Any) -> Any:
    """Add two load documents up: counts are added, lists are joined."""
    if isinstance(first, dict):
        return {name: _together(value, second[name]) for name, value in first.items()}
    return first + second


def _told(stage: Stage, outcome: Outcome) -> Iterable[str]:
    yield from (f"== {stage.title}", f"$ {stage.line}", outcome.text)
    if outcome.code:
        yield f"(exit code {outcome.code})"
    yield ""


def _closing(decided: list[dict[str, Any]], folder: Path) -> Iterable[str]:
    yield "== In words"
    for one in decided:
        hopeless = one["outcome"] == "need_labels" and one["labels_needed"] is None
        said = (
            UNREACHABLE
            if hopeless
            else SAID[one["outcome"]].format(**one, risk="-" if one["bound"] is None else f"{100 * one['bound']:.1f} %")
        )
        yield f"May {one['check']} {CHANGES[one['change']]}? {said}."
    yield WARNING
    yield ""
    yield f"Report: {folder / REPORT} (open it in a browser)"
    yield f"To go on: cd {shlex.quote(str(folder))}, and repeat any line above that starts with $."
    if (program := _elsewhere()) is not None:
        yield f"Here check-workbench means {shlex.quote(str(program))}, which is not on your PATH."


def _elsewhere() -> Path | None:
    """Return where the running program lies, if its bare name starts nothing or another one."""
    beside = Path(sys.executable).with_name("check-workbench")
    own = Path(sys.argv[0]) if Path(sys.argv[0]).name.startswith("check-workbench") else beside
    if not own.is_file():
        return None
    found = shutil.which("check-workbench")
    return None if found is not None and os.path.realpath(found) == os.path.realpath(own) else own.absolute()


def _files(folder: Path) -> Iterable[Path]:
    return sorted(p for p in folder.rglob("*") if not p.is_dir() and "__pycache__" not in p.parts)


def _same(path: Path, original: Path | None) -> bool:
    return original is not None and path.is_file() and path.read_bytes() == original.read_bytes()
