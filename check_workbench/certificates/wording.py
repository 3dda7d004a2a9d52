"""The reasons of a trust decision in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from check_workbench.certificates.hygiene import NOT_BLIND, REGAINABLE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from check_workbench.certificates.bounds import Tested
    from check_workbench.certificates.hygiene import Sample

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
        proven = f"the risk is at most {share(found.upper)} with confidence {share(1 - found.delta)}"
        yield f"{kind} among {verdict}: {counted} {where}; {proven}; the target is {target}"
    if found.way == "walk":
        yield (
            "some labels were read before the cut got its present value, so the file's own cut cannot be tested on "
            "them; a walk over cuts of unlabelled scores decides"
        )
    if found.too_few_clusters is not None:
        yield f"labels fall into {many(found.too_few_clusters, 'cluster')}; fewer than 20 never certify"
    yield from found.notes


def about_need(found: Tested) -> Iterator[str]:
    """Yield how many more labels it takes, and whether that is realistic."""
    verdict, _ = SIDES[found.bound.side]
    if found.labels_needed is None:
        yield f"the check {verdict} nothing, so no number of labels certifies this bound"
    elif not found.certified:
        yield (
            f"about {many(found.labels_needed, 'further blind decision')} if no further error comes "
            f"({found.further} on {verdict} work, which is {share(found.own_coverage)} of all)"
        )
    if found.n and not found.certified:
        supposed = f"if the true risk is the observed {share(found.errors / found.n)}"
        if found.power is None:
            yield f"{supposed}, no number of labels certifies {share(found.bound.target)}"
        else:
            yield f"{supposed}, {found.power} labels in one look certify with a chance of 80 %"


def about_hygiene(sample: Sample) -> Iterator[str]:
    """Yield what was left out."""
    if sample.excluded:
        parts = ", ".join(f"{count} {why}" for why, count in sample.excluded.items())
        yield f"left out: {parts}"


def unusable(sample: Sample, found: Tested) -> str:
    """Say what made the evidence unusable."""
    taken = {why: int(count) for why, count in sample.taken["why"].value_counts().items()}
    words = []
    if any(why in taken for why in NOT_BLIND):
        words.append("people had seen the verdict, or it is not known that they had not")
    others = [why for why in REGAINABLE if why not in NOT_BLIND and (why in taken or sample.excluded.get(why))]
    words += [why.replace("_", " ") for why in others]
    if found.too_few_clusters is not None:
        words.append("too few clusters")
    return f"the decisions would settle it, but cannot be used: {'; '.join(words)}"
