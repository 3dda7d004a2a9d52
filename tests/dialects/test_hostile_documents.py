from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from check_workbench.dialects import read
from check_workbench.dialects.reading import read_source

if TYPE_CHECKING:
    from pathlib import Path

CHECK = "id: a\nkind: yes_no\nask: Did it loop?\nflag_at: {value}\n"


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        (
            "tags",
            "id: !!python/object/apply:os.system ['touch pwned']\nkind: rule\nrule: {type: errors}\n",
            "not allowed",
        ),
        ("tags", "!!python/module:os\nid: a\nkind: rule\nrule: {type: errors}\n", ""),
        ("nul", "id: a\0b\nkind: rule\nrule: {type: errors}\n", "U+0000"),
        ("escape", "id: a\x1b[2J\nkind: rule\nrule: {type: errors}\n", "U+001B"),
        ("tab", "id: a\nkind: rule\nrule:\n\ttype: errors\n", "tabs"),
        ("deep", "id: a\nkind: rule\nrule: " + "[" * 50_000, "64 deep"),
        ("deep", "id: a\nkind: rule\nrule: " + "{a: " * 50_000, "64 deep"),
        ("alias", "id: &a [*a]\nkind: rule\nrule: {type: errors}\n", "contains itself"),
        ("key", "id: a\nkind: rule\nrule: {type: errors}\n? {a: b}\n: c\n", "a key must be a text"),
        ("merge", "id: a\nkind: rule\n<<: 3\nrule: {type: errors}\n", "no key '<<'"),
    ],
)
def test_hostile_text_is_told_in_words(tmp_path: Path, name: str, text: str, words: str) -> None:
    file = tmp_path / f"{name}.yaml"
    file.write_text(text)
    started = time.process_time()
    (found,) = read(file)
    assert time.process_time() - started < 20
    assert found.checks == ()
    assert any(words in f"{p.message} {p.hint}" for p in found.problems)
    assert sorted(tmp_path.iterdir()) == [file]


def test_billion_laughs_end_early(tmp_path: Path) -> None:
    lines = ["id: a", "kind: rule", "a0: &a0 lol"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 40)]
    (tmp_path / "laughs.yaml").write_text("\n".join(lines))
    (found,) = read(tmp_path)
    assert "aliases blow the document up" in found.problems[0].message


def test_fifty_megabytes_are_not_read(tmp_path: Path) -> None:
    for name in ("a.yaml", "b.json", "PROCESS.md"):
        with (tmp_path / name).open("wb") as stream:
            stream.write(b"---\nname: p\nsteps:\n- id: a\nkind: rule\nrule: {}\ncheck: x\n")
            stream.truncate(50_000_000)
        (found,) = read(tmp_path / name)
        assert [p.code for p in found.problems] == ["too-large"]
    assert len(read(tmp_path)) == 3


@pytest.mark.parametrize(
    "value",
    ["1e999", "-1e999", ".nan", ".inf", "9" * 5_000, "1e-999x", "0x" + "f" * 300, "!!float 0.5e", "1_0", "'0.8'"],
)
def test_numbers_that_are_none(value: str) -> None:
    found = read_source(CHECK.format(value=value), "a.yaml", suffix=".yaml")
    assert found is not None
    assert {p.line for p in found.problems if p.severity == "error"} == {4}
    assert found.checks == ()
    assert all(len(p.message) < 400 for p in found.problems)


def test_a_file_that_may_not_be_read_is_an_input_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from check_workbench.dialects import reading
    from check_workbench.errors import InputError

    (tmp_path / "a.yaml").write_text(CHECK)

    def refuse(_: object) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(reading, "read_text", refuse)
    with pytest.raises(InputError, match="Permission denied"):
        read(tmp_path)


PIECES = st.sampled_from(
    [
        "id: a",
        "kind: rule",
        "kind: yes_no",
        "rule:",
        "  type: repeat",
        "  at_least: 3",
        "ask: x",
        "evidence: {",
        "}",
        "- ",
        "---",
        "flag_at: 0.8",
        "steps:",
        "name: p",
        "  - id: s",
        "    agent: x",
        "    check:",
        "      - ask: y",
        "        pass: 1",
        "\t",
        "&a",
        "*a",
        "<<: *a",
        ": ",
        "'",
        '"',
        "|",
        ">-",
        "!!str ",
        "# c",
        "\u2028",
        "levels: [a, b]",
        "options: {a: b}",
    ]
)


@settings(max_examples=80, deadline=None)
@given(
    lines=st.lists(PIECES, max_size=14),
    glue=st.sampled_from(["\n", " ", "\r\n", "\n  "]),
    suffix=st.sampled_from([".yaml", ".json", ".md"]),
)
def test_no_document_makes_a_traceback(lines: list[str], glue: str, suffix: str) -> None:
    text = glue.join(lines)
    found = read_source(f"---\n{text}\n---\n" if suffix == ".md" else text, "x" + suffix, suffix=suffix)
    if found is not None:
        assert all(p.line >= 1 and p.column >= 1 and p.message for p in found.problems)
