from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from check_workbench.checks import Threshold
from check_workbench.dialects import approval_of, notes_on, promoted, promoted_check, read_checks
from check_workbench.dialects.reading import read_source
from check_workbench.errors import InputError
from check_workbench.samples import sample_data

if TYPE_CHECKING:
    from pathlib import Path

    from check_workbench.checks import Check

HEAD = "---\nname: p # ours\ndescription: 'd'\nsteps:\n"
TAIL = "---\n# Words\n"
SCREEN = "  - id: screen # one\n    agent: Do it.\n    advisory: true # for now\n    check: It holds.\n"
SIGN = "  - id: sign\n    person: boss\n    approve: Approve it.\n    on_reject: screen\n"
START = "  - id: start\n    agent: Begin.\n    next: [screen, other]\n"
OTHER = "  - id: other\n    wait: 1d\n    next: done\n"
DONE = "  - id: done\n    finish: over\n"


def process(*steps: str, tail: str = TAIL) -> str:
    return HEAD + "".join(steps) + tail


def check_in(folder: Path, text: str, step: str = "screen") -> Check:
    (folder / "PROCESS.md").write_bytes(text.encode())
    return next(check for check in read_checks(folder / "PROCESS.md") if check.step_id == step)


def replaced(folder: Path, text: str, step: str = "screen") -> str:
    """Promote, and check what holds of every promotion."""
    check = check_in(folder, text, step)
    approve = approval_of(check)
    new = promoted(check, [], replaces=approve)
    assert promoted(check, [], replaces=approve, text=new) == new
    again = check_in(folder, new, step)
    assert promoted(again, [], replaces=approve) == new
    assert again.document == promoted_check(check, []).document
    assert (again.asked, again.advisory) == (check.asked, False)
    assert set(_warnings(new)) <= set(_warnings(text))
    assert again.process is not None
    links = [link for one in again.process.steps for link in (*one.next, one.on_reject)]
    assert approve not in [*links, *(one.id for one in again.process.steps)]
    return new


def _warnings(text: str) -> list[str]:
    reading = read_source(text, "PROCESS.md", suffix=".md")
    return [] if reading is None else [p.message for p in reading.problems]


def test_enforcing_takes_advisory_away_and_nothing_else(tmp_path: Path) -> None:
    text = process(SCREEN, SIGN, DONE)
    check = check_in(tmp_path, text)
    assert promoted(check, []) == text.replace("    advisory: true # for now\n", "")


def test_numbers_and_promotion_are_one_change(tmp_path: Path) -> None:
    text = process(SCREEN.replace("It holds.", "[{ask: It holds., pass: 0.9}]"), SIGN, DONE)
    check = check_in(tmp_path, text)
    moved = [Threshold(item=0, key="pass", value=0.75, means="good")]
    new = promoted(check, moved, replaces="sign")
    expected = text.replace("    advisory: true # for now\n", "").replace("0.9", "0.75").replace(SIGN, "")
    assert new == expected
    assert check_in(tmp_path, new).document == promoted_check(check, moved).document


@pytest.mark.parametrize("step", ["check_vendor", "write_terms"])
def test_the_shipped_process_is_promoted_either_way(tmp_path: Path, step: str) -> None:
    text = (sample_data() / "vendors" / "PROCESS.md").read_bytes().decode()
    enforced, alone = promoted(check_in(tmp_path, text, step), []), replaced(tmp_path, text, step)
    counts = [(new.count("advisory: true"), new.count("approve: ")) for new in (text, enforced, alone)]
    assert counts == [(2, 2), (1, 2), (1, 1)]


