"""Pages and fragments from plain values: everything that is not made here is escaped.

Building blocks return `Html`; a plain string given where a block is expected is text, and becomes a paragraph.
"""

from __future__ import annotations

import base64
import html
import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from check_workbench.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_SHARE = re.compile(r"[\d.]+ %")
_SAFE_LINK = re.compile(r"(https?://|mailto:|#|\./|[\w%-]+(\.[\w%-]+)*([#/?]|\Z))", re.IGNORECASE | re.ASCII)

_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

_COLOURS = """
:root { color-scheme: light dark; --ink: #1c1f23; --soft: #59616b; --line: #c9ced6; --ground: #fff; --tint: #f3f5f8;
  --accent: #1b5fb4; --warn: #8a4b00; --warn-tint: #fff4e0; }
@media (prefers-color-scheme: dark) { :root { --ink: #e7eaee; --soft: #a4adb8; --line: #434b56; --ground: #14171b;
  --tint: #1e2329; --accent: #86b7f5; --warn: #ffc670; --warn-tint: #33270f; } }
"""
_PAGE = """
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem 1.25rem 4rem; color: var(--ink); background: var(--ground);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif; }
"""
_BLOCKS = """
& h1 { font-size: 1.7rem; line-height: 1.25; margin: .2rem 0 1rem; }
& h2 { font-size: 1.25rem; margin: 2.2rem 0 .6rem; padding-top: .9rem; border-top: 1px solid var(--line); }
& > style + h2 { margin-top: .2rem; padding-top: 0; border-top: 0; }
& h3 { font-size: 1.05rem; margin: 1.5rem 0 .4rem; }
& p, & ul, & dl { margin: .6rem 0; max-width: 46rem; }
& a { color: var(--accent); }
& :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
& .scroll { overflow-x: auto; margin: .8rem 0 1.2rem; }
& table { border-collapse: collapse; font-size: .92em; color: inherit; }
& caption { text-align: left; font-weight: 600; padding: 0 0 .45rem; }
& th, & td { padding: .35rem .8rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top;
  overflow-wrap: break-word; min-width: 3rem; max-width: 32rem; white-space: pre-line; background: none; }
& thead th { border-bottom: 2px solid var(--soft); vertical-align: bottom; }
& tbody th { font-weight: 500; }
& .number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
& .long { min-width: 16rem; }
& .empty { color: var(--soft); }
& dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1.2rem; }
& dt { color: var(--soft); }
& dd { margin: 0; overflow-wrap: anywhere; }
& figure { margin: 1rem 0 1.4rem; }
& figure img { max-width: 100%; height: auto; }
& figcaption { color: var(--soft); font-size: .92em; }
& pre { background: var(--tint); border: 1px solid var(--line); border-radius: 4px; padding: .7rem .9rem;
  overflow-x: auto; font-size: .88em; }
& details { margin: .8rem 0; }
& summary { cursor: pointer; font-weight: 600; }
& .note { border-left: 4px solid var(--line); background: var(--tint); padding: .55rem .9rem; border-radius: 3px; }
& .warning { border-left-color: var(--warn); background: var(--warn-tint); }
& .warning strong { color: var(--warn); }
"""
_FRAGMENT = """
.check-workbench { --ink: var(--jp-content-font-color1, inherit); --soft: var(--jp-content-font-color2, #6f7782);
  --line: var(--jp-border-color2, #9aa2ad88); --tint: var(--jp-layout-color2, #8888881a); --accent:
  var(--jp-content-link-color, #3b7dd8); --warn: var(--jp-warn-color0, #b06a00); --warn-tint: #e0930022;
  color: var(--ink); line-height: 1.45; }
"""


class Html(str):
    """Markup that was made here, and is not escaped again."""

    __slots__ = ()


Block = Html | str


