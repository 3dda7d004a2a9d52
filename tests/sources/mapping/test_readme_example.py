"""The example of the README: what it reads, and what comes of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.sources.mapping.making import through

if TYPE_CHECKING:
    from pathlib import Path

MAPPING = """\
name: episodes
summary: what our harness writes
parts:
  - files: "{model}/episodes.jsonl"      # under the PATH; * ** {name}; .gz may follow
    join:
      label: {file: labels.csv, on: {task: task, model: $model}}
    run:
      run_id: "{$model}/{task}"          # a text with holes
      workflow: = booking                # a constant
      input: goal                        # a path
      metrics: {duration_ms: {from: seconds, times: 1000}}
    spans:
      - each: turns                      # both begin at `turns`, so they take turns
        type: = llm
        output: thought
      - each: turns[].calls[]
        type: = tool
        name: tool
        input: args
        output: out
        status: {from: out, match: ^Error, values: {Error: error}, default: ok}
    decisions:
      - unless: {$label.ann: null}
        check_id: = booked
        decision: {from: $label.ann, values: {0: no_problem, 1: problem}}
        decided_by: = ann
    answers:
      check_id: = booked
      probability: judge.p_bad
      model: $model
"""
EPISODES: list[dict[str, Any]] = [
    {
        "task": "t1",
        "goal": "book a table",
        "turns": [
            {"thought": "look", "calls": [{"tool": "search", "args": {"q": "x"}, "out": "Error: no"}]},
            {"thought": "done", "calls": []},
        ],
        "seconds": 2.5,
        "judge": {"p_bad": "0.8"},
    },
    {
        "task": "t2",
        "goal": "pay",
        "turns": [{"thought": "pay", "calls": [{"tool": "pay", "args": {}, "out": "ok"}]}],
        "seconds": 1,
        "judge": {"p_bad": 0.1},
    },
]


def test_the_example_of_the_readme(tmp_path: Path) -> None:
    found = through(
        tmp_path,
        MAPPING,
        {
            "gpt-4/episodes.jsonl": "\n".join(map(json.dumps, EPISODES)),
            "labels.csv": "task,model,ann\nt1,gpt-4,1\nt2,gpt-4,\n",
        },
    )
    first, second = found.runs
    assert (first.run_id, first.workflow, first.input) == ("gpt-4/t1", "booking", "book a table")
    assert first.metrics == {"duration_ms": 2500.0}
    assert [(s.type, s.name, s.output, s.status) for s in first.spans] == [
        ("llm", None, "look", None),
        ("tool", "search", "Error: no", "error"),
        ("llm", None, "done", None),
    ]
    assert [s.status for s in second.spans] == [None, "ok"]
    assert [(d.run_id, d.decision, d.decided_by) for d in found.decisions] == [("gpt-4/t1", "problem", "ann")]
    assert [(a.check_id, a.probability, a.model) for a in found.answers] == [
        ("booked", 0.8, "gpt-4"),
        ("booked", 0.1, "gpt-4"),
    ]
    assert found.rejected == []
    assert found.notes == ["1 of the decisions was left out by when or unless (mapping, line 23)"]
