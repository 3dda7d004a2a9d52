from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from check_workbench.changes import Gate
from check_workbench.changes.conditions import Case
from check_workbench.changes.junit import junit_xml
from check_workbench.changes.places import document_case
from check_workbench.dialects import survey
from check_workbench.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

STATES = ("passed", "failed", "skipped")
COUNTS, SAID = ("tests", "failures", "errors"), ("type", "message")
PLACE = ("group", "time", "skipped", "timestamp", "hostname", "id", "package", "file", "log", "url")
SCHEMA: dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], bool]] = {
    "testsuites": ((), ("name", "time", *COUNTS), ("testsuite",), False),
    "testsuite": (("name", *COUNTS), PLACE, ("testsuite", "properties", "testcase", "system-out", "system-err"), False),
    "testcase": (("name",), ("time", "classname", "group"), ("skipped", "error", "failure", "system-out"), False),
    "failure": ((), SAID, (), True),
    "skipped": ((), SAID, (), True),
    "system-out": ((), (), (), True),
}
"""Attributes that must be and may be there, children, and whether there may be text. Source: junit-10.xsd."""


def case(state: str, of: str = "loop", words: str = "3 of 4", advice: str = "label more", **fields: str) -> Case:
    told = {"file": "checks/loop.check.yaml", "condition": "calibrated", **fields}
    return Case(of=of, state=state, words=words, advice=advice, **told)  # type: ignore[arg-type]


def parsed(*cases: Case) -> ET.Element:
    return ET.fromstring(junit_xml(Gate(cases=cases)))  # noqa: S314 - written a moment ago


def test_each_case_is_a_test_case_in_the_suite_of_its_check() -> None:
    root = parsed(case("passed"), case("failed", condition="unchanged"), case("skipped", of="other"))
    assert root.tag == "testsuites"
    assert [suite.get("name") for suite in root] == ["loop", "other"]
    assert {suite.get("file") for suite in root} == {"checks/loop.check.yaml"}
    assert [(test.get("classname"), test.get("name")) for test in root.iter("testcase")] == [
        ("loop", "calibrated"),
        ("loop", "unchanged"),
        ("other", "calibrated"),
    ]
    (failure,), (skipped,) = root.iter("failure"), root.iter("skipped")
    assert (failure.get("type"), failure.get("message")) == ("unchanged", "3 of 4")
    assert failure.text == "3 of 4. Next: label more"
    assert skipped.get("message") == "3 of 4. Next: label more"


@given(st.lists(st.tuples(st.sampled_from(STATES), st.text(max_size=9), st.text(max_size=9)), max_size=6))
def test_every_document_is_valid_by_the_schema_of_the_xunit_plugin(rows: list[tuple[str, str, str]]) -> None:
    """The schema of Jenkins names every attribute, requires some, and orders nothing within a case."""
    root = parsed(*(case(state, of=of, words=words) for state, of, words in rows))
    assert root.tag == "testsuites"
    for element in root.iter():
        required, optional, children, has_text = SCHEMA[element.tag]
        assert set(required) <= set(element.attrib) <= {*required, *optional}
        assert {child.tag for child in element} <= set(children)
        assert has_text or not (element.text or "").strip()
        assert all(element.attrib[name].isdigit() for name in ("tests", "failures", "errors") if name in element.attrib)
        assert element.get("time", "0") == "0"
    assert all(len([*test]) == 1 for test in root.iter("testcase"))


def test_a_message_of_great_length_is_whole() -> None:
    words = "ü <&> " * 200_000
    (failure,) = parsed(case("failed", words=words)).iter("failure")
    assert failure.text == f"{words}. Next: label more"


def test_a_document_with_many_errors_tells_the_first(tmp_path: Path) -> None:
    file = tmp_path / "many.check.yaml"
    file.write_text("".join(f"- {{id: c{n}, kind: yes_no, ask: x, flag_at: high}}\n" for n in range(500)))
    (reading,) = survey([file]).readings
    found = document_case(reading)
    assert found.words.count("flag_at") == 10
    assert found.words.endswith("; 490 more")


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
    for element in root:
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
