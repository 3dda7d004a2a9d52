"""What the commands of the grammar share: parsers that raise, a command with its examples, arguments of many."""

from __future__ import annotations

import argparse
import importlib
from typing import TYPE_CHECKING, NoReturn, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from check_workbench.cli.screen import Outcome

CHECK = "a check file or folder, or FILE#ID where a file holds several"


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


def layout(prog: str) -> argparse.HelpFormatter:
    """Lay help texts out as they are written, options in a narrow column."""
    return argparse.RawDescriptionHelpFormatter(prog, max_help_position=28)


def command(commands: Adder, name: str, run: str, summary: str, *examples: str) -> argparse.ArgumentParser:
    """Add a command: `run` names its module and function, imported when it runs; examples stand below its help."""
    shown = "\n".join(f"  check-workbench {example}" for example in examples)
    made = commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog=f"examples:\n{shown}",
        formatter_class=layout,
        allow_abbrev=False,
    )
    made.add_argument("--json", action="store_true", help="one JSON document on stdout, all else on stderr")
    made.add_argument("--debug", action="store_true", help="show the traceback of an error")
    made.set_defaults(run=_later(run))
    return made


def _later(name: str) -> Callable[[argparse.Namespace], Outcome]:
    def run(arguments: argparse.Namespace) -> Outcome:
        module, function = name.split(":")
        outcome: Outcome = getattr(importlib.import_module(f"check_workbench.cli.{module}"), function)(arguments)
        return outcome

    return run


def store(command: argparse.ArgumentParser) -> None:
    """Add `--db`."""
    command.add_argument("--db", required=True, metavar="FILE", help="the DuckDB file that holds runs and decisions")


def checks(command: argparse.ArgumentParser) -> None:
    """Add one or several checks."""
    command.add_argument("checks", nargs="+", metavar="CHECK", help=CHECK)


def answerer(command: argparse.ArgumentParser, *, evaluator: bool = True) -> None:
    """Add where answers come from."""
    group = command.add_mutually_exclusive_group()
    group.add_argument("--answers", metavar="FILE", help="recorded answers (JSONL) to load first")
    if evaluator:
        group.add_argument("--evaluator", metavar="NAME", help="an evaluator from check-workbench.toml")


def bounds(command: argparse.ArgumentParser, *, required: bool = False, without: str = "enforce") -> None:
    """Add the change and its bounds; `without` says which change is meant where none is given."""
    from check_workbench.plans import CHANGES, DEFAULT_BOUNDS

    defaults = {
        bound: f"default with --change {change}: {value:g}" for change, (bound, value) in DEFAULT_BOUNDS.items()
    }
    change = "what is to change" if required else f"what is to change ({without})"
    command.add_argument("--change", choices=CHANGES, required=required, help=change)
    helps = {
        "max_false_pass": f"largest share of bad work among what passes ({defaults['max_false_pass']})",
        "max_false_fail": f"largest share of good work among what fails ({defaults['max_false_fail']})",
        "confidence": "smallest chance that a yes is right (0.9)",
    }
    for name, text in helps.items():
        command.add_argument(f"--{name.replace('_', '-')}", type=float, metavar="P", help=text)
    labels(command)


def labels(command: argparse.ArgumentParser) -> None:
    """Add whose labels count."""
    command.add_argument("--labels", choices=("check", "work"), help="work also counts decisions about the work")


def positive(text: str) -> int:
    """Read a whole number from 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1, got {text!r}")
    return int(text)