def test_a_check_that_blocks_already_is_left_as_it_is(tmp_path: Path) -> None:
    text = process(SCREEN.replace("    advisory: true # for now\n", ""), SIGN, DONE)
    assert promoted(check_in(tmp_path, text), []) == text


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        pytest.param((SCREEN, SIGN, DONE), (SCREEN, DONE), id="the step below"),
        pytest.param(
            (SCREEN + "    next: sign # on\n", SIGN, DONE), (SCREEN + "    next: done # on\n", DONE), id="next"
        ),
        pytest.param(
            (SCREEN + "    next: 'sign'\n", SIGN, DONE), (SCREEN + "    next: 'done'\n", DONE), id="next in quotes"
        ),
        pytest.param(
            (START, SCREEN, SIGN + "    next: done\n", OTHER, DONE),
            (START, SCREEN + "    next: done\n", OTHER, DONE),
            id="an approval that leads past the step below",
        ),
        pytest.param(
            (SCREEN, SIGN + "    next: done\n", DONE), (SCREEN, DONE), id="an approval that names the step below"
        ),
        pytest.param(
            (SCREEN + "    next: [sign, done]\n", SIGN, DONE), (SCREEN + "    next: done\n", DONE), id="a choice of two"
        ),
        pytest.param(
            (SCREEN + "    next:\n      - sign\n      - done # c\n", SIGN, DONE),
            (SCREEN + "    next: done # c\n", DONE),
            id="a choice of two in lines",
        ),
        pytest.param(
            (
                SCREEN
                + "    next:\n      - { to: sign, when: It is dear. }\n      - { to: done, when: It is cheap. }\n",
                SIGN,
                DONE,
            ),
            (SCREEN + "    next: done\n", DONE),
            id="two routes with conditions",
        ),
        pytest.param(
            (
                SCREEN + "    next:\n      - to: sign # s\n        when: It is cleared.\n      - declined\n",
                SIGN + "    next: done\n",
                "  - id: declined\n    finish: declined\n",
                DONE,
            ),
            (
                SCREEN + "    next:\n      - to: done # s\n        when: It is cleared.\n      - declined\n",
                "  - id: declined\n    finish: declined\n",
                DONE,
            ),
            id="a route leads on",
        ),
        pytest.param(
            (
                SCREEN + "    next: [sign, declined, done]\n",
                SIGN + "    next: done\n",
                "  - id: declined\n    finish: d\n",
                DONE,
            ),
            (SCREEN + "    next: [declined, done]\n", "  - id: declined\n    finish: d\n", DONE),
            id="one of three routes goes",
        ),
        pytest.param(
            (SCREEN, "  - id: pause\n    wait_for: papers\n    timeout: 1d\n    on_timeout: sign\n", SIGN, DONE),
            (SCREEN, "  - id: pause\n    wait_for: papers\n    timeout: 1d\n    on_timeout: done\n", DONE),
            id="on_timeout",
        ),
        pytest.param(
            (SCREEN, SIGN, "  - id: sign_again\n    person: chief\n    approve: Look.\n    on_reject: sign\n", DONE),
            (SCREEN, "  - id: sign_again\n    person: chief\n    approve: Look.\n    on_reject: screen\n", DONE),
            id="on_reject of a later approval",
        ),
        pytest.param(
            (SCREEN, "\n", SIGN + "    # due: 2d\n", "\n", DONE), (SCREEN, "\n", DONE), id="blank lines and comments"
        ),
    ],
)
def test_links_lead_on(tmp_path: Path, steps: tuple[str, ...], expected: tuple[str, ...]) -> None:
    text, wanted = process(*steps), process(*expected).replace("    advisory: true # for now\n", "")
    assert replaced(tmp_path, text) == wanted


