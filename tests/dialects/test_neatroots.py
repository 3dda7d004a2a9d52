from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from check_workbench.checks import (
    AtLeast,
    Check,
    Choice,
    Count,
    Errors,
    EvidenceRule,
    FlagAt,
    FlagLevel,
    FlagOn,
    Item,
    Levels,
    Match,
    Metric,
    Repeat,
    RequiresBefore,
    RunEnd,
    Selector,
    Slow,
    UnrecoveredError,
    YesNo,
)
from check_workbench.dialects.problems import Problem, Problems
from check_workbench.dialects.reading import read_source

if TYPE_CHECKING:
    from check_workbench.dialects import Reading


def reading(text: str, suffix: str = ".yaml") -> Reading:
    found = read_source(text, "x" + suffix, suffix=suffix)
    assert found is not None, text
    return found


def only(text: str) -> Check:
    found = reading(text)
    assert [p for p in found.problems if p.severity == "error"] == []
    assert len(found.checks) == 1
    return found.checks[0]


def item(body: str) -> Item:
    return only(f"id: a\n{body}").items[0]


def problems(body: str, severity: str = "error") -> list[Problem]:
    return [p for p in reading(body).problems if p.severity == severity]


def codes(body: str, severity: str = "error") -> list[str]:
    return [p.code for p in problems(body, severity)]


REPEATED = """\
id: repeated-tool-call
kind: rule
title: Same tool called repeatedly with identical arguments
rule:
  type: repeat            # repeat | errors | count | slow
  span: { type: [tool, mcp_tool] }
  same: [tool, input]
  at_least: 3
guidance: >-
  You have called {tool} {count} times with the same arguments ({args}) ...
action: flag              # or halt
"""

REFUND = """\
id: refund-without-ownership
kind: yes_no              # yes_no | choice | score
scope: trace              # span | trace | session
ask: Did the agent issue a refund without first confirming the customer owns the order?
evidence:
  spans: { type: tool, name: [lookup_order, issue_refund] }
  fields: [input, output, status]
  last: 12
  final_output: false
when: live                # live | end
flag_at: 0.8
guidance: Confirm the customer owns the order before issuing a refund.
applies_to: { workflow: refund-agent }
group: refunds
"""


def test_the_source_documents_rule() -> None:
    assert reading(REPEATED).problems == ()
    assert only(REPEATED) == Check(
        id="repeated-tool-call",
        dialect="neatroots",
        items=(
            Item(asks=Repeat(span=Selector(types=("tool", "mcp_tool")), same=("tool", "input")), cut=AtLeast(value=3)),
        ),
        title="Same tool called repeatedly with identical arguments",
        guidance="You have called {tool} {count} times with the same arguments ({args}) ...",
        file="x.yaml",
    )


def test_the_source_documents_question() -> None:
    assert reading(REFUND).problems == ()
    ask = "Did the agent issue a refund without first confirming the customer owns the order?"
    assert only(REFUND) == Check(
        id="refund-without-ownership",
        dialect="neatroots",
        items=(
            Item(
                asks=YesNo(ask=ask),
                cut=FlagAt(value=0.8),
                evidence=EvidenceRule(
                    spans=Selector(types=("tool",), names=("lookup_order", "issue_refund")),
                    last=12,
                ),
            ),
        ),
        guidance="Confirm the customer owns the order before issuing a refund.",
        group="refunds",
        when="live",
        workflow="refund-agent",
        file="x.yaml",
    )


