"""What must be known of a draw beside its numbers, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from check_workbench.labelling.drawing import Drawn

DOES = {"pass": "passes", "fail": "fails", "unsure": "is unsure of"}


def about(draw: Drawn, n: int) -> Iterator[str]:
    """Yield what must be known of a draw.

    Parameters
    ----------
    draw
        What was drawn for one check.
    n
        How many labels were asked for.
    """
    name = draw.check.id
    yield from (f"{name}: {words}" for words in (*_few(draw, n), *_together(draw)))


def _few(draw: Drawn, n: int) -> Iterator[str]:
    if not draw.population:
        yield "the check has no verdict on any run, so nothing can be drawn: load answers, or give an evaluator"
    elif not draw.region:
        yield f"there is no work that the check {' or '.join(DOES[name] for name in draw.verdicts)}"
    elif not len(draw):
        yield "nobody needs to be asked: no such work is left without a label"
    elif len(draw) < n:
        yield f"{n} labels were asked for, and {len(draw)} is all that is left"


def _together(draw: Drawn) -> Iterator[str]:
    """Yield what becomes of labels that are there already beside those of this draw."""
    if draw.covered:
        yield (
            f"nothing is drawn of {draw.covered} units that sheets for trust could draw: their labels speak for them"
        )
    if draw.behind > len(draw):
        yield (
            "work has come to this side since the last sheet, by a moved number or by loading, and some of it stands "
            f"in the random order before what was drawn: only with n={draw.behind} or more do all labels together have "
            "equal probability, as trust assumes"
        )
    if draw.purpose == "recall" and draw.unweighted:
        yield (
            f"{draw.unweighted} labels that are there do not say with which probability they were drawn; beside labels "
            "that do, calibrate lets each stand for its own work alone, and trust leaves them out (probability_unknown)"
        )
    if draw.purpose == "trust" and draw.differing:
        yield (
            "labels that are there were drawn with differing probabilities, for recall: each probability is bounded on "
            "its own, which takes more labels, and later looks cannot use them; first trust, then recall takes fewer"
        )