@pytest.mark.parametrize("newline", ["\r\n", "\r", "\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_ends_and_a_byte_order_mark_stay(tmp_path: Path, newline: str, mark: str) -> None:
    text = mark + process(SCREEN + "    next: [sign, done]\n", SIGN, DONE).replace("\n", newline)
    wanted = process(SCREEN + "    next: done\n", DONE).replace("    advisory: true # for now\n", "")
    assert replaced(tmp_path, text) == mark + wanted.replace("\n", newline)


def test_steps_in_code_fences_are_words(tmp_path: Path) -> None:
    fence = f"---\n```yaml\nsteps:\n{SCREEN}{SIGN}```\n"
    wanted = process(SCREEN, DONE, tail=fence).replace("    advisory: true # for now\n", "", 1)
    assert replaced(tmp_path, process(SCREEN, SIGN, DONE, tail=fence)) == wanted


def test_steps_in_flow_style(tmp_path: Path) -> None:
    steps = "[{id: screen, agent: a, check: x, next: sign}, {id: sign, person: b, approve: c}, {id: done, finish: d}]"
    text = f"---\nname: p\ndescription: d\nsteps: {steps}\n---\n"
    new = replaced(tmp_path, text)
    assert new == text.replace("next: sign", "next: done").replace("{id: sign, person: b, approve: c}, ", "")


def test_two_checks_of_one_file_are_promoted_one_after_the_other(tmp_path: Path) -> None:
    second = SCREEN.replace("screen", "terms")
    sign_terms = SIGN.replace("sign", "sign_terms").replace("screen", "terms")
    text = process(SCREEN, SIGN, second, sign_terms, DONE)
    one, two = check_in(tmp_path, text), check_in(tmp_path, text, "terms")
    new = promoted(two, [], replaces="sign_terms", text=promoted(one, [], replaces="sign"))
    other = promoted(one, [], replaces="sign", text=promoted(two, [], replaces="sign_terms"))
    assert new == other == process(SCREEN, second, DONE).replace("    advisory: true # for now\n", "")


def test_of_two_approvals_in_a_row_one_goes(tmp_path: Path) -> None:
    chief = SIGN.replace("sign", "sign_again")
    new = replaced(tmp_path, process(SCREEN, SIGN, chief, DONE))
    assert new == process(SCREEN, chief, DONE).replace("    advisory: true # for now\n", "")


AGENT = "  - id: draft\n    agent: Draft it.\n"


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        pytest.param(
            (AGENT + "    check: Good?\n    next: [screen, sign]\n", SCREEN, SIGN, DONE),
            "it also approves what comes from draft, which has a check of its own",
            id="shared with a checked step",
        ),
        pytest.param(
            (AGENT + "    next: [screen, sign]\n", SCREEN, SIGN, DONE),
            "it also approves what comes from draft, which no check judges",
            id="shared with an unchecked step",
        ),
        pytest.param((SCREEN, AGENT, SIGN, DONE), "other steps work between screen and it", id="work in between"),
        pytest.param(
            (SCREEN + "    next: [sign, chief]\n", SIGN + "    next: done\n", SIGN.replace("sign", "chief"), DONE),
            r"screen leads to several approve steps \(sign, chief\)",
            id="several approvals",
        ),
        pytest.param(
            (SCREEN, SIGN + "    output: { limit: number }\n", DONE), "it collects output", id="an approval with a form"
        ),
        pytest.param(
            (SCREEN, SIGN, "  - id: pay\n    person: steps.sign.by\n    task: Pay.\n", DONE),
            "pay reads steps.sign.by as its person",
            id="a path into the approval",
        ),
        pytest.param(
            (SIGN + "    next: done\n", SCREEN + "    next: sign\n", DONE),
            "the process begins with sign",
            id="the approval is the beginning",
        ),
        pytest.param(
            (
                SCREEN,
                "  - id: fork\n    parallel: [sign, other]\n    next: done\n",
                SIGN + "    next: join\n",
                OTHER.replace("done", "join"),
                DONE,
            ),
            "other steps work between screen and it",
            id="a branch",
        ),
        pytest.param(
            (SCREEN, SIGN.replace("reject: screen", "reject: repair") + "    next: done\n",
             "  - id: repair\n    agent: Repair it.\n    next: done\n", DONE),
            "afterwards no step leads to 'repair'",
            id="only a rejection led there",
        ),
        pytest.param(
            (
                SCREEN + "    next: [{ to: sign, when: dear }, { to: done, when: cheap }, no]\n",
                SIGN + "    next: done\n",
                "  - id: no\n    finish: no\n",
                DONE,
            ),
            "two routes of line 9 would lead to done under different conditions",
            id="routes with conditions",
        ),
        pytest.param(
            (SCREEN + "    next: &to sign\n", SIGN, "  - id: say\n    agent: *to\n", DONE),
            "is shared through an anchor",
            id="an anchor at the link",
        ),
        pytest.param(
            (
                SCREEN,
                "  - id: papers\n    wait_for: papers\n",
                SIGN,
                SIGN.replace("sign", "chief").replace("reject: screen", "reject: papers"),
                DONE,
            ),
            "what chief rejects comes to it by papers, and would go on without being done again",
            id="rejected work comes back by a wait",
        ),
        pytest.param(
            (
                "  - id: fork\n    parallel: [screen, other]\n    next: sign\n",
                SCREEN + "    next: join\n",
                "  - id: other\n    wait: 1d\n    next: join\n",
                SIGN,
                DONE,
            ),
            "other steps work between screen and it",
            id="behind the join of branches",
        ),
        pytest.param((SCREEN, SIGN), "it must lead to one step, but leads to none.* Nothing is written", id="the last"),
        pytest.param(
            (SCREEN, SIGN + "    next: [done, other]\n", OTHER, DONE),
            "it must lead to one step, but leads to done, other",
            id="whoever approves chooses the way",
        ),
        pytest.param(
            (SCREEN + "    next: sign\n", SIGN + "    next: screen\n"),
            "nobody could end the process any more, since no finish lies behind screen",
            id="only a person could end it",
        ),
        pytest.param(
            (SCREEN, SIGN, "  - id: pay\n    person: { path: '{{ steps.sign.by }}' }\n    task: Pay.\n", DONE),
            r"pay reads \{\{ steps.sign.by \}\} as its person",
            id="a path deep in a key",
        ),
        pytest.param(
            (SCREEN, SIGN.replace("boss", "&who boss"), "  - id: pay\n    person: *who\n    task: Pay.\n", DONE),
            "afterwards no anchor &who stands before this alias",
            id="an anchor in the approval",
        ),
    ],
)  # fmt: skip
def test_what_is_not_safe_is_refused_whole(tmp_path: Path, steps: tuple[str, ...], words: str) -> None:
    text = process(*steps)
    check = check_in(tmp_path, text)
    with pytest.raises(InputError, match=words):
        promoted(check, [], replaces=approval_of(check))
    assert (tmp_path / "PROCESS.md").read_bytes() == text.encode()


