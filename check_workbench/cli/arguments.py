"""The commands of the command line; what a command does is imported when it runs."""

from __future__ import annotations

from check_workbench import __version__
from check_workbench.cli import grammar

EXITS = """\
exit codes: 0 done · 1 validate found errors, gate failed, audit alarms · 2 usage · 3 input or store cannot be used ·
4 the evaluator stopped answering · 10 / 11 / 12 trust: need_labels / too_weak / unusable · 70 a bug ·
130 interrupted"""


LOOKS = """\
looks: each call that reads new labels is a look and spends part of the error that the plan allows, the first look the
largest part, so that it is the strongest. The same call again on the same labels costs nothing."""

SETTINGS = """\
all other settings are lines of the plan file, each with its comment: how many checks must hold together, what makes
runs belong together, the window of time, the share of blind decisions, a signature. Edit them before labels are read"""


def parser() -> grammar.Parser:
    """Build the parser of all commands."""
    main = grammar.Parser(
        prog="check-workbench",
        description="Calibrate the checks that judge agents' work against what people decided, and say when they\n"
        "may be trusted. New here? Run: check-workbench demo",
        epilog=EXITS,
        formatter_class=grammar.layout,
        allow_abbrev=False,
    )
    main.add_argument("--version", action="version", version=f"check-workbench {__version__}")
    commands = main.add_subparsers(title="commands", metavar="COMMAND", required=True, dest="command")
    for add in (
        _demo,
        _formats,
        _load,
        _validate,
        _evaluate,
        _preview,
        _calibrate,
        _plan,
        _trust,
        _audit,
        _gate,
        _diff,
        _label_next,
    ):
        add(commands)
    return main


def _demo(commands: grammar.Adder) -> None:
    command = grammar.command(
        commands, "demo", "demo:demo", "show the whole way on sample data", "demo", "demo --out tour"
    )
    command.add_argument("--out", default="check-workbench-demo", metavar="DIR", help="where to write (%(default)s)")


def _formats(commands: grammar.Adder) -> None:
    grammar.command(
        commands, "formats", "loading:formats", "list the formats of recorded runs and decisions", "formats"
    )


