"""Regular expressions of `match` rules: which are refused, which engine runs them, and how each engine spells them.

RE2 runs every pattern that it can compile, in time linear in the text. The others (lookaround, backreferences) run
in Python under a time limit, see `check_workbench.rules.limited`. Patterns that nest repeats are refused.
"""

from __future__ import annotations

import functools
import importlib
import re
import warnings
from typing import TYPE_CHECKING, Any

from check_workbench.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST = 10_000
"""Characters in a pattern."""
MANY = 20
"""A group that may repeat this often counts as unbounded."""
SHORTEST_WORD, MOST_WORDS = 3, 3
"""What is worth looking for before a pattern is run."""
_TOKEN = re.compile(
    r"\\k<(?P<back>[A-Za-z_]\w*)>|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|(?P<name>\(\?<(?=[A-Za-z_]))", re.DOTALL
)


@functools.cache
def problem(pattern: str) -> str | None:
    """Say why a pattern is refused, or return None where it can be used.

    Parameters
    ----------
    pattern
        As the document writes it, without flags.

    Returns
    -------
    str or None
        A clause that completes "the pattern …".

    Examples
    --------
    >>> problem("refund|chargeback"), problem("(?<!un)paid")
    (None, None)
    >>> problem("(a+)+")
    'nests repeats like (a+)+, which can take for ever: repeat only once'
    >>> problem("(a")
    'does not compile: missing ), unterminated subpattern at position 0'
    """
    if not pattern:
        return "is empty: it would hit every span"
    if len(pattern) > LONGEST:
        return f"must have at most {LONGEST:,} characters, got {len(pattern):,}"
    try:
        tree = _parsed(python_form(pattern))
    except (re.error, OverflowError, RecursionError) as error:
        return None if runs_in_re2(pattern) else f"does not compile: {error}"
    if _nests(tree):
        return "nests repeats like (a+)+, which can take for ever: repeat only once"
    return None


@functools.cache
def runs_in_re2(pattern: str) -> bool:
    r"""Say whether RE2 compiles a pattern.

    Examples
    --------
    >>> runs_in_re2(r"sk-\w{20,}"), runs_in_re2(r"(\w)\1")
    (True, False)
    """
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(re2_form(pattern), options)
    except (re2.error, UnicodeEncodeError):
        return False
    return True


def re2_form(pattern: str, *, ignore_case: bool = False) -> str:
    """Spell a pattern for RE2, whose older versions know no `(?<name>`.

    Examples
    --------
    >>> re2_form("(?<id>a)", ignore_case=True)
    '(?i)(?P<id>a)'
    """
    named = _TOKEN.sub(lambda found: "(?P<" if found["name"] else found[0], pattern)
    return f"(?i){named}" if ignore_case else named


def python_form(pattern: str) -> str:
    r"""Spell a pattern for Python's `re`.

    Examples
    --------
    >>> python_form(r"(?<id>a)\k<id>")
    '(?P<id>a)(?P=id)'
    """
    return _TOKEN.sub(_in_python, pattern)


@functools.cache
def needed(pattern: str) -> tuple[str, ...]:
    """Return a few words one of which stands in every text that a pattern hits, or nothing where that is unknown.

    Examples
    --------
    >>> needed("sk-[a-z]{20,}"), needed("(?:secret|password) *="), needed("[0-9]+")
    (('sk-',), ('secret', 'password'), ())
    """
    try:
        tree = _parsed(python_form(pattern))
    except (re.error, OverflowError, RecursionError):
        return ()
    if "[:" in pattern or tree.state.flags & re.IGNORECASE:
        return ()
    words = _needed(tree)
    return tuple(dict.fromkeys(words)) if len(words) <= MOST_WORDS else ()


def require(pattern: str) -> str:
    """Return the pattern, or raise where it is refused.

    Raises
    ------
    InputError
        If the pattern is refused.
    """
    reason = problem(pattern)
    if reason:
        raise InputError(f"the pattern {pattern[:80]!r} {reason}")
    return pattern


def _in_python(found: re.Match[str]) -> str:
    if found["back"]:
        return f"(?P={found['back']})"
    return "(?P<" if found["name"] else found[0]


def _parsed(pattern: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        re.compile(pattern)
        return importlib.import_module("re._parser").parse(pattern)


def _nests(tree: Any) -> bool:
    return any(_is_loop(item) and any(map(_slides, _ways(item[1][2]))) for item in tree) or any(
        _nests(part) for item in tree for part in _parts(item[1])
    )


def _needed(body: Any) -> list[str]:
    """Return the best set of words found in a sequence: the one whose shortest word is longest."""
    sets, run = [[""]], ""
    for item in [*body, ("END", None)]:
        if _name(item) == "LITERAL":
            run += chr(item[1])
            continue
        sets.append([run])
        run = ""
        sets.append(_needed_within(item))
    best = max(sets, key=lambda words: (min(map(len, words), default=0), -len(words)))
    return best if min(map(len, best), default=0) >= SHORTEST_WORD else []


def _needed_within(item: Any) -> list[str]:
    match _name(item):
        case "SUBPATTERN" if not item[1][1] and not item[1][2]:
            return _needed(item[1][3])
        case "BRANCH":
            ways = [_needed(part) for part in item[1][1]]
            return [word for way in ways for word in way] if all(ways) else []
        case "MAX_REPEAT" | "MIN_REPEAT" if item[1][0] >= 1:
            return _needed(item[1][2])
        case _:
            return []


def _slides(way: list[Any]) -> bool:
    """Say whether one way through a repeated body is itself a repeat, with nothing fixed beside it to hold on to."""
    for place, item in enumerate(way):
        rest = way[:place] + way[place + 1 :]
        if _loops(item) and (_eats_all(item) or all(_width(other) == 0 for other in rest)):
            return True
    return False


def _loops(item: Any) -> bool:
    return _is_loop(item) or (_name(item) in {"SUBPATTERN", "BRANCH"} and any(map(_slides, _ways([item]))))


def _is_loop(item: Any) -> bool:
    return _name(item) in {"MAX_REPEAT", "MIN_REPEAT"} and int(item[1][1]) >= MANY


def _eats_all(item: Any) -> bool:
    return _is_loop(item) and [_name(part) for part in item[1][2]] == ["ANY"]


def _ways(body: Any) -> list[list[Any]]:
    items = list(body)
    if len(items) == 1 and _name(items[0]) == "SUBPATTERN":
        return _ways(items[0][1][3])
    if len(items) == 1 and _name(items[0]) == "BRANCH":
        return [way for part in items[0][1][1] for way in _ways(part)]
    return [items]


def _width(item: Any) -> int:
    match _name(item):
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            least, _, body = item[1]
            return int(least) * int(body.getwidth()[0])
        case "SUBPATTERN":
            return int(item[1][3].getwidth()[0])
        case "BRANCH":
            return min(int(part.getwidth()[0]) for part in item[1][1])
        case "AT" | "ASSERT" | "ASSERT_NOT" | "GROUPREF" | "GROUPREF_EXISTS":
            return 0
        case _:
            return 1


def _name(item: Any) -> str:
    return str(item[0])


def _parts(value: Any) -> Iterator[Any]:
    if hasattr(value, "getwidth"):
        yield value
    elif isinstance(value, tuple | list):
        for part in value:
            yield from _parts(part)
