from __future__ import annotations

import dataclasses
import os
import stat
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from check_workbench.checks import Check, PassBand, Threshold, thresholds
from check_workbench.dialects import apply, diff, patched, read_checks
from check_workbench.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from pathlib import Path

REFUND = "\ufeff# ours\r\nid: refund # the id\r\nkind: yes_no\r\nask: 'Did it\t?'\r\nflag_at:  .80\t # a guess: 0.8\r\n"


def written(file: Path, text: str) -> tuple[Check, ...]:
    file.write_bytes(text.encode())
    return read_checks(file)


def to(key: str, value: float | None, item: int = 0) -> Threshold:
    return Threshold(item=item, key=key, value=value, means="problem")


def new_text(tmp_path: Path, text: str, *changes: Threshold, name: str = "a.yaml") -> str:
    (check,) = written(tmp_path / name, text)
    new = patched(check, changes)
    (again,) = written(tmp_path / name, new)
    values = {(t.item, t.key): t.value for t in thresholds(again)}
    assert all(values[change.item, change.key] == change.value for change in changes)
    assert again.asked == check.asked
    assert (tmp_path / name).read_bytes() == new.encode()
    return new


def test_only_the_characters_of_the_number_change(tmp_path: Path) -> None:
    assert new_text(tmp_path, REFUND, to("flag_at", 0.725)) == REFUND.replace(".80\t", "0.725\t")


@pytest.mark.parametrize(
    ("text", "change", "expected"),
    [
        (
            "id: a\nkind: rule\nrule: {type: repeat, at_least: 3} # x\n",
            to("at_least", 5.0),
            ("at_least: 3", "at_least: 5"),
        ),
        ("id: a\nkind: rule\nrule: {type: repeat}\n", to("at_least", 5.0), ("repeat", "repeat, at_least: 5")),
        (
            "id: a\nkind: rule\nrule:\n  type: repeat\n  same: [tool] # s\n  # end\n",
            to("at_least", 4),
            ("# s\n", "# s\n  at_least: 4\n"),
        ),
        ("id: a\nkind: rule\nrule:\n  type: slow\n  at_least_ms: 1e3\n", to("at_least_ms", 2500.0), ("1e3", "2500")),
        ("id: a\nkind: rule\nrule: {type: threshold, metric: m, at_least: 5}\n", to("at_least", 0.5), ("5", "0.5")),
        ("id: a\nkind: yes_no\nask: x\n", to("flag_at", 0.5), ("x\n", "x\nflag_at: 0.5\n")),
        ("id: a\nkind: yes_no\nask: x", to("flag_at", 0.5), ("x", "x\nflag_at: 0.5")),
        (
            "id: a\nkind: choice\nask: x\nflag_on: [p]\noptions: {p: a, q: b}\n",
            to("flag_at", 0.25),
            ("[p]\n", "[p]\nflag_at: 0.25\n"),
        ),
        (
            "id: a\nkind: score\nask: x\nlevels: [p, q]\nflag_at_level: 1\n",
            to("flag_at_level", 0.75),
            ("1\n", "0.75\n"),
        ),
        ('{"id": "a", "kind": "yes_no", "ask": "x"}', to("flag_at", 0.5), ('"x"', '"x", "flag_at": 0.5')),
    ],
)
def test_neatroots_thresholds(tmp_path: Path, text: str, change: Threshold, expected: tuple[str, str]) -> None:
    name = "a.json" if text.startswith("{") else "a.yaml"
    assert new_text(tmp_path, text, change, name=name) == text.replace(*expected)


def process(check: str, newline: str = "\n") -> str:
    text = (
        "---\nname: p\ndescription: d\nsteps:\n  - id: s\n    agent: Do it.\n"
        f"{check}    next: e # on\n  - id: e\n    finish: done\n---\nWords: 0.9\n"
    )
    return text.replace("\n", newline)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("check", "changes", "expected"),
    [
        (
            "    check:\n      - ask: x # a\n        pass: 0.9 # p\n        fail: 0.5\n",
            [to("pass", 0.85), to("fail", 0.25)],
            "    check:\n      - ask: x # a\n        pass: 0.85 # p\n        fail: 0.25\n",
        ),
        (
            "    check:\n      - ask: x # a\n",
            [to("pass", 0.85), to("fail", 0.0)],
            "    check:\n      - ask: x # a\n        pass: 0.85\n        fail: 0.0\n",
        ),
        (
            "    check:\n      - ask: x\n        fail: 0.5\n        pass: 0.8\n",
            [to("fail", None)],
            "    check:\n      - ask: x\n        pass: 0.8\n",
        ),
        (
            "    check: 'It: holds.' # short\n",
            [to("pass", 0.95)],
            "    check:\n      - ask: 'It: holds.' # short\n        pass: 0.95\n",
        ),
        (
            "    check: >-\n      It\n      holds.\n\n",
            [to("pass", 0.95), to("fail", 0.5)],
            "    check:\n      - ask: >-\n          It\n          holds.\n\n        pass: 0.95\n        fail: 0.5\n",
        ),
        (
            "    check: [{ask: x, levels: [a, b], pass: 1}]\n",
            [to("confidence", 0.65)],
            "    check: [{ask: x, levels: [a, b], pass: 1, confidence: 0.65}]\n",
        ),
        (
            "    check:\n      - ask: x\n        one_of: {a: b, c: d}\n        pass: [a]\n        confidence: 1\n",
            [to("confidence", 0.65)],
            "    check:\n      - ask: x\n        one_of: {a: b, c: d}\n        pass: [a]\n        confidence: 0.65\n",
        ),
    ],
)
def test_check_1_thresholds(tmp_path: Path, check: str, changes: list[Threshold], expected: str, newline: str) -> None:
    text = process(check, newline)
    assert new_text(tmp_path, text, *changes, name="PROCESS.md") == process(expected, newline)


