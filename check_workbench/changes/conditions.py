"""What must hold for a check to pass the gate: each condition is one named case, with what to do where it fails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from check_workbench.certificates.wording import many
from check_workbench.changes.numbers import NUMBERS, SIDES, counted
from check_workbench.changes.origins import concluded, tunable
from check_workbench.stats.intervals import lower_bound, percent
from check_workbench.stats.worsening import could_worsen, worsened

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pandas as pd

    from check_workbench.changes.numbers import Counts, Measured
    from check_workbench.checks import Check

State = Literal["passed", "failed", "skipped"]
SINCE = "since"
UPDATE = "run check-workbench gate --update and commit calibration.lock"
TESTS = len(NUMBERS) + 1
"""Tests of one check: its numbers, and the share of work without a verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One condition on one check, or on one file of checks."""

    of: str
    """The id of the check, or the file."""
    file: str
    condition: str
    state: State
    words: str
    advice: str = ""
    """What to do about a case that did not pass."""

    def to_dict(self) -> dict[str, str]:
        """Return the case as JSON knows it."""
        return {
            "of": self.of,
            "file": self.file,
            "condition": self.condition,
            "state": self.state,
            "words": self.words,
            "advice": self.advice,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One check at the gate: as it stands, as it is measured now, and as the lock knows it."""

    check: Check
    file: str
    now: Measured
    origins: list[dict[str, Any]]
    certified: list[dict[str, Any]]
    entry: Mapping[str, Any] | None
    parts: tuple[pd.DataFrame, pd.DataFrame] | None
    """The labels that the lock was measured on and those that came since, where the store can tell them apart."""
    delta: float
    """Allowed chance of a false alarm of one test."""

    def case(self, condition: str, state: State, words: str, advice: str = "") -> Case:
        """Return a case of this check; what passed needs no advice."""
        advice = "" if state == "passed" else advice
        return Case(of=self.check.id, file=self.file, condition=condition, state=state, words=words, advice=advice)


def cases_of(subject: Subject) -> Iterator[Case]:
    """Yield every condition on one check."""
    yield _calibrated(subject)
    if subject.entry is None:
        yield subject.case(
            "unchanged", "skipped", "the check is not in calibration.lock, so nothing was compared", UPDATE
        )
        return
    yield _unchanged(subject, subject.entry)
    yield _answered(subject, subject.entry)
    yield _same_method(subject, subject.entry)
    for name in NUMBERS:
        yield _number(subject, subject.entry, name)


def _calibrated(subject: Subject) -> Case:
    condition = "calibrated"
    if not tunable(subject.check):
        return subject.case(condition, "passed", "no number of the check can be tuned")
    told = [(concluded(one["by"]), f"{_named(subject.check, one)} {one['value']:g}: {_origin(one['by'])}")
            for one in subject.origins]  # fmt: skip
    open_ = [words for known, words in told if not known]
    if not open_:
        return subject.case(condition, "passed", "; ".join(words for _, words in told))
    advice = (
        f"run check-workbench calibrate {subject.file} --apply on a store with labels, for a goal that a number meets, "
        f"or trust until it is ready; then {UPDATE}"
    )
    return subject.case(condition, "failed", f"not calibrated: {'; '.join(open_)}", advice)


def _named(check: Check, one: Mapping[str, Any]) -> str:
    return f"question {one['item']} {one['key']}" if len(check.items) > 1 else str(one["key"])


def _origin(by: Mapping[str, Any] | None) -> str:
    """Say how a number came about."""
    if by is None:
        return "measured by no calibrate and no trust on labelled work"
    on = f"on {by.get('labels')} labels{' of the work' if by.get('kind') == 'work' else ''}"
    match by.get("how"), by.get("call"):
        case "certified", _:
            return f"certified by trust ({by.get('change')}) {on}"
        case "chosen", _:
            return f"chosen for {by.get('goal')} by calibrate {on}"
        case "met", _:
            return f"meets {by.get('goal')} as it stands, by calibrate {on}"
        case _, "trust":
            return f"trust ({by.get('change')}) only looked at it {on}, with {by.get('outcome')}"
        case _:
            return f"calibrate neither chose it for {by.get('goal')} nor found that it meets that, {on}"


def _unchanged(subject: Subject, entry: Mapping[str, Any]) -> Case:
    check = subject.check
    if check.document == entry["document"]:
        return subject.case("unchanged", "passed", "text, numbers and flags are those of the lock")
    if check.asked != entry["asked"]:
        words = "changed without re-evaluation: what it asks is not what the lock was measured on"
        advice = f"evaluate and calibrate the new text, then {UPDATE}"
        return subject.case("unchanged", "failed", words, advice)
    was = {(one["item"], one["key"]): one["value"] for one in entry["thresholds"]}
    now = {(one["item"], one["key"]): one["value"] for one in subject.origins}
    moved = [
        f"{_named(check, {'item': item, 'key': key})} {_number_or_none(was, item, key)} → "
        f"{_number_or_none(now, item, key)}"
        for item, key in dict.fromkeys([*was, *now])
        if was.get((item, key)) != now.get((item, key))
    ]
    what = ", ".join(moved) or "flags, or the names or levels that pass"
    advice = f"look at check-workbench diff {subject.file}, calibrate, then {UPDATE}"
    return subject.case("unchanged", "failed", f"changed without re-evaluation: {what}", advice)


