"""What a certificate holds for: the numbers of the file however strict, every question, and the same bytes again."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import check_workbench as cw
from check_workbench.certificates import bounds, hygiene
from check_workbench.certificates.sides import Region
from check_workbench.certificates.tested import Look
from check_workbench.checks import Check, Choice, Item, PassBand, PassNames, YesNo
from tests.certificates.draws import ALLOWED, ALPHA, BOUND, DRAWS, PLAN, decide, rows, unlabelled
from tests.certificates.test_sides import passes, written
from tests.scenario import uniform

STRICT = 0.05
FEW = 200


@pytest.mark.slow
def test_a_strict_cut_of_the_file_is_certified_no_more_often_than_allowed() -> None:
    rng = np.random.default_rng(21)
    certified = 0
    for _ in range(DRAWS):
        scores = rng.random(800)
        labels = rows(scores, rng.random(800) < np.where(scores < STRICT, 1.02 * ALPHA, 0.3), cut=STRICT)
        certified += decide(labels, labels).certified
    assert certified / DRAWS <= ALLOWED


@pytest.mark.slow
def test_a_judge_that_is_good_only_where_it_is_surest_keeps_its_strict_cut() -> None:
    """A walk that begins at 40 % of the work never comes to the 5 % that the file passes; the file's cut does."""
    rng = np.random.default_rng(22)
    own = walked = loosened = 0
    for _ in range(FEW):
        scores = rng.random(1000)
        bad = rng.random(1000) < np.where(scores < STRICT, 0.01, 0.3)
        found = decide(rows(scores, bad, cut=STRICT), unlabelled(rng, cut=STRICT))
        own += found.certified
        loosened += bool(found.changes)
        walked += decide(rows(scores, bad, cut=STRICT, fresh=False), unlabelled(rng, cut=STRICT)).certified
    assert own / FEW > 0.85
    assert walked == loosened == 0


def test_a_strict_cut_is_ready_while_a_looser_one_is_only_proposed(store, team) -> None:
    team.write(0.06)
    team.load(store, uniform(1200, labelled=700, risk=lambda s: 0.01 if s < 0.6 else 0.9))
    cert = cw.trust(team.check, store, plan=PLAN)
    bound = cert[0].details["bounds"][0]
    assert (cert.outcome, bound["way"], cert[0].changes()) == ("ready", "own", ())
    assert cert.coverage == pytest.approx(0.06, abs=0.02)
    looser = next(reason for reason in cert.reasons if "a looser cut would hold as well" in reason)
    assert float(looser.split("flag_at ")[1].split()[0]) > 0.5


def test_a_judge_without_scores_has_its_own_verdict_tested_and_nothing_else(store, team) -> None:
    """The answers name an option and no probability: there is no cut to move."""
    team.check.write_text(
        "id: failed\nkind: choice\nask: Did the agent fail?\noptions: {fine: All went well, bad: It did not}\n"
        "flag_on: [bad]\nflag_at: 0.5\n",
        encoding="utf-8",
    )
    units = uniform(400, labelled=200, risk=lambda s: 0.01 if s < 0.5 else 0.9)
    team.load(store, [{**u, "p": None} for u in units])
    told = [{"run_id": u["run"], "check_id": "failed", "choice": "bad" if u["p"] >= 0.5 else "fine"} for u in units]
    answers = team.folder / "named.jsonl"
    answers.write_text("".join(json.dumps(one) + "\n" for one in told), encoding="utf-8")
    assert not store.load_answers(answers).rejected
    cert = cw.trust(team.check, store, plan=PLAN)
    passed = [u for u in units[:200] if u["p"] < 0.5]
    assert (cert.outcome, cert.n, cert.errors) == ("ready", len(passed), sum(u["bad"] for u in passed))
    assert cert[0].details["bounds"][0]["way"] == "own"
    assert not any("looser" in reason for reason in cert.reasons)
    cw.calibrate(team.check, store)
    team.check.write_text(team.check.read_text(encoding="utf-8").replace("0.5", "0.9"), encoding="utf-8")
    other = cw.plan(change="enforce", max_false_fail=0.3)
    assert cw.trust(team.check, store, plan=other)[0].details["bounds"][0]["way"] == "own"


