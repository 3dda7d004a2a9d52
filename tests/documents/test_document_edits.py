from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from check_workbench.documents import (
    Edit,
    delete_item,
    delete_key,
    edited,
    list_text,
    parse,
    plain,
    set_number,
    set_word,
)
from check_workbench.errors import InputError


def numbered(text: str, *path: str | int, to: float = 0.9, after: tuple[str, ...] = (), language: Any = "yaml") -> str:
    document = parse(text, language)
    return edited(text, [set_number(document, (0, *path), to, after=after)])


def without(text: str, *path: str | int, language: Any = "yaml") -> str:
    return edited(text, [delete_key(parse(text, language), (0, *path))])


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("ending", ["", "\n", "\n\n  \n"])
@pytest.mark.parametrize("written", ["0.8", ".8", "8e-1", "+0.80", "0.8000"])
def test_only_the_number_changes(newline: str, mark: str, ending: str, written: str) -> None:
    before = f"{mark}# 漢字 \U0001f600\nid:  'a b'\t# ünï\n\nflag_at :\t{written}"
    text = f"{before}  \t# 0.8 {ending}last: 'x'".replace("\n", newline)
    expected = f"{before[: -len(written)]}0.9  \t# 0.8 {ending}last: 'x'".replace("\n", newline)
    assert numbered(text, "flag_at") == (expected if ending else text.replace(written, "0.9", 1))


@pytest.mark.parametrize(
    ("written", "to", "expected"),
    [
        ("3", 4.0, "4"),
        ("3", 4.5, "4.5"),
        ("3.0", 4.0, "4.0"),
        ("0x10", 5.0, "5"),
        ("1", 0.25, "0.25"),
        (".nan", 1.0, "1.0"),
    ],
)
def test_an_integer_stays_one_where_the_value_is_whole(written: str, to: float, expected: str) -> None:
    assert numbered(f"a: {written} # x", "a", to=to) == f"a: {expected} # x"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ask: Why?\nwhen: end\n", "ask: Why?\nflag_at: 0.9\nwhen: end\n"),
        ("ask: Why? # ours\r\nwhen: end\r\n", "ask: Why? # ours\r\nflag_at: 0.9\r\nwhen: end\r\n"),
        ("id: a\nask: Why?", "id: a\nask: Why?\nflag_at: 0.9"),
        (
            "ask: Why\n  not?\t# c\n\n# about when\nwhen: end",
            "ask: Why\n  not?\t# c\nflag_at: 0.9\n\n# about when\nwhen: end",
        ),
        ("ask: >-\n  Why\n  not?\n\nwhen: end\n", "ask: >-\n  Why\n  not?\n\nflag_at: 0.9\nwhen: end\n"),
        ("ask: >-\n  Why\n  not?", "ask: >-\n  Why\n  not?\nflag_at: 0.9"),
        ("ask: |+\n  Why?\n\n# c\n", "ask: |+\n  Why?\n\nflag_at: 0.9\n# c\n"),
        ("id: a\nevidence:\n  last: 3 # c\n  # d\n", "id: a\nevidence:\n  last: 3 # c\nflag_at: 0.9\n  # d\n"),
        ("id: a\nlist:\n- x\n- y\n", "id: a\nlist:\n- x\n- y\nflag_at: 0.9\n"),
        ("id: a\nempty:\n", "id: a\nempty:\nflag_at: 0.9\n"),
        ("id: a\nflow: [1,\n 2] # c\n", "id: a\nflow: [1,\n 2] # c\nflag_at: 0.9\n"),
        ("{id: a, ask: Why?}", "{id: a, ask: Why?, flag_at: 0.9}"),
        ("{id: a, ask: Why?, when: end}", "{id: a, ask: Why?, flag_at: 0.9, when: end}"),
        ("{\n  id: a,\n  ask: b, # c\n  x: 1\n}", "{\n  id: a,\n  ask: b, flag_at: 0.9, # c\n  x: 1\n}"),
    ],
)
def test_an_absent_key_is_inserted_behind_a_sibling(text: str, expected: str) -> None:
    assert numbered(text, "flag_at", after=("ask",)) == expected
    assert plain(parse(expected, "yaml").roots[0]) == {**plain(parse(text, "yaml").roots[0]), "flag_at": 0.9}


def test_insertion_indents_as_the_siblings_do() -> None:
    text = "\ufeff- id: a\n  rule:\n       type: repeat\n       same: [tool]\n- id: b\n"
    expected = text.replace("same: [tool]\n", "same: [tool]\n       at_least: 4\n")
    assert numbered(text, 0, "rule", "at_least", to=4, after=("same", "type")) == expected
    assert numbered(text, 1, "flag_at") == text + "  flag_at: 0.9\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"id": "a"}', '{"id": "a", "flag_at": 0.9}'),
        ('{\r\n\t"id": "a"\r\n}\r\n', '{\r\n\t"id": "a",\r\n\t"flag_at": 0.9\r\n}\r\n'),
        ('\ufeff{"id": "a",\n "b": {}}', '\ufeff{"id": "a", "flag_at": 0.9,\n "b": {}}'),
        ('{\n  "id": "a",\n  "b": 1\n}', '{\n  "id": "a",\n  "flag_at": 0.9,\n  "b": 1\n}'),
    ],
)
def test_insertion_in_json(text: str, expected: str) -> None:
    assert numbered(text, "flag_at", after=("id",), language="json") == expected


