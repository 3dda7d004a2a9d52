"""Comparisons of what nobody would wish to compare."""

from __future__ import annotations

import json
import re
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import check_workbench as cw
from check_workbench.comparison.outcome import IN_DOCUMENT
from tests.scenario import Scenario

MIME = "application/vnd.check-workbench+json"
NAMES = [
    "'; drop table triage; --",
    '"><script>alert(1)</script>',
    "</details></div>",
    "a' or '1'='1",
    "Zürich 東京 🙂",
    "$1 ? :name {x} %s",
    "a\nb\tc",
    "a, b and 3 more",
    "r/step (attempt 2)",
]


@pytest.fixture
def team(tmp_path) -> Scenario:
    return Scenario(folder=tmp_path)


def shown(found: Any) -> dict[str, Any]:
    """Return every form, having checked that JSON has no NaN and pages no open markup."""
    bundle: dict[str, Any] = found._repr_mimebundle_()
    json.dumps(bundle[MIME], allow_nan=False)
    json.dumps(found.to_json(), allow_nan=False)
    for tag in ("div", "details", "table", "dl", "p", "ul"):
        opened = re.findall(rf"<{tag}[ >]", bundle["text/html"])
        assert len(opened) == bundle["text/html"].count(f"</{tag}>"), tag
    return bundle


def test_no_decisions(store, team):
    team.load(store, [{"run": "a", "p": 0.1}])
    found = cw.compare(team.check, store)
    assert (found.n, found.disagreements, found.groups, found.ceiling.n) == (0, (), [], 0)
    assert "human ceiling: unknown" in shown(found)["text/plain"]
    with pytest.raises(ValueError, match="no disagreement is named 'a'"):
        found.triage("a", "check_wrong", by="kim")


@pytest.mark.parametrize("bad", [True, False])
def test_one_class(store, team, bad):
    team.load(store, [{"run": f"r-{i}", "p": i / 10, "bad": bad, "decided_by": "ana"} for i in range(10)])
    found = cw.compare(team.check, store)
    assert found.sides.blind.agreement is not None
    assert found.sides.blind.agreement.n == 10
    assert len(found.disagreements) == 5
    shown(found)


UNSURE = """\
---
name: p
steps:
  - {id: s, agent: Do it., output: {x: string}, advisory: true, check: [{ask: Is it?, pass: 0.9, fail: 0.1}]}
  - {id: a, person: boss, approve: Approve it., on_reject: s, next: done}
  - {id: done, finish: well}
---
"""