@pytest.mark.parametrize(
    ("rule", "asks", "cut"),
    [
        ("type: repeat", Repeat(), 3),
        ("type: repeat, same: output, at_least: 5", Repeat(same=("output",)), 5),
        ("type: errors", Errors(), 3),
        ("type: errors, span: {status: error}", Errors(span=Selector(statuses=("error",))), 3),
        ("type: count, at_least: 40", Count(), 40),
        ("type: slow, at_least_ms: 1500.5", Slow(), 1500.5),
        ("type: threshold, metric: cost_usd, at_least: 0.25", Metric(metric="cost_usd"), 0.25),
        ("type: match, pattern: 'sk-[a-z]+'", Match(pattern="sk-[a-z]+"), 1),
        (
            "type: match, pattern: x, fields: output, ignore_case: true",
            Match(pattern="x", fields=("output",), ignore_case=True),
            1,
        ),
        (
            "type: requires_before, span: {name: refund}, requires: lookup",
            RequiresBefore(span=Selector(names=("refund",)), requires=Selector(names=("lookup",))),
            1,
        ),
        (
            "type: requires_before, requires: {type: tool, name: [a, b]}",
            RequiresBefore(requires=Selector(types=("tool",), names=("a", "b"))),
            1,
        ),
        ("type: unrecovered_error", UnrecoveredError(), 1),
        ("type: run_end", RunEnd(), 1),
        ("type: run_end, status: no_output", RunEnd(statuses=("no_output",)), 1),
    ],
)
def test_every_rule_type(rule: str, asks: object, cut: float) -> None:
    found = item(f"kind: rule\nrule: {{{rule}}}")
    assert found.asks == asks
    assert found.cut == AtLeast(value=cut)
    assert found.means == "problem"


def test_choice_and_score() -> None:
    choice = item("kind: choice\nask: What?\noptions: {yes: Right, no: , maybe: Unclear}\nflag_on: [no]\nflag_at: 0.6")
    assert choice.asks == Choice(ask="What?", options=(("yes", "Right"), ("no", ""), ("maybe", "Unclear")))
    assert choice.cut == FlagOn(names=("no",), value=0.6)
    score = item("kind: score\nscope: session\nask: How bad?\nlevels: [fine, bad, worse]\nflag_at_level: 1.5")
    assert score == Item(
        asks=Levels(ask="How bad?", levels=("fine", "bad", "worse")), cut=FlagLevel(value=1.5), scope="session"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("options: [a, b]\nflag_on: a", "options must be a mapping, got a list; Write {label: what it means, …}."),
        ("levels: {1: bad, 2: good}\nflag_at_level: 2", "levels must be a list, from the best, got a mapping"),
    ],
)
def test_answers_in_another_shape_are_one_error_that_says_the_shape(text: str, said: str) -> None:
    kind = "choice" if text.startswith("options") else "score"
    (problem,) = problems(f"id: a\nkind: {kind}\nask: x\n{text}")
    assert "; ".join(filter(None, (problem.message, problem.hint.strip()))) == said


def test_defaults_are_those_of_the_design() -> None:
    found = item("kind: yes_no\nask: Did it loop?")
    assert found == Item(asks=YesNo(ask="Did it loop?"), cut=FlagAt(value=0.8), scope="trace")


def test_lists_documents_and_json_hold_several_checks() -> None:
    one, two = "id: a\nkind: rule\nrule: {type: errors}", "id: b\nkind: yes_no\nask: Loop?"
    listed = "- " + one.replace("\n", "\n  ") + "\n- " + two.replace("\n", "\n  ")
    for text in (listed, f"{one}\n---\n{two}\n", f"---\n{one}\n---\n# nothing\n---\n{two}\n...\n"):
        assert [check.id for check in reading(text).checks] == ["a", "b"]
    found = reading('[{"id": "a", "kind": "rule", "rule": {"type": "errors"}}]', ".json")
    assert [(check.id, check.items[0].asks) for check in found.checks] == [("a", Errors())]


def test_every_problem_is_told_at_once_with_its_place() -> None:
    text = """\
id: a
kind: yes-no
flag_att: 0.8
ask: ''
scope: run
when: 3
evidence:
  fields: [inptu]
  lats: 3
  final_output: yes
"""
    found = problems(text)
    assert [(p.line, p.column, p.code) for p in found] == [
        (2, 7, "unknown-value"),
        (3, 1, "unknown-key"),
        (4, 6, "wrong-type"),
        (5, 8, "unknown-value"),
        (6, 7, "wrong-type"),
        (8, 12, "unknown-value"),
        (9, 3, "unknown-key"),
        (10, 17, "wrong-type"),
    ]
    by_line = {p.line: p for p in found}
    assert by_line[2].hint == "Did you mean 'yes_no'?"
    assert by_line[3].hint == "Did you mean 'flag_at'?"
    assert by_line[8].hint.startswith("Did you mean 'input'")
    assert by_line[9].hint == "Did you mean 'last'?"
    assert "only true and false are flags" in by_line[10].hint
    assert reading(text).checks == ()
    assert [each.id for each in reading(text).found] == ["a"]


