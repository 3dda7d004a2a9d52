from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import pytest

from check_workbench.errors import InputError, UnknownNameError
from check_workbench.sources import READERS, Origin, Recognised, Rejected, read, recognise
from check_workbench.sources.heads import first_keys

if TYPE_CHECKING:
    from pathlib import Path

OURS = '{"run_id": "r-1", "spans": []}\n{"run_id": "r-2"}\n'
CHAT = json.dumps([{"task_id": 1, "traj": [{"role": "user", "content": "hi"}]}])
DOJO = {"suite_name": "s", "pipeline_name": "p", "user_task_id": "u", "messages": []}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (OURS, "workbench"),
        ("\ufeff" + OURS, "workbench"),
        ('{"run_id": "r-1"}', "workbench"),
        ('{"run_id": "r-1", "decision": "stop", "steps": []}', "workbench"),
        (CHAT, "chat"),
        ('{"id": 7, "messages": []}\n', "chat"),
        (json.dumps(json.loads(CHAT), indent=2), "chat"),
        (json.dumps(DOJO, indent=4), "agentdojo"),
        (json.dumps(DOJO) + "\n", "agentdojo"),
        (json.dumps({"note": "x" * 100_000, **DOJO}), "agentdojo"),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_formats_are_told_apart_by_content(tmp_path: Path, text: str, name: str, *, packed: bool) -> None:
    path = tmp_path / "any.name"
    path.write_bytes(gzip.compress(text.encode(), mtime=0) if packed else text.encode())
    found = recognise(path)
    assert isinstance(found, Recognised)
    assert found.format.name == name
    assert found.reason


@pytest.mark.parametrize(
    "text",
    [
        "some words",
        '{"a": 1}',
        "[1, 2]",
        '[{"messages": "none"}]',
        '{"spans": []}',
        '{"run_id": "r-1", "check_id": "loop", "probability": 0.5}',
        '{"run_id": "r-1", "decision": "approved"}',
    ],
)
def test_other_files_are_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.txt").write_text(text)
    assert recognise(tmp_path / "x.txt") is None


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b" \n", "empty"),
        (OURS.encode("utf-16"), "UTF-16"),
        (OURS.encode("utf-32-le"), "UTF-16 or UTF-32"),
        (b"run_id,spans\n", "must hold JSON"),
        (gzip.compress(OURS.encode(), mtime=0)[:20], "compressed file is broken"),
        (b"\x1f\x8bnonsense", "compressed file is broken"),
    ],
)
def test_a_broken_json_file_says_why(tmp_path: Path, data: bytes, reason: str) -> None:
    (tmp_path / "x.jsonl").write_bytes(data)
    found = recognise(tmp_path / "x.jsonl")
    assert isinstance(found, Rejected)
    assert reason in found.reason


def test_two_fitting_formats_are_an_error_that_names_both(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text('{"run_id": "r", "messages": []}\n')
    with pytest.raises(InputError, match=r"workbench \(.*chat \(.*--format"):
        recognise(tmp_path / "x.jsonl")
    found = recognise(tmp_path / "x.jsonl", format="chat")
    assert isinstance(found, Recognised)
    assert found.format is READERS["chat"]


def test_an_unknown_format_gets_a_hint(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'agentdojo'"):
        recognise(tmp_path / "x", format="agentdoj")


def test_our_own_format_has_no_reader(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text(OURS)
    found = recognise(tmp_path / "x.jsonl")
    assert isinstance(found, Recognised)
    with pytest.raises(InputError, match="loaded by the store"):
        list(read(tmp_path / "x.jsonl", found))


def test_made_up_ids_start_at_the_folder_that_is_loaded(tmp_path: Path) -> None:
    path = tmp_path / "may" / "v1.5.jsonl.gz"
    assert Origin.of(path, tmp_path).stem == "may/v1.5"
    assert Origin.of(path, path).stem == "v1.5"
    assert Origin.of(path).stem == "v1.5"
    assert Origin.of(path, tmp_path / "june").stem == "v1.5"
    assert Origin.of(tmp_path / "notes.txt").stem == "notes.txt"


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ('{"a": "x", "b": {"c": [1]}, "d": tr', {"a": '"', "b": "{", "d": "t"}),
        ('  [ {"a": {"a": 1}} , {"z": 1}]', {"a": "{"}),
        (r'{"quo\"te": 1, "{": 2}', {r"quo\"te": "1", "{": "2"}),
        ('{"a": "never closed', {"a": '"'}),
        ('{"never closed', {}),
        ("[[[[", {}),
        ("", {}),
    ],
)
def test_keys_of_the_first_record(text: str, keys: dict[str, str]) -> None:
    assert first_keys(text) == keys


def test_a_format_on_a_file_that_is_no_json_is_one_rejection(tmp_path: Path) -> None:
    table = tmp_path / "d.csv"
    table.write_text("run_id,decision\n" + "r,approved\n" * 2_000)
    found = recognise(table, format="chat")
    assert isinstance(found, Rejected)
    assert (found.line, found.reason.split(";")[0]) == (1, "these look like decisions")
    table.write_text("name,value\n" * 2_000)
    other = recognise(table, format="chat")
    assert isinstance(other, Rejected)
    assert other.reason == "the file must hold JSON: it starts neither with { nor with ["


@pytest.mark.parametrize(("post", "told"), [([{"run_type": "llm"}], "langsmith"), ([1.5], None), (None, None)])
@pytest.mark.parametrize("patch", [1.5, "x", {"a": 1}, [1]])
def test_a_batch_with_something_odd_in_place_of_a_list(
    tmp_path: Path, post: object, told: str | None, patch: object
) -> None:
    (tmp_path / "x.json").write_text(json.dumps({"post": post, "patch": patch}))
    found = recognise(tmp_path / "x.json")
    assert getattr(found, "format", None) is (READERS[told] if told else None)
