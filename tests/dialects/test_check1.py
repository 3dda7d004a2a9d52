from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import pytest

from check_workbench.checks import (
    Choice,
    Item,
    Levels,
    PassBand,
    PassLevel,
    PassNames,
    ProcessStep,
    YesNo,
)
from check_workbench.dialects.reading import read_source

if TYPE_CHECKING:
    from check_workbench.dialects import Problem, Reading

PROCESS = """\
---
name: vendor-check
description: Check a vendor.
inputs:
  vendor: string
steps:
  - id: check_vendor
    agent: Check the vendor against the OFAC and EU lists. Attach the report.
    output: { cleared: boolean, summary: string }
    evidence: [file]
    advisory: true
    check:
      - ask: The cleared verdict matches the summary.
        pass: 0.9
        fail: 0.5
      - ask: What does the summary do?
        one_of:
          states: States the verdict and the lists checked.
          hedges: Avoids a verdict or qualifies it heavily.
          unclear: Cannot tell.
        pass: [states]
        unsure: [unclear]
      - ask: How complete is the screening?
        levels:
          - Neither list is clearly covered.
          - One list is covered.
          - Both lists are covered with the search terms stated.
        pass: 2
        confidence: 0.7
    next:
      - { to: approve, when: The vendor is cleared. }
      - declined
  - id: approve
    person: finance
    approve: Approve when cleared.
    on_reject: check_vendor
  - id: record
    task: Record the vendor.
    person: finance
    check: The record is complete.
    next: done
  - id: wait_a_day
    wait: 1d
  - id: done
    finish: onboarded
  - id: declined
    finish: declined
---

# Vendor check
"""


def reading(text: str) -> Reading:
    found = read_source(text, "PROCESS.md", suffix=".md")
    assert found is not None, text
    return found


def step(body: str, *, kind: str = "agent: Do it.") -> str:
    inner = "\n".join(f"    {line}" for line in body.splitlines())
    head = f"---\nname: p\ndescription: d\nsteps:\n  - id: s\n    {kind}\n{inner}\n"
    return f"{head}  - id: e\n    finish: done\n---\nBody.\n"


def problems(text: str, severity: str = "error") -> list[Problem]:
    return [p for p in reading(text).problems if p.severity == severity]


def codes(text: str, severity: str = "error") -> list[str]:
    return [p.code for p in problems(text, severity)]


def test_the_source_documents_process() -> None:
    found = reading(PROCESS)
    assert [(p.line, p.code) for p in found.problems] == [(40, "no-fail"), (42, "unreachable")]
    first, second = found.checks
    assert (first.id, first.step_id, first.workflow, first.advisory) == (
        "vendor-check/check_vendor",
        "check_vendor",
        "vendor-check",
        True,
    )
    assert first.instructions == "Check the vendor against the OFAC and EU lists. Attach the report."
    assert first.body == "\n# Vendor check\n"
    assert first.items == (
        Item(
            asks=YesNo(ask="The cleared verdict matches the summary."),
            cut=PassBand(pass_at=0.9, fail_below=0.5),
            scope="step",
        ),
        Item(
            asks=Choice(
                ask="What does the summary do?",
                options=(
                    ("states", "States the verdict and the lists checked."),
                    ("hedges", "Avoids a verdict or qualifies it heavily."),
                    ("unclear", "Cannot tell."),
                ),
            ),
            cut=PassNames(passing=("states",), unsure=("unclear",), confidence=0.8),
            scope="step",
        ),
        Item(
            asks=Levels(
                ask="How complete is the screening?",
                levels=(
                    "Neither list is clearly covered.",
                    "One list is covered.",
                    "Both lists are covered with the search terms stated.",
                ),
            ),
            cut=PassLevel(level=2, confidence=0.7),
            scope="step",
        ),
    )
    assert (second.id, second.advisory) == ("vendor-check/record", False)
    assert second.items == (Item(asks=YesNo(ask="The record is complete."), cut=PassBand(), scope="step"),)
    assert all(each.means == "good" for check in found.checks for each in check.items)


