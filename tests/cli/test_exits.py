"""Exit codes, and what stands on which stream when something goes wrong."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

import check_workbench
from check_workbench.cli import arguments, main
from check_workbench.cli.screen import plain, table
from check_workbench.errors import EvaluatorError, InputError, StoreBusyError, UndefinedError

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = (sys.executable, "-c", "import sys; from check_workbench.cli import main; sys.exit(main())")
COMMANDS = ("demo", "formats", "load", "validate", "evaluate", "preview", "calibrate", "plan", "trust", "diff", "gate")


def raising(error: BaseException) -> Any:
    def command(_: object) -> None:
        raise error

    return command


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InputError("no such thing"), 3),
        (StoreBusyError("held by process 7"), 3),
        (UndefinedError("no value"), 3),
        (PermissionError(13, "Permission denied", "x.csv"), 3),
        (EvaluatorError("gone"), 4),
        (ZeroDivisionError("division by zero"), 70),
        (KeyboardInterrupt(), 130),
    ],
)
@pytest.mark.parametrize("as_json", [False, True])
def test_an_error_has_its_code_and_no_traceback(
    monkeypatch: pytest.MonkeyPatch, cli: Any, error: BaseException, code: int, *, as_json: bool
) -> None:
    monkeypatch.setattr("check_workbench.cli.loading.formats", raising(error))
    ran = cli("formats", *(["--json"] if as_json else []))
    assert ran.code == code
    assert "Traceback" not in ran.err
    assert ran.err.startswith("check-workbench: ")
    if as_json:
        assert ran.document["error"]["kind"] == type(error).__name__
    else:
        assert ran.out == ""


def test_debug_shows_where(monkeypatch: pytest.MonkeyPatch, cli: Any) -> None:
    monkeypatch.setattr("check_workbench.cli.loading.formats", raising(ZeroDivisionError("oh")))
    ran = cli("formats", "--debug")
    assert ran.code == 70
    assert "Traceback" in ran.err
    assert "this is a bug in check-workbench: ZeroDivisionError: oh" in ran.err


def test_an_operating_system_error_names_the_file(monkeypatch: pytest.MonkeyPatch, cli: Any) -> None:
    monkeypatch.setattr(
        "check_workbench.cli.loading.formats", raising(PermissionError(13, "Permission denied", "x.csv"))
    )
    assert cli("formats").err == "check-workbench: x.csv: Permission denied\n"


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["nosuch"],
        ["load", "--db", "x.duckdb"],
        ["load", "--answers", "a", "--db", "x.duckdb", "--blind"],
        ["load", "runs"],
        ["evaluate", "--db", "x.duckdb"],
        ["evaluate", "c", "--db", "x.duckdb", "--answers", "a", "--evaluator", "b"],
        ["preview", "c", "--db", "x.duckdb", "--problem", "r-1"],
        ["calibrate", "c", "--db", "x.duckdb", "--labels", "all"],
        ["plan"],
        ["plan", "--change", "trust"],
        ["plan", "--change", "enforce", "--confidence", "high"],
        ["trust", "c", "--db", "x.duckdb", "--plan", "p.yaml", "--change", "enforce"],
        ["trust", "c", "--db", "x.duckdb", "--plan", "p.yaml", "--labels", "work"],
        ["plan", "--change", "enforce", "--labels", "all"],
        ["formats", "--jso"],
    ],
)
def test_usage_is_two_on_stderr(cli: Any, words: list[str]) -> None:
    ran = cli(*words)
    assert (ran.code, ran.out) == (2, "")
    assert "usage: check-workbench" in ran.err


def test_the_usage_of_plan_says_what_it_needs(cli: Any) -> None:
    ran = cli("plan")
    assert "the following arguments are required: --change" in ran.err
    assert "[--change" not in ran.err


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("plan", "largest share of bad work among what passes (default with --change replace_approval: 0.05)"),
        ("plan", "largest share of good work among what fails (default with --change enforce: 0.1)"),
        ("trust", "each call that reads new labels is a look and spends part of the error"),
        ("validate", "The README lists every key of a check file"),
    ],
)
def test_help_says_what_one_must_know(capsys: pytest.CaptureFixture[str], command: str, words: str) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"])
    assert words in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("command", ["formats --json", "formats", "plan --change enforce", "--version"])
def test_a_closed_stdout_is_told_and_is_no_bug(command: str) -> None:
    program = " ".join(f'"{word}"' for word in PROGRAM)
    done = subprocess.run(["sh", "-c", f"{program} {command} >&-"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "check-workbench: stdout is closed, so nothing is shown\n"


def test_a_full_disk_is_a_message() -> None:
    program = " ".join(f'"{word}"' for word in PROGRAM)
    done = subprocess.run(["sh", "-c", f"{program} formats >/dev/full"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (3, "check-workbench: No space left on device\n")


def test_usage_with_json_still_prints_one_document(cli: Any) -> None:
    ran = cli("trust", "--json")
    assert ran.code == 2
    assert ran.document["error"]["kind"] == "Usage"


def test_a_flag_after_two_dashes_is_a_name(cli: Any, tmp_path: Path) -> None:
    ran = cli("validate", "--", "--json")
    assert (ran.code, ran.out) == (3, "")
    assert not list(tmp_path.iterdir())


def test_version_and_help_need_no_heavy_import() -> None:
    code = (
        "import sys; from check_workbench.cli import main\n"
        "try: main(['--version'])\n"
        "except SystemExit as end: assert end.code == 0\n"
        "heavy = {'duckdb', 'pandas', 'numpy', 'ibis', 'scipy', 'sklearn', 'yaml'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"check-workbench {check_workbench.__version__}\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_examples(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main([command, "--help"])
    assert end.value.code == 0
    shown = capsys.readouterr().out
    assert f"check-workbench {command}" in shown
    assert "--json" in shown
    examples = shown.split("examples:\n")[1].splitlines()
    for example in examples:
        import shlex

        assert arguments.parser().parse_args(shlex.split(example)[1:]).command == command


def test_help_fits_a_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    with pytest.raises(SystemExit):
        main(["--help"])
    shown = capsys.readouterr().out
    assert all(command in shown for command in COMMANDS)
    assert max(map(len, shown.splitlines())) <= 120


def test_a_reader_that_goes_away_is_no_error() -> None:
    program = subprocess.Popen([*PROGRAM, "formats"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert program.stdout is not None
    assert program.stderr is not None
    program.stdout.close()
    err = program.stderr.read()
    program.stderr.close()
    assert (program.wait(timeout=60), err) == (0, "")


def test_ctrl_c_is_130_without_a_traceback(tmp_path: Path) -> None:
    code = (
        "import signal, sys, time, check_workbench.cli.loading as l\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from check_workbench.cli import main\n"
        "def slow(_):\n    print('on', file=sys.stderr, flush=True)\n    time.sleep(60)\n"
        "l.formats = slow\n"
        "sys.exit(main(['formats']))"
    )
    program = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert program.stderr is not None
    assert program.stderr.readline() == "on\n"
    time.sleep(0.1)
    program.send_signal(signal.SIGINT)
    out, err = program.communicate(timeout=60)
    assert (program.returncode, out, err) == (130, "", "check-workbench: interrupted\n")
    assert not list(tmp_path.iterdir())


def test_output_survives_a_terminal_that_lacks_the_letters(tmp_path: Path) -> None:
    words = [*PROGRAM, "plan", "--change", "enforce", "-o", str(tmp_path / "plan.yaml")]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(words, check=True, capture_output=True, env=environment)
    assert b"good among failed \\u2264 0.1" in done.stdout
    assert done.stderr == b""


def test_what_json_cannot_hold_becomes_null_or_text(tmp_path: Path) -> None:
    import numpy as np
    import pandas as pd

    value = {"a": np.float64("nan"), "b": np.int64(3), "c": pd.Timestamp("2026-01-02"), "d": tmp_path, 5: float("inf")}
    shown = json.loads(json.dumps(plain(value), allow_nan=False))
    assert shown == {"a": None, "b": 3, "c": "2026-01-02T00:00:00", "d": str(tmp_path), "5": None}


def test_an_empty_table_is_its_header() -> None:
    assert table([], ["check", "n"]) == "check  n"
