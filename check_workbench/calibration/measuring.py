"""Calibrate one threshold over one group of units: which cuts do what, and which one meets the goal."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from check_workbench.calibration.cautions import (
    Selection,
    dishonest,
    few_labels,
    flags_everything,
    honesty,
    no_better_than_length,
    selection,
    ties,
    wrong_way,
)
from check_workbench.calibration.fitting import meaning
from check_workbench.calibration.grouping import FEWEST, differing, grouped, misleading, ranking, within
from check_workbench.calibration.numbers import numbers_of
from check_workbench.calibration.outcome import Calibration
from check_workbench.calibration.points import Labelled, flagged_share, point_at, point_where, sweep, upright
from check_workbench.calibration.questions import COMPOSITE
from check_workbench.calibration.redrawing import redrawn
from check_workbench.calibration.shares import share_of
from check_workbench.calibration.sheets import explained, standing, strays, unexplained
from check_workbench.calibration.units import clusters, decided, name_of, records, unequal
from check_workbench.checks import PassBand
from check_workbench.errors import UndefinedError
from check_workbench.stats.clusters import design_effect
from check_workbench.stats.curves import curve
from check_workbench.stats.cutoffs import Goal, choose, meets

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd
    from numpy.typing import NDArray

    from check_workbench.calibration.composite import Composite
    from check_workbench.calibration.points import Point
    from check_workbench.checks import Check, Threshold
    from check_workbench.stats.curves import Curve
    from check_workbench.stats.intervals import Estimate

PROPOSED = 30


def measured(
    check: Check, rows: pd.DataFrame, threshold: Threshold, goal: Goal, path: Composite | None = None
) -> Calibration:
    """Calibrate one threshold over the units of one method and model.

    Parameters
    ----------
    check
        The check.
    rows
        Its units of one method and model.
    threshold
        Which number of the check.
    goal
        What the cut is wanted for.
    path
        What turns the scores of all questions into one and back, where the threshold stands for all of them.
    """
    kept, left_out = _usable(rows if path is None else _along(path, rows, threshold), threshold)
    labelled = kept[kept["labelled"]]
    of, turned, known = _labelled(kept, labelled, threshold, check)
    points, chosen, reason = _path(of, goal, known, path)
    together = clusters(labelled)
    between = redrawn(of, together, goal) if chosen else None
    cut = chosen.at if chosen else threshold.value
    groups = () if cut is None else grouped(labelled["workflow"], "workflow", of, of.hit(cut))
    present = _present(of, kept, threshold, known)
    error = honesty(check, threshold, of, together)
    found = Calibration(
        check=check,
        threshold=threshold,
        goal=str(goal),
        method=_only(kept, "method"),
        model=_only(kept, "model"),
        scored=len(kept),
        n=len(labelled),
        positives=int(of.positive.sum()),
        weighted=known.weights is not None,
        auc=ranking(turned, of.positive),
        calibration_error=error,
        meaning=meaning(check, threshold, of, together, error),
        share=share_of(kept, f"s{threshold.item}", known),
        baseline_auc=_baseline(labelled),
        curve=tuple(points),
        chosen=chosen,
        range=between,
        numbers=numbers_of(threshold, chosen, between, path),
        present=present,
        met=_met(of, goal, present) if known.flagged_known else None,
        reason=reason,
        left_out=left_out,
        warnings=(),
        groups=tuple(group for group in groups if group.n >= FEWEST),
        load=_load(of),
        proposed=_proposed(kept, threshold) if len(labelled) < PROPOSED else (),
    )
    return dataclasses.replace(found, warnings=tuple(_warnings(found, of, labelled["workflow"], known)))


def _warnings(found: Calibration, of: Labelled, workflows: pd.Series[Any], known: Selection) -> Iterator[str]:
    if known.words:
        yield known.words
    others = (point for point in found.curve if point.load < 1)
    yield from flags_everything(found.chosen, found.goal, others=bool(_met(of, Goal.parse(found.goal), *others)))
    yield from few_labels(found.n, found.positives, found.chosen)
    yield from ties(of.everything, found.method)
    yield from no_better_than_length(found.auc, found.baseline_auc)
    yield from wrong_way(found.auc)
    yield from dishonest(found.calibration_error)
    cut = found.chosen.at if found.chosen else found.threshold.value
    yield from differing(found.groups, cut, recall=known.recall_known and not found.weighted)
    yield from misleading(found.auc, within(workflows, of), found.groups)


def _along(path: Composite, rows: pd.DataFrame, threshold: Threshold) -> pd.DataFrame:
    """Return the rows with their composite scores beside those of the questions."""
    import pandas as pd

    known = path.scored(rows)
    scores = pd.Series(path.scores(rows), index=known.index, dtype=np.float64)
    return rows.assign(**{f"s{threshold.item}": scores.reindex(rows.index)})


def _present(of: Labelled, kept: pd.DataFrame, threshold: Threshold, known: Selection) -> Point | None:
    """Return what the document does as it stands; of several questions everything that does not pass is flagged."""
    if not len(kept) or (threshold.value is None and threshold.key != COMPOSITE):
        return None
    if threshold.value is None:
        flagged = (kept["verdict"] != "pass").to_numpy(dtype=bool)
        point = point_where(of, flagged[kept["labelled"].to_numpy(dtype=bool)], float(flagged.mean()))
    else:
        point = point_at(of, threshold.value)
    return _as_known(point, known)


def _met(of: Labelled, goal: Goal, *points: Point | None) -> bool | None:
    """Say whether one of some cuts meets the goal; None where the labels cannot say it."""
    known = [point for point in points if point and (point.recall is not None or goal.kind == "precision")]
    if not known or of.positive.all() or not of.positive.any():
        return None
    found = curve(of.scores if of.means == "problem" else -of.scores, of.positive, weights=of.weights)
    try:
        return any(meets(found, goal, flagged=point.flagged, true=point.true) for point in known)
    except UndefinedError:
        return None


def _usable(rows: pd.DataFrame, threshold: Threshold) -> tuple[pd.DataFrame, dict[str, int]]:
    """Return the units that have a score and are no tests, and how many labels are lost with the others."""
    scored = np.isfinite(rows[f"s{threshold.item}"].to_numpy(dtype=np.float64)) & decided(rows).to_numpy()
    live = (rows["mode"].fillna("live") != "test").to_numpy()
    label = rows["labelled"].to_numpy(dtype=bool)
    lost = rows.loc[label & live & ~scored, "verdict"].value_counts()
    left_out = {str(name): int(count) for name, count in sorted(lost.items())}
    if (label & ~live).any():
        left_out["test_run"] = int((label & ~live).sum())
    kept = rows[scored & live]
    if explained(kept):
        lost = strays(kept)
        if lost.any():
            left_out["probability_unknown"] = int(lost.sum())
        return kept.assign(labelled=kept["labelled"].to_numpy(dtype=bool) & ~lost), left_out
    unknown = (kept["labelled"] & kept["probability_sampled"].isna()).to_numpy()
    if unequal(kept) and unknown.any():
        left_out["probability_unknown"] = int(unknown.sum())
        kept = kept[~unknown]
    return kept, left_out


def _labelled(
    kept: pd.DataFrame,
    labelled: pd.DataFrame,
    threshold: Threshold,
    check: Check,
) -> tuple[Labelled, NDArray[np.float64], Selection]:
    name = f"s{threshold.item}"
    scores = labelled[name].to_numpy(dtype=np.float64)
    drawn = labelled["probability_sampled"].to_numpy(dtype=np.float64)
    known = _selection(kept, drawn)
    of = Labelled(
        scores=scores,
        positive=labelled["positive"].to_numpy(dtype=bool),
        weights=known.weights,
        everything=kept[name].to_numpy(dtype=np.float64),
        means=threshold.means,
        unsure_below=_upper_end(check, threshold),
        effect=_effect(kept, name),
    )
    return of, scores if threshold.means == "problem" else -scores, known


def _selection(kept: pd.DataFrame, drawn: NDArray[np.float64]) -> Selection:
    if explained(kept):
        return standing(kept)
    if len(np.unique(drawn[np.isfinite(drawn)])) > 1:
        return Selection(recall_known=True, weights=1 / drawn, words=unexplained(kept))
    flagged = (kept["verdict"] != "pass").to_numpy()
    return selection(flagged, kept["labelled"].to_numpy(dtype=bool))


def _upper_end(check: Check, threshold: Threshold) -> float | None:
    if threshold.key != "fail":
        return None
    cut = check.items[threshold.item].cut
    return cut.pass_at if isinstance(cut, PassBand) else None


def _effect(kept: pd.DataFrame, name: str) -> float:
    """Return how much sessions make the scores count for less; the ranks, so that one number serves every cut."""
    try:
        return design_effect(kept[name].rank().to_numpy(dtype=np.float64), clusters(kept))
    except UndefinedError:
        return float(len(kept))


def _path(
    of: Labelled, goal: Goal, known: Selection, path: Composite | None
) -> tuple[list[Point], Point | None, str | None]:
    """Return the curve, the chosen point, and why none was chosen."""
    if not len(of.scores):
        return [], None, "no labels: label some of the proposed work first"
    found, points = sweep(of)
    if path is not None:
        points = [point if point and point.at is not None and path.expressible(point.at) else None for point in points]
    points = [point and _as_known(point, known) for point in points]
    place, reason = _place(found, of, goal, known)
    chosen = None if place is None else points[place]
    if place is not None and chosen is None:
        reason = "the goal wants a cut that no number of the document says"
    observed = [point for point in points if point is not None]
    if of.means == "good" and (path is None or path.expressible(float(of.scores.min()))):
        observed = [_as_known(point_at(of, float(of.scores.min())), known), *reversed(observed)]
    return observed, chosen, reason


def _as_known(point: Point, known: Selection) -> Point:
    """Return a point without the rates that its labels cannot say."""
    point = point if known.recall_known else point.without_recall()
    return point if known.flagged_known else point.without_precision()


def _place(found: Curve, of: Labelled, goal: Goal, known: Selection) -> tuple[int | None, str | None]:
    if of.positive.all() or not of.positive.any():
        kind = "a problem" if of.positive.all() else "no problem"
        return None, f"all {len(of.positive)} labels say {kind}: no cut can be judged without the other kind"
    if not known.flagged_known:
        return None, f"the goal {goal} needs labels of the work that is flagged"
    if not known.recall_known and goal.kind != "precision":
        return None, f"the goal {goal} needs labels of work that is not flagged"
    try:
        place = choose(found, goal)
    except UndefinedError as error:
        return None, str(error)
    return place, None if place is not None else _unmet(found, of, goal)


def _unmet(found: Curve, of: Labelled, goal: Goal) -> str:
    """Say how far from the goal the best cut is."""
    if goal.kind == "cost":
        return f"flagging nothing costs less than any cut ({goal})"
    if goal.kind == "precision":
        best = len(found.at) - 1 - int(np.argmax(found.precision[::-1]))
        at = float(upright(of, found.at)[best])
        place = "" if np.isnan(at) else f" at {at:g}"
        return f"no cut meets {goal}; the highest precision is {found.precision[best]:.3f}{place}"
    return f"no cut meets {goal}"


def _baseline(labelled: pd.DataFrame) -> Estimate | None:
    length = labelled["run_length"].to_numpy(dtype=np.float64, na_value=np.nan)
    known = np.isfinite(length)
    return ranking(length[known], labelled["positive"].to_numpy(dtype=bool)[known])


def _load(of: Labelled) -> tuple[tuple[float, float], ...]:
    """Return the share of all work that each of at most 50 cuts flags."""
    if not len(of.everything):
        return ()
    distinct = np.unique(of.everything)
    at = distinct[np.unique(np.linspace(0, len(distinct) - 1, min(50, len(distinct))).round().astype(int))]
    share = flagged_share(of.everything, at, of.means)
    return tuple((float(a), float(s)) for a, s in zip(at, share, strict=True))


def _proposed(kept: pd.DataFrame, threshold: Threshold) -> tuple[str, ...]:
    """Return unlabelled units spread evenly over the scores."""
    free = kept[~kept["labelled"]].sort_values([f"s{threshold.item}", "run_id", "step_id", "attempt"])
    if free.empty:
        return ()
    place = np.unique(np.linspace(0, len(free) - 1, min(PROPOSED, len(free))).round().astype(int))
    return tuple(name_of(row) for row in records(free.iloc[place]))


def _only(rows: pd.DataFrame, name: str) -> Any:
    values = rows[name].dropna().unique()
    return values[0] if len(values) else None