def test_a_band_moves_up_or_down_in_any_order_of_changes(tmp_path: Path) -> None:
    text = process("    check:\n      - ask: x\n        pass: 0.5\n        fail: 0.4\n")
    new = new_text(tmp_path, text, to("pass", 0.95), to("fail", 0.9), name="PROCESS.md")
    assert new == text.replace("0.5", "0.95").replace("0.4", "0.9")
    back = new_text(tmp_path, new, to("pass", 0.3), to("fail", 0.1), name="PROCESS.md")
    assert back == text.replace("0.5", "0.3").replace("0.4", "0.1")


def test_the_item_is_found_by_its_place(tmp_path: Path) -> None:
    questions = "".join(f"      - ask: q{i}\n        pass: 0.9\n        fail: 0.5\n" for i in range(3))
    text = process(f"    check:\n{questions}")
    new = new_text(tmp_path, text, to("pass", 0.7, item=1), name="PROCESS.md")
    assert new == text.replace("q1\n        pass: 0.9", "q1\n        pass: 0.7")


def test_the_check_is_found_by_its_id_among_several(tmp_path: Path) -> None:
    text = "".join(f"- id: {i}\n  kind: yes_no\n  ask: x\n  flag_at: 0.5\n" for i in "abc")
    _, check, _ = written(tmp_path / "a.yaml", text)
    assert patched(check, [to("flag_at", 0.6)]) == text.replace(
        "b\n  kind: yes_no\n  ask: x\n  flag_at: 0.5", "b\n  kind: yes_no\n  ask: x\n  flag_at: 0.6"
    )


def test_two_checks_of_one_file_are_written_one_after_the_other(tmp_path: Path) -> None:
    text = process("    check: [{ask: x, fail: 0}]\n").replace(
        "finish: done", "agent: y\n    check: [{ask: z, fail: 0}]"
    )
    one, two = written(tmp_path / "PROCESS.md", text)
    both = patched(two, [to("pass", 0.4)], text=patched(one, [to("pass", 0.3)]))
    assert apply([(one, [to("pass", 0.3)]), (two, [to("pass", 0.4)])]) == (str(tmp_path / "PROCESS.md"),)
    assert (tmp_path / "PROCESS.md").read_text() == both
    assert [c.items[0].cut for c in read_checks(tmp_path)] == [
        PassBand(pass_at=0.3, fail_below=0),
        PassBand(pass_at=0.4, fail_below=0),
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("id: a\nkind: yes_no\nask: x\nflag_at: &f 0.5\n", r"anchor \(&\)"),
        ("id: a\nkind: yes_no\nask: x\ntitle: &f t\ngroup: *f\nflag_at: !!float 0.5\n", r"tag \(!\)"),
        ("- &base {id: b, kind: yes_no, ask: x, flag_at: 0.5}\n- {<<: *base, id: a}\n", r"merge key \(<<\)"),
    ],
)
def test_shared_numbers_are_refused_with_a_hint(tmp_path: Path, text: str, words: str) -> None:
    check = written(tmp_path / "a.yaml", text)[0]
    assert check.id == "a"
    with pytest.raises(InputError, match=words) as caught:
        apply([(check, [to("flag_at", 0.6)])])
    assert "Write it out" in str(caught.value)
    assert (tmp_path / "a.yaml").read_bytes() == text.encode()


def test_unknown_thresholds_and_impossible_values_are_refused(tmp_path: Path) -> None:
    (check,) = written(tmp_path / "a.yaml", REFUND)
    with pytest.raises(UnknownNameError):
        patched(check, [to("pass", 0.5)])
    with pytest.raises(InputError):
        patched(check, [to("flag_at", None)])
    for impossible in (float("nan"), float("inf"), 1.5, -0.1):
        with pytest.raises((InputError, ValueError)):
            patched(check, [to("flag_at", impossible)])