@pytest.mark.parametrize(
    ("text", "path", "words"),
    [
        ("a: &x 0.8", ("a",), r"anchor \(&\)"),
        ("b: &x 0.8\na: *x", ("a",), r"alias \(\*\)"),
        ("b: &x {a: 0.8}\nc: *x", ("c", "a"), r"alias \(\*\)"),
        ("b: &x {a: 0.8}\nc: *x", ("b", "a"), r"anchor \(&\)"),
        ("b: &x {a: 0.8}\nc: {<<: *x}", ("c", "a"), r"merge key \(<<\)"),
        ("a: !!float 0.8", ("a",), r"tag \(!\)"),
        ("a: '0.8'", ("a",), "must be a number"),
        ("a: true", ("a",), "must be a number"),
        ("a: [1]", ("a", "b"), "must lie in a mapping"),
        ("a: {}", ("a", "b"), "no key stands there yet"),
        ("a: 1", ("b", "c"), "does not exist"),
    ],
)
def test_what_cannot_be_changed_alone_is_refused_with_a_hint(text: str, path: tuple[str, ...], words: str) -> None:
    with pytest.raises(InputError, match=words):
        numbered(text, *path)


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_no_number_is_never_written(number: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        numbered("a: 1", "a", to=number)


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        ("a: 1\nb: 2 # two\nc: 3", ("b",), "a: 1\nc: 3"),
        ("a: 1\r\nb: 2\r\n", ("b",), "a: 1\r\n"),
        ("a: 1\nb: 2", ("b",), "a: 1"),
        ("b: 2\na: 1\n", ("b",), "a: 1\n"),
        ("a: 1\nb: >-\n  x\n  y\nc: 3\n", ("b",), "a: 1\nc: 3\n"),
        ("a: 1\nb:\n  - x\n  - y: 2\n# c\n", ("b",), "a: 1\n# c\n"),
        ("- a: 1\n  b: 2\n", (0, "a"), "- b: 2\n"),
        ("{a: 1, b: 2, c: 3}", ("b",), "{a: 1, c: 3}"),
        ("{a: 1, b: 2}", ("b",), "{a: 1}"),
        ("{a: 1, b: 2}", ("a",), "{b: 2}"),
    ],
)
def test_a_key_is_taken_away_with_its_line(text: str, path: tuple[str | int, ...], expected: str) -> None:
    assert without(text, *path) == expected


@pytest.mark.parametrize(
    ("text", "path", "words"),
    [
        ("a: 1", ("a",), "only key"),
        ("{a: 1}", ("a",), "only key"),
        ("- a: 1\n", (0, "b"), "does not exist"),
        ("b: &x {a: 1, c: 2}\nd: {<<: *x, e: 1}", ("d", "a"), "merge key"),
    ],
)
def test_a_key_that_cannot_be_taken_away(text: str, path: tuple[str | int, ...], words: str) -> None:
    with pytest.raises(InputError, match=words):
        without(text, *path)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("check: It holds.\nnext: a\n", "check:\n  - ask: It holds.\nnext: a\n"),
        ("check:   'It: holds.' # c\r\n", "check:\r\n  - ask: 'It: holds.' # c\r\n"),
        ("check: It\n  holds.\n\n  Truly.\n", "check:\n  - ask: It\n      holds.\n\n      Truly.\n"),
        (
            "check: >-\n  It\n   holds.\n\n  # no comment\nx: 1\n",
            "check:\n  - ask: >-\n      It\n       holds.\n\n      # no comment\nx: 1\n",
        ),
        ("check: |2\n    It\n   holds.\n", "check:\n  - ask: |2\n        It\n       holds.\n"),
        ('check: "It\n  holds.\\\n  Yes"', 'check:\n  - ask: "It\n      holds.\\\n      Yes"'),
        ("check:\n  It holds.\n", "check:\n  - ask: It holds.\n"),
        ("{check: It holds., a: 1}", "{check: [{ask: It holds.}], a: 1}"),
    ],
)
def test_a_text_becomes_a_list_of_one(text: str, expected: str) -> None:
    document = parse(text, "yaml")
    new = edited(text, [list_text(document, (0, "check"), "ask")])
    assert new == expected
    old_value = plain(document.roots[0])
    assert plain(parse(new, "yaml").roots[0]) == {**old_value, "check": [{"ask": old_value["check"]}]}


def test_a_text_in_a_list_keeps_the_indentation_of_its_siblings() -> None:
    text = "steps:\n  - id: a\n    check: It holds.\n    next: b\n"
    new = edited(text, [list_text(parse(text, "yaml"), (0, "steps", 0, "check"), "ask")])
    assert new == "steps:\n  - id: a\n    check:\n      - ask: It holds.\n    next: b\n"