def test_the_process_as_a_graph() -> None:
    process = reading(PROCESS).checks[0].process
    assert process is not None
    assert process.steps == (
        ProcessStep(id="check_vendor", kind="agent", next=("approve", "declined"), checked=True),
        ProcessStep(id="approve", kind="approve", next=("record",), on_reject="check_vendor"),
        ProcessStep(id="record", kind="task", next=("done",), checked=True),
        ProcessStep(id="wait_a_day", kind="wait", next=("done",)),
        ProcessStep(id="done", kind="finish"),
        ProcessStep(id="declined", kind="finish"),
    )


def test_the_version_is_the_digest_of_canonical_front_matter_and_the_body_as_written() -> None:
    steps = '- {id: a, agent: "yes", check: Hölds., due: 1d}\n- {id: b, finish: no}\n'
    text = f"---\nsteps:\n{steps}name: p\ndescription: d\n---\nBody\r\n\n"
    front = {
        "name": "p",
        "description": "d",
        "steps": [{"id": "a", "agent": "yes", "check": "Hölds.", "due": "1d"}, {"id": "b", "finish": "no"}],
    }
    canonical = json.dumps(front, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    expected = hashlib.sha256(f"{canonical}\nBody\r\n\n".encode()).hexdigest()
    process = reading(text).checks[0].process
    assert process is not None
    assert process.version == expected


def test_advisory_and_cuts_change_the_document_digest_only_and_instructions_the_asked_one() -> None:
    def first(text: str) -> tuple[str, str]:
        check = reading(text).checks[0]
        return check.asked, check.document

    plain = first(PROCESS)
    enforced = first(PROCESS.replace("    advisory: true\n", ""))
    moved = first(PROCESS.replace("pass: 0.9", "pass: 0.95"))
    told = first(PROCESS.replace("Attach the report.", "Attach it."))
    body = first(PROCESS + "More.\n")
    assert plain[0] == enforced[0] == moved[0]
    assert len({plain[1], enforced[1], moved[1]}) == 3
    assert len({plain[0], told[0], body[0]}) == 3


def test_yes_and_no_are_names() -> None:
    found = reading(step("check:\n  - ask: q\n    one_of: {yes: y, no: n}\n    pass: [yes]\n    unsure: [no]"))
    assert found.problems == ()
    assert found.checks[0].items[0].cut == PassNames(passing=("yes",), unsure=("no",))


def test_the_short_form_is_the_one_question_form() -> None:
    short = reading(step("check: It holds.")).checks[0]
    long = reading(step("check:\n  - ask: It holds.")).checks[0]
    assert short.items == long.items
    assert short.asked == long.asked


@pytest.mark.parametrize(
    ("check", "code"),
    [
        ("check: ''", "wrong-type"),
        ("check: 3", "wrong-type"),
        ("check: true", "wrong-type"),
        ("check:", "wrong-type"),
        ("check: {ask: x}", "wrong-type"),
        ("check: []", "wrong-type"),
        ("check: [x]", "wrong-type"),
        ("check:\n  - pass: 0.5", "missing-key"),
        ("check:\n  - ask: x\n    pas: 0.5", "unknown-key"),
        ("check:\n  - ask: x\n    ask: y", "duplicate-key"),
        ("check:\n  - ask: x\n    pass: 1.5", "out-of-range"),
        ("check:\n  - ask: x\n    pass: [a]", "wrong-type"),
        ("check:\n  - ask: x\n    pass: '0.9'", "wrong-type"),
        ("check:\n  - ask: x\n    pass: true", "wrong-type"),
        ("check:\n  - ask: x\n    pass: .nan", "out-of-range"),
        ("check:\n  - ask: x\n    pass: 0.5\n    fail: 0.6", "out-of-range"),
        ("check:\n  - ask: x\n    unsure: [a]", "misplaced-key"),
        ("check:\n  - ask: x\n    confidence: 0.8", "misplaced-key"),
        ("check:\n  - ask: x\n    one_of: {a: b, c: d}\n    levels: [a, b]\n    pass: [a]", "question-kind"),
        ("check:\n  - ask: x\n    one_of: {a: b}\n    pass: [a]", "out-of-range"),
        ("check:\n  - ask: x\n    one_of: [a, b]\n    pass: [a]", "wrong-type"),
        ("check:\n  - ask: x\n    one_of: {a: b, true: d}\n    pass: [a]", "wrong-type"),
        ("check:\n  - ask: x\n    one_of: {a: b, c: 3}\n    pass: [a]", "wrong-type"),
        ("check:\n  - ask: x\n    one_of: {a: b, c: d}", "missing-key"),
        ("check:\n  - ask: x\n    one_of: {a: b, c: d}\n    pass: []", "wrong-type"),
        ("check:\n  - ask: x\n    one_of: {a: b, c: d}\n    pass: a", "wrong-type"),
        ("check:\n  - ask: x\n    one_of: {a: b, c: d}\n    pass: 0.9", "wrong-type"),
        ("check:\n  - ask: x\n    one_of: {a: b, c: d}\n    pass: [e]", "unknown-value"),
        ("check:\n  - ask: x\n    one_of: {a: b, c: d}\n    pass: [a]\n    unsure: [e]", "unknown-value"),
        ("check:\n  - ask: x\n    one_of: {a: b, c: d}\n    pass: [a]\n    unsure: [a]", "out-of-range"),
        ("check:\n  - ask: x\n    one_of: {a: b, c: d}\n    pass: [a]\n    fail: 0.5", "misplaced-key"),
        ("check:\n  - ask: x\n    one_of: {a: b, c: d}\n    pass: [a]\n    confidence: 2", "out-of-range"),
        ("check:\n  - ask: x\n    levels: [a]\n    pass: 0", "out-of-range"),
        (f"check:\n  - ask: x\n    levels: [{', '.join('abcdefghijk')}]\n    pass: 1", "out-of-range"),
        ("check:\n  - ask: x\n    levels: a\n    pass: 0", "wrong-type"),
        ("check:\n  - ask: x\n    levels: [a, b]", "missing-key"),
        ("check:\n  - ask: x\n    levels: [a, b]\n    pass: 2", "out-of-range"),
        ("check:\n  - ask: x\n    levels: [a, b]\n    pass: -1", "out-of-range"),
        ("check:\n  - ask: x\n    levels: [a, b]\n    pass: 0.5", "out-of-range"),
        ("check:\n  - ask: x\n    levels: [a, b]\n    pass: [a]", "wrong-type"),
        ("check:\n  - ask: x\n    levels: [a, b]\n    pass: 1\n    fail: 0", "misplaced-key"),
        ("check:\n  - ask: x\n    levels: [a, b]\n    pass: 1\n    unsure: [a]", "misplaced-key"),
        ("advisory: true", "advisory"),
        ("check: It holds.\nadvisory: yes", "wrong-type"),
        ("check: It holds.\nchek: x", "unknown-key"),
        ("check: It holds.\ntask: Do that.", "step-kind"),
        ("check: It holds.\nnext: nowhere", "unknown-step"),
        ("check: It holds.\nnext: [e, {to: nowhere}]", "unknown-step"),
    ],
)
def test_what_is_refused(check: str, code: str) -> None:
    found = reading(step(check))
    assert code in codes(step(check))
    assert found.checks == ()


@pytest.mark.parametrize("kind", ["approve: Approve.", "wait: 1d", "wait_for: e", "wait_until: inputs.x", "finish: x"])
def test_only_agents_and_people_are_checked(kind: str) -> None:
    found = problems(step("check: It holds.", kind=kind))
    assert [(p.code, p.line, p.column) for p in found] == [("misplaced-key", 7, 5)]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (PROCESS.replace("name: vendor-check\n", ""), "missing-key"),
        (PROCESS.replace("vendor-check\n", "Vendor Check\n", 1), "bad-id"),
        (PROCESS.replace("vendor-check\n", f"{'a' * 65}\n", 1), "bad-id"),
        (PROCESS.replace("id: approve\n", "id: check_vendor\n"), "duplicate-id"),
        (PROCESS.replace("id: approve\n", "id: Approve\n"), "bad-id"),
        (PROCESS.replace("- id: approve\n    ", "- "), "missing-key"),
        (PROCESS.replace("    wait: 1d\n", "    due: 1d\n"), "step-kind"),
        (PROCESS.replace("inputs:", "input:"), "unknown-key"),
        (PROCESS.replace("  - id: done", "  - words\n  - id: done"), "wrong-type"),
        (PROCESS.replace("on_reject: check_vendor", "on_reject: chek_vendor"), "unknown-step"),
        (
            "---\nname: p\ndescription: d\nsteps:\n  - &a {id: a, agent: x, check: c}\n  - {<<: *a, id: b}\n---\n",
            "unknown-key",
        ),
    ],
)
def test_a_broken_process_has_no_usable_check(text: str, code: str) -> None:
    assert code in codes(text)
    assert reading(text).checks == ()


