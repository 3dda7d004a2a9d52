"""What a load report shows of long lists."""

from __future__ import annotations

from check_workbench.sources import Rejected
from check_workbench.store.report import Examination, LoadReport


def test_a_short_list_shows_each_kind_of_rejection() -> None:
    dates = [Rejected(file="a.csv", line=n, reason=f"'{n}.02.2026' is no time") for n in range(40)]
    report = LoadReport(rejected=(*dates, Rejected(file="b.tsv", line=7, reason="a quote is not closed")))
    lines = repr(report).splitlines()
    assert "  a.csv:0: '0.02.2026' is no time" in lines
    assert "  b.tsv:7: a quote is not closed" in lines
    assert "  and 31 more" in lines
    assert "a quote is not closed" in report._repr_html_()


def test_a_short_list_shows_each_kind_of_skipped_file() -> None:
    report = LoadReport(skipped=(*(f"LICENSE.{n}.txt" for n in range(30)), "labels.tsv"))
    assert "  labels.tsv" in repr(report).splitlines()


def test_what_matches_nothing_is_counted_in_both_forms() -> None:
    report = LoadReport(examined=Examination(unmatched_decisions=963, unmatched_answers=1))
    assert "Unmatched, 963 decisions and 1 answer about runs that are not here" in repr(report)
    assert "963 decisions and 1 answer about runs that are not here" in report._repr_html_()