FORK = "  - id: fork\n    parallel: [screen, other]\n    next: done\n"


def test_inside_a_branch_the_checked_step_joins(tmp_path: Path) -> None:
    branches = (SIGN + "    next: join\n", OTHER.replace("next: done", "next: join"), DONE)
    new = replaced(tmp_path, process(FORK, SCREEN + "    next: sign\n", *branches))
    wanted = process(FORK, SCREEN + "    next: join\n", *branches[1:])
    assert new == wanted.replace("    advisory: true # for now\n", "")


def test_join_means_something_beside_a_parallel_step_only() -> None:
    joined = process(SCREEN + "    next: join\n", SIGN, DONE)
    assert "next names the step 'join', which does not exist" in _warnings(joined)
    assert not any("'join'" in said for said in _warnings(process(FORK, SCREEN + "    next: join\n", OTHER, DONE)))


@pytest.mark.parametrize(
    "sign",
    [
        "  -\n    id: sign\n    person: boss\n    approve: |\n      Look.\n      # words\n\n",
        "  - {id: sign, person: boss, approve: Look.}\n",
        '  - {"id": "sign", "person": "boss", "approve": "Look."} # short\n',
    ],
)
def test_a_step_goes_however_it_is_written(tmp_path: Path, sign: str) -> None:
    wanted = process(SCREEN, DONE).replace("    advisory: true # for now\n", "")
    assert replaced(tmp_path, process(SCREEN, sign, DONE)) == wanted


def test_an_id_that_reads_as_a_constant_stays_text(tmp_path: Path) -> None:
    null = '  - id: "null"\n    finish: over\n'
    new = replaced(tmp_path, process(SCREEN + "    next: sign\n", SIGN, null))
    assert '    next: "null"\n' in new


def test_without_an_approval_there_is_none_to_replace(tmp_path: Path) -> None:
    assert approval_of(check_in(tmp_path, process(SCREEN, DONE))) is None


def test_a_file_that_changed_since_is_refused(tmp_path: Path) -> None:
    text = process(SCREEN, SIGN, DONE)
    check = check_in(tmp_path, text)
    with pytest.raises(InputError, match="changed since it was read"):
        promoted(check, [], replaces="sign", text=text.replace("It holds.", "It does not."))