@pytest.mark.parametrize("text", ["check: [a]", "check: &x a", "a: 1"])
def test_what_is_no_text_of_its_own_is_not_listed(text: str) -> None:
    with pytest.raises(InputError):
        list_text(parse(text, "yaml"), (0, "check"), "ask")


def test_edits_apply_in_order_of_place() -> None:
    assert (
        edited("abc", [Edit(start=2, end=3, text="C"), Edit(start=0, end=0, text="<"), Edit(start=0, end=1, text="A")])
        == "<AbC"
    )


KEYS = st.text("abcdefgh", min_size=1, max_size=4)
SCALARS = st.sampled_from(
    ["1", "'two'", '"thrée"', "four five", "", "[x, y]", "{q: 1}", ">-\n    folded\n    text", "|\n    kept\n"]
)
COMMENTS = st.sampled_from(["", " # c", "\t# d: 1", "   "])


@settings(max_examples=100, deadline=None)
@given(
    entries=st.lists(st.tuples(KEYS, SCALARS, COMMENTS), min_size=1, max_size=5, unique_by=lambda entry: entry[0]),
    place=st.integers(0, 4),
    newline=st.sampled_from(["\n", "\r\n"]),
    final=st.booleans(),
)
def test_insertion_and_deletion_undo_each_other(
    entries: list[tuple[str, str, str]], place: int, newline: str, *, final: bool
) -> None:
    lines = [f"  {key}: {value}{'' if chr(10) in value else comment}" for key, value, comment in entries]
    text = "top:\n" + "\n".join(lines) + "\n" * final
    text = text.replace("\n", newline)
    sibling = entries[place % len(entries)][0]
    new = numbered(text, "top", "zz", to=0.5, after=(sibling,))
    assert plain(parse(new, "yaml").roots[0])["top"]["zz"] == 0.5
    rest = {**plain(parse(new, "yaml").roots[0])["top"]}
    del rest["zz"]
    assert rest == plain(parse(text, "yaml").roots[0])["top"]
    back = without(new, "top", "zz")
    assert back.rstrip() == text.rstrip()


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- a: 1 # one\n  # of b\n  b: 2\n", "- # of b\n  b: 2\n"),
        ("- a: 1 # one\n  b: 2\n", "- b: 2\n"),
        ("- {a: 1, # one\n   # of b\n   b: 2}\n", "- {\n   # of b\n   b: 2}\n"),
        ("- { a: 1, # one\n   # of b\n   b: 2}\n", "- { # of b\n   b: 2}\n"),
        ("- {b: 2, # two\n   # of a\n   a: 1 # one\n  }\n", "- {b: 2, # two\n   # of a\n  }\n"),
        ("- {b: 2, a: 1} # one\n", "- {b: 2} # one\n"),
    ],
)
def test_comments_beside_a_key_that_goes_stay(text: str, expected: str, newline: str) -> None:
    text, expected = (one.replace("\n", newline) for one in (text, expected))
    assert without(text, 0, "a") == expected
    assert plain(parse(expected, "yaml").roots[0]) == [{"b": 2}]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("k: [a, # one\n  # of b\n  b]\n", "k: [\n  # of b\n  b]\n"),
        ("k: [b, # two\n  # of a\n  a # one\n ]\n", "k: [b, # two\n  # of a\n ]\n"),
        ("k: [b, # two\n  a]\n", "k: [b, # two\n  ]\n"),
        ("k: [b, # two\n  a, # one\n ]\n", "k: [b, # two\n ]\n"),
        ("k: [b # two\n  , a # one\n  ,]\n", "k: [b # two\n  , ]\n"),
        ("k: [b, a]\n", "k: [b]\n"),
    ],
)
def test_comments_beside_an_item_that_goes_stay(text: str, expected: str) -> None:
    document = parse(text, "yaml")
    place = plain(document.roots[0])["k"].index("a")
    assert edited(text, [delete_item(document, (0, "k", place))]) == expected
    assert plain(parse(expected, "yaml").roots[0]) == {"k": ["b"]}


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "k: # how\n  # dear\n  - a # one\n  - '#' # two\n# end\n",
            "k:\n  # how\n  # dear\n  # one\n  c # two\n# end\n",
        ),
        ("k:\n- a\n- b\n", "k: c\n"),
        ("k: [a, # one\n  '# no'] # two\n", "k:\n  # one\n  c # two\n"),
        ("k:\n  - to: a # one\n    when: x#y # two\n  - b\n", "k:\n  # one\n  # two\n  c\n"),
    ],
)
def test_comments_inside_a_list_that_becomes_a_word_stay(text: str, expected: str, newline: str) -> None:
    text, expected = (one.replace("\n", newline) for one in (text, expected))
    assert edited(text, [set_word(parse(text, "yaml"), (0, "k"), "c")]) == expected
    assert plain(parse(expected, "yaml").roots[0]) == {"k": "c"}
