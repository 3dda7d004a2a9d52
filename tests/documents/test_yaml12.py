from __future__ import annotations

import math

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from check_workbench.documents import Mapping, Scalar, parse, plain
from check_workbench.documents.yaml12 import DEPTH, EXPANSION, parse_yaml, resolve


def values(text: str) -> list[object]:
    roots, flaws = parse_yaml(text)
    assert flaws == ()
    return [plain(root) for root in roots]


def flaw(text: str):
    _, flaws = parse_yaml(text)
    assert flaws, text
    return flaws[0]


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("yes", "yes"),
        ("No", "No"),
        ("on", "on"),
        ("off", "off"),
        ("true", True),
        ("FALSE", False),
        ("tRue", "tRue"),
        ("null", None),
        ("~", None),
        ("0o17", 15),
        ("017", 17),
        ("0xFF", 255),
        ("-12", -12),
        ("+12", 12),
        ("1_000", "1_000"),
        ("190:20:30", "190:20:30"),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("5.", 5.0),
        ("-.inf", -math.inf),
        ("2026-10-06", "2026-10-06"),
        ("<<", "<<"),
        ("=", "="),
        ("1.2.3", "1.2.3"),
        ("0b1", "0b1"),
        ("Why?", "Why?"),
        ("?x", "?x"),
    ],
)
def test_unquoted_scalars_follow_the_core_schema(word: str, value: object) -> None:
    assert resolve(word) == value
    assert values(f"[{word}]") == [[value]]


def test_not_a_number_and_numbers_beyond_all_digits() -> None:
    assert math.isnan(resolve(".nan"))
    assert resolve("1e999") == math.inf
    assert resolve("9" * 10_000) == math.inf
    assert resolve("-" + "9" * 10_000) == -math.inf
    assert resolve("0x" + "f" * 50) == int("f" * 50, 16)


@pytest.mark.parametrize("quoted", ["'true'", '"true"', "!!str true", "! true"])
def test_quoted_or_tagged_texts_stay_texts(quoted: str) -> None:
    assert values(f"a: {quoted}") == [{"a": "true"}]


def test_places_count_characters_from_one_and_pass_over_the_byte_order_mark() -> None:
    roots, _ = parse_yaml("\ufeffé: 1\r\nlist:\r  - deep: 'x'\n")
    root = roots[0]
    assert isinstance(root, Mapping)
    assert [(entry.key.line, entry.key.column) for entry in root.entries] == [(1, 1), (2, 1)]
    deep = root.get("list")
    assert deep is not None
    assert (deep.line, deep.column) == (3, 3)
    text = "\ufeffé: 1\r\nlist:\r  - deep: 'x'\n"
    leaf = parse(text, "yaml").at((0, "list", 0, "deep"))
    assert leaf is not None
    assert text[leaf.start : leaf.end] == "'x'"


def test_tabs_after_content_separate_and_tabs_before_it_are_refused() -> None:
    assert values("a:\t1\t# one\nb: x\ty\t\n\t\n\t# tab comment\nc: [1,\t2,\n\t3]\n") == [
        {"a": 1, "b": "x\ty", "c": [1, 2, 3]},
    ]
    found = flaw("a:\n\tb: 1\n")
    assert (found.line, found.column) == (2, 1)
    assert "spaces" in found.hint


def test_folded_plain_texts_fold_as_in_pyyaml() -> None:
    text = "a: one\n  two\n\n  three\n   four # end\nb:\n  - x\n    y\n  - z\n"
    assert values(text) == [yaml.safe_load(text)]


def test_only_line_feed_and_carriage_return_break_lines() -> None:
    assert values("a: b # x\u2028y: 2\nc: d\u0085e\u2029f\n") == [{"a": "b", "c": "d\u0085e\u2029f"}]


def test_a_duplicate_key_is_told_at_its_second_place_and_all_are_told() -> None:
    roots, flaws = parse_yaml("a: 1\nb:\n  c: 1\n  c: 2\na: 3\n")
    assert [(f.code, f.line, f.column) for f in flaws] == [("duplicate-key", 4, 3), ("duplicate-key", 5, 1)]
    assert "first in line 3" in flaws[0].message
    assert plain(roots[0]) == {"a": 1, "b": {"c": 1}}