def test_a_wrong_step_name_is_told_with_the_right_one() -> None:
    found = problems(PROCESS.replace("on_reject: check_vendor", "on_reject: chek_vendor"))
    assert [(p.line, p.column, p.hint) for p in found] == [(36, 16, "Did you mean 'check_vendor'?")]


def test_all_problems_are_told_at_once() -> None:
    text = step("check:\n  - ask: x\n    pas: 0.5\n    fail: 2\n  - levels: [a]\n    pass: 3\nadvisory: on\nnxt: e")
    assert [(p.line, p.column, p.code) for p in problems(text)] == [
        (9, 9, "unknown-key"),
        (10, 15, "out-of-range"),
        (11, 9, "missing-key"),
        (11, 17, "out-of-range"),
        (12, 15, "out-of-range"),
        (13, 15, "wrong-type"),
        (14, 5, "unknown-key"),
    ]


def test_without_fail_a_warning_says_what_that_means() -> None:
    found = problems(step("check:\n  - ask: x\n    pass: 0.8"), "warning")
    assert [(p.line, p.code) for p in found] == [(8, "no-fail")]
    assert "everything below pass fails" in found[0].message
    assert "fail: 0" in found[0].hint
    assert codes(step("check:\n  - ask: x\n    pass: 0.8\n    fail: 0"), "warning") == []


