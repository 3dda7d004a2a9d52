"""The reasons of a trust decision in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from check_workbench.certificates.hygiene import NOT_BLIND, REGAINABLE
from check_workbench.labels.reasons import REASONS, left_out
from check_workbench.results import DECIDED
from check_workbench.stats.intervals import percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd

    from check_workbench.certificates.hygiene import Sample
    from check_workbench.certificates.tested import Tested
    from check_workbench.checks import Threshold

WARNING = (
    "A check is not a security boundary: what it judges is untrusted input to the evaluator as much as to anyone. "
    "Where a hard guarantee is needed, a person stays on the step."
)
SCOPE = "The statement speaks of first submissions drawn as these were; a changed check or model voids it."
SIDES = {"false_pass": ("passed", "bad"), "false_fail": ("failed", "good")}


def share(value: float | None) -> str:
    """Write a share as a percentage.

    Examples
    --------
    >>> share(0.0456), share(None)
    ('4.6 %', 'unknown')
    """
    return "unknown" if value is None else percent(value)


def many(count: int, noun: str) -> str:
    """Write a count with its noun.

    Examples
    --------
    >>> many(1, "label"), many(2, "label")
    ('1 label', '2 labels')
    """
    return f"{count} {noun}{'' if count == 1 else 's'}"


def about_bound(found: Tested) -> Iterator[str]:
    """Yield what the labels say about one bound."""
    verdict, kind = SIDES[found.bound.side]
    target = share(found.bound.target)
    where = {
        "own": "with the numbers of the file",
        "walk": "with the loosest number that holds" if found.certified else "with the number at which the plan starts",
        "sequential": "with the numbers of the file, over all looks",
    }[found.way]
    if not found.n:
        yield f"{kind} among {verdict}: no usable blind label on {verdict} work {where}; the target is {target}"
    else:
        counted = f"{many(found.errors, 'error')} in {many(found.n, 'blind label')}"
        proven = f"the risk is at most {share(found.upper)} ({share(1 - found.delta)} sure)"
        yield f"{kind} among {verdict}: {counted} {where}; {proven}; the target is {target}"
    if found.too_few_clusters is not None:
        yield (
            f"labels fall into clusters that weigh as {many(found.too_few_clusters, 'cluster')} of one size; "
            "fewer than 20 never certify"
        )
    yield from found.notes


def spent(found: Tested) -> str:
    """Say why a bound is surer than the plan asks: this look is not the only one.

    Examples
    --------
    >>> from check_workbench.certificates.tested import Tested
    >>> from check_workbench.plans import Bound
    >>> spent(Tested(bound=Bound(side="false_pass", target=0.05, delta=0.1), way="own", delta=0.08))
    'why 92.0 % sure: of the 10.0 % chance of error allowed, this first look spends 8.0, and 2.0 are left for later'
    """
    values = (found.bound.delta, found.delta, found.bound.delta - found.delta)
    whole, now, rest = (f"{100 * value:.1f}" for value in values)
    used = f"this first look spends {now}, and {rest} are left for later"
    if found.way == "sequential":
        used = f"the first look spent {rest}, and all later ones together have {now}"
    return f"why {share(1 - found.delta)} sure: of the {whole} % chance of error allowed, {used}"


def about_fit(found: Tested, read_by: Sequence[str]) -> Iterator[str]:
    """Yield why the file's own numbers could not be tested, and what would make that possible."""
    verdict, _ = SIDES[found.bound.side]
    if found.way != "walk":
        return
    calls = " and ".join(read_by) or "another call"
    yield (
        f"these labels were read by {calls} before the file got its present numbers, so the numbers may fit these very "
        "labels and are not tested on them; instead, numbers that come from work without labels are tested, all "
        "together"
    )
    if found.further:
        yield (
            f"to keep the numbers of the file: {many(found.further, 'new blind decision')} on {verdict} work, made "
            "from now on, if none is an error"
        )


def about_need(found: Tested) -> Iterator[str]:
    """Yield how many more labels it takes, and whether that is realistic."""
    verdict, _ = SIDES[found.bound.side]
    if found.labels_needed is None and found.own_coverage:
        yield "how many labels it takes cannot be told while they are drawn with differing probabilities"
    elif found.labels_needed is None:
        yield f"the check {verdict} nothing, so no number of labels certifies this bound"
    elif not found.certified:
        yield (
            f"about {many(found.labels_needed, 'further blind decision')} if no further error comes and they are drawn "
            f"at random from all work ({found.further} on {verdict} work, which is {share(found.own_coverage)} of all)"
        )
        yield from _cheaper(found, verdict)
    if found.n and not found.certified and found.further is not None:
        supposed = f"if the true risk is the observed {share(found.errors / found.n)}"
        if found.power is None:
            yield f"{supposed}, no number of labels certifies {share(found.bound.target)} at a later look"
        else:
            yield (
                f"{supposed}, about {found.power} labels on {verdict} work in all, over all later looks together, "
                "certify with a chance of 80 %"
            )