def test_a_check_without_a_file_is_refused(tmp_path: Path) -> None:
    (check,) = written(tmp_path / "a.yaml", REFUND)
    with pytest.raises(InputError, match="Save a copy"):
        patched(dataclasses.replace(check, file=None), [to("flag_at", 0.5)])
    (tmp_path / "a.yaml").unlink()
    with pytest.raises(InputError, match="cannot be read"):
        patched(check, [to("flag_at", 0.5)])


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: text.replace(".80", ".81"),
        lambda text: text.replace("Did it", "Has it"),
        lambda text: text.replace("id: refund", "id: other"),
        lambda text: text + "flag_at: 0.9\r\n",
        lambda _: "",
    ],
)
def test_a_file_that_says_something_else_by_now_is_left_alone(tmp_path: Path, edit: Any) -> None:
    (check,) = written(tmp_path / "a.yaml", REFUND)
    changed = edit(REFUND)
    (tmp_path / "a.yaml").write_bytes(changed.encode())
    with pytest.raises(InputError, match=r"changed since it was read|no longer there|stands twice"):
        apply([(check, [to("flag_at", 0.5)])])
    assert (tmp_path / "a.yaml").read_bytes() == changed.encode()


def test_edits_beside_the_check_are_kept(tmp_path: Path) -> None:
    (check,) = written(tmp_path / "a.yaml", REFUND)
    changed = REFUND.replace("# ours", "# theirs\r\ntitle: New")
    (tmp_path / "a.yaml").write_bytes(changed.encode())
    apply([(check, [to("flag_at", 0.5)])])
    assert (tmp_path / "a.yaml").read_bytes() == changed.replace(".80\t", "0.5\t").encode()