def _load(commands: grammar.Adder) -> None:
    command = grammar.command(
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
    grammar.store(command)
    command.add_argument(
        "paths", nargs="*", metavar="PATH", help="files or folders of recorded runs, other stores, exported folders"
    )
    command.add_argument("--decisions", action="append", default=[], metavar="FILE", help="human decisions; repeatable")
    command.add_argument("--answers", action="append", default=[], metavar="FILE", help="recorded answers; repeatable")
    command.add_argument("--format", metavar="NAME", help="take every PATH as this format (see formats)")
    command.add_argument(
        "--mapping", metavar="FILE", help="read every PATH as this mapping says, a file or a shipped name"
    )
    command.add_argument(
        "--blind",
        action="store_true",
        help="assert of all decisions loaded now that do not say: nobody saw a verdict before deciding",
    )
    command.add_argument("--dry-run", action="store_true", help="show what would come in, and write nothing")
    command.add_argument(
        "--sample",
        type=grammar.positive,
        metavar="N",
        help="take at most N runs, spread over the files, the same each time",
    )


def _validate(commands: grammar.Adder) -> None:
    command = grammar.command(
        commands,
        "validate",
        "validating:validate",
        "check the check files, every problem at once",
        "validate checks/",
        "validate checks/ PROCESS.md --json",
    )
    command.add_argument("paths", nargs="+", metavar="PATH", help="check files or folders, or FILE#ID")
    command.epilog = f"The README lists every key of a check file, with its default.\n\n{command.epilog}"


def _evaluate(commands: grammar.Adder) -> None:
    command = grammar.command(
        commands,
        "evaluate",
        "evaluating:evaluate",
        "evaluate checks over the loaded runs",
        "evaluate checks/ --db refunds.duckdb",
        "evaluate PROCESS.md#vendor-check/check_vendor --db vendors.duckdb --json",
    )
    grammar.store(command)
    grammar.checks(command)
    grammar.answerer(command)


def _preview(commands: grammar.Adder) -> None:
    command = grammar.command(
        commands,
        "preview",
        "evaluating:preview",
        "try a draft on runs with and without the problem",
        "preview checks/loop.check.yaml --db refunds.duckdb --problem r-014 r-021 --clean r-052",
    )
    grammar.store(command)
    command.add_argument("check", metavar="CHECK", help=grammar.CHECK)
    command.add_argument("--problem", nargs="+", required=True, metavar="RUN", help="runs that have the problem")
    command.add_argument("--clean", nargs="+", required=True, metavar="RUN", help="runs that do not have it")
    grammar.answerer(command)


def _calibrate(commands: grammar.Adder) -> None:
    command = grammar.command(
        commands,
        "calibrate",
        "trusting:calibrate",
        "choose thresholds against human decisions",
        "calibrate checks/ --db refunds.duckdb --goal 'precision>=0.9'",
        "calibrate checks/loop.check.yaml --db refunds.duckdb --goal 'cost 1:5' --apply",
    )
    grammar.store(command)
    grammar.checks(command)
    grammar.answerer(command, evaluator=False)
    goals = "precision>=P, recall>=P, 'cost A:B' or risk<=A@C; for one check 'CHECK: TEXT' or 'CHECK KEY: TEXT'"
    command.add_argument("--goal", action="append", metavar="TEXT", help=goals)
    grammar.labels(command)
    command.add_argument("--apply", action="store_true", help="write the chosen threshold into the check's file")


def _plan(commands: grammar.Adder) -> None:
    command = grammar.command(
        commands,
        "plan",
        "trusting:plan",
        "write down what must hold before a check is trusted",
        "plan --change enforce --max-false-fail 0.1 --confidence 0.9 -o plan.yaml",
    )
    grammar.bounds(command, required=True)
    command.add_argument("-o", "--out", metavar="FILE", help="the plan file; without it the plan is printed")
    command.epilog = f"{SETTINGS}\n\n{command.epilog}"


def _trust(commands: grammar.Adder) -> None:
    command = grammar.command(
        commands,
        "trust",
        "trusting:trust",
        "say whether a check may be enforced, or replace the approval",
        "trust PROCESS.md#vendor-check/check_vendor --db vendors.duckdb --change enforce --max-false-fail 0.1",
        "trust PROCESS.md --db vendors.duckdb --plan plan.yaml --report trust.html",
    )
    grammar.store(command)
    grammar.checks(command)
    command.add_argument("--plan", metavar="FILE", help="a plan file, in place of the bounds")
    grammar.bounds(command)
    command.add_argument("--report", metavar="FILE", help="write the report as .html, .md or .json")
    command.epilog = f"{LOOKS}\n\n{command.epilog}"


def _audit(commands: grammar.Adder) -> None:
    command = grammar.command(
        commands,
        "audit",
        "auditing:audit",
        "say whether the certified risk still holds after the change",
        "audit PROCESS.md#vendor-check/check_vendor --db vendors.duckdb",
        "audit PROCESS.md#vendor-check/check_vendor --db vendors.duckdb --sheet due.csv",
    )
    grammar.store(command)
    command.add_argument("check", metavar="CHECK", help=grammar.CHECK)
    command.add_argument(
        "--sheet", metavar="FILE", help="a CSV file for what is to be labelled; load --decisions reads it back"
    )


def _gate(commands: grammar.Adder) -> None:
    command = grammar.command(
        commands,
        "gate",
        "changing:gate",
        "say in CI whether checks still keep what their calibration.lock says",
        "gate checks/ --db refunds.duckdb",
        "gate checks/ --db refunds.duckdb --junit gate.xml",
        "gate checks/ --db refunds.duckdb --update",
    )
    grammar.store(command)
    command.add_argument("paths", nargs="+", metavar="PATH", help="folders or files of checks, or FILE#ID")
    command.add_argument("--junit", metavar="FILE", help="write the cases as JUnit XML")
    command.add_argument("--update", action="store_true", help="first write calibration.lock from what is measured now")


def _diff(commands: grammar.Adder) -> None:
    command = grammar.command(
        commands,
        "diff",
        "changing:diff",
        "list the runs whose verdict changed between two versions of a check",
        "diff checks/loop.check.yaml --db refunds.duckdb",
        "diff checks/loop.check.yaml --db refunds.duckdb --against main",
        "diff checks/loop.check.yaml --db refunds.duckdb --against tried/loop.check.yaml",
    )
    grammar.store(command)
    command.add_argument("check", metavar="CHECK", help=grammar.CHECK)
    command.add_argument(
        "--against", default="HEAD", metavar="REV|FILE", help="a git revision, or another file or FILE#ID (%(default)s)"
    )


def _label_next(commands: grammar.Adder) -> None:
    command = grammar.command(
        commands,
        "label-next",
        "labelling:label_next",
        "choose the work that people should judge next, and write a blind sheet",
        "label-next PROCESS.md#vendor-check/check_vendor --db vendors.duckdb -n 60 --sheet blind.csv",
        "label-next checks/ --db refunds.duckdb -n 100 --for recall --sheet blind.csv",
        "load --db vendors.duckdb --decisions blind.csv",
    )
    grammar.store(command)
    grammar.checks(command)
    command.add_argument(
        "-n", type=grammar.positive, default=200, metavar="N", help="how many labels for each check (%(default)s)"
    )
    command.add_argument("--sheet", metavar="FILE", help="the CSV file to write; load --decisions reads it back")
    command.add_argument(
        "--for",
        dest="purpose",
        choices=("trust", "recall"),
        default="trust",
        help="trust: the side that the change needs; recall: all work, for calibrate (%(default)s)",
    )
    command.add_argument("--seed", type=int, default=0, metavar="N", help="another seed, another draw (%(default)s)")
    command.add_argument("--plan", metavar="FILE", help="a plan file whose bounds are to be proven")
    grammar.bounds(command, without="as trust was asked last, else replace_approval")