def test_a_process_that_was_rearranged_since_the_decision_is_refused(tmp_path: Path) -> None:
    text = process(START, SCREEN + "    next: sign\n", OTHER, SIGN, DONE)
    check = check_in(tmp_path, text)
    assert approval_of(check) == "sign"
    worked = "  - id: other\n    agent: Do other work.\n    next: sign\n"
    with pytest.raises(InputError, match="it also approves what comes from other, which no check judges"):
        promoted(check, [], replaces="sign", text=text.replace(OTHER, worked))
    moved = process(START, SCREEN + "    next: done\n", OTHER.replace("done", "sign"), SIGN, DONE)
    with pytest.raises(InputError, match=r"no longer leads to the approve step sign: .* Call trust again"):
        promoted(check, [], replaces="sign", text=moved)


def test_what_goes_with_the_approval_is_told(tmp_path: Path) -> None:
    late = "    timeout: 3d\n    on_timeout: done\n    next: other\n"
    text = process(SCREEN, SIGN + late, OTHER, DONE).replace(
        "steps:", "emails:\n  told: { to: steps.sign.by }\nsteps:", 1
    )
    notes = notes_on(check_in(tmp_path, text), "sign")
    assert "work that nobody decided in time at sign went to done; a check decides at once" in notes
    assert "the process (emails) reads steps.sign, which no longer exists: reword it" in notes


def test_whoever_reads_what_goes_is_named(tmp_path: Path) -> None:
    sign = SIGN.replace("sign", "sign_it")
    later = (
        "  - id: pay\n    agent: Pay. Mind steps.sign_it.note and {{ steps.screen.check.verdict }}.\n"
        "    next:\n      - { to: done, when: steps.screen.check says unsure }\n      - tell\n"
        "  - id: tell\n    agent: Tell whoever did sign_it.\n    check: Does it read steps.sign_it?\n"
    )
    tail = "---\nAfter sign_it comes pay; steps.screen_it.check and steps.sign_it_2 are others.\n"
    check = check_in(tmp_path, process(SCREEN, sign, later, DONE, tail=tail))
    stale = "; rewording what a checked step says makes its labels stale"
    verdicts = "it says pass or unsure from now on, since a step that fails does not complete"
    assert notes_on(check, "sign_it") == (
        "a rejection at sign_it went back to screen; a failed check refuses the submission and screen tries again",
        "pay (agent) reads steps.sign_it, which no longer exists: reword it",
        f"pay (agent) reads steps.screen.check: {verdicts}",
        f"pay (next) reads steps.screen.check: {verdicts}",
        f"tell (agent) names sign_it, which no longer exists: reword it{stale}",
        f"tell (check) reads steps.sign_it, which no longer exists: reword it{stale}",
        "the text below the front matter names sign_it, which no longer exists: reword it",
    )
    assert notes_on(check, None) == (
        f"pay (agent) reads steps.screen.check: {verdicts}",
        f"pay (next) reads steps.screen.check: {verdicts}",
    )


@pytest.mark.parametrize(
    ("reject", "words"),
    [
        ("", "a rejection at sign ended the run; a failed check refuses"),
        (
            "    on_reject: draft\n",
            "a rejection at sign went to draft; a failed check refuses the submission and screen",
        ),
    ],
)
def test_where_rejected_work_went_is_told(tmp_path: Path, reject: str, words: str) -> None:
    text = process(AGENT, SCREEN, SIGN.replace("    on_reject: screen\n", reject), DONE)
    assert notes_on(check_in(tmp_path, text), "sign")[0].startswith(words)
    assert replaced(tmp_path, text) == process(AGENT, SCREEN, DONE).replace("    advisory: true # for now\n", "")


def test_a_neatroots_check_has_no_flag_and_keeps_its_bytes(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("id: a\nkind: yes_no\nask: x\nflag_at: 0.5 # why\n", encoding="utf-8")
    (check,) = read_checks(file)
    assert promoted(check, []) == file.read_text(encoding="utf-8")
    assert approval_of(check) is None
    assert notes_on(check, None) == ()


PARTS = st.sampled_from(
    [("checked", "approve"), ("checked", "wait_for", "approve"), ("checked",), ("agent",), ("task",), ("approve",)]
)
STYLES = st.sampled_from(["flow", "block", "routes"])


@st.composite
def processes(draw: st.DrawFn) -> str:
    """Draw a process whose links mostly go forward and rejections back, with comments and blank lines."""
    kinds = [kind for part in draw(st.lists(PARTS, min_size=1, max_size=4)) for kind in part]
    names = [*(f"s_{place}" for place in range(len(kinds))), "over"]
    steps = [_step(draw, place, kind, names) for place, kind in enumerate(kinds)]
    steps.append("  - id: over\n    finish: done\n")
    text = process(*steps)
    return text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))