THREE = Check(
    id="c",
    dialect="check-1",
    items=(
        Item(asks=YesNo(ask="Both lists are covered."), cut=PassBand(pass_at=0.99, fail_below=0.5)),
        Item(
            asks=Choice(ask="Is it signed?", options=(("yes", "It is."), ("no", "It is not."))),
            cut=PassNames(passing=("yes",), confidence=0.99),
        ),
        Item(asks=YesNo(ask="The sums agree."), cut=PassBand(pass_at=0.99, fail_below=None)),
    ),
)


def three_answers(rng: np.random.Generator, size: int) -> pd.DataFrame:
    """Return work with three answers that go together, and that is the worse the less sure they are."""
    quality = rng.random(size)
    one, two, three = (np.clip(0.7 * quality + 0.3 * rng.random(size), 0, 1) for _ in range(3))
    signed = np.where(rng.random(size) < 0.1, 0.0, two)
    table = rows(np.zeros(size), rng.random(size) < np.where(quality > 0.35, 0.02, 0.8), cut=-1.0, fresh=False)
    return table.assign(s0=one, s1=signed, s2=three)


@pytest.mark.parametrize("seed", range(20))
def test_the_certified_numbers_of_three_questions_pass_what_was_certified(seed: int) -> None:
    rng = np.random.default_rng(seed)
    told, silent = three_answers(rng, 300), three_answers(rng, 500).assign(labelled=False)
    silent["run_id"] = "u" + silent["run_id"]
    work = pd.concat([told, silent], ignore_index=True)
    sample = hygiene.Sample(usable=told, taken=told.iloc[:0], population=work, excluded={})
    region = Region(check=THREE, side="false_pass", reference=sample.measured_on, everything=work)
    found = bounds.tested(region, BOUND, sample, Look(first=True, start=0.4))
    assert found.way == "walk"
    assert found.certified
    assert {(change.item, change.key) for change in found.changes} >= {(0, "pass"), (1, "confidence"), (2, "pass")}
    passing = passes(written(THREE, found.changes), work, "false_pass")
    assert found.labels is not None
    assert set(work["run_id"][passing & work["labelled"]]) == set(found.labels["run_id"])
    assert found.coverage == pytest.approx(passing.mean())
    assert found.errors == int(work["positive"][passing & work["labelled"]].sum())


@pytest.mark.parametrize("how", ["own", "walk", "sequential", "strata", "sessions"])
def test_rows_in_another_order_give_a_report_of_the_same_bytes(team, tmp_path, how) -> None:
    units = uniform(300, labelled=240, risk=lambda s: 0.03 if s < 0.5 else 0.9)
    for place, unit in enumerate(units):
        unit.update(decided_at=f"2026-10-{1 + place % 28:02d}T10:00:00", workflow=f"w{place % 2}", note="seen")
        unit.update({"session_id": f"s{place // 3}"} if how == "sessions" else {})
        unit.update({"probability_sampled": 0.3 if unit["p"] < 0.25 else 0.1} if how == "strata" else {})
    texts = [reported(team, tmp_path / str(seed), shuffled(units, seed), how) for seed in (1, 2)]
    assert texts[0] == texts[1]
    assert len(texts[0]) == 3


def shuffled(units: list[dict[str, object]], seed: int) -> list[dict[str, object]]:
    order = np.random.default_rng(seed).permutation(len(units))
    return [units[place] for place in order]


def reported(team, folder, units, how) -> list[bytes]:
    folder.mkdir()
    team.folder = folder
    team.write(0.5)
    with cw.open() as store:
        team.load(store, units)
        if how == "walk":
            cw.calibrate(team.check, store)
            team.write(0.55)
        cert = cw.trust(team.check, store, plan=PLAN)
        if how == "sequential":
            team.decide(store, [{"run": u["run"], "bad": False} for u in units if u["bad"] is None])
            cert = cw.trust(team.check, store, plan=PLAN)
        assert cert[0].details["bounds"][0]["way"] == {"strata": "own", "sessions": "own"}.get(how, how)
        return [cert.report(folder / f"trust.{suffix}").read_bytes() for suffix in ("html", "md", "json")]
