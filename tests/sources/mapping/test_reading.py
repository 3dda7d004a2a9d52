from __future__ import annotations

import textwrap

import pytest

from check_workbench.errors import InputError
from check_workbench.sources.mapping import read_mapping, shipped
from check_workbench.sources.mapping.reading import plan_of


def problems(text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        plan_of(textwrap.dedent(text), "m.yaml", name="m")
    return str(caught.value).splitlines()


def test_every_problem_at_once_with_line_and_column() -> None:
    found = problems(
        """\
        name: m
        sumary: x
        parts:
          - files: ../a.json
            record: x
            run:
              input: info..model
              run_idd: id
            decisions:
              - each: labels[]
                decision: {form: x}
                decided_by: $who
            answers:
              check_id: "a{b"
              score: {from: x, match: "(?<=a)b", vals: 1}
        """
    )
    lookaround = found.pop(9)
    assert lookaround.startswith("m.yaml:15:31: RE2 does not take the pattern of match: ")
    assert lookaround.endswith("Patterns are RE2: no lookaround and no backreferences.")
    assert found == [
        "m.yaml:2:1: the mapping has no key 'sumary'. Did you mean 'summary'?",
        "m.yaml:4:12: a pattern of files must stay under the PATH: no .., no / at the start, no \\.",
        "m.yaml:5:5: a part has no key 'record'. Did you mean 'records'?",
        "m.yaml:7:7: run must have run_id: it names it.",
        "m.yaml:7:19: '.model' is no part of a path (in 'info..model').",
        "m.yaml:8:7: run has no key 'run_idd'. Did you mean 'run_id'?",
        (
            "m.yaml:11:19: decision must be a path, a text with holes, = a constant, or a mapping with from, "
            "got a mapping without from."
        ),
        "m.yaml:12:21: $who is not known here. Known: 'file', 'index', 'line', 'path', 'place'.",
        "m.yaml:14:19: a brace does not close; write {{ for a brace that is meant.",
        "m.yaml:15:42: score has no key 'vals'. Did you mean 'values'?",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the mapping is empty"),
        ("- a", "m.yaml:1:1: a mapping must be keys and values, got a list"),
        ("parts: x", "m.yaml:1:8: parts must be a list of parts, got 'x'"),
        ("name: m", "m.yaml:1:1: the mapping must have parts"),
        ("parts: [5]", "m.yaml:1:9: a part must be a mapping, got 5"),
        ("parts: [{files: a}]", "a part must make something: one of run, spans, steps, decisions, answers"),
        ("parts: [{run: {run_id: a}}]", "a part must have files: which files the part is for"),
        ("parts: [{files: a, spans: {type: = t}}]", "spans and steps need a run"),
        ("parts: [{files: a, answers: {check_id: = c}}]", "m.yaml:1:1: answers must have run_id"),
        ("parts: [{files: a, decisions: {run_id: x}}]", "decisions must have decision: approved, problem"),
        ("parts: [{files: a, run: [x]}]", "run must be a mapping of fields, got a list"),
        ("parts: [{files: 'a{b', run: {run_id: x}}]", "a name in braces must be one word"),
        ("parts: [{files: '{a}{a}', run: {run_id: x}}]", "each name in braces may be there once"),
        ("parts: [{files: a, run: {run_id: 'x[]', let: {y: '{x[]}'}}}]", "finds several values"),
        ("parts: [{files: a, run: {run_id: ^x}}]", "'^x' looks 1 out, but nothing lies around this"),
        ("parts: [{files: a, records: 'x[]', run: {run_id: ^^x}}]", "'^^x' looks 2 out, but only 1 lies around this"),
        ("parts: [{files: a, run: {run_id: {a: x}}}]", "run_id must be a path, a text with holes"),
        ("parts: [{files: a, run: {run_id: {from: x, values: y}}}]", "values must be a mapping of what is found"),
        ("parts: [{files: a, run: {run_id: {from: x, default: [1]}}}]", "default must be one value, got a list"),
        ("parts: [{files: a, run: {run_id: {from: x, times: y}}}]", "times must be a number, got 'y'"),
        ("parts: [{files: a, run: {run_id: {from: x, as: int}}}]", "as must be one of number, text, lower, json"),
        ("parts: [{files: a, records: {in: x}, run: {run_id: y}}]", "records must have one of lists, split and find"),
        ("parts: [{files: a, records: {lists: {b: c}, after: x}, run: {run_id: y}}]", "after and before belong to"),
        ("parts: [{files: a, records: 7, run: {run_id: y}}]", "Put a key that is a number in quotes."),
        ("parts: [{files: a, join: {j: x}, run: {run_id: y}}]", "j must be a mapping with file and on"),
        ("parts: [{files: a, join: {j: {file: ../x}}, run: {run_id: y}}]", "must stay under the PATH"),
        ("parts: [{files: a, join: {j: {file: x}}, run: {run_id: y}}]", "the join j must have on"),
        ("parts: [{files: a, let: {x: $y, y: b}, run: {run_id: z}}]", "$y is not known here"),
        ("parts: [{files: a, run: {run_id: z}, spans: {messages: m, type: = t}}]", "messages tell all of their spans"),
        ("parts: [{files: a, run: {run_id: z, input: x[0]}}]", "put a path with brackets in quotes"),
        ("parts: [{files: *.json}]", "Put what starts with * in quotes: '*.json'."),
        ("parts: &p [*p]", "contains itself"),
        ("parts: !!python/object:os.system [x]", "the tag"),
        ("a: &a [x,x]\nb: &b [*a,*a]\nparts: []\nparts: []", "the key 'parts' stands twice"),
    ],
)
def test_what_is_wrong_is_said_in_words(text: str, said: str) -> None:
    assert said in "\n".join(problems(text))


def test_aliases_do_not_blow_up() -> None:
    bomb = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}, *a{n - 1}]\n" for n in range(1, 30))
    assert any("aliases blow the document up" in problem for problem in problems(bomb))


@pytest.mark.parametrize("pattern", ["(a{1000}){1000}", "(", r"(\w)\1", "a" * 10_001, ""])
def test_patterns_that_could_not_end_are_refused(pattern: str) -> None:
    text = f"parts: [{{files: a, run: {{run_id: {{from: x, match: '{pattern}'}}}}}}]"
    assert any("match" in problem for problem in problems(text))


def test_a_mapping_that_is_not_there_names_the_shipped_ones() -> None:
    with pytest.raises(InputError, match="Did you mean 'llm_rubric'"):
        read_mapping("llm_rubrik")
    with pytest.raises(InputError, match="is no file that can be read"):
        read_mapping("a\0b")


def test_a_mapping_that_is_no_text_says_so(tmp_path) -> None:
    path = tmp_path / "m.yaml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match=r"m\.yaml:1:1: the file is UTF-16"):
        read_mapping(path)


def test_the_shipped_mappings_are_sound_and_say_what_they_are_for() -> None:
    names = [mapping.name for mapping in shipped()]
    assert (
        names
        == sorted(names)
        == [
            "llm_rubric",
            "llmbar_evaluators",
            "online_mind2web_webjudge",
            "pandalm_testset",
            "ragas_annotations",
            "ragchecker_meta_eval",
        ]
    )
    assert all(mapping.summary for mapping in shipped())
