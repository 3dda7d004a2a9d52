"""The grammar of the command line; what a command does is imported when it runs."""

from __future__ import annotations

import argparse
import importlib
from typing import TYPE_CHECKING, NoReturn, Protocol

from check_workbench import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from check_workbench.cli.screen import Outcome

CHECK = "a check file or folder, or FILE#ID where a file holds several"
EXITS = """\
exit codes: 0 done · 1 validate found errors · 2 usage · 3 input or store cannot be used · 4 the evaluator stopped
answering · 10 / 11 / 12 trust: need_labels / too_weak / unusable · 70 a bug · 130 interrupted"""


LOOKS = """\
looks: each call that reads new labels is a look and spends part of the error that the plan allows, the first look the
largest part, so that it is the strongest. The same call again on the same labels costs nothing."""


class Adder(Protocol):
    """What adds a command to the main parser."""

    @property
    def add_parser(self) -> Callable[..., argparse.ArgumentParser]:
        """Add a parser by its name."""


class Usage(Exception):  # noqa: N818 - it is a request that does not parse, not a failure of the program
    """The arguments do not parse."""

    def __init__(self, message: str, usage: str) -> None:
        super().__init__(message)
        self.usage = usage


class Parser(argparse.ArgumentParser):
    """A parser that raises `Usage` in place of leaving the process."""

    def error(self, message: str) -> NoReturn:
        """Raise the message with the usage line."""
        raise Usage(message, self.format_usage())


def asked_for(words: Sequence[str], flag: str) -> bool:
    """Say whether a flag is among the words, before `--`, also where the rest does not parse."""
    return flag in (words[: words.index("--")] if "--" in words else words)


def parser() -> argparse.ArgumentParser:
    """Build the parser of all commands."""
    main = Parser(
        prog="check-workbench",
        description="Calibrate the checks that judge agents' work against what people decided, and say when they\n"
        "may be trusted. New here? Run: check-workbench demo",
        epilog=EXITS,
        formatter_class=_layout,
        allow_abbrev=False,
    )
    main.add_argument("--version", action="version", version=f"check-workbench {__version__}")
    commands = main.add_subparsers(title="commands", metavar="COMMAND", required=True, dest="command")
    for add in (_demo, _formats, _load, _validate, _evaluate, _preview, _calibrate, _plan, _trust):
        add(commands)
    return main


def _layout(prog: str) -> argparse.HelpFormatter:
    return argparse.RawDescriptionHelpFormatter(prog, max_help_position=28)


def _command(commands: Adder, name: str, run: str, summary: str, *examples: str) -> argparse.ArgumentParser:
    shown = "\n".join(f"  check-workbench {example}" for example in examples)
    command = commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog=f"examples:\n{shown}",
        formatter_class=_layout,
        allow_abbrev=False,
    )
    command.add_argument("--json", action="store_true", help="one JSON document on stdout, all else on stderr")
    command.add_argument("--debug", action="store_true", help="show the traceback of an error")
    command.set_defaults(run=_later(run))
    return command


def _later(name: str) -> Callable[[argparse.Namespace], Outcome]:
    def run(arguments: argparse.Namespace) -> Outcome:
        module, function = name.split(":")
        outcome: Outcome = getattr(importlib.import_module(f"check_workbench.cli.{module}"), function)(arguments)
        return outcome

    return run


def _store(command: argparse.ArgumentParser) -> None:
    command.add_argument("--db", required=True, metavar="FILE", help="the DuckDB file that holds runs and decisions")


def _checks(command: argparse.ArgumentParser) -> None:
    command.add_argument("checks", nargs="+", metavar="CHECK", help=CHECK)


def _answerer(command: argparse.ArgumentParser, *, evaluator: bool = True) -> None:
    group = command.add_mutually_exclusive_group()
    group.add_argument("--answers", metavar="FILE", help="recorded answers (JSONL) to load first")
    if evaluator:
        group.add_argument("--evaluator", metavar="NAME", help="an evaluator from check-workbench.toml")


def _bounds(command: argparse.ArgumentParser, *, required: bool = False) -> None:
    from check_workbench.plans import CHANGES, DEFAULT_BOUNDS

    defaults = {
        bound: f"default with --change {change}: {value:g}" for change, (bound, value) in DEFAULT_BOUNDS.items()
    }
    command.add_argument("--change", choices=CHANGES, required=required, help="what is to change")
    helps = {
        "max_false_pass": f"largest share of bad work among what passes ({defaults['max_false_pass']})",
        "max_false_fail": f"largest share of good work among what fails ({defaults['max_false_fail']})",
        "confidence": "smallest chance that a yes is right (0.9)",
    }
    for name, text in helps.items():
        command.add_argument(f"--{name.replace('_', '-')}", type=float, metavar="P", help=text)


def _demo(commands: Adder) -> None:
    command = _command(commands, "demo", "demo:demo", "show the whole way on sample data", "demo", "demo --out tour")
    command.add_argument("--out", default="check-workbench-demo", metavar="DIR", help="where to write (%(default)s)")


