from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from check_workbench.errors import InputError
from check_workbench.html import (
    Html,
    bullets,
    code,
    definitions,
    details,
    figure,
    fragment,
    heading,
    link,
    note,
    page,
    paragraph,
    shown,
    table,
    text,
)

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "' onmouseover='alert(1)",
    "</style><script>1</script>",
    "</title></head><body onload=1>",
    "-->]]><!--",
    "&lt;b&gt; &amp; &#x3c;",
    "\x00\x1b[31m\ud800\uffff\x85",
    "\u202egnp.exe",
    "javascript:alert(1)",
    "{{7*7}} ${x} %s {0}",
]


class Reader(HTMLParser):
    """Collects elements, attributes and text; fails where elements are not closed in order."""

    VOID = frozenset({"meta", "img", "source", "br"})

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.seen: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words: list[str] = []

    def handle_starttag(self, tag, attrs) -> None:
        self.seen.append(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data) -> None:
        if self.open and self.open[-1] != "style":
            self.words.append(data)


def _read(markup: str) -> Reader:
    reader = Reader()
    reader.feed(markup)
    reader.close()
    assert reader.open == []
    return reader


def _everything(words: str) -> list[Html]:
    return [
        heading(words),
        paragraph(words, words),
        note(words, warning=True),
        bullets([words]),
        definitions({words: words}),
        code(words),
        link(words, "#place"),
        table([{words: words}], {words: words}, caption=words),
        details(words, words),
        figure(words.encode("utf-8", "replace").decode(), words, dark="<svg/>", caption=words),
    ]


@pytest.mark.parametrize("words", HOSTILE)
def test_hostile_words_stay_words(words: str) -> None:
    for markup in (page(words, words, *_everything(words)), fragment(words, *_everything(words))):
        found = _read(markup)
        plain = _read(page("x", *_everything("x"))).seen if markup.startswith("<!") else None
        assert not {"script", "svg", "b", "iframe", "object", "link"} & set(found.seen)
        assert not [name for name, _ in found.attributes if name.startswith("on")]
        assert plain is None or sorted(found.seen) == sorted([*plain, "p"])
        markup.encode()
        assert "\x00" not in markup


@given(st.text())
@settings(deadline=None)
def test_printable_text_comes_back_unchanged(words: str) -> None:
    printable = "".join(sign for sign in words if sign.isprintable())
    assert "".join(_read(paragraph(printable)).words) == printable


def test_markup_is_not_escaped_twice_and_text_once() -> None:
    assert paragraph("a < b, ", link("c & d", "x.html")) == '<p>a &lt; b, <a href="x.html">c &amp; d</a></p>'
    assert details("s", Html("<hr>"), "a<b").endswith("<hr>\n<p>a&lt;b</p></details>")


@pytest.mark.parametrize(
    "target",
    ["https://a.example/b?c=1&d", "http://a.example", "#r-14", "trust.html", "a/b.html#c", "./x", "mailto:a@b.c"],
)
def test_links_lead_to_pages(target: str) -> None:
    assert dict(_read(link("here", target)).attributes)["href"] == target


@pytest.mark.parametrize(
    "target",
    [
        "javascript:alert(1)",
        " javascript:alert(1)",
        "JaVaScRiPt:1",
        "java\nscript:1",
        "data:text/html,x",
        "vbscript:x",
        "file:///etc/passwd",
        "//evil.example",
        "javascript\n",
        "",
    ],
)
def test_links_that_could_run_something_are_refused(target: str) -> None:
    with pytest.raises(InputError, match="cannot be linked to"):
        link("here", target)


def test_a_page_is_one_file_without_scripts_or_fetches() -> None:
    markup = page("Report", heading("A"), figure("<svg/>", "a line", dark="<svg/>"))
    found = _read(markup)
    assert "script" not in found.seen
    assert "http://" not in markup.replace("http-equiv", "")
    assert "https://" not in markup
    assert "@import" not in markup
    assert dict(found.attributes)["lang"] == "en"
    assert "default-src 'none'; img-src data:; style-src 'unsafe-inline';" in markup
    assert "prefers-color-scheme: dark" in markup
    assert markup == page("Report", heading("A"), figure("<svg/>", "a line", dark="<svg/>"))


def test_a_table_can_be_heard() -> None:
    found = _read(table([["a", 1], ["b", 2]], ["name", "n"], caption="Things"))
    assert found.seen.count("caption") == 1
    assert [value for name, value in found.attributes if name == "scope"] == ["col", "col", "row", "row"]
    assert ("aria-label", "Things") in found.attributes
    assert ("tabindex", "0") in found.attributes


def test_numbers_stand_right_and_words_left() -> None:
    markup = table([["a", 1, None], ["b", 2.5, 3]], {"x": "x", "y": "y", "z": "z"}, caption="c")
    assert markup.count('class="number"') == 6
    assert '<th scope="row">a</th>' in markup


def test_an_empty_table_still_has_its_heads() -> None:
    assert _read(table([], ["a", "b"], caption="none")).seen.count("th") == 2


def test_a_row_of_the_wrong_length_is_refused() -> None:
    with pytest.raises(InputError, match="3 cells for 2 columns"):
        table([[1, 2, 3]], ["a", "b"], caption="c")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, '<span class="empty">-</span>'),
        (float("nan"), '<span class="empty">-</span>'),
        (True, "yes"),
        (np.bool_(0), "no"),
        (np.int64(12345), "12,345"),
        (np.float64(0.05), "0.05"),
        (1.0, "1"),
        (-0.25, "-0.25"),
        (0.9996, "1"),
        (1e-7, "1e-07"),
        (float("inf"), "\N{INFINITY}"),
        ("0.5000", "0.5000"),
    ],
)
def test_values_are_shown_as_people_read_them(value, words: str) -> None:
    assert shown(value) == words


def test_a_fragments_styles_reach_nothing_else() -> None:
    style = fragment("x").split("<style>")[1].split("</style>")[0]
    rules = [rule.split("{")[0].strip() for rule in style.split("}") if "{" in rule]
    assert rules
    assert all(part.strip().startswith(".check-workbench") for rule in rules for part in rule.split(","))


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


PAIRS = [("ink", "ground"), ("soft", "ground"), ("accent", "ground"), ("ink", "tint"), ("warn", "warn-tint")]


@pytest.mark.parametrize(("ink", "ground"), PAIRS)
@pytest.mark.parametrize("sheet", [0, 1])
def test_words_stand_out_from_their_ground_in_light_and_dark(sheet: int, ink: str, ground: str) -> None:
    style = page("x").split("<style>")[1].split("@media")[sheet]
    colours = dict(re.findall(r"--([\w-]+): (#\w+)", style))
    full = {name: value if len(value) == 7 else f"#{value[1:] * 2}" for name, value in colours.items()}
    dim, bright = sorted((_luminance(full[ink]), _luminance(full[ground])))
    assert (bright + 0.05) / (dim + 0.05) >= 4.5


def test_a_heading_has_six_levels() -> None:
    with pytest.raises(InputError, match="1 to 6"):
        heading("x", 7)


def test_text_of_markup_is_itself() -> None:
    assert text(Html("<b>")) == "<b>"