def test_apply_writes_once_and_returns_the_check_as_it_reads_now(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    (check,) = written(file, REFUND)
    file.chmod(0o640)
    assert apply([(check, [to("flag_at", 0.5)])]) == (str(file),)
    (now,) = read_checks(file)
    assert thresholds(now)[0].value == 0.5
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert list(tmp_path.iterdir()) == [file]
    before = file.stat()
    assert apply([(check, [to("flag_at", 0.5)])]) == apply([(now, [])]) == apply([]) == ()
    assert (file.stat().st_mtime_ns, file.stat().st_ino) == (before.st_mtime_ns, before.st_ino)


def test_apply_keeps_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "real" / "a.yaml", tmp_path / "link.yaml"
    target.parent.mkdir()
    target.write_bytes(REFUND.encode())
    link.symlink_to(target)
    (check,) = read_checks(link)
    apply([(check, [to("flag_at", 0.5)])])
    assert link.is_symlink()
    assert target.read_bytes() == REFUND.replace(".80\t", "0.5\t").encode()


def test_a_change_by_somebody_else_while_writing_is_not_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.yaml"
    (check,) = written(file, REFUND)
    sync = os.fsync

    def meanwhile(descriptor: int) -> None:
        sync(descriptor)
        file.write_text("theirs")

    monkeypatch.setattr(os, "fsync", meanwhile)
    with pytest.raises(InputError, match="changed while it was written"):
        apply([(check, [to("flag_at", 0.5)])])
    assert file.read_text() == "theirs"
    assert list(tmp_path.iterdir()) == [file]


def test_of_several_files_all_are_written_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [tmp_path / "a.yaml", tmp_path / "b.yaml"]
    checks = [written(file, REFUND.replace("refund", file.stem))[0] for file in files]
    before = [file.read_bytes() for file in files]
    changes = [(check, [to("flag_at", 0.5)]) for check in checks]
    monkeypatch.setattr(os, "access", lambda path, _: path != files[1])
    with pytest.raises(InputError, match=r"b\.yaml: cannot be written: it is read-only\. As before: "):
        apply(changes)
    assert [file.read_bytes() for file in files] == before
    monkeypatch.undo()
    assert apply(changes) == tuple(map(str, files))
    assert [file.read_bytes() for file in files] == [data.replace(b".80\t", b"0.5\t") for data in before]


def test_a_file_and_a_link_to_it_are_one_file(tmp_path: Path) -> None:
    text = "- {id: one, kind: yes_no, ask: x, flag_at: 0.5}\n- {id: two, kind: yes_no, ask: x, flag_at: 0.5}\n"
    (tmp_path / "a.yaml").write_text(text)
    (tmp_path / "link.yaml").symlink_to("a.yaml")
    one, two = read_checks(tmp_path / "a.yaml")[0], read_checks(tmp_path / "link.yaml")[1]
    assert apply([(one, [to("flag_at", 0.6)]), (two, [to("flag_at", 0.7)])]) == (str(tmp_path / "a.yaml"),)
    assert (tmp_path / "a.yaml").read_text() == text.replace("0.5", "0.6", 1).replace("0.5", "0.7")


def test_the_diff_names_the_file_and_the_changed_lines(tmp_path: Path) -> None:
    (check,) = written(tmp_path / "a.yaml", "id: a\nkind: yes_no\nask: x\u2028y\nflag_at: 0.5")
    file = tmp_path / "a.yaml"
    assert diff([(check, [to("flag_at", 0.6)])]) == (
        f"--- a/{file}\n+++ b/{file}\n@@ -1,4 +1,4 @@\n id: a\n kind: yes_no\n ask: x\u2028y\n"
        "-flag_at: 0.5\n\\ No newline at end of file\n+flag_at: 0.6\n\\ No newline at end of file\n"
    )
    assert diff([(check, [])]) == diff([(check, [to("flag_at", 0.5)])]) == diff([]) == ""


COMMENT = st.sampled_from(["", " # 0.5", "\t# flag_at: 1", "  ", "\t"])
WRITTEN = st.sampled_from(["0.5", ".5", "5e-1", "+0.50", "0.5000", "1", "0"])
VALUE = st.floats(0, 1) | st.sampled_from([0.0, 1.0, 1e-9, 0.1 + 0.2])
FILLER = st.sampled_from(
    [
        "title: 'it''s: 0.5'",
        'title: "a \\"b\\" # c"',
        "guidance: >-\n  flag_at: 0.5\n\n   more",
        "group: übung",
        "applies_to: {workflow: w} # x",
        "evidence:\n  last: 5 # flag_at\n  fields:\n  - input",
        "when: end",
        "# flag_at: 0.5",
        "",
    ]
)


@settings(max_examples=80, deadline=None)
@given(
    fillers=st.lists(FILLER, unique_by=lambda f: f.split(":")[0], max_size=6),
    place=st.integers(0, 6),
    hole=st.tuples(st.sampled_from([" ", "   ", "\t", "\n  "]), WRITTEN, COMMENT),
    value=VALUE,
    frame=st.tuples(
        st.sampled_from(["\n", "\r\n", "\r"]), st.sampled_from(["", "\ufeff"]), st.booleans(), st.booleans()
    ),
)
def test_any_document_changes_in_the_number_alone(
    tmp_path_factory: pytest.TempPathFactory, *, fillers: list[str], place: int, hole: Any, value: float, frame: Any
) -> None:
    newline, mark, final, listed = frame
    gap, number, comment = hole
    lines = ["id: a", "kind: yes_no", 'ask: "Did it\\tloop?"', *fillers]
    lines.insert(3 + place % (len(fillers) + 1), f"flag_at:{gap}\0{comment}")
    text = "\n".join(lines) + "\n" * final
    if listed:
        text = "- " + text.replace("\n", "\n  ") + "\n- {id: b, kind: yes_no, ask: y, flag_at: 0.5}"
    before, after = (mark + text.replace("\n", newline)).split("\0")
    file = tmp_path_factory.getbasetemp() / "any.yaml"
    check = written(file, before + number + after)[0]
    new = patched(check, [to("flag_at", value)])
    assert new.startswith(before)
    assert new.endswith(after)
    token = new[len(before) : len(new) - len(after)]
    assert float(token) == value
    assert token == number if float(number) == value else "e" not in token
    assert thresholds(written(file, new)[0])[0].value == value


@settings(max_examples=100, deadline=None)
@given(
    fillers=st.lists(FILLER, unique_by=lambda f: f.split(":")[0], max_size=6),
    value=VALUE.filter(lambda value: value != 0.8),
    frame=st.tuples(st.sampled_from(["\n", "\r\n", "\r"]), st.sampled_from(["", "\ufeff"]), st.booleans()),
)
def test_any_document_without_the_key_gets_one_line(
    tmp_path_factory: pytest.TempPathFactory, fillers: list[str], value: float, frame: tuple[str, str, bool]
) -> None:
    newline, mark, final = frame
    text = mark + ("\n".join(["id: a", "kind: yes_no", "ask: Loop?", *fillers]) + "\n" * final).replace("\n", newline)
    file = tmp_path_factory.getbasetemp() / "absent.yaml"
    (check,) = written(file, text)
    new = patched(check, [to("flag_at", value)])
    added = [line for line in new.split(newline) if line not in text.split(newline)]
    assert len(added) == 1
    assert added[0].startswith("flag_at: ")
    assert len(new) == len(text) + len(added[0]) + len(newline)
    assert thresholds(written(file, new)[0])[0].value == value
