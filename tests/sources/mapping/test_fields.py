from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.sources.mapping.making import through

if TYPE_CHECKING:
    from pathlib import Path

RECORD: dict[str, Any] = {
    "id": 7,
    "name": "ann",
    "seconds": "1.5",
    "label": "4.0",
    "flag": True,
    "text": 'Thoughts.\nStatus: "success"',
    "parts": ["a", "b"],
    "first": 9,
    "second": "4",
    "json": '{"x": [1]}',
    "deep": {"a": {"b": 1}},
}


def field(folder: Path, written: str) -> Any:
    """Return what the attribute `it` becomes."""
    found = through(
        folder,
        f"""\
        parts:
          - files: "*.json"
            run:
              run_id: "{{id}}"
              attributes: {{it: {written}}}
        """,
        {"a.json": json.dumps(RECORD)},
    )
    if found.rejected:
        return found.reason
    return (found.run.attributes or {}).get("it")


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("name", "ann"),
        ("deep.a", {"b": 1}),
        ("= name", "name"),
        ("'= '", ""),
        ("12", 12),
        ("true", True),
        ("null", None),
        ("'{id}-{name}'", "7-ann"),
        ("'{{{id}}}'", "{7}"),
        ("'{id}/{gone}'", None),
        ("'{$file}#{$place}@{$line}'", "a#1@1"),
        ("'parts[]'", ["a", "b"]),
        ("{from: [gone, name]}", "ann"),
        ("{from: gone, default: none}", "none"),
        ("{from: parts, join: ', '}", "a, b"),
        ("{from: text, match: 'Status: \"(\\w+)\"'}", "success"),
        ("{from: text, match: '^\\w+'}", "Thoughts"),
        ("{from: text, match: 'nothing'}", None),
        ("{from: label, values: {4: four}}", "four"),
        ("{from: label, values: {'4.00': four}}", "four"),
        ("{from: flag, values: {true: 1, false: 0}}", 1),
        ("{from: label, values: {4: null}, default: x}", None),
        ("{from: label, values: {3: three}, default: other}", "other"),
        ("{from: gone, values: {3: three}}", None),
        ("{from: text, match: 'Status: \"(\\w+)\"', values: {success: ok}}", "ok"),
        ("{from: first, minus: second}", 5.0),
        ("{from: first, minus: gone}", None),
        ("{from: seconds, times: 1000}", 1500.0),
        ("{from: first, times: 0}", 0.0),
        ("{from: seconds, as: number}", 1.5),
        ("{from: id, as: text}", "7"),
        ("{from: name, match: '(?i)ANN', as: lower}", "ann"),
        ("{from: json, as: json}", {"x": [1]}),
        ("{a: id, b: {c: name, d: gone}}", {"a": 7, "b": {"c": "ann"}}),
        ("{a: gone}", None),
    ],
)
def test_what_a_field_becomes(tmp_path: Path, written: str, value: Any) -> None:
    assert field(tmp_path, written) == value


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("{from: label, values: {3: three}}", "'4' is not among its values '3'"),
        ("{from: deep, values: {3: three}}", "it must be one value, got an object"),
        ("{from: name, times: 2}", "it must be a number, got 'ann'"),
        ("{from: first, times: 1.0e+308}", "it comes to no finite number"),
        ("{from: text, as: json}", "Expecting value"),
        ("'{parts}'", "it must be one value, got a list"),
    ],
)
def test_a_field_that_does_not_fit_rejects_the_record(tmp_path: Path, written: str, reason: str) -> None:
    assert reason in field(tmp_path, written)
    assert field(tmp_path, written).startswith("attributes: ")


@pytest.mark.parametrize(
    ("name", "value", "becomes"),
    [
        ("workflow", 7, "7"),
        ("started_at", 1786051888, "2026-08-06 21:31:28+00:00"),
        ("started_at", "2026-08-06T21:31:28Z", "2026-08-06 21:31:28+00:00"),
        ("workflow", [1], "workflow must be text, got [1]"),
        ("status", "fine", "status must be a known word"),
        ("metrics", 5, "metrics must be an object, got int"),
        ("started_at", "soon", "started_at: 'soon' is no time"),
        ("input", {"any": ["json"]}, "{'any': ['json']}"),
    ],
)
def test_a_field_takes_what_its_column_takes(tmp_path: Path, name: str, value: Any, becomes: str) -> None:
    found = through(
        tmp_path,
        f"parts: [{{files: a.json, run: {{run_id: '{{id}}', {name}: value}}}}]",
        {"a.json": json.dumps({"id": 1, "value": value})},
    )
    got = found.reason if found.rejected else str(getattr(found.run, name))
    assert got.startswith(becomes)


def test_let_is_computed_once_in_the_record_and_seen_in_its_elements(tmp_path: Path) -> None:
    found = through(
        tmp_path,
        """\
        parts:
          - files: a.json
            let:
              id: "run-{id}"
              twice: "{$id}{$id}"
            run: {run_id: $twice}
            decisions:
              each: parts
              let: {word: "{$id}/{.}/{$index}"}
              decision: = approved
              note: $word
        """,
        {"a.json": json.dumps(RECORD)},
    )
    assert found.run.run_id == "run-7run-7"
    assert [d.note for d in found.decisions] == ["run-7/a/0", "run-7/b/1"]
