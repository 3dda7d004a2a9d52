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
    """
    suites: dict[str, list[Case]] = {}
    for case in gate.cases:
        suites.setdefault(case.of, []).append(case)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f'<testsuites name="check-workbench gate" {_sums(gate.cases)}>']
    for name, cases in suites.items():
        lines.append(f'  <testsuite name="{text(name)}" {_sums(cases)}>')
        lines += [line for case in cases for line in _case(case)]
        lines.append("  </testsuite>")
    return "\n".join([*lines, "</testsuites>", ""])


def _sums(cases: Sequence[Case]) -> str:
    failed, skipped = (sum(case.state == state for case in cases) for state in ("failed", "skipped"))
    return f'tests="{len(cases)}" failures="{failed}" errors="0" skipped="{skipped}" time="0"'


def _case(case: Case) -> Iterator[str]:
    head = f'classname="{text(case.of)}" name="{text(case.condition)}" file="{text(case.file)}" time="0"'
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