def _step(draw: st.DrawFn, place: int, kind: str, names: list[str]) -> str:
    later = st.sampled_from([*names[place + 1 :], *(names if draw(st.integers(0, 3)) == 0 else [])])
    lines = [f"  - id: {names[place]} # {place}", "    agent: Do it." if kind == "checked" else f"    {kind}: 1d x"]
    lines += ["    advisory: true", "    check: It holds."] if kind == "checked" else []
    lines += ["    person: boss"] if kind in {"task", "approve"} else []
    if kind == "approve" and draw(st.booleans()):
        lines.append(f"    on_reject: {draw(st.sampled_from(names[: place + 1]) | later)}")
    if kind == "wait_for" and draw(st.booleans()):
        lines.append(f"    on_timeout: {draw(later)}")
    if draw(st.integers(0, 3)) == 0:
        many = kind in {"agent", "checked", "task"}
        lines += _next(draw(STYLES), draw(st.lists(later, min_size=1, max_size=3 if many else 1, unique=True)))
    return "\n".join([*lines, *([""] if draw(st.booleans()) else [])]) + "\n"


def _next(style: str, to: list[str]) -> list[str]:
    if len(to) == 1:
        return [f"    next: {to[0]} # only"]
    if style == "flow":
        return [f"    next: [{', '.join(to)}]"]
    item = "      - {{ to: {0}, when: {0} }} # to {0}" if style == "routes" else "      # on {0}\n      - {0} # to {0}"
    return ["    next: # how", *(item.format(name) for name in to)]


def _reached(check: Check) -> set[str]:
    assert check.process is not None
    steps = {one.id: one for one in check.process.steps}
    todo, seen = [check.process.steps[0].id], set[str]()
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo += [*steps[name].next, *filter(None, [steps[name].on_reject])]
    return seen


@settings(deadline=None, max_examples=150)
@given(text=processes(), pick=st.integers(0, 9))
def test_no_link_names_what_went_and_all_else_stays(text: str, pick: int) -> None:
    before = read_source(text, "PROCESS.md", suffix=".md")
    assert before is not None
    if not before.checks:
        return
    check = dataclasses.replace(before.checks[pick % len(before.checks)], file="PROCESS.md")
    try:
        approve = approval_of(check)
        new = promoted(check, [], replaces=approve, text=text)
    except InputError:
        return
    after = read_source(new, "PROCESS.md", suffix=".md")
    assert after is not None
    now = next(one for one in after.checks if one.id == check.id)
    assert _reached(now) == _reached(check) - {approve}
    assert now.process is not None
    assert approve not in {to for one in now.process.steps for to in (one.id, *one.next, one.on_reject)} - {None}
    assert promoted(now, [], replaces=approve, text=new) == new
    assert set(_warnings(new)) <= set(_warnings(text))
    assert _lines_kept(text, new, approve)
    assert _comments(_without(text, approve)) - {f"# to {approve}"} <= _comments(new) <= _comments(text)


def _lines_kept(old: str, new: str, approve: str | None) -> bool:
    """Say whether every line that is no link stands in its order, but for the step that went and one flag."""
    return _others(_without(old, approve)) in (_others(new), _others(new, flags=1))


def _without(text: str, approve: str | None) -> str:
    blocks = text.split("  - id: ")
    return "  - id: ".join(block for block in blocks if approve is None or not block.startswith(f"{approve} "))


def _others(text: str, flags: int = 0) -> list[Any]:
    lines = [line for line in text.splitlines() if line.strip()]
    plain = [
        line
        for line in lines
        if not line.lstrip(" -{").startswith(("next:", "on_", "to:", "s_", "over", "advisory", "# on", "# to", "# how"))
    ]
    return [plain, sum("advisory" in line for line in lines) + flags]


def _comments(text: str) -> set[str]:
    return set(re.findall(r"# [^\r\n]*", text))