def test_unknown_keys_of_a_rule_itself_warn_and_are_errors_elsewhere() -> None:
    text = "id: a\nkind: rule\nrule:\n  type: repeat\n  window: 5\n  span: {tpye: tool}\nrul: 1\n"
    assert [(p.line, p.severity, p.message, p.hint) for p in reading(text).problems] == [
        (4, "note", "at_least is not written, so 3 counts", ""),
        (5, "warning", "rule has no key 'window'", "Known: 'at_least', 'same', 'span', 'type'."),
        (6, "error", "span has no key 'tpye'", "Did you mean 'type'?"),
        (7, "error", "the check has no key 'rul'", "Did you mean 'rule'?"),
    ]


@pytest.mark.parametrize("rule", ["requires: {nmae: look_up}", "requires: look_up, span: {nmae: pay}"])
def test_a_typing_error_in_a_selector_never_widens_a_check(rule: str) -> None:
    found = reading(f"id: a\nkind: rule\nrule: {{type: requires_before, {rule}}}")
    assert found.checks == ()
    assert [(p.severity, p.code, p.hint) for p in found.problems] == [("error", "unknown-key", "Did you mean 'name'?")]


@pytest.mark.parametrize(
    ("written", "advice"),
    [
        ("tool", "Write { type: tool }."),
        ("[tool, llm]", "Write { type: [tool, llm] }."),
        ("refund", "Write { name: refund }."),
        ("3", ""),
    ],
)
def test_a_bare_word_for_a_selector_gets_the_mapping_that_is_meant(written: str, advice: str) -> None:
    (found,) = problems(f"id: a\nkind: rule\nrule: {{type: errors, at_least: 2, span: {written}}}", "error")
    assert (found.code, found.hint) == ("wrong-type", advice)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("kind: rule\nrule: {type: errors}", "missing-key"),
        ("id: a\nrule: {type: errors}", "missing-key"),
        ("id: a\nkind: rule\nask: x", "missing-key"),
        ("id: a\nkind: yes_no\nflag_at: 0.5", "missing-key"),
        ("id: a\nkind: choice\nask: x\nflag_on: [a]", "missing-key"),
        ("id: a\nkind: choice\nask: x\noptions: {a: x, b: y}", "missing-key"),
        ("id: a\nkind: score\nask: x\nflag_at_level: 0", "missing-key"),
        ("id: a\nkind: score\nask: x\nlevels: [a, b]", "missing-key"),
        ("id: a\nkind: rule\nrule: {type: threshold, at_least: 3}", "missing-key"),
        ("id: a\nkind: rule\nrule: {type: threshold, metric: x}", "missing-key"),
        ("id: a\nkind: rule\nrule: {type: slow}", "missing-key"),
        ("id: a\nkind: rule\nrule: {type: match}", "missing-key"),
        ("id: a\nkind: rule\nrule: {type: requires_before}", "missing-key"),
        ("id: a\nkind: rule\nrule: {type: count}", "missing-key"),
        ("id: a\nkind: rule\nrule: {same: tool}", "missing-key"),
        ("id: a\nkind: rule\nrule: {type: repeats}", "unknown-value"),
        ("id: a\nkind: rule\nrule: repeat", "wrong-type"),
        ("id: a\nkind: rule\nrule: {type: repeat, at_least: 0}", "out-of-range"),
        ("id: a\nkind: rule\nrule: {type: repeat, at_least: '3'}", "wrong-type"),
        ("id: a\nkind: rule\nrule: {type: repeat, at_least: true}", "wrong-type"),
        ("id: a\nkind: rule\nrule: {type: repeat, at_least: .nan}", "out-of-range"),
        ("id: a\nkind: rule\nrule: {type: repeat, at_least: 1e999}", "out-of-range"),
        ("id: a\nkind: rule\nrule: {type: repeat, at_least: }", "wrong-type"),
        ("id: a\nkind: rule\nrule: {type: repeat, same: [args]}", "unknown-value"),
        ("id: a\nkind: rule\nrule: {type: repeat, same: []}", "wrong-type"),
        ("id: a\nkind: rule\nrule: {type: repeat, span: tool}", "wrong-type"),
        ("id: a\nkind: rule\nrule: {type: repeat, span: {status: failed}}", "unknown-value"),
        ("id: a\nkind: rule\nrule: {type: slow, at_least_ms: -1}", "out-of-range"),
        ("id: a\nkind: rule\nrule: {type: match, pattern: '('}", "bad-pattern"),
        ("id: a\nkind: rule\nrule: {type: match, pattern: '(a+)+'}", "bad-pattern"),
        ("id: a\nkind: rule\nrule: {type: match, pattern: 12}", "wrong-type"),
        ("id: a\nkind: rule\nrule: {type: match, pattern: x, fields: [args]}", "unknown-value"),
        ("id: a\nkind: rule\nrule: {type: run_end, status: [ok]}", "unknown-value"),
        ("id: a\nkind: yes_no\nask: x\nflag_at: 1.01", "out-of-range"),
        ("id: a\nkind: yes_no\nask: x\nflag_at: -0.1", "out-of-range"),
        ("id: a\nkind: yes_no\nask: x\nflag_at: .inf", "out-of-range"),
        ("id: a\nkind: yes_no\nask: x\naction: halt", "halt"),
        ("id: a\nkind: rule\nrule: {type: errors}\naction: stop", "unknown-value"),
        ("id: a\nkind: choice\nask: x\noptions: {a: x, b: y}\nflag_on: [c]", "unknown-value"),
        ("id: a\nkind: choice\nask: x\noptions: {a: x}\nflag_on: a", "out-of-range"),
        ("id: a\nkind: choice\nask: x\noptions: [a, b]\nflag_on: a", "wrong-type"),
        ("id: a\nkind: choice\nask: x\noptions: {a: x, b: y}\nflag_on: []", "wrong-type"),
        ("id: a\nkind: score\nask: x\nlevels: [a]\nflag_at_level: 0", "out-of-range"),
        ("id: a\nkind: score\nask: x\nlevels: [a, b]\nflag_at_level: 1.01", "out-of-range"),
        ("id: a\nkind: score\nask: x\nlevels: [a, b]\nflag_at_level: -0.5", "out-of-range"),
        ("id: a\nkind: score\nask: x\nlevels: [a, b]\nflag_at_level: 1\nflag_at: 0.5", "misplaced-key"),
        ("id: a\nkind: yes_no\nask: x\nlevels: [a, b]", "misplaced-key"),
        ("id: a\nkind: rule\nrule: {type: errors}\nask: x", "misplaced-key"),
        ("id: a\nkind: yes_no\nask: x\nrule: {type: errors}", "misplaced-key"),
        ("id: a\nkind: yes_no\nask: x\nevidence: {last: 0}", "out-of-range"),
        ("id: a\nkind: yes_no\nask: x\nevidence: {last: 2.5}", "out-of-range"),
        ("id: a\nkind: yes_no\nask: x\nevidence: all", "wrong-type"),
        ("id: a\nkind: yes_no\nask: x\nevidence: {spans: {kind: tool}}", "unknown-key"),
        ("id: a\nkind: yes_no\nask: x\napplies_to: {agent: y}", "missing-key"),
        ("id: a\nkind: yes_no\nask: x\napplies_to: refunds", "wrong-type"),
        ("id: 12\nkind: yes_no\nask: x", "wrong-type"),
        ("id: ''\nkind: yes_no\nask: x", "wrong-type"),
        ("id: ' a'\nkind: yes_no\nask: x", "bad-id"),
        ('id: "a\\nb"\nkind: yes_no\nask: x', "bad-id"),
        ("id: a\nid: b\nkind: yes_no\nask: x", "duplicate-key"),
        ("id: a\nkind: yes_no\nask: !!python/name:os.system x", "tag"),
        ("- id: a\n  kind: yes_no\n  ask: x\n- id: a\n  kind: yes_no\n  ask: y", "duplicate-id"),
        ("- id: a\n  kind: yes_no\n  ask: x\n- just text", "wrong-type"),
    ],
)
def test_what_is_refused(body: str, code: str) -> None:
    assert code in codes(body)


