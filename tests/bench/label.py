"""How many decisions it takes on real runs: chosen by `label_next`, at random, and the doubtful work first.

The runs are web-agent runs that people judged and three models judged as well, read from the folder of real data.
Every line is repeated over many random orders; the same order serves all three ways. Doubtful is work next to the cut,
or on which the judges differ. It is no sample of a side, so what its labels seem to prove is no guarantee.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from check_workbench.evaluation import evaluate
from check_workbench.labelling.drawing import for_recall
from check_workbench.labelling.pool import Pool, order
from check_workbench.stats.monitor import certifying
from check_workbench.store import open_store
from tests import web_agent_runs
from tests.workshop import loop, question

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

DRAWS = 200
DELTA = 0.1
RECALL_WITHIN = 0.04
RECALL_DRAWS = 100
EACH = 100
SIZES = (40, 60, 80, 100, 120, 140, 160, 180, 200, 300, 500, 700)
JUDGES = """
    with said as (
        select run_id, (max(choice) filter (check_id = 'webjudge_gpt4o') = 'failure') as flagged,
               (max(choice) filter (check_id = 'webjudge_7B') = 'failure') as flagged_7b,
               (max(choice) filter (check_id = 'webjudge_o4_mini') = 'failure') as flagged_o4,
               count(distinct choice) filter (check_id not like '%.record') > 1 as differ
        from answers where choice is not null group by run_id)
    select said.*, decision <> 'approved' as positive from said join decisions using (run_id)
    where decisions.check_id is null and flagged is not null order by run_id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """Real work with a verdict and what a person said: `run_id verdict positive doubt`, high doubt is read first."""

    name: str
    side: str
    alpha: float
    units: pd.DataFrame


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """How many decisions one way of choosing took, in the middle and for the middle 90 % of the draws."""

    work: str
    way: str
    median: float | None
    low: float | None
    high: float | None
    reached: float
    """Share of the draws that got there before the work ran out."""
    saved: float | None = None
    """What the other way takes for each one of `label_next`, in the middle of all draws."""
    saved_low: float | None = None
    saved_high: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the row as the benchmarks print it."""
        return asdict(self)

    def line(self) -> str:
        """Return the row as a line of text."""
        took = "never" if self.median is None else f"{self.median:5.0f} [{self.low:.0f}, {self.high:.0f}]"
        saved = "" if self.saved is None else f"; {self.saved:.2f} x [{self.saved_low:.2f}, {self.saved_high:.2f}]"
        return f"{took} ({self.reached:.0%} of draws){saved}  {self.work}, {self.way}"


def rows(*, runs: int = DRAWS) -> list[Labels]:
    """Measure the decisions until trust is ready, and until the interval of recall is narrow.

    Parameters
    ----------
    runs
        How many random orders.
    """
    folder = Path(os.environ.get("CHECK_WORKBENCH_REALDATA", Path(__file__).parents[3] / "shared" / "realdata"))
    rule, judge = looping(folder), judged(folder)
    return [*trusting(rule, runs), *trusting(judge, runs), *together(judge, runs), *recalling(judge, runs)]


def markdown(found: list[Labels]) -> str:
    """Return rows as the README shows them: the middle of all draws, and where 90 % of them lie."""
    lines = ["| work | chosen by | decisions or readings | the other way takes |", "|---|---|---|---|"]
    for row in found:
        saved = "" if row.saved is None else f"{row.saved:.2f} x [{row.saved_low:.2f}, {row.saved_high:.2f}]"
        work = row.work.replace("<=", "≤").replace(">=", "≥")
        lines.append(f"| {work} | {row.way} | {row.median:.0f} [{row.low:.0f}, {row.high:.0f}] | {saved} |")
    return "\n".join(lines)


def looping(folder: Path) -> Judged:
    """Return the 456 runs with a recorded history and the rule that three equal calls are a loop."""
    with open_store() as store, tempfile.TemporaryDirectory() as place:
        runs, decisions = web_agent_runs.write(folder, Path(place))
        store.load(runs)
        store.load_decisions(decisions)
        scores = evaluate(loop(3), store).scores
        said = store.sql("select run_id, decision = 'problem' as positive from decisions")
    table = scores.rename(columns={"status": "verdict"})[["run_id", "verdict", "score"]].merge(said, on="run_id")
    table["doubt"] = -(table["score"].astype(float) - 2.5).abs()
    return Judged(name="rule repeat >= 3, bad among passed <= 5 %", side="pass", alpha=0.05, units=table)


def judged(folder: Path) -> Judged:
    """Return the 777 runs that a model judged."""
    name = "online_mind2web_webjudge"
    with open_store() as store:
        store.load(folder / name, mapping=name, progress=lambda *_: None)
        table = store.sql(JUDGES)
    table["verdict"] = np.where(table["flagged"], "fail", "pass")
    table["doubt"] = table["differ"].astype(float)
    return Judged(name="judge gpt-4o, good among failed <= 15 %", side="fail", alpha=0.15, units=table)


def trusting(of: Judged, draws: int) -> Iterator[Labels]:
    """Count decisions until the bets on the check's own cut certify it."""
    random = [_orders(of, seed) for seed in range(draws)]
    inside = (of.units["verdict"] == of.side).to_numpy()
    doubt = of.units["doubt"].to_numpy()
    ways = {
        "label_next": [ranked[inside[ranked]] for ranked in random],
        "random runs": random,
        "doubtful work first": [ranked[np.argsort(-doubt[ranked], kind="stable")] for ranked in random],
    }
    took = {way: np.array([_until_ready(of, inside, ranked) for ranked in ranks]) for way, ranks in ways.items()}
    for way, counts in took.items():
        yield _summed(f"trust: {of.name}", way, counts, took["random runs"] if way == "label_next" else None)