def _formats(commands: Adder) -> None:
    _command(commands, "formats", "loading:formats", "list the formats of recorded runs and decisions", "formats")


def _load(commands: Adder) -> None:
    command = _command(
        commands,
        "load",
        "loading:load",
        "load recorded runs, decisions and answers into a store",
        "load runs/ --db refunds.duckdb",
        "load runs/ --db refunds.duckdb --decisions labels.csv --answers answers.jsonl",
        "load results/ --db refunds.duckdb --mapping results.yaml",
        "load --db refunds.duckdb --decisions blind.csv --blind",
        "load big/ --db refunds.duckdb --dry-run --sample 20",
        "load colleague.duckdb exported/ --db refunds.duckdb",
    )
    _store(command)
    command.add_argument(
        "paths", nargs="*", metavar="PATH", help="files or folders of recorded runs, other stores, exported folders"
    )
    command.add_argument("--decisions", action="append", default=[], metavar="FILE", help="human decisions; repeatable")
    command.add_argument("--answers", action="append", default=[], metavar="FILE", help="recorded answers; repeatable")
    command.add_argument("--format", metavar="NAME", help="take every PATH as this format (see formats)")
    command.add_argument(
        "--mapping", metavar="FILE", help="read every PATH as this mapping says, a file or a shipped name"
    )
    command.add_argument("--blind", action="store_true", help="assert that no decision was made in sight of a verdict")
    command.add_argument("--dry-run", action="store_true", help="show what would come in, and write nothing")
    command.add_argument(
        "--sample", type=_positive, metavar="N", help="take at most N runs, spread over the files, the same each time"
    )


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1, got {text!r}")
    return int(text)


def _validate(commands: Adder) -> None:
    command = _command(
        commands,
        "validate",
        "validating:validate",
        "check the check files, every problem at once",
        "validate checks/",
        "validate checks/ PROCESS.md --json",
    )
    command.add_argument("paths", nargs="+", metavar="PATH", help="check files or folders, or FILE#ID")
    command.epilog = f"The README lists every key of a check file, with its default.\n\n{command.epilog}"


def _evaluate(commands: Adder) -> None:
    command = _command(
        commands,
        "evaluate",
        "evaluating:evaluate",
        "evaluate checks over the loaded runs",
        "evaluate checks/ --db refunds.duckdb",
        "evaluate PROCESS.md#vendor-check/check_vendor --db vendors.duckdb --json",
    )
    _store(command)
    _checks(command)
    _answerer(command)


def _preview(commands: Adder) -> None:
    command = _command(
        commands,
        "preview",
        "evaluating:preview",
        "try a draft on runs with and without the problem",
        "preview checks/loop.check.yaml --db refunds.duckdb --problem r-014 r-021 --clean r-052",
    )
    _store(command)
    command.add_argument("check", metavar="CHECK", help=CHECK)
    command.add_argument("--problem", nargs="+", required=True, metavar="RUN", help="runs that have the problem")
    command.add_argument("--clean", nargs="+", required=True, metavar="RUN", help="runs that do not have it")
    _answerer(command)


def _calibrate(commands: Adder) -> None:
    command = _command(
        commands,
        "calibrate",
        "trusting:calibrate",
        "choose thresholds against human decisions",
        "calibrate checks/ --db refunds.duckdb --goal 'precision>=0.9'",
        "calibrate checks/loop.check.yaml --db refunds.duckdb --goal 'cost 1:5' --apply",
    )
    _store(command)
    _checks(command)
    _answerer(command, evaluator=False)
    command.add_argument("--goal", metavar="TEXT", help="precision>=P, recall>=P, 'cost A:B' or risk<=A@C")
    command.add_argument("--labels", choices=("check", "work"), help="work also counts decisions about the work")
    command.add_argument("--apply", action="store_true", help="write the chosen threshold into the check's file")


def _plan(commands: Adder) -> None:
    command = _command(
        commands,
        "plan",
        "trusting:plan",
        "write down what must hold before a check is trusted",
        "plan --change enforce --max-false-fail 0.1 --confidence 0.9 -o plan.yaml",
    )
    _bounds(command, required=True)
    command.add_argument("-o", "--out", metavar="FILE", help="the plan file; without it the plan is printed")


def _trust(commands: Adder) -> None:
    command = _command(
        commands,
        "trust",
        "trusting:trust",
        "say whether a check may be enforced, or replace the approval",
        "trust PROCESS.md#vendor-check/check_vendor --db vendors.duckdb --change enforce --max-false-fail 0.1",
        "trust PROCESS.md --db vendors.duckdb --plan plan.yaml --report trust.html",
    )
    _store(command)
    _checks(command)
    command.add_argument("--plan", metavar="FILE", help="a plan file, in place of the bounds")
    _bounds(command)
    command.add_argument("--report", metavar="FILE", help="write the report as HTML")
    command.epilog = f"{LOOKS}\n\n{command.epilog}"