def _cheaper(found: Tested, verdict: str) -> Iterator[str]:
    there, further = len(found.unjudged), found.further or 0
    if not further or not (there or found.n):
        return
    judged = f"that the check {verdict} and nobody has judged blind"
    if not there:
        yield f"all recorded work that the check {verdict} is judged blind, so work must be recorded first"
    elif there >= further:
        yield f"cheaper: label {further} of the {there} runs {judged}, drawn at random"
    else:
        yield f"cheaper: label the {many(there, 'run')} {judged}; {further - there} more must be recorded first"


def about_cuts(found: Tested, *, written: bool) -> Iterator[str]:
    """Yield which other numbers the labels support, and whether the patch writes them."""
    if found.proposal:
        covered = share(found.proposal_coverage)
        verdict = {"passed": "passes", "failed": "fails"}[SIDES[found.bound.side][0]]
        yield f"a looser cut would hold as well: at {numbers(found.proposal)} the check {verdict} {covered} of the work"
    if found.changes and written:
        yield f"{numbers(found.changes)} holds; the patch writes it"
    elif found.changes:
        yield f"{numbers(found.changes)} would hold; nothing writes it, because not all holds"


def numbers(changes: Sequence[Threshold]) -> str:
    """Write the numbers of a document."""
    return ", ".join(f"{t.key} {t.value:g}" for t in changes)


def assumed(drawn: pd.Series[float]) -> Iterator[str]:
    """Yield how labels were drawn, as far as they do not say it; where probabilities differ, all of them do.

    Parameters
    ----------
    drawn
        `probability_sampled` of the usable labels.
    """
    unsaid = int(drawn.isna().sum())
    if unsaid == len(drawn):
        yield "Every label is assumed to have been drawn with equal probability: none says otherwise."
    elif unsaid:
        yield (
            f"{unsaid} of {many(len(drawn), 'label')} do not say how they were drawn: with the probability of the "
            "others, it is assumed."
        )


def silence(sample: Sample) -> str | None:
    """Say that the check has judged nothing, or None if it has."""
    work = sample.population
    if work["verdict"].isin(DECIDED).any():
        return None
    if work.empty:
        return "there is no recorded work that the check judges: load runs"
    return f"the check has no answer on any of {many(len(work), 'run')}: load answers or give an evaluator"


def about_sample(sample: Sample, notes: Sequence[str]) -> Iterator[str]:
    """Yield what was left out, what has no verdict, and on what the labels rest."""
    yield from left_out(sample.excluded)
    silent = sample.population[~sample.population["verdict"].isin(DECIDED)]
    if 0 < len(silent) < len(sample.population):
        yield f"{len(silent)} of {many(len(sample.population), 'submission')} not checked: they count as not decided"
    yield from notes


WAYS_OUT = {
    "not_blind": "decisions made without sight of the verdict (verdict_seen false; load with --blind only if nobody "
    "had seen it)",
    "other_version": "decisions and answers about the present text of the check",
    "other_method": "answers of one method and model on all labelled work",
    "test_run": "decisions on live runs",
    "clusters": "labels from at least 20 clusters",
}


def unusable(sample: Sample, found: Tested) -> Iterator[str]:
    """Yield what made the evidence unusable, and what would make it usable."""
    taken = {why: int(count) for why, count in sample.taken["why"].value_counts().items()}
    words, out = [], []
    if any(why in taken for why in NOT_BLIND):
        words.append("people had seen the verdict, or it is not known that they had not")
        out.append(WAYS_OUT["not_blind"])
    others = [why for why in REGAINABLE if why not in NOT_BLIND and (why in taken or sample.excluded.get(why))]
    words += [REASONS[why] for why in others]
    out += [WAYS_OUT[why] for why in others]
    if found.too_few_clusters is not None:
        words.append("too few clusters")
        out.append(WAYS_OUT["clusters"])
    yield f"the decisions would settle it, but cannot be used: {'; '.join(words)}"
    yield f"what makes it usable: {'; '.join(out)}"
