"""Decisions saved on real runs: the same counts as the benchmark, over few random orders."""

from __future__ import annotations

from pathlib import Path

from tests.bench import label


def test_a_side_is_proven_with_fewer_decisions_than_random_choice_takes(realdata: Path) -> None:
    rule = label.looping(realdata)
    inside = rule.units["verdict"] == "pass"
    assert (len(rule.units), int(inside.sum()), int(rule.units["positive"][inside].sum())) == (456, 184, 2)
    chosen, random, _ = label.trusting(rule, 30)
    assert chosen.reached == random.reached == 1
    assert chosen.median is not None
    assert random.median is not None
    assert chosen.saved is not None
    assert chosen.saved_low is not None
    assert chosen.saved > 2
    assert chosen.saved_low > 1.5
    assert chosen.median < 130 < random.median


def test_reading_where_judges_disagree_takes_more_decisions_than_random_choice(realdata: Path) -> None:
    judge = label.judged(realdata)
    inside = judge.units["verdict"] == "fail"
    assert (len(judge.units), int(inside.sum())) == (777, 588)
    chosen, random, routed = label.trusting(judge, 30)
    medians = [way.median for way in (chosen, random, routed)]
    assert None not in medians
    assert medians == sorted(medians, key=lambda value: value or 0.0)
    assert chosen.saved is not None
    assert 1.2 < chosen.saved < 1.5


def test_the_readme_tells_what_the_benchmark_measures(realdata: Path) -> None:
    readme = Path(__file__).parents[2] / "README.md"
    rule, judge = label.looping(realdata), label.judged(realdata)
    found = [
        *label.trusting(rule, label.DRAWS),
        *label.trusting(judge, label.DRAWS),
        *label.together(judge, label.DRAWS),
    ]
    assert label.markdown(found) in readme.read_text(encoding="utf-8")
