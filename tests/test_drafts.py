from __future__ import annotations

import json

import pytest

from check_workbench.checks import AtLeast, Item, Match, with_threshold
from check_workbench.drafts import miss_bound, preview
from check_workbench.errors import InputError, UnknownNameError
from tests.workshop import loop, put_answers, put_runs, question, run, screening, submission, vendor

TEXT = (
    "# loops\r\nid: loop\r\nkind: rule\r\ntitle: Ä loop\r\nrule:\r\n"
    "  type: repeat\r\n  same: [tool, input]\r\n  at_least: 3\r\n"
)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "loop.check.yaml"
    path.write_bytes(TEXT.encode())
    return path


def test_it_says_what_it_separates_and_how_little_that_proves(store):
    put_runs(store, run("a", calls=4), run("b", calls=3), run("c", calls=2), run("d"), run("unseen", calls=9))
    draft = preview(loop(), store, problem=["a", "b", "c"], clean=["d"])
    assert draft.rows[["run", "expected", "status", "separated"]].to_numpy().tolist() == [
        ["a", "problem", "fail", True],
        ["b", "problem", "fail", True],
        ["c", "problem", "pass", False],
        ["d", "clean", "pass", True],
    ]
    assert draft.statement == (
        "separates 3 of 4; with 3 that have the problem even a perfect result only bounds the miss rate at "
        "53.6 % (90.0 % sure)"
    )
    assert store.sql("select count(*) as n from measurements")["n"][0] == 0


def test_quotes_and_reasons_are_shown(store):
    put_runs(store, run("a"), run("b"))
    put_answers(store, {"run_id": "a", "check_id": "q", "probability": 0.9, "quote": "it failed"})
    draft = preview(question(), store, problem=["a"], clean=["b"])
    assert draft.rows["quotes"].tolist() == [["it failed"], []]
    assert repr(draft).splitlines()[0].startswith("Draft of q: separates 1 of 2 (1 left out: no decision); with 1 that")
    assert repr(draft).splitlines()[1:] == [
        "  a: problem, fail 0.9; as expected",
        "    “it failed”",
        "  b: clean, not_checked (no answer); not as expected",
        f"  note: {draft.note}",
    ]
    assert "(2) no longer count when trust is decided" in draft.note
    assert json.dumps(draft.to_json())
    assert "it failed" in draft._repr_mimebundle_()["text/html"]


def test_without_a_problem_run_nothing_is_known_of_misses(store):
    put_runs(store, run("a"))
    assert "nothing is known" in preview(loop(), store, problem=[], clean=["a"]).statement


def test_steps_are_previewed_by_attempt(store):
    put_runs(store, vendor("a", submission(0.1, attempt=1), submission(0.95, attempt=2)))
    draft = preview(screening(), store, problem=[], clean=["a"])
    assert draft.rows[["attempt", "status", "separated"]].to_numpy().tolist() == [[1, "fail", False], [2, "pass", True]]


def test_a_pattern_that_runs_in_python_can_be_previewed(store):
    put_runs(store, run("a"), run("b", calls=0))
    check = loop(items=(Item(asks=Match(pattern="fou(?=nd)", fields=("output",)), cut=AtLeast(value=1)),))
    assert preview(check, store, problem=["a"], clean=["b"]).separated == 2


@pytest.mark.parametrize(
    ("problem", "clean", "said"),
    [
        (["run-1x"], ["run-2"], "no run of the store is named 'run-1x'. Did you mean"),
        (["run-1"], ["run-1"], "both name 'run-1'"),
        ([], [], "at least one run"),
        ("run-1", ["run-2"], "problem must be a list of run ids, got the text 'run-1'"),
    ],
)
def test_runs_that_cannot_be_meant_are_refused(store, problem, clean, said):
    put_runs(store, run("run-1"), run("run-2"))
    with pytest.raises(InputError, match=said):
        preview(loop(), store, problem=problem, clean=clean)
    assert store.sql("select count(*) as n from looks")["n"][0] == 0


def test_near_misses_are_an_unknown_name(store):
    put_runs(store, run("r-014"))
    with pytest.raises(UnknownNameError, match="'r-014'"):
        preview(loop(), store, problem=["r-14"], clean=[])


def test_the_store_remembers_what_was_shown_once(store):
    put_runs(store, run("a", calls=3), run("b"))
    for _ in range(2):
        preview(loop(), store, problem=["a"], clean=["b"])
    preview(with_threshold(loop(), item=0, key="at_least", value=2), store, problem=["a"], clean=["b"])
    looks = store.sql("select * from looks order by look")
    assert looks["call"].tolist() == ["preview", "preview"]
    assert looks["asked"].tolist() == [loop().asked] * 2
    assert [json.loads(runs) for runs in looks["runs"]] == [["a", "b"]] * 2
    assert looks["look"].tolist() == [1, 2]


def test_saving_writes_the_document_byte_for_byte(store, file, tmp_path):
    put_runs(store, run("a", calls=3))
    draft = preview(file, store, problem=["a"], clean=[])
    target = tmp_path / "new" / "saved.check.yaml"
    assert draft.save(target) == target
    assert target.read_bytes() == TEXT.encode()
    assert draft.save(file).read_bytes() == TEXT.encode()
    assert [path.name for path in target.parent.iterdir()] == ["saved.check.yaml"]


def test_saving_overwrites_nothing_else(store, file, tmp_path):
    put_runs(store, run("a", calls=3))
    draft = preview(str(file), store, problem=["a"], clean=[])
    other = tmp_path / "other.check.yaml"
    other.write_text("id: other\n")
    with pytest.raises(InputError, match="is not the file that loop was read from"):
        draft.save(other)
    file.write_bytes(TEXT.replace("3", "5").encode())
    with pytest.raises(InputError, match="changed since the preview"):
        draft.save(file)
    assert other.read_text() == "id: other\n"
    with pytest.raises(InputError, match="made in Python"):
        preview(loop(), store, problem=["a"], clean=[]).save(tmp_path / "x.yaml")


def test_one_check_at_a_time(store, tmp_path):
    put_runs(store, run("a"))
    for name in ("one", "two"):
        (tmp_path / f"{name}.check.yaml").write_bytes(TEXT.replace("id: loop", f"id: {name}").encode())
    with pytest.raises(InputError, match="takes one check, got 2: 'one', 'two'"):
        preview(tmp_path, store, problem=["a"], clean=[])


def test_the_bound_on_misses():
    assert [round(miss_bound(n), 3) for n in (1, 2, 3, 22, 45)] == [0.9, 0.684, 0.536, 0.099, 0.05]
