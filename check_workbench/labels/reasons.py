"""Why decisions do not count, in plain words beside the codes that JSON carries."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SUPERSEDED, AFTER_LOOK, REWORK = "superseded", "after_look", "rework"
REASONS = {
    "about_a_finding": "said of a finding, so in sight of it",
    "about_all_questions": "about the check as a whole, not about this question",
    AFTER_LOOK: "came after a call had read a blind label of the same work, which stays as it was read",
    "annotators_disagree": "people disagree on that work, with no majority",
    "completed": "'completed' says neither good nor bad",
    "decided_after_verdict": "decided when the verdict could already be seen",
    "decided_before_submission": "decided before the work was submitted",
    "duplicate": "the work has the same content as other labelled work",
    "error": "the check broke on that work",
    "finding_of_no_check": "said of a finding of a check that it does not name",
    "fit": "the check was made in sight of it: its run was previewed, or it was read before the text was changed",
    "not_applicable": "the check does not apply to that work",
    "not_blind_beside_blind": "not blind, on work that has a blind decision",
    "not_checked": "the check has no verdict on that work, which is never a pass; evaluate says why",
    "not_evaluated": "on work that was not evaluated",
    "one_question_only": "says that one of several questions is fine, not that all are",
    "other_method": "the answer came from another method or model than the newest",
    "other_question": "about another question of the check",
    "other_version": "about another version of the check or of the run",
    "outside_window": "outside the plan's window of time",
    "prefilled": "the form was filled in with the verdict",
    "probability_unknown": "it has no sampling probability, while others do",
    REWORK: "on a second or later submission",
    "saw_verdict": "the person had seen the verdict",
    "skipped": "the check was skipped on that work",
    SUPERSEDED: "replaced by a later word of the same person",
    "test_run": "on a test run",
    "unclear": "'unclear' says neither good nor bad",
    "unknown_run": "its run is not in the store",
    "unmatched": "it cannot be told which work it is about",
    "unsure": "one of the versions leaves that work to a person",
    "verdict_seen_unknown": "it is not known whether the person had seen the verdict",
}


def in_words(code: str) -> str:
    """Write a reason in words, with its code.

    Examples
    --------
    >>> in_words("rework"), in_words("of another kind")
    ('on a second or later submission (rework)', 'of another kind')
    """
    return f"{REASONS[code]} ({code})" if code in REASONS else code


def left_out(counts: Mapping[str, int]) -> Iterator[str]:
    """Yield one line per reason for which decisions were left out, the most frequent first.

    Examples
    --------
    >>> list(left_out({"rework": 2}))
    ['2 left out: on a second or later submission (rework)']
    """
    for code, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])):
        yield f"{count} left out: {in_words(code)}"