def together(of: Judged, draws: int) -> Iterator[Labels]:
    """Count what a person reads for labels of three judges on one sheet."""
    flags = [of.units[name].to_numpy(dtype=bool) for name in ("flagged", "flagged_7b", "flagged_o4")]
    random = [_orders(of, seed) for seed in range(draws)]
    sheets = [[ranked[flag[ranked]][:EACH] for flag in flags] for ranked in random]
    read = np.array([len(np.unique(np.concatenate(sheet))) for sheet in sheets], dtype=float)
    alone = np.full(draws, float(EACH * len(flags)))
    work = f"readings for {EACH} labels of each of three judges"
    yield _summed(work, "label_next, one sheet", read, alone)
    yield _summed(work, "judge by judge", alone, None)


def recalling(of: Judged, draws: int) -> Iterator[Labels]:
    """Count decisions until 90 % of the draws lie near the recall over all runs."""
    missed = [_missed(of, n, min(draws, RECALL_DRAWS)) for n in SIZES]
    truth = float((of.units["verdict"] == "fail")[of.units["positive"].astype(bool)].mean())
    work = f"recall of {of.name.partition(',')[0]} ({truth:.3f}) within {RECALL_WITHIN}"
    for way in missed[0]:
        far = [n for n, errors in zip(SIZES, missed, strict=True) if errors[way] > RECALL_WITHIN]
        enough = next((float(n) for n in SIZES if n > max(far, default=0)), None)
        reached = float(enough is not None)
        yield Labels(work=work, way=way, median=enough, low=enough, high=enough, reached=reached)


def _missed(of: Judged, n: int, draws: int) -> dict[str, float]:
    """Return by how much the middle 90 % of the estimates from `n` decisions miss the recall over all runs."""
    positive, flagged = of.units["positive"].to_numpy(dtype=bool), (of.units["verdict"] == "fail").to_numpy()
    place = pd.Series(range(len(positive)), index=of.units["run_id"])
    doubt = of.units["doubt"].to_numpy()
    errors: dict[str, list[float]] = {"label_next": [], "random runs": [], "doubtful work first": []}
    for seed in range(draws):
        ranked = _orders(of, seed)
        chosen = for_recall(_pool(of, seed), n, looks=NO_LOOKS, seed=seed).units
        picked = {
            "label_next": (place[chosen["run_id"]].to_numpy(), 1 / chosen["probability"].to_numpy()),
            "random runs": (ranked[:n], np.ones(n)),
            "doubtful work first": (ranked[np.argsort(-doubt[ranked], kind="stable")][:n], np.ones(n)),
        }
        for way, (rows_, weight) in picked.items():
            hit = weight * positive[rows_]
            errors[way].append(abs(float(hit @ flagged[rows_]) / float(hit.sum()) - float(flagged[positive].mean())))
    return {way: float(np.quantile(values, 0.9)) for way, values in errors.items()}


NO_LOOKS = pd.DataFrame({name: pd.Series(dtype=object) for name in ("call", "check_id", "asked", "result")})


def _pool(of: Judged, seed: int) -> Pool:
    units = of.units.assign(step_id="", attempt=1, workflow=None, told=False, free=True, probability_sampled=np.nan)
    units = units.assign(listed=True, covered=False)
    units["s0"] = (units["verdict"] == "fail").astype(float)
    return Pool(check=question(flag_at=0.5), units=units.assign(place=order(units, seed)), silent=0, seed=seed)


def _orders(of: Judged, seed: int) -> NDArray[np.intp]:
    return np.argsort(order(of.units.assign(step_id="", attempt=1), seed))


def _until_ready(of: Judged, inside: NDArray[np.bool_], ranked: NDArray[np.intp]) -> float:
    """Return how many decisions were made when those on the bounded side certify it; infinite if they never do."""
    counted = ranked[inside[ranked]]
    positive = of.units["positive"].to_numpy(dtype=bool)[counted]
    wrong = positive if of.side == "pass" else ~positive
    reached = certifying(wrong, alpha=of.alpha, delta=DELTA).reached
    if reached is None:
        return float("inf")
    return float(np.flatnonzero(inside[ranked])[reached - 1] + 1)


def _summed(work: str, way: str, counts: NDArray[np.float64], random: NDArray[np.float64] | None) -> Labels:
    low, middle, high = (_or_none(float(np.quantile(counts, q, method="inverted_cdf"))) for q in (0.05, 0.5, 0.95))
    saved: list[float | None] = [None] * 3
    if random is not None:
        both = np.isfinite(counts) & np.isfinite(random)
        saved = [float(np.quantile(random[both] / counts[both], q)) for q in (0.05, 0.5, 0.95)]
    return Labels(
        work=work,
        way=way,
        median=middle,
        low=low,
        high=high,
        reached=float(np.isfinite(counts).mean()),
        saved=saved[1],
        saved_low=saved[0],
        saved_high=saved[2],
    )


def _or_none(value: float) -> float | None:
    return value if np.isfinite(value) else None