@pytest.mark.parametrize(
    "ask", ["It matches what the attached report says.", "The file lists both.", "The PDF is signed."]
)
def test_a_question_about_a_file_warns(ask: str) -> None:
    assert codes(step(f"check:\n  - ask: {ask}\n    fail: 0"), "warning") == ["cannot-see-file"]
    assert "cannot-see-file" in codes(step(f"check: {ask}"), "warning")


@pytest.mark.parametrize(("old", "new"), [("description: Check a vendor.\n", ""), ("    next: done\n", "")])
def test_what_only_a_server_minds_is_a_warning(old: str, new: str) -> None:
    text = PROCESS.replace(old, new)
    assert codes(text) == []
    assert reading(text).checks


def test_a_last_step_without_a_successor_warns() -> None:
    assert codes("---\nname: p\ndescription: d\nsteps:\n- {id: a, agent: x, check: c}\n---\n", "warning") == [
        "no-end",
        "no-fail",
    ]


@pytest.mark.parametrize(
    "text",
    ["---\ntitle: A page\n---\nWords.\n", "# Readme\n", "---\nsteps: 3\n---\n", "---\nsteps: [mix, bake]\n---\n"],
)
def test_other_markdown_is_no_process(text: str) -> None:
    assert read_source(text, "page.md", suffix=".md") is None


def test_parallel_steps_and_time_outs_lead_on() -> None:
    text = (
        "---\nname: p\ndescription: d\nsteps:\n- {id: s, parallel: [a, b], next: w}\n- {id: a, agent: x, check: c}\n"
        "- {id: b, agent: y}\n- {id: w, wait_for: e, timeout: 1d, on_timeout: z}\n"
        "- {id: y, finish: f}\n- {id: z, finish: g}\n---\n"
    )
    process = reading(text).checks[0].process
    assert process is not None
    assert {each.id: each.next for each in process.steps} == {
        "s": ("w", "a", "b"),
        "a": ("b",),
        "b": ("w",),
        "w": ("y", "z"),
        "y": (),
        "z": (),
    }
