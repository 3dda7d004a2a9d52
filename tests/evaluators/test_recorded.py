from __future__ import annotations

import json

import pytest

from check_workbench.errors import InputError, UnknownNameError
from check_workbench.evaluation import evaluate
from check_workbench.evaluators import Evaluator, Recorded, Request, open_evaluator
from check_workbench.results import Answer, Evidence
from tests.workshop import put_runs, question, run, screening, submission, vendor


def request(run_id: str, **fields) -> Request:
    asks = question().items[0].asks
    values = {"check_id": "q", "item": 0, "question": asks, "evidence": Evidence(run_id=run_id, text=""), "asked": "x"}
    return Request(run_id=run_id, **{**values, **fields})


def test_it_is_an_evaluator_that_costs_nothing():
    recorded = Recorded([])
    assert isinstance(recorded, Evaluator)
    assert recorded.capabilities.deterministic
    assert recorded.capabilities.local


def test_each_request_gets_its_own_answer_or_none():
    recorded = Recorded(
        [
            Answer(check_id="q", run_id="a", probability=0.1),
            Answer(check_id="q", run_id="a", probability=0.2),
            Answer(check_id="q", run_id="a", item=1, probability=0.3),
            Answer(check_id="p", run_id="b", probability=0.4),
            Answer(check_id="q", run_id="s", step_id="one", attempt=2, probability=0.5),
        ],
    )
    asked = [
        request("a"),
        request("a", item=1),
        request("b"),
        request("s"),
        request("s", step_id="one", attempt=2),
        request("s", step_id="two", attempt=2),
    ]
    assert [answer.probability for answer in recorded.answer(asked)] == [0.2, 0.3, 0.5]


def test_an_answer_that_names_no_step_answers_for_the_step_of_its_check():
    recorded = Recorded([Answer(check_id="q", run_id="a", probability=0.1)])
    (answer,) = recorded.answer([request("a", step_id="screen", attempt=1)])
    assert (answer.step_id, answer.attempt) == ("screen", 1)


def test_answers_from_a_file_in_the_settings(store, tmp_path, monkeypatch):
    lines = [{"run_id": "a", "check_id": "q", "probability": 0.9}, {"run_id": "b", "probability": 0.9}]
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (tmp_path / "check-workbench.toml").write_text('[evaluators.main]\ntype = "recorded"\npath = "answers.jsonl"\n')
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    put_runs(store, run("a"), run("b"))
    assert evaluate(question(), store, "main").verdicts["status"].tolist() == ["fail", "not_checked"]
    opened = open_evaluator("main")
    assert isinstance(opened, Recorded)
    assert opened.rejected == 1


def test_answers_to_steps_are_replayed(store):
    put_runs(store, vendor("a", submission(None)))
    recorded = Recorded([Answer(check_id="vendor/screen", run_id="a", probability=0.95)])
    assert evaluate(screening(), store, recorded).verdicts["status"].tolist() == ["pass"]


@pytest.mark.parametrize(
    ("settings", "error", "said"),
    [
        (None, InputError, "needs settings"),
        ("[evaluators.maine]\n", UnknownNameError, "Did you mean 'maine'"),
        ("[evaluators.main]\ntype = 'magic'\n", InputError, "type must be 'recorded', got 'magic'"),
        ("[evaluators.main]\ntype = 'recorded'\n", InputError, "path must name a file"),
        ("evaluators = 3\n", InputError, "must be tables"),
        ("[evaluators\n", InputError, "must be TOML"),
    ],
)
def test_settings_that_cannot_be_used(tmp_path, monkeypatch, settings, error, said):
    monkeypatch.chdir(tmp_path)
    if settings is not None:
        (tmp_path / "check-workbench.toml").write_text(settings)
    with pytest.raises(error, match=said):
        open_evaluator("main")
