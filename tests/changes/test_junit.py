from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from check_workbench.changes import Gate
from check_workbench.changes.conditions import Case
from check_workbench.changes.junit import junit_xml
from check_workbench.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

STATES = ("passed", "failed", "skipped")


def case(state: str, of: str = "loop", words: str = "3 of 4", advice: str = "label more", **fields: str) -> Case:
    told = {"file": "checks/loop.check.yaml", "condition": "calibrated", **fields}
    return Case(of=of, state=state, words=words, advice=advice, **told)  # type: ignore[arg-type]


def parsed(*cases: Case) -> ET.Element:
    return ET.fromstring(junit_xml(Gate(cases=cases)))  # noqa: S314 - written a moment ago


def test_each_case_is_a_test_case_in_the_suite_of_its_check() -> None:
    root = parsed(case("passed"), case("failed", condition="unchanged"), case("skipped", of="other"))
    assert root.tag == "testsuites"
    assert [suite.get("name") for suite in root] == ["loop", "other"]
    assert [(t.get("classname"), t.get("name"), t.get("file")) for t in root.iter("testcase")] == [
        ("loop", "calibrated", "checks/loop.check.yaml"),
        ("loop", "unchanged", "checks/loop.check.yaml"),
        ("other", "calibrated", "checks/loop.check.yaml"),
    ]
    (failure,), (skipped,) = root.iter("failure"), root.iter("skipped")
    assert (failure.get("type"), failure.get("message")) == ("unchanged", "3 of 4")
    assert failure.text == "3 of 4. Next: label more"
    assert skipped.get("message") == "3 of 4. Next: label more"


def test_no_case_is_an_empty_document() -> None:
    assert parsed().get("tests") == "0"


def test_hostile_words_stay_words() -> None:
    words = '</failure><testcase name="x"/>]]> & "\' \x00\x1b\ud800\uffff\n\ttail'
    root = parsed(case("failed", of=words, words=words, file=words, condition=words))
    assert len([*root.iter("testcase")]) == 1
    (failure,) = root.iter("failure")
    assert failure.text is not None
    assert failure.text.startswith('</failure><testcase name="x"/>]]> & "\' \ufffd\ufffd\ufffd\ufffd\n\ttail')


@given(st.lists(st.tuples(st.sampled_from(STATES), st.text(), st.text(), st.text()), max_size=8))
def test_every_document_is_well_formed_and_its_sums_are_right(rows: list[tuple[str, str, str, str]]) -> None:
    root = parsed(*(case(state, of=of, words=words, condition=name) for state, of, words, name in rows))
    for element in (root, *root):
        cases = [*element.iter("testcase")]
        assert element.get("tests") == str(len(cases))
        assert element.get("errors") == "0"
        assert element.get("failures") == str(len([*element.iter("failure")]))
        assert element.get("skipped") == str(len([*element.iter("skipped")]))
    assert root.get("tests") == str(len(rows))
    assert root.get("failures") == str(sum(state == "failed" for state, *_ in rows))


def test_the_file_is_utf8_and_the_same_each_time(tmp_path: Path) -> None:
    gate = Gate(cases=(case("failed", words="Prüfung → schlechter"),))
    path = gate.junit(tmp_path / "gate.xml")
    data = path.read_bytes()
    assert "Prüfung → schlechter".encode() in data
    assert b"\r" not in data
    assert gate.junit(path).read_bytes() == data


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        Gate(cases=()).junit(tmp_path)
