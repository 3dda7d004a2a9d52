"""A comparison as HTML blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from check_workbench import html
from check_workbench.calibration.units import digest
from check_workbench.comparison import wording
from check_workbench.labels.reasons import left_out
from check_workbench.stats.intervals import Interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from check_workbench.comparison.counting import Side, Sides
    from check_workbench.comparison.outcome import Comparison
    from check_workbench.html import Block, Html

CHANGES = {"enforce": "enforced the check", "replace_approval": "replaced the approval"}
SWITCHED = {"change": "had we", "unattended": "without a person", "bad_passed": "bad passed, of all passed",
            "good_bounced": "good bounced, of all good", "unsure": "unsure"}  # fmt: skip
GROUPS = {"group": "group", "n": "all", "pass": "pass: good / bad", "unsure": "unsure: good / bad",
          "fail": "fail: good / bad", "agreement": "agreement", "blind_agreement": "blind agreement",
          "shown_agreement": "seen or unknown", "bad_passed": "bad among passed",
          "good_failed": "good work failed"}  # fmt: skip
LINKED = {"bad_passed": "Bad passed", "good_bounced": "Good bounced"}
LABELS = {"good": "good", "bad": "bad"}
SIDE = {"n": "units", "bad": "bad", **wording.WRONG, "unsure": "unsure", "agreement": "agreement", "kappa": "kappa",
        "ac1": "AC1"}  # fmt: skip
APART = "Blind, and in sight of the verdict"
OF_ALL = "What people said of all questions at once counts for each of them; a question is named by {}."
FINDING = {"message": "found", "quote": "quoted"}
SHOWN = 100
"""Disagreements that the HTML shows, and all that it links to, so many in each cell; the rest is counted."""
ROWS = 50
"""Groups of a kind, likewise."""
IN_LINE = 8
"""Links that stand in one line; more are folded."""


def blocks(found: Comparison) -> Iterator[Block]:
    """Yield the blocks of a comparison."""
    shown = _shown(found)
    anchors = {one["unit"]: f"d-{digest([found.check, one['unit']])[:12]}" for one in shown}
    yield html.heading(found.check, 3)
    told = [row for row in found.counts if row["n"] or row["neither"]] or found.counts
    yield _crossed(told, "Verdicts and what people decided")
    sides = {words: getattr(found.sides, name) for name, words in wording.SIDES.items()}
    yield html.table([_side(name, found.sides) for name in wording.SIDES], {"side": "decided", **SIDE}, caption=APART)
    if all(side.n for side in sides.values()):
        counts = {words: [row for row in side.counts if row["n"]] for words, side in sides.items()}
        yield html.details("Each apart", *(_crossed(rows, words.capitalize()) for words, rows in counts.items()))
    words = ". ".join(text[0].upper() + text[1:] for text in wording.gap_words(found))
    if words:
        yield html.note(f"{words}.", warning=found.anchored)
    if found.n:
        yield from _switched(found.switched, anchors)
    yield from _human_ceiling(found)
    yield from _triage(found)
    yield from _groups(found.groups)
    yield from _disagreements(found, shown, anchors)
    if found.left_out or found.notes:
        yield html.bullets([*left_out(found.left_out), *found.notes])


def _shown(found: Comparison) -> list[dict[str, Any]]:
    """Return the disagreements that are shown: those that the table of a switch links to first, in their order."""
    linked = {unit for row in found.switched for key in LINKED for unit in row[key]["units"][:SHOWN]}
    first = [one for one in found.disagreements if one["unit"] in linked]
    rest = [one for one in found.disagreements if one["unit"] not in linked]
    kept = {one["unit"] for one in [*first, *rest[: max(0, SHOWN - len(first))]]}
    return [one for one in found.disagreements if one["unit"] in kept]


def _crossed(counts: Sequence[dict[str, Any]], caption: str, *, first: str | None = None) -> Html:
    names = sorted({name for row in counts for name in row["decisions"]})
    heads = {"group": first, "verdict": "verdict"} if first else {"verdict": "verdict", "n": "all", **LABELS}
    said = {f"said {name}": name for name in names}
    rows = [{**_flat(row), **{key: _cell(row["decisions"].get(name)) for key, name in said.items()}} for row in counts]
    return html.table(rows, {**heads, **said}, caption=caption)


def _switched(rows: Sequence[dict[str, Any]], anchors: dict[str, str]) -> Iterator[Block]:
    for mine in wording.periods(rows):
        told = [{**_flat(row), "change": CHANGES[row["change"]]} for row in mine]
        told[0]["bad_passed"] = "the approver still decides"
        yield html.table(told, SWITCHED, caption=f"Had we switched {wording.period_words(mine[0])}")
        for key, words in LINKED.items():
            units = mine[-1][key]["units"]
            if units:
                yield _linked(words, units, anchors)


def _linked(words: str, units: Sequence[str], anchors: dict[str, str]) -> Html:
    """Link units to their disagreements: a few in one line, more as a folded list."""
    links = [html.link(unit, f"#{anchors[unit]}") if unit in anchors else html.text(unit) for unit in units[:SHOWN]]
    if len(units) <= IN_LINE:
        return html.paragraph(f"{words} ({len(units):,}): ", *[part for link in links for part in (link, ", ")][:-1])
    rest = [f"and {len(units) - SHOWN:,} more, which are not shown"] if len(units) > SHOWN else []
    return html.details(f"{words} ({len(units):,})", html.bullets([*links, *rest]))


def _human_ceiling(found: Comparison) -> Iterator[Block]:
    first, *rest = wording.ceiling_words(found.ceiling)
    yield html.heading("Human ceiling", 4)
    yield html.bullets(_sentence(words) for words in (first.removeprefix("human ceiling: "), *rest))


def _triage(found: Comparison) -> Iterator[Block]:
    triage = found.triaged
    if triage.entries:
        sides = {"before": triage.before, "after": triage.after}
        rows = [{"when": when, **_side(name, both)} for name in wording.SIDES for when, both in sides.items()]
        heads = {"side": "decided", "when": "triage", **SIDE}
        title = wording.triage_title(triage, found.disagreements)
        yield html.table([row for row in rows if row["n"]], heads, caption=title[0].upper() + title[1:])
        yield html.note(wording.LABELS_STAY)
    stale = [f"{count:,} not counted: {wording.STALE[reason]}." for reason, count in triage.stale.items()]
    if stale:
        yield html.note(" ".join(stale), warning=True)


def _side(name: str, sides: Sides) -> dict[str, Any]:
    side: Side = getattr(sides, name)
    wrong = {key: _cell(one) for key, one in side.wrong.items()}
    told = {"side": wording.SIDES[name], "n": side.n, "bad": _cell(side.bad), "unsure": side.unsure, **wrong}
    found = side.agreement
    if found is None:
        return told
    values = {"agreement": found.raw.value, "kappa": found.kappa, "ac1": found.ac1}
    intervals = {"agreement": Interval(found.raw.low, found.raw.high), **found.intervals}
    cells = {key: _measure(value, intervals[key]) for key, value in values.items() if value is not None}
    return {**told, **cells}


def _measure(value: float, interval: Interval) -> str:
    ends = f"[{interval.low:.3f}, {interval.high:.3f}]".replace(" ", "\N{NO-BREAK SPACE}")
    return f"{value:.3f}\n{ends}"


def _groups(groups: Sequence[dict[str, Any]]) -> Iterator[Block]:
    for by in dict.fromkeys(row["by"] for row in groups):
        mine = [row for row in groups if row["by"] == by]
        counts = [{"group": row["group"], **one} for row in mine[:ROWS] for one in row["counts"] if one["n"]]
        crossed = _crossed(counts, f"Verdicts and decisions by {by}", first=by)
        table = html.table([_group(row) for row in mine[:ROWS]], {**GROUPS, "group": by}, caption=f"By {by}")
        rest = [html.paragraph(f"and {len(mine) - ROWS:,} more")] if len(mine) > ROWS else []
        rest += [html.note(OF_ALL.format(_named(mine)))] if by == "question" else []
        yield html.details(f"By {by} ({len(mine):,})", table, crossed, *rest)


def _named(rows: Sequence[dict[str, Any]]) -> str:
    return ", ".join(f"{row['named']:,} of {row['n']:,} labels ({row['group']})" for row in rows)


def _group(row: dict[str, Any]) -> dict[str, Any]:
    cells = {one["verdict"]: f"{one['good']['k']:,} / {one['bad']['k']:,}" for one in row["counts"]}
    return {**_flat(row), **cells}


def _disagreements(found: Comparison, shown: Sequence[dict[str, Any]], anchors: dict[str, str]) -> Iterator[Block]:
    if not found.disagreements:
        return
    yield html.heading(f"Disagreements ({len(found.disagreements):,})", 4)
    for one in shown:
        place = _place(anchors[one["unit"]], _evidence(one))
        yield html.details(f"{one['unit']}: {wording.apart(one)}", place)
    if rest := len(found.disagreements) - len(shown):
        yield html.paragraph(f"and {rest:,} more, which are not shown: `disagreements` and `to_json()` hold all.")


def _place(name: str, block: Html) -> Html:
    """Make a block a place that `#name` links to; a browser unfolds what it is folded in."""
    return html.Html(f'<div id="{html.text(name)}" style="scroll-margin-top: 3rem">{block}</div>')


def _evidence(one: dict[str, Any]) -> Html:
    scores = ", ".join(f"{score:g}" for score in one["scores"] if score is not None)
    told = [("run", one["run"]), ("step", one["step"]), ("scores" if len(one["scores"]) > 1 else "score", scores)]
    told += [pair for answer in one["answers"] for pair in _answer(answer)]
    told += [(term, finding[name]) for finding in one["findings"] for name, term in FINDING.items()]
    told += [(said["decided_by"] or "somebody", _decision(said)) for said in one["said"]]
    told += [(f"work: {name.replace('_', ' ')}", text) for name, text in one["work"].items()]
    if one["triage"]:
        entry = one["triage"]
        told.append(("triage", f"{wording.CAUSES[entry['cause']]}, by {entry['by']}{_note(entry)}"))
    return html.definitions([(term, value) for term, value in told if value])


def _answer(answer: dict[str, Any]) -> Iterator[tuple[str, str | None]]:
    model = f" ({answer['model']})" if answer["model"] else ""
    yield "asked", answer["ask"]
    yield "answered", f"{answer['answer']}{model}" if answer["answer"] else None
    yield "explained", answer["explanation"]
    yield "quoted", answer["quote"]


def _decision(said: dict[str, Any]) -> str:
    when = f" on {said['decided_at'][:10]}" if said["decided_at"] else ""
    return f"{said['decision']}{when}{_note(said)}"


def _note(entry: dict[str, Any]) -> str:
    return f": {entry['note']}" if entry["note"] else ""


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    shares = {name: value for name, value in row.items() if isinstance(value, dict) and "share" in value}
    return {**row, **{name: _cell(value) for name, value in shares.items()}}


def _cell(of: Mapping[str, Any] | None) -> str | None:
    """Write a count above its share and interval, each on a line of its own."""
    if of is None:
        return None
    count, *interval = wording.share_words(of).rstrip(")").split(" (")
    return "\n".join(part.replace(" ", "\N{NO-BREAK SPACE}") for part in (count, *interval))


def _sentence(words: str) -> str:
    return _unbroken(f"{words[0].upper()}{words[1:]}.")


def _unbroken(words: str) -> str:
    return words.replace(" %", "\N{NO-BREAK SPACE}%")
