"""The reasons of a trust decision in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from check_workbench.certificates.hygiene import NOT_BLIND, REGAINABLE
from check_workbench.labels.reasons import REASONS, left_out
from check_workbench.results import DECIDED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from check_workbench.certificates.bounds import Tested
    from check_workbench.certificates.hygiene import Sample
    from check_workbench.checks import Threshold

WARNING = (
    "A check is not a security boundary: what it judges is untrusted input to the evaluator as much as to anyone. "
    "Where a hard guarantee is needed, a person stays on the step."
)
SCOPE = "The statement speaks of first submissions drawn as these were; a changed check or model voids it."
EQUAL = "Every label is assumed to have been drawn with equal probability: none says otherwise."
SIDES = {"false_pass": ("passed", "bad"), "false_fail": ("failed", "good")}


def share(value: float | None) -> str:
    """Write a share as a percentage.

    Examples
    --------
    >>> share(0.0456), share(None)
    ('4.6 %', 'unknown')
    """
    return "unknown" if value is None else f"{100 * value:.1f} %"


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
        "own": "at the file's own cut",
        "walk": "at the cut that the walk reached" if found.certified else "at the cut where the walk begins",
        "sequential": "at the file's own cut, over all looks",
    }[found.way]
    if not found.n:
        yield f"{kind} among {verdict}: no usable blind label on {verdict} work {where}; the target is {target}"
    else:
        counted = f"{many(found.errors, 'error')} in {many(found.n, 'blind label')}"
        proven = f"the risk is at most {share(found.upper)} ({share(1 - found.delta)} sure)"
        yield f"{kind} among {verdict}: {counted} {where}; {proven}; the target is {target}"
        yield spent(found)
    if found.way == "walk":
        yield (
            "some labels were read before the cut got its present value, so the file's own cut cannot be tested on "
            "them; a walk over cuts that no label has chosen decides"
        )
    if found.too_few_clusters is not None:
        yield f"labels fall into {many(found.too_few_clusters, 'cluster')}; fewer than 20 never certify"
    yield from found.notes


def spent(found: Tested) -> str:
    """Say why a bound is surer than the plan asks: this look is not the only one.

    Examples
    --------
    >>> from check_workbench.certificates.bounds import Tested
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


def about_need(found: Tested) -> Iterator[str]:
    """Yield how many more labels it takes, and whether that is realistic."""
    verdict, _ = SIDES[found.bound.side]
    if found.labels_needed is None and found.own_coverage:
        yield "how many labels it takes cannot be told while they are drawn with differing probabilities"
    elif found.labels_needed is None:
        yield f"the check {verdict} nothing, so no number of labels certifies this bound"
    elif not found.certified:
        yield (
            f"about {many(found.labels_needed, 'further blind decision')} if no further error comes "
            f"({found.further} on {verdict} work, which is {share(found.own_coverage)} of all)"
        )
    if found.n and not found.certified and found.further is not None:
        supposed = f"if the true risk is the observed {share(found.errors / found.n)}"
        if found.power is None:
            yield f"{supposed}, no number of labels certifies {share(found.bound.target)}"
        else:
            yield f"{supposed}, about {found.power} labels on {verdict} work in all certify with a chance of 80 %"


def about_cuts(found: Tested, *, written: bool) -> Iterator[str]:
    """Yield which other numbers the labels support, and whether the patch writes them."""
    if found.proposal:
        covered = share(found.proposal_coverage)
        yield f"a looser cut would hold as well: {numbers(found.proposal)} decides {covered} of the work"
    if found.changes and written:
        yield f"the walk certified {numbers(found.changes)}; the patch writes it"
    elif found.changes:
        yield f"the walk found that {numbers(found.changes)} would hold; nothing writes it, because not all holds"


def numbers(changes: Sequence[Threshold]) -> str:
    """Write the numbers of a document."""
    return ", ".join(f"{t.key} {t.value:g}" for t in changes)


def about_sample(sample: Sample, notes: Sequence[str]) -> Iterator[str]:
    """Yield what was left out, what has no verdict, and on what the labels rest."""
    yield from left_out(sample.excluded)
    silent = sample.population[~sample.population["verdict"].isin(DECIDED)]
    if len(silent) and len(silent) == len(sample.population):
        yield "the check has no usable answer on any work: evaluate it, or load recorded answers"
    elif len(silent):
        yield f"{len(silent)} of {many(len(sample.population), 'submission')} not checked: they count as not decided"
    yield from notes


def unusable(sample: Sample, found: Tested) -> str:
    """Say what made the evidence unusable."""
    taken = {why: int(count) for why, count in sample.taken["why"].value_counts().items()}
    words = []
    if any(why in taken for why in NOT_BLIND):
        words.append("people had seen the verdict, or it is not known that they had not")
    others = [why for why in REGAINABLE if why not in NOT_BLIND and (why in taken or sample.excluded.get(why))]
    words += [REASONS[why] for why in others]
    if found.too_few_clusters is not None:
        words.append("too few clusters")
    return f"the decisions would settle it, but cannot be used: {'; '.join(words)}"