def _number_or_none(values: Mapping[tuple[int, str], float], item: int, key: str) -> str:
    return f"{values[item, key]:g}" if (item, key) in values else "none"


def _answered(subject: Subject, entry: Mapping[str, Any]) -> Case:
    condition, (silent, n) = "answered", subject.now.silent
    was = _counts(entry["silent"])
    said = f"{silent} of {n} without a verdict, {was[0]} of {was[1]} in the lock"
    advice = (
        f"run check-workbench evaluate {subject.file} with an evaluator or recorded answers; not_checked is no pass"
    )
    if not n:
        return subject.case(condition, "skipped", "no run in the store is one that the check judges", "load such runs")
    if silent == n:
        return subject.case(condition, "failed", f"nothing is evaluated: {said}", advice)
    if silent * was[1] <= was[0] * n:
        return subject.case(condition, "passed", said)
    if not could_worsen(was, n, delta=subject.delta):
        return subject.case(condition, "skipped", f"too little work to say: {said}", "load more runs")
    p = worsened(was, (silent, n))
    if p <= subject.delta:
        return subject.case(condition, "failed", f"more work than before has no verdict: {said} (p = {p:.2g})", advice)
    return subject.case(condition, "passed", f"{said}: within noise (p = {p:.2g})")


def _same_method(subject: Subject, entry: Mapping[str, Any]) -> Case:
    now, was = set(subject.now.answered_by), set(entry["answered_by"])
    if not now:
        return subject.case("method", "skipped", "nobody answered", "evaluate the check")
    if new := sorted(now - was):
        words = f"answered by {', '.join(new)}, in the lock by {', '.join(sorted(was)) or 'nobody'}"
        advice = f"a threshold does not carry over: calibrate on the new answers, then {UPDATE}"
        return subject.case("method", "failed", words, advice)
    return subject.case("method", "passed", f"answered by {', '.join(sorted(now))}")


def _number(subject: Subject, entry: Mapping[str, Any], name: str) -> Case:
    was = _locked(entry, name)
    whole = counted(subject.now.labelled, name)
    advice = "look at the new errors with check-workbench compare in Python, and calibrate or reword the check"
    high = _above_target(subject, name, whole)
    if high is not None:
        return subject.case(name, "failed", high, advice)
    sample, how = _sample(subject, entry, name, whole)
    said = f"{_said(sample)} {how}, {_said(was)} in the lock"
    if how == SINCE and was[1] and not sample[1]:
        return subject.case(name, "passed", f"no such label {how}: as in the lock, {_said(was)}")
    if not could_worsen(was, sample[1], delta=subject.delta):
        more = "label more work (check-workbench label-next)" if was[1] else f"label work, then {UPDATE}"
        return subject.case(name, "skipped", f"too few labels to say: {said}", more)
    p = worsened(was, sample)
    if p <= subject.delta:
        return subject.case(name, "failed", f"worse beyond noise: {said} (p = {p:.2g})", advice)
    return subject.case(name, "passed", f"{said} (p = {p:.2g})")


def _above_target(subject: Subject, name: str, whole: Counts) -> str | None:
    """Say that a certified risk is above its target beyond doubt, where it is."""
    targets = [bound["target"] for bound in subject.certified if bound["side"] == SIDES.get(name)]
    if not targets or not whole[1]:
        return None
    low = lower_bound(*whole, delta=subject.delta)
    if low <= min(targets):
        return None
    return f"the risk is at least {percent(low)} ({_said(whole)}), above the certified target {percent(min(targets))}"


def _sample(subject: Subject, entry: Mapping[str, Any], name: str, whole: Counts) -> tuple[Counts, str]:
    """Return the labels since the lock where the others still say what it says, else all labels."""
    if subject.parts is not None:
        old, new = subject.parts
        if counted(old, name) == _locked(entry, name):
            return counted(new, name), SINCE
    return whole, "now, labels of the lock among them"


def _locked(entry: Mapping[str, Any], name: str) -> Counts:
    return _counts(entry["numbers"].get(name, {"k": 0, "n": 0}))


def _counts(of: Mapping[str, int]) -> Counts:
    return int(of["k"]), int(of["n"])


def _said(of: Counts) -> str:
    return f"{of[0]} of {many(of[1], 'label')}"
