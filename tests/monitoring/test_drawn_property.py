"""Whatever the work looks like, each piece has one state, and each week its share."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from check_workbench.monitoring.granted import Granted
from check_workbench.monitoring.work import A_WEEK, SHARE, drawn

MOMENT = datetime(2026, 5, 4)  # noqa: DTZ001 - the store's times are UTC without a zone
CERTIFICATE = Granted(
    change="replace_approval", side="false_pass", target=0.1, plan_digest="p", asked="a", documents=frozenset(),
    numbers={}, method=None, model=None, labels="check", read=frozenset(), moment=MOMENT, digest="d", dated=True,
    unwatched=(),
)  # fmt: skip
PIECES = st.lists(
    st.tuples(
        st.floats(0.001, 40), st.sampled_from(["pass", "fail", "unsure", "not_checked"]), st.integers(1, 3),
        st.sampled_from([None, True, False]),
    ),
    max_size=60,
)  # fmt: skip


def table(pieces: list[tuple[float, str, int, bool | None]]) -> pd.DataFrame:
    rows = [
        {
            "run_id": f"r-{place}", "step_id": "s", "attempt": attempt, "verdict": verdict, "workflow": None,
            "when": MOMENT + timedelta(days=day), "labelled": blind is not None, "blind": blind,
            "decided_at": None if blind is None else MOMENT + timedelta(days=day, hours=1),
        }
        for place, (day, verdict, attempt, blind) in enumerate(pieces)
    ]  # fmt: skip
    columns = ["run_id", "step_id", "attempt", "verdict", "workflow", "when", "labelled", "blind", "decided_at"]
    frame = pd.DataFrame(rows, columns=columns)
    kinds: dict[str, Any] = {"when": "datetime64[us]", "decided_at": "datetime64[us]", "labelled": bool, "attempt": int}
    return frame.astype(kinds)


@settings(max_examples=40)
@given(PIECES)
def test_no_piece_vanishes_and_each_week_gives_its_share(pieces: list[tuple[float, str, int, bool | None]]) -> None:
    found = drawn(table(pieces), CERTIFICATE)
    assert list(found["run_id"]) == [f"r-{place}" for place in range(len(pieces))]
    assert (found["drawn"] == (found["state"] != "")).all()
    assert found.loc[found["drawn"], "inside"].all()
    assert (found.loc[found["state"] == "done", "blind"] == True).all()  # noqa: E712 - a column of objects
    known = [*found["when"], *found["decided_at"].dropna()]
    now = (max(known) - MOMENT) / timedelta(days=7) if known else 0
    for _, rows in found[found["inside"]].groupby(["resubmitted", "week"]):
        tenth = int((rows["chance"] < SHARE).sum())
        most = max(tenth, min(A_WEEK, len(rows))) if now >= rows["week"].iloc[0] + 1 else tenth
        assert rows["drawn"].sum() == most
        assert rows.loc[rows["drawn"], "chance"].max() <= rows.loc[~rows["drawn"], "chance"].min() or most in {
            0,
            len(rows),
        }


@settings(max_examples=40)
@given(PIECES, PIECES)
def test_what_is_due_while_its_week_runs_stays_drawn(
    early: list[tuple[float, str, int, bool | None]], late: list[tuple[float, str, int, bool | None]]
) -> None:
    before = drawn(table(early), CERTIFICATE)
    last = max((day for day, *_ in early), default=0)
    later = drawn(
        table([*early, *((day + last, verdict, attempt, blind) for day, verdict, attempt, blind in late)]), CERTIFICATE
    )
    running = before["week"] == before["week"].max()
    kept = later.iloc[: len(before)]
    assert kept.loc[(before["drawn"] & running).to_numpy(), "drawn"].all()
