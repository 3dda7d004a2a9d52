"""A comparison in words: the text form, and the sentences that its HTML shares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from check_workbench.comparison.counting import FEW
from check_workbench.labels.reasons import left_out
from check_workbench.stats.intervals import percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from check_workbench.comparison.counting import Side
    from check_workbench.comparison.outcome import Comparison
    from check_workbench.comparison.people import Ceiling
    from check_workbench.comparison.triaging import Triage
    from check_workbench.stats.agreement import Agreement

LISTED = 5
"""Disagreements, and groups of a kind, that the text lists; the rest is counted."""
QUOTED = 160
"""Characters of a quoted text."""
CAUSES = {"check_wrong": "check wrong", "person_wrong": "person wrong", "evidence_missing": "evidence missing"}
SIDES = {"blind": "blind", "shown": "verdict seen or unknown"}
WRONG = {"bad_passed": "bad among passed", "good_failed": "good work failed"}
STALE = {
    "not_compared": "triaged, but it has no verdict or no label now",
    "other_decisions": "triaged when other decisions stood on it: look again",
    "other_work": "triaged when less of the work, or other work, was recorded: look again",
    "other_text": "triaged under another text of the check: look again",
}
LABELS_STAY = (
    "Triage changes no label: trust counts what people decided before they saw the verdict, while whoever triages "
    "sees both. Only disagreements are looked at, so agreement after it is bound to rise and proves nothing."
)
FLATTERS = "decided in sight of the verdict, or not known to be blind: such decisions flatter the check"


def lines(found: Comparison) -> Iterator[str]:
    """Yield the text form of a comparison."""
    yield f"{found.check}: {_units(found.n)} with a verdict and a label"
    for row in found.counts:
        if row["n"] or row["neither"]:
            yield f"  {row['verdict']}: {_counted(row)}"
    yield f"  blind: {side_words(found.sides.blind)}"
    yield f"  verdict seen or unknown: {side_words(found.sides.shown)}"
    yield from (f"  {words}" for words in gap_words(found))
    yield from _group_lines(found.groups)
    for rows in periods(found.switched) if found.n else ():
        yield f"  had we switched {period_words(rows[0])}:"
        yield from (f"    {row['change']}: {_switched_words(row)}" for row in rows)
    yield from (f"  {words}" for words in ceiling_words(found.ceiling))
    yield from (f"  {words}" for words in triage_words(found.triaged, found.disagreements))
    yield from _disagreement_lines(found.disagreements)
    yield from (f"  {words}" for words in left_out(found.left_out))
    yield from (f"  note: {note}" for note in found.notes)


def gap_words(found: Comparison) -> Iterator[str]:
    """Say by how much more often people agree with a verdict that they saw."""
    gap = found.sides.gap
    if gap is not None:
        interval = f"[{gap.low:+.3f}, {gap.high:+.3f}]"
        yield f"agreement where the verdict was seen, or may have been, minus blind: {gap.value:+.3f} {interval}"
        if found.sides.clear < FEW:
            yield (
                f"one of the two has {_units(found.sides.clear)} with a clear verdict: "
                f"with fewer than {FEW} this interval is too narrow"
            )
    if found.anchored:
        yield "people follow the verdict that they see: such decisions cannot certify the check"


def side_words(side: Side) -> str:
    """Describe the agreement of one side."""
    if not side.n:
        return _units(0)
    found = side.agreement
    bad = f"{side.bad['k']:,} bad ({percent(side.bad['share'])})"
    if found is None:
        return f"{_units(side.n)}, {bad}, none with a clear verdict"
    wrong = ", ".join(f"{words} {_of(side.wrong[key])}" for key, words in WRONG.items())
    return f"{_units(side.n)}, {bad}, {side.unsure:,} unsure, {_agreement_words(found)}, {wrong}"


def periods(rows: Sequence[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Return the rows of each period; everything is not told twice where all of it is recent."""
    found = [[row for row in rows if row["since"] == since] for since in dict.fromkeys(row["since"] for row in rows)]
    return found[:1] if len({(of[0]["of"], of[0]["blind"]) for of in found}) == 1 else found