def text(value: object) -> Html:
    """Return a value as escaped text; what no browser can show becomes a replacement character.

    Examples
    --------
    >>> text("<b>&")
    '&lt;b&gt;&amp;'
    """
    if isinstance(value, Html):
        return value
    return Html(html.escape(_UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", str(value))))


def paragraph(*parts: object) -> Html:
    """Return a paragraph.

    Examples
    --------
    >>> paragraph("3 < 4, see ", link("the plan", "#plan"))
    '<p>3 &lt; 4, see <a href="#plan">the plan</a></p>'
    """
    return Html(f"<p>{''.join(map(text, parts))}</p>")


def heading(words: object, level: int = 2) -> Html:
    """Return a heading of level 1 to 6.

    Examples
    --------
    >>> heading("Result")
    '<h2>Result</h2>'
    """
    if level not in range(1, 7):
        raise InputError(f"a heading's level is 1 to 6, got {level}.")
    return Html(f"<h{level}>{text(words)}</h{level}>")


def link(words: object, target: str) -> Html:
    """Return a link to a web address, a place on the page, or a file beside it.

    Raises
    ------
    InputError
        Where the target could run something.

    Examples
    --------
    >>> link("run", "#r-1")
    '<a href="#r-1">run</a>'
    """
    if not _SAFE_LINK.match(target):
        raise InputError(f"{target!r} cannot be linked to: use http(s), mailto, '#place' or a file beside the page.")
    return Html(f'<a href="{text(target)}">{text(words)}</a>')


def note(*parts: object, warning: bool = False) -> Html:
    """Return a set-off remark; a warning says so in words, not by its colour alone.

    Examples
    --------
    >>> note("Few labels.", warning=True)
    '<p class="note warning"><strong>Warning.</strong> Few labels.</p>'
    """
    body = "".join(map(text, parts))
    if warning:
        return Html(f'<p class="note warning"><strong>Warning.</strong> {body}</p>')
    return Html(f'<p class="note">{body}</p>')


def bullets(items: Iterable[object]) -> Html:
    """Return a list.

    Examples
    --------
    >>> bullets(["a", "b"])
    '<ul><li>a</li><li>b</li></ul>'
    """
    return Html(f"<ul>{''.join(f'<li>{text(item)}</li>' for item in items)}</ul>")


def definitions(pairs: Mapping[str, object] | Iterable[tuple[object, object]]) -> Html:
    """Return a list of terms with their values.

    Examples
    --------
    >>> definitions({"labels": 300})
    '<dl><dt>labels</dt><dd>300</dd></dl>'
    """
    items = pairs.items() if isinstance(pairs, Mapping) else pairs
    return Html(f"<dl>{''.join(f'<dt>{text(term)}</dt><dd>{shown(value)}</dd>' for term, value in items)}</dl>")


def details(summary: object, *blocks: Block) -> Html:
    """Return blocks that are folded under a summary.

    Examples
    --------
    >>> details("More", "text")
    '<details><summary>More</summary><p>text</p></details>'
    """
    return Html(f"<details><summary>{text(summary)}</summary>{_joined(blocks)}</details>")


def code(source: object) -> Html:
    """Return text as it stands, in a fixed-width font.

    Examples
    --------
    >>> code("a < b")
    '<pre tabindex="0"><code>a &lt; b</code></pre>'
    """
    return Html(f'<pre tabindex="0"><code>{text(source)}</code></pre>')


def figure(svg: str, alt: str, *, dark: str | None = None, caption: str | None = None) -> Html:
    """Return a picture, embedded as data, so that nothing in it can run.

    Parameters
    ----------
    svg
        The picture.
    alt
        What it shows, for those who do not see it.
    dark
        The picture for dark surroundings.
    caption
        A line below it.

    Examples
    --------
    >>> figure("<svg/>", "A line")
    '<figure><img src="data:image/svg+xml;base64,PHN2Zy8+" alt="A line"></figure>'
    """
    image = f'<img src="{_data(svg)}" alt="{text(alt)}">'
    if dark is not None:
        image = f'<picture><source media="(prefers-color-scheme: dark)" srcset="{_data(dark)}">{image}</picture>'
    below = f"<figcaption>{text(caption)}</figcaption>" if caption else ""
    return Html(f"<figure>{image}{below}</figure>")


def table(
    rows: Iterable[Mapping[str, Any] | Sequence[Any]], columns: Mapping[str, str] | Sequence[str], *, caption: str
) -> Html:
    """Return a table with a caption; the first cell of a row is its heading.

    Parameters
    ----------
    rows
        Mappings by column key, or sequences in the columns' order.
    columns
        Keys, or keys with their headings.
    caption
        What the table shows.

    Examples
    --------
    >>> print(table([{"n": 3, "p": None}], {"n": "runs", "p": "share"}, caption="Runs"))
    <div class="scroll" role="region" tabindex="0" aria-label="Runs"><table><caption>Runs</caption>
    <thead><tr><th scope="col" class="number">runs</th><th scope="col">share</th></tr></thead>
    <tbody><tr><th scope="row" class="number">3</th><td><span class="empty">-</span></td></tr></tbody></table></div>
    """
    keys = list(columns)
    heads = list(columns.values()) if isinstance(columns, Mapping) else keys
    cells = [[row.get(key) for key in keys] if isinstance(row, Mapping) else list(row) for row in rows]
    for values in cells:
        if len(values) != len(keys):
            raise InputError(f"a row of the table {caption!r} has {len(values)} cells for {len(keys)} columns.")
    kinds = [_class([values[place] for values in cells]) for place in range(len(keys))]
    head = "".join(f'<th scope="col"{kind}>{text(words)}</th>' for words, kind in zip(heads, kinds, strict=True))
    body = "".join(f"<tr>{_row(values, kinds)}</tr>" for values in cells)
    label = text(caption)
    return Html(
        f'<div class="scroll" role="region" tabindex="0" aria-label="{label}"><table><caption>{label}</caption>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>"
    )


def shown(value: object) -> Html:
    """Return a value as people read it: three decimals at most, yes and no, a dash for what is missing.

    Examples
    --------
    >>> shown(0.12345), shown(3.0), shown(True), shown(1234567), shown(0.00004)
    ('0.123', '3', 'yes', '1,234,567', '4e-05')
    """
    value = _plain(value)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return Html('<span class="empty">-</span>')
    if isinstance(value, bool):
        return Html("yes" if value else "no")
    if isinstance(value, int):
        return Html(f"{value:,}")
    if isinstance(value, float):
        return Html(_decimal(value))
    return text(value)


def page(title: str, *blocks: Block) -> str:
    """Return one self-contained HTML file: styles inside, no scripts, nothing fetched, light and dark.

    Parameters
    ----------
    title
        Of the window and the first heading.
    blocks
        What stands on it; plain strings become paragraphs.

    Examples
    --------
    >>> page("Report", "All is well.").splitlines()[:2]
    ['<!doctype html>', '<html lang="en">']
    """
    style = _COLOURS + _PAGE + _BLOCKS.replace("& > ", "main > ").replace("& ", "")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f"<title>{text(title)}</title>\n<style>{style}</style>\n</head>\n"
        f"<body>\n<main>\n{heading(title, 1)}\n{_joined(blocks)}\n</main>\n</body>\n</html>\n"
    )


def fragment(*blocks: Block) -> Html:
    """Return blocks for a notebook's output; the styles reach nothing outside of them.

    Examples
    --------
    >>> fragment("text").splitlines()[0], fragment("text").splitlines()[-2]
    ('<div class="check-workbench">', '<p>text</p>')
    """
    style = _FRAGMENT + _BLOCKS.replace("& ", ".check-workbench ")
    return Html(f'<div class="check-workbench">\n<style>{style}</style>\n{_joined(blocks)}\n</div>')


def _joined(blocks: Iterable[Block]) -> str:
    return "\n".join(block if isinstance(block, Html) else paragraph(block) for block in blocks)


def _data(svg: str) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


def _class(values: list[Any]) -> str:
    known = [_plain(value) for value in values if value is not None]
    numbers = [(isinstance(v, (int, float)) and not isinstance(v, bool)) or _SHARE.fullmatch(str(v)) for v in known]
    if known and all(numbers):
        return ' class="number"'
    return ' class="long"' if any(len(str(value)) > 60 for value in known) else ""


def _plain(value: object) -> object:
    """Return Python's own value for a scalar of numpy or pandas."""
    return value.item() if hasattr(value, "item") and getattr(value, "ndim", None) == 0 else value


def _row(values: list[Any], kinds: list[str]) -> str:
    first, *others = [f"{kind}>{shown(value)}" for value, kind in zip(values, kinds, strict=True)]
    return f'<th scope="row"{first}</th>' + "".join(f"<td{cell}</td>" for cell in others)


def _decimal(value: float) -> str:
    if math.isinf(value):
        return "\N{INFINITY}" if value > 0 else "-\N{INFINITY}"
    if value != 0 and abs(value) < 0.0005:
        return f"{value:.1g}"
    return f"{value:,.3f}".rstrip("0").rstrip(".")
