"""Which patterns are refused, and that each engine gets a spelling that it understands."""

from __future__ import annotations

import re

import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st

from check_workbench import patterns
from check_workbench.errors import InputError


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+",
        "(a*)*",
        "(a+)*b",
        "((a+))+",
        "(a+|b)+",
        "(?:\\w+\\s?)+$",
        "(.*a)+",
        "x(y(z+)+)",
        "(a+){30}",
        "(?:a+?)+",
        "(?=(a+)+)",
        "((a|b+))*",
        "(?:\\d+)*?",
        "(a+\\b)+",
    ],
)
def test_nested_repeats_are_refused(pattern: str) -> None:
    assert "nests repeats" in (patterns.problem(pattern) or "")


@pytest.mark.parametrize(
    "pattern",
    [
        "a+",
        "(ab)+",
        "(?:\\w+,)+",
        "(a|aa)+",
        "(?:\\d{1,3}\\.){3}\\d{1,3}",
        "sk-[A-Za-z0-9]{20,}",
        "(?!x)y",
        "a{2,}b{3,}",
        "[(a+)+]",
        "\\(a+\\)+",
        "(?<id>a)\\k<id>",
        "\\pL+",
        "[[:alpha:]]+",
        "(?:a++)+",
        "(a+){2}",
        "\\u00e9",
        "(a+)?",
    ],
)
def test_harmless_patterns_are_accepted(pattern: str) -> None:
    assert patterns.problem(pattern) is None


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("", "empty"),
        ("(a", "does not compile"),
        ("[z-a]", "does not compile"),
        ("a**", "does not compile"),
        ("\\k<none>", "does not compile"),
        ("x" * 10_001, "at most 10,000 characters, got 10,001"),
        ("(" * 4000, "does not compile"),
    ],
)
def test_a_refused_pattern_says_why(pattern: str, reason: str) -> None:
    assert reason in (patterns.problem(pattern) or "")
    with pytest.raises(InputError, match="the pattern"):
        patterns.require(pattern)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("a|b", True),
        ("(?<n>a)", True),
        ("\\pL", True),
        ("a(?=b)", False),
        ("(a)\\1", False),
        ("(?<!a)b", False),
        ("\ud800", False),
    ],
)
def test_the_engine_is_known(pattern: str, *, expected: bool) -> None:
    assert patterns.runs_in_re2(pattern) is expected


@pytest.mark.parametrize("pattern", ["(?<n>a)", "[(?<n>a]", "\\(?<n>", "\\\\(?<n>a)", "[]](?<n>a)", "[^]x](?<n>[)])"])
def test_names_are_respelt_only_where_they_are_groups(pattern: str) -> None:
    assert re2.compile(patterns.re2_form(pattern)).groups == re2.compile(pattern).groups
    assert re.compile(patterns.python_form(pattern)).groups == re2.compile(pattern).groups


@given(st.text(alphabet="ab(|)+*?[]{}\\.^$,0129<=!:kP", max_size=14))
def test_any_text_is_either_usable_or_refused_in_words(pattern: str) -> None:
    if patterns.problem(pattern) is None and not patterns.runs_in_re2(pattern):
        re.compile(patterns.python_form(pattern))


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("secret|set", ()),
        ("secret|sextet", ("cret", "xtet")),
        ("a(?:long|wide)+b", ("long", "wide")),
        ("(?i)secret", ()),
        ("(?i:secret)", ()),
        ("x(?i:secret)long", ("long",)),
        ("(?:secret)?", ()),
        ("[[:alpha:]]secret", ()),
        ("\\pLsecret", ()),
        ("(?=secret)x", ()),
        ("one.(?P<n>two)+?.three", ("three",)),
        ("aaa|bbb|ccc|ddd", ()),
    ],
)
def test_words_that_every_hit_needs(pattern: str, words: tuple[str, ...]) -> None:
    assert patterns.needed(pattern) == words


@given(st.text(alphabet="abc(|)+*?[].^{1,}", min_size=6, max_size=24), st.text(alphabet="abc", max_size=12))
def test_no_hit_lacks_a_needed_word(pattern: str, text: str) -> None:
    words = patterns.needed(pattern)
    if words and patterns.runs_in_re2(pattern) and re2.search(pattern, text):
        assert any(word in text for word in words)


@given(
    st.lists(st.sampled_from(["abc", "bca", "cab", "(?:abc|cab)", "(abc)+", "(?:bca)?", "a*", ".", "[ab]"]), max_size=4)
)
def test_no_hit_of_a_made_pattern_lacks_a_needed_word(parts: list[str]) -> None:
    pattern, words = "".join(parts), patterns.needed("".join(parts))
    for text in ("abc", "abcabc", "cababc", "abcbcacab", "aabcabca", "bcacabcab", "cababcabc"):
        if words and re2.search(pattern, text):
            assert any(word in text for word in words)
