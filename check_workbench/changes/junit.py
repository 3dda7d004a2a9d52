"""Cases as JUnit XML, in the form that Jenkins, GitLab and the actions of GitHub read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from check_workbench.html import text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from check_workbench.changes.conditions import Case
    from check_workbench.changes.passage import Gate


def junit_xml(gate: Gate) -> str:
    """Return the cases of a gate: one suite a check or file, one test case a condition; the same bytes each time.

    Characters that XML cannot hold become replacement characters.

    Notes
    -----
    Source: the schema by which the xUnit plugin of Jenkins validates (junit-10.xsd): a test case has no file, and all
    suites together have no number of skipped cases.
    """
    suites: dict[str, list[Case]] = {}
    for case in gate.cases:
        suites.setdefault(case.of, []).append(case)
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites name="check-workbench gate" {_sums(gate.cases)} time="0">',
    ]
    for name, cases in suites.items():
        skipped = sum(case.state == "skipped" for case in cases)
        head = f'name="{text(name)}" file="{text(cases[0].file)}" {_sums(cases)} skipped="{skipped}" time="0"'
        lines.append(f"  <testsuite {head}>")
        lines += [line for case in cases for line in _case(case)]
        lines.append("  </testsuite>")
    return "\n".join([*lines, "</testsuites>", ""])


def _sums(cases: Sequence[Case]) -> str:
    failed = sum(case.state == "failed" for case in cases)
    return f'tests="{len(cases)}" failures="{failed}" errors="0"'


def _case(case: Case) -> Iterator[str]:
    head = f'classname="{text(case.of)}" name="{text(case.condition)}" time="0"'
    yield f"    <testcase {head}>"
    if case.state == "passed":
        yield f"      <system-out>{text(case.words)}</system-out>"
    elif case.state == "skipped":
        yield f'      <skipped message="{text(_whole(case))}"/>'
    else:
        words = f'type="{text(case.condition)}" message="{text(case.words)}"'
        yield f"      <failure {words}>{text(_whole(case))}</failure>"
    yield "    </testcase>"


def _whole(case: Case) -> str:
    return f"{case.words}. Next: {case.advice}" if case.advice else case.words