def period_words(row: dict[str, Any]) -> str:
    """Say over which work a switch is counted."""
    of = f"{row['of']:,} {'blind ' if row['blind'] else ''}first submission{'' if row['of'] == 1 else 's'}"
    when = f"on {row['since'][:10]}, over {of}" if row["since"] else f"from the first, over all {of}"
    until = f" up to {row['until'][:10]}" if row["until"] else ""
    decided, later = row["dated_by_decision"], row["later"]
    dated = f", {_all_or(decided, row['of'])} dated by the decision, since the run has no time" if decided else ""
    judged = f", {_all_or(later, row['of'])} judged by the check after the decision" if later else ""
    return f"{when}{until}{dated}{judged}{'' if row['blind'] or not row['of'] else f', {FLATTERS}'}"


def ceiling_words(ceiling: Ceiling) -> Iterator[str]:
    """Say what can be asked of a check at most."""
    if ceiling.agreement is None:
        yield "human ceiling: unknown, since no unit was decided by several people who are named"
    else:
        yield f"human ceiling: {_decided_by_several(ceiling)}"
        yield from _target_words(ceiling)
        if not ceiling.blind:
            yield "whether these people knew each other's decision or the verdict is not known: they may agree too well"
    if ceiling.other:
        yield f"apart from it, since it is another question: {_decided_by_several(ceiling.other)}"
    if ceiling.torn:
        yield f"not counted in it, since one person said both good and bad, in no order: {ceiling.torn:,}"
    if ceiling.unnamed:
        yield f"not counted in it, since several decisions do not tell people apart: {ceiling.unnamed:,}"


def _decided_by_several(ceiling: Ceiling) -> str:
    found = ceiling.agreement
    if found is None:
        return "nothing"
    how, what = "blind " if ceiling.blind else "", " on the work" if ceiling.about == "work" else ""
    classes = ", ".join(f"on {name} work {percent(share)}" for name, share in sorted(found.by_class.items()))
    return (
        f"{_units(ceiling.n)} decided{what} {how}by several of {ceiling.people:,} people, {_agreement_words(found)}; "
        f"another person agrees {classes}"
    )


def triage_title(triage: Triage, disagreements: Sequence[Mapping[str, Any]]) -> str:
    """Say of how many disagreements which cause is known."""
    causes = [one["triage"]["cause"] for one in disagreements if one["triage"]]
    counts = ", ".join(f"{causes.count(cause):,} {words}" for cause, words in CAUSES.items())
    more = triage.settled(disagreements)
    rest = f"; {more:,} more that {'is' if more == 1 else 'are'} no disagreement now" if more else ""
    left = len(disagreements) - len(causes)
    return f"triage of {_count(len(disagreements), 'disagreement')}: {counts}, {left:,} open{rest}"