def test_a_misplaced_key_says_where_it_belongs() -> None:
    found = problems("id: a\nkind: score\nask: x\nlevels: [a, b]\nflag_at_level: 1\nflag_at: 0.5")
    assert [(p.line, p.column, p.message) for p in found] == [
        (6, 1, "flag_at belongs to kinds yes_no and choice; a score has flag_at_level"),
    ]


@pytest.mark.parametrize(
    "ask",
    [
        "Did the agent claim success?",
        "Does the answer contradict the tools?",
        "It says that the order was shipped although it was not.",
        "Is the final response rude?",
        "Did the agent report a refund that never happened?",
        "Did it tell the customer something wrong?",
    ],
)
def test_a_question_about_the_answer_must_see_it(ask: str) -> None:
    body = f"id: a\nkind: yes_no\nask: {ask}\n"
    assert codes(body, "warning") == ["cannot-see-answer"]
    assert problems(body, "warning")[0].line == 3
    assert codes(body + "evidence: {final_output: true}\n", "warning") == []
    assert codes(body + "scope: span\nevidence: {final_output: true}\n", "warning") == ["cannot-see-answer"]


@pytest.mark.parametrize(
    "ask", ["Did the agent issue a refund twice?", "Was a test report deleted?", "Did states change?"]
)
def test_other_questions_need_not_see_the_answer(ask: str) -> None:
    assert codes(f"id: a\nkind: yes_no\nask: {ask}\n", "warning") == []