def test_all_unsure(store, tmp_path):
    (tmp_path / "P.md").write_text(UNSURE, encoding="utf-8")
    questions = [{"ask": "Is it?", "kind": "yes_no", "answer": 0.5, "result": "unsure"}]
    check = {"verdict": "unsure", "questions": questions, "at": "2026-01-01T00:00:00Z"}
    step = {"step_id": "s", "attempt": 1, "output": {"x": "y"}, "at": "2026-01-01T00:00:00Z", "check": check}
    runs = [{"run_id": f"r-{i}", "workflow": "p", "steps": [step]} for i in range(6)]
    said = [{"run_id": f"r-{i}", "step_id": "a", "decision": "returned" if i else "approved"} for i in range(6)]
    for name, rows in (("runs", runs), ("said", said)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    store.load(tmp_path / "runs.jsonl")
    store.load_decisions(tmp_path / "said.jsonl", blind=True)
    found = cw.compare(tmp_path / "P.md", store)
    assert (found.counts[1]["n"], found.counts[1]["bad"]["k"], found.disagreements) == (6, 5, ())
    assert {name: one["k"] for name, one in found.counts[1]["decisions"].items()} == {"approved": 1, "returned": 5}
    assert [row["unsure"]["k"] for row in found.switched] == [6, 6]
    assert "6 units, 5 bad (83.3 %), none with a clear verdict" in shown(found)["text/plain"]


def test_many_disagreements_are_all_kept_and_the_rest_of_those_shown_is_counted(store, team):
    n = 10_000
    team.load(store, [{"run": f"r-{i:05d}", "p": 0.1, "bad": True, "decided_by": "ana"} for i in range(n)])
    found = cw.compare(team.check, store)
    bundle = shown(found)
    assert len(found.disagreements) == len(found.to_json()["disagreements"]) == n
    assert "and 9,995 more, see `disagreements`" in bundle["text/plain"]
    assert "and 9,900 more, which are not shown" in bundle["text/html"]
    assert len(bundle["text/html"]) < 300_000
    assert len(bundle[MIME]["disagreements"]) == IN_DOCUMENT
    assert bundle[MIME]["disagreements_left_out"] == n - IN_DOCUMENT
    found.triage([one["unit"] for one in found.disagreements[:500]], "check_wrong", by="kim")
    assert len(cw.compare(team.check, store).triaged.entries) == 500


def test_names_that_look_like_markup_or_sql(store, team):
    hostile = [
        {"run": name, "p": 0.1, "bad": True, "decided_by": name, "note": name, "workflow": name} for name in NAMES
    ]
    team.load(store, hostile)
    found = cw.compare(team.check, store)
    assert {one["unit"] for one in found.disagreements} == set(NAMES)
    after = found.triage(NAMES, "person_wrong", by=NAMES[1], note=NAMES[0])
    assert set(after.triaged.entries) == set(NAMES)
    page = shown(after)["text/html"]
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert set(cw.compare(team.check, store).triaged.entries) == set(NAMES)


def test_no_name_or_note_forges_a_line_or_moves_a_cursor(store, team):
    name = "x\n  human ceiling: 1\x1b[2J"
    more = {"decided_by": name, "workflow": name, "note": name}
    team.load(store, [{"run": f"{name}{i}", "p": 0.1, "bad": True, **more} for i in range(2)])
    team.load(store, [{"run": "y", "p": 0.1, "bad": False, "decided_by": "ana", "workflow": "web"}])
    text = repr(cw.compare(team.check, store))
    assert "\x1b" not in text
    assert [line for line in text.splitlines() if line.startswith("  human ceiling")] == [
        "  human ceiling: unknown, since no unit was decided by several people who are named"
    ]
    assert r"approver x\n  human ceiling: 1\x1b[2J: 2" in text


def test_each_that_the_switch_counts_is_linked_however_many_others_disagree(store, team):
    others = [{"run": f"a-{i:03d}", "p": 0.1, "bad": True, "seen": "true"} for i in range(150)]
    team.load(store, [*others, *({"run": f"z-{i}", "p": 0.1, "bad": True} for i in range(3))])
    page = shown(cw.compare(team.check, store))["text/html"]
    for i in range(3):
        anchor = page.split(f'">z-{i}</a>')[0].rsplit('<a href="#', 1)[1]
        assert f'<div id="{anchor}"' in page
    assert "and 53 more, which are not shown" in page


def test_scores_that_are_no_numbers(store, team):
    team.load(store, [{"run": "a", "p": 0.1, "bad": True}, {"run": "b", "p": 0.2, "bad": False}])
    store.sql("update answers set probability = 'nan'::double where run_id = 'a'")
    found = cw.compare(team.check, store)
    assert found.n + sum(found.left_out.values()) == 2
    shown(found)


@pytest.mark.parametrize("since", ["0001-01-01", "2200-01-01", "9999-12-31T23:59:59"])
def test_dates_beyond_reason(store, team, since):
    days = ["2000-01-02", "2026-01-01", "2199-12-31"]
    rows = [{"run": f"r-{i}", "p": 0.1, "bad": True, "decided_at": f"{day}T00:00:00"} for i, day in enumerate(days)]
    team.load(store, rows)
    found = cw.compare(team.check, store, since=since)
    assert [row["of"] for row in found.switched] == [3 if since < "2000" else 0] * 2 + [3] * 2
    shown(found)


def test_the_same_store_makes_the_same_bytes(store, team):
    team.load(store, [{"run": f"r-{i}", "p": i / 30, "bad": i % 3 == 0, "decided_by": "ab"[i % 2]} for i in range(30)])
    first, second = (cw.compare(team.check, store) for _ in range(2))
    assert repr(first) == repr(second)
    assert first._repr_html_() == second._repr_html_()
    assert json.dumps(first.to_json()) == json.dumps(second.to_json())


UNIT = st.fixed_dictionaries(
    {
        "p": st.sampled_from([None, 0.1, 0.5, 0.9]),
        "bad": st.sampled_from([None, True, False]),
        "seen": st.sampled_from(["", "true", "false"]),
        "decided_by": st.sampled_from(["", "ana", "ben"]),
        "decided_at": st.sampled_from(["", "2026-01-01T00:00:00", "2026-03-01T00:00:00"]),
        "mode": st.sampled_from(["live", "test"]),
    }
)


@settings(max_examples=8)
@given(st.lists(UNIT, min_size=1, max_size=12))
def test_no_decision_vanishes(tmp_path_factory, units):
    team = Scenario(folder=tmp_path_factory.mktemp("team"))
    with cw.open() as store:
        team.load(store, [{"run": f"r-{place}", **one} for place, one in enumerate(units)])
        found = cw.compare(team.check, store)
        labelled = sum(one["bad"] is not None for one in units)
        assert found.n + sum(found.left_out.values()) == labelled
        assert sum(row["n"] for row in found.counts) == found.n == found.sides.blind.n + found.sides.shown.n
        agreeing = int(pd.Series([bool(v) for v in found.frame["agrees"]], dtype=bool).sum())
        assert agreeing + len(found.disagreements) == found.n
        bad_passed = next(row for row in found.counts if row["verdict"] == "pass")["bad"]["k"]
        assert sum(one["verdict"] == "pass" for one in found.disagreements) == bad_passed
        shown(found)
