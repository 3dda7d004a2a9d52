from __future__ import annotations

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from check_workbench.documents import Mapping, plain
from check_workbench.documents.jsontext import DEPTH, parse_json


@pytest.mark.parametrize(
    ("text", "words", "line", "column"),
    [
        ('{"a": 1,}', "no comma may stand before }", 1, 8),
        ("[1, 2,]", "no comma may stand before ]", 1, 6),
        ("[1 2]", "a comma or ] must stand here", 1, 4),
        ('{"a" 1}', "a colon must stand", 1, 6),
        ("{a: 1}", "double quotes", 1, 2),
        ('{"a": NaN}', "got 'N'", 1, 7),
        ('{"a": -Infinity}', "got '-'", 1, 7),
        ("[01]", "a comma or ]", 1, 3),
        ("['a']", 'got "\'"', 1, 2),
        ('["a\nb"]', "no closing quote", 1, 2),
        ('["\\x"]', "invalid \\escape", 1, 3),
        ('["\t"]', "control character", 1, 3),
        ('"\\ud800"', "surrogate", 1, 1),
        ("", "ends in the middle", 1, 1),
        ('{"a":\n  ', "ends in the middle", 2, 3),
        ("{} {}", "more text", 1, 4),
        ("[" * (DEPTH + 5), f"more than {DEPTH} deep", 1, DEPTH + 2),
        ("[" * 100_000, f"more than {DEPTH} deep", 1, DEPTH + 2),
    ],
)
def test_broken_text_is_told_in_words_with_its_place(text: str, words: str, line: int, column: int) -> None:
    roots, flaws = parse_json(text)
    assert roots == ()
    assert words in flaws[0].message
    assert (flaws[0].line, flaws[0].column) == (line, column)


def test_a_duplicate_key_is_told_and_the_first_one_kept() -> None:
    roots, flaws = parse_json('{"a": 1,\n "a": 2}')
    assert plain(roots[0]) == {"a": 1}
    assert (flaws[0].code, flaws[0].line, flaws[0].column) == ("duplicate-key", 2, 2)


def test_numbers_beyond_all_digits_are_infinite() -> None:
    roots, _ = parse_json(f"[1e999, {'9' * 9_000}, 1E2, -0]")
    assert plain(roots[0]) == [math.inf, math.inf, 100.0, 0]


def test_places_behind_a_byte_order_mark() -> None:
    roots, flaws = parse_json('\ufeff{"é": 1,\r\n "b": [true]}')
    assert flaws == ()
    root = roots[0]
    assert isinstance(root, Mapping)
    assert [(e.key.line, e.key.column, e.value.line, e.value.column) for e in root.entries] == [
        (1, 2, 1, 7),
        (2, 2, 2, 7),
    ]


TEXTS = st.text(st.characters(codec="utf-8"), max_size=10)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS
TREES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4))


@settings(max_examples=80, deadline=None)
@given(tree=TREES, indent=st.sampled_from([None, 0, 3]), ascii_only=st.booleans())
def test_what_the_standard_library_writes_is_read_back(tree: object, indent: int | None, *, ascii_only: bool) -> None:
    roots, flaws = parse_json(json.dumps(tree, indent=indent, ensure_ascii=ascii_only))
    assert flaws == ()
    assert plain(roots[0]) == tree


@settings(max_examples=100, deadline=None)
@given(text=st.text(st.sampled_from('{}[]":,0123456789.eE-+ \n\ttruefalsn\\u'), max_size=30))
def test_it_accepts_what_the_standard_library_accepts(text: str) -> None:
    roots, flaws = parse_json(text)
    try:
        expected = json.loads(text)
    except ValueError:
        assert flaws
    else:
        assert flaws == () or flaws[0].code == "duplicate-key" or "surrogate" in flaws[0].message
        if not flaws:
            assert plain(roots[0]) == expected