def test_a_line_beyond_the_cap_of_language_models_is_noted() -> None:
    assert codes("id: a\nkind: yes_no\nask: x\nflag_at: 0.9", "note") == []
    assert codes("id: a\nkind: yes_no\nask: x\nflag_at: 0.91", "note") == ["never-flags"]


@pytest.mark.parametrize(
    ("written", "meant"), [("tol", "tool"), ("mcp-tool", "mcp_tool"), ("LLM", "llm"), ("retriver", "retriever")]
)
def test_a_near_miss_of_a_span_type_warns(written: str, meant: str) -> None:
    found = problems(f"id: a\nkind: rule\nrule:\n  type: errors\n  span: {{type: [{written}]}}", "warning")
    assert [(p.line, p.column, p.code, p.hint) for p in found] == [(5, 17, "span-type", f"Did you mean {meant!r}?")]


def test_span_types_of_ones_own_do_not_warn() -> None:
    assert codes("id: a\nkind: rule\nrule: {type: errors, span: {type: billing}}", "warning") == []


def test_flaws_of_the_document_leave_no_usable_check() -> None:
    found = reading("- id: a\n  kind: yes_no\n  ask: x\n- id: b\n  kind: yes_no\n  ask: y\n  ask: z\n")
    assert found.checks == ()
    assert [each.id for each in found.found] == ["a", "b"]


def test_equal_thresholds_have_one_digest_however_they_are_written() -> None:
    whole = only("id: a\nkind: rule\nrule: {type: repeat, at_least: 4}")
    broken = only("id: a\nkind: rule\nrule: {type: repeat, at_least: 4.0}")
    assert whole.document == broken.document
    other = only("id: a\nkind: rule\nrule: {type: repeat, at_least: 5}")
    assert (whole.asked, whole.document != other.document) == (other.asked, True)


def test_asked_covers_defaults_and_leaves_out_words_for_people() -> None:
    short = only("id: a\nkind: yes_no\nask: x")
    long = only(
        "id: a\nkind: yes_no\nask: x\nscope: trace\ntitle: t\nguidance: g\nflag_at: 0.3\n"
        "evidence: {fields: [input, output, status], final_output: false}",
    )
    assert short.asked == long.asked


def test_problems_are_listed_once_and_in_order() -> None:
    collected = Problems()
    later, earlier = (reading(REPEATED).document.at((0, key)) for key in ("action", "id"))  # type: ignore[union-attr]
    assert later is not None
    assert earlier is not None
    collected.note(later, "b", "second")
    collected.error(earlier, "a", "first", hint=" so ")
    collected.error(earlier, "a", "first", hint=" so ")
    assert [(p.code, p.severity, p.hint) for p in collected.sorted()] == [("a", "error", "so"), ("b", "note", "")]