def test_aliases_and_merge_keys_are_read_and_marked() -> None:
    roots, flaws = parse_yaml("base: &b {x: 1, y: 2}\nuse: *b\nmore: {<<: [*b, {z: 3}], y: 4}\n")
    assert flaws == ()
    root = roots[0]
    assert plain(root) == {"base": {"x": 1, "y": 2}, "use": {"x": 1, "y": 2}, "more": {"y": 4, "x": 1, "z": 3}}
    assert isinstance(root, Mapping)
    assert root.get("base").shared == "anchored"  # type: ignore[union-attr]
    assert root.get("use").shared == "aliased"  # type: ignore[union-attr]
    more = root.get("more")
    assert isinstance(more, Mapping)
    assert [(entry.name, entry.merged) for entry in more.entries] == [("y", False), ("x", True), ("z", True)]


def test_a_quoted_merge_key_is_a_plain_key() -> None:
    assert values("'<<': {a: 1}") == [{"<<": {"a": 1}}]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: *nowhere", "no anchor &nowhere"),
        ("a: &a [*a]", "contains itself"),
        ("a: 'open", "unexpected end"),
        ("a: b: c", "mapping values are not allowed"),
        ("a: [1, 2", "expected"),
        ("a: \x00", "U+0000"),
        ("a: \x1b[31m", "U+001B"),
        ('a: "\\ud800"', "surrogate"),
        ('a: "\\UFFFFFFFF"', "not YAML"),
        ("%YAML 9.1\n---\na: 1", "incompatible"),
        ("? [a]\n: 1", "a key must be a text"),
        ("a: !!python/object/apply:os.system [ls]", "not allowed"),
        ("a: !<tag:yaml.org,2002:timestamp> 2026-01-01", "not allowed"),
        ("@a: 1", "cannot start any token"),
        ("- a\nb: 1", "expected"),
        ("\ta: 1", "'\\t'"),
    ],
)
def test_broken_text_is_told_in_words_with_a_place(text: str, words: str) -> None:
    found = flaw(text)
    assert words in found.message
    assert found.line >= 1
    assert found.column >= 1


def test_alias_bombs_are_refused_before_they_expand() -> None:
    levels = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    levels += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 30)]
    assert f"{EXPANSION:,}" in flaw("\n".join(levels)).message


def test_long_texts_count_in_an_alias_bomb() -> None:
    assert f"{EXPANSION:,}" in flaw(f"a: &a {'x' * 1_000_000}\nb: [{', '.join(['*a'] * 10)}]").message


@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "a:\n"])
def test_deep_nesting_is_refused(opening: str) -> None:
    stairs = "".join(f"{' ' * depth}a:\n" for depth in range(200))
    text = stairs if opening == "a:\n" else opening * 5_000
    assert f"more than {DEPTH} deep" in flaw(text).message


def test_empty_texts_hold_nothing() -> None:
    assert values("") == []
    assert values("# only words\n\n") == []
    assert values("---\n---\n") == [None, None]


def test_what_a_block_text_spans() -> None:
    text = "a: |+\n  one\n\n  two\n\nb: >-\n  x\n  y"
    roots, _ = parse_yaml(text)
    root = roots[0]
    assert isinstance(root, Mapping)
    first, second = root.get("a"), root.get("b")
    assert isinstance(first, Scalar)
    assert isinstance(second, Scalar)
    assert (first.value, first.style) == ("one\n\ntwo\n\n", "block")
    assert text[first.start : first.end] == "|+\n  one\n\n  two\n\n"
    assert (second.value, second.end) == ("x y", len(text))


TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=12)
LEAVES = st.none() | st.booleans() | st.integers(-(10**9), 10**9) | TEXTS
TREES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4))


@settings(max_examples=80, deadline=None)
@given(tree=TREES, flow=st.sampled_from([None, True, False]), newline=st.sampled_from(["\n", "\r\n", "\r"]))
def test_what_pyyaml_writes_is_read_back(tree: object, *, flow: bool | None, newline: str) -> None:
    text = yaml.safe_dump(tree, default_flow_style=flow, allow_unicode=True, line_break=newline)
    assert values(text) == [tree]


@settings(max_examples=80, deadline=None)
@given(text=st.text(st.sampled_from("ab: -[]{}&*!|>'\"#\n\t%@,?\\<"), max_size=40))
def test_no_text_makes_a_traceback(text: str) -> None:
    roots, flaws = parse_yaml(text)
    for root in roots:
        plain(root)
    assert all(found.line >= 1 and found.column >= 1 for found in flaws)