def triage_words(triage: Triage, disagreements: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Say what was found about disagreements, and what it would make of the agreement."""
    if triage.entries:
        yield triage_title(triage, disagreements)
        for name, told in SIDES.items():
            first, last = getattr(triage.before, name), getattr(triage.after, name)
            if first.n:
                yield f"  {told}, before: {side_words(first)}"
                yield f"  {told}, after: {side_words(last)}"
        yield f"  {LABELS_STAY}"
    for reason, count in triage.stale.items():
        yield f"{count:,} not counted: {STALE[reason]} ({reason})"


def apart(one: dict[str, Any]) -> str:
    """Describe a disagreement in one line."""
    score = "" if one["score"] is None else f" ({one['score']:g})"
    who = ", ".join(filter(None, [one["by"], "blind" if one["blind"] else None]))
    cause = f"; triaged: {CAUSES[one['triage']['cause']]}" if one["triage"] else ""
    return f"the check says {one['verdict']}{score}, people say {one['decision']}{f' ({who})' if who else ''}{cause}"


def said_by_check(one: dict[str, Any]) -> Iterator[str]:
    """Yield what the check quoted or explained, each once."""
    told = [entry[name] for entry in one["findings"] for name in ("message", "quote")]
    told += [entry[name] for entry in one["answers"] for name in ("quote", "explanation", "answer")]
    yield from dict.fromkeys(str(text) for text in told if text)


def share_words(of: Mapping[str, Any]) -> str:
    """Write a count with its share and interval."""
    if of["share"] is None:
        return f"{of['k']:,} of {of['n']:,}"
    return f"{of['k']:,} of {of['n']:,} ({percent(of['share'])} [{percent(of['low'])}, {percent(of['high'])}])"


def listed(units: Sequence[str], most: int = LISTED) -> str:
    """Name the first units, and count the rest."""
    rest = f" and {len(units) - most:,} more" if len(units) > most else ""
    return ", ".join(units[:most]) + rest


def _target_words(ceiling: Ceiling) -> Iterator[str]:
    if ceiling.disagreement is None:
        return
    value, low, high = ceiling.disagreement
    if value == 0:
        yield f"no two people disagree; in truth up to {percent(high)} may, so no target is shown to be out of reach"
        return
    half = f"{percent(value / 2)} [{percent(low / 2)}, {percent(high / 2)}]"
    yield (
        f"two people disagree in {percent(value)} [{percent(low)}, {percent(high)}]: a target below that asks more of "
        f"the check than of a colleague, and half of it, {half}, counts as error even of a perfect check, which "
        "contradicts one of two people whenever they disagree"
    )
    each = [
        f"{percent(1 - found.raw.value)} of {found.n:,} where it says {verdict}"
        for verdict, found in ceiling.by_verdict.items()
    ]
    if each:
        yield f"by the check's verdict they disagree in {', '.join(each)}"


def _counted(row: dict[str, Any]) -> str:
    decisions = ", ".join(f"{one['k']:,} {name}" for name, one in row["decisions"].items())
    shares = f"of which {share_words(row['bad'])} bad" if row["n"] else "none with a label"
    return f"{row['n']:,}, {shares}; {decisions}"


def _group_lines(groups: Sequence[dict[str, Any]]) -> Iterator[str]:
    for by in dict.fromkeys(row["by"] for row in groups):
        mine = [row for row in groups if row["by"] == by]
        if len(mine) < 2:
            continue
        for row in mine[-LISTED:] if by == "month" else mine[:LISTED]:
            wrong, bounced = (f"{words} {_of(row[key])}" for key, words in WRONG.items())
            named = f" ({row['named']:,} said of it, the others of all questions)" if "named" in row else ""
            agreement = f"agreement {share_words(row['agreement'])} (blind {_of(row['blind_agreement'])})"
            yield f"  {by} {row['group']}: {row['n']:,}{named}, {agreement}, {wrong}, {bounced}"
        if len(mine) > LISTED:
            yield f"  {by}: and {len(mine) - LISTED:,} {'earlier' if by == 'month' else 'more'}, see `groups`"


def _switched_words(row: dict[str, Any]) -> str:
    unattended = f"{share_words(row['unattended'])} unattended"
    passed = "the approver still decides on what passes"
    if row["change"] == "replace_approval":
        passed = f"{share_words(row['bad_passed'])} bad passed{_names(row['bad_passed'])}"
    bounced = f"{share_words(row['good_bounced'])} good bounced{_names(row['good_bounced'])}"
    return f"{unattended}, {passed}, {bounced}, {share_words(row['unsure'])} unsure"


def _names(of: dict[str, Any]) -> str:
    return f": {listed(of['units'])}" if of["units"] else ""


def _disagreement_lines(disagreements: Sequence[dict[str, Any]]) -> Iterator[str]:
    if not disagreements:
        return
    yield f"  {_count(len(disagreements), 'disagreement')}:"
    for one in disagreements[:LISTED]:
        yield f"    {one['unit']}: {apart(one)}"
        if words := next(said_by_check(one), None):
            yield f"      check: {_cut(words)}"
        if one["note"]:
            yield f"      note: {_cut(one['note'])}"
    if len(disagreements) > LISTED:
        yield f"    and {len(disagreements) - LISTED:,} more, see `disagreements`"


def _agreement_words(found: Agreement) -> str:
    raw = f"{found.raw.value:.3f} [{found.raw.low:.3f}, {found.raw.high:.3f}]"
    beyond = ", ".join(
        f"{name} {value:.2f} [{found.intervals[key].low:.2f}, {found.intervals[key].high:.2f}]"
        for name, key, value in (("kappa", "kappa", found.kappa), ("AC1", "ac1", found.ac1))
        if value is not None
    )
    return f"agreement {raw}{f', {beyond}' if beyond else ''}"


def _of(of: Mapping[str, Any]) -> str:
    return f"{of['k']:,} of {of['n']:,}"


def _all_or(k: int, n: int) -> str:
    return "all" if k == n else f"{k:,}"


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def _units(n: int) -> str:
    return _count(n, "unit")


def one_line(text: str) -> str:
    r"""Write what would break a line, or move a terminal's cursor, as Python writes it.

    Examples
    --------
    >>> print(one_line("a\nb\x1b[2J"))
    a\nb\x1b[2J
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= QUOTED else f"{line[:QUOTED].rstrip()}…"
