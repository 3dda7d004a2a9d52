from __future__ import annotations

import json
from pathlib import Path

import pytest

from check_workbench.dialects import read, read_checks, validate_json
from check_workbench.dialects.reading import survey
from check_workbench.errors import InputError, UnknownNameError

RULE = "id: {id}\nkind: rule\nrule: {{type: errors, at_least: {at_least}}}\n"
PROCESS = (
    "---\nname: p\ndescription: d\nsteps:\n- {id: s, agent: x, check: [{ask: c, fail: 0}]}\n- {id: e, finish: f}\n---\n"
)


def rule(file: Path, id_: str = "a", at_least: int = 3) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(RULE.format(id=id_, at_least=at_least))
    return file


def at_least(check: object) -> float:
    return check.items[0].cut.value  # type: ignore[attr-defined, no-any-return]


def test_folders_are_searched_and_checks_sorted_by_id(tmp_path: Path) -> None:
    rule(tmp_path / "z.yaml", "b")
    rule(tmp_path / "deep" / "er" / "y.yml", "a")
    rule(tmp_path / ".neatroots" / "checks" / "n.yaml", "n")
    rule(tmp_path / ".git" / "hidden.yaml", "hidden")
    rule(tmp_path / "node_modules" / "other.yaml", "other")
    (tmp_path / "PROCESS.md").write_text(PROCESS)
    (tmp_path / "c.json").write_text('{"id":"c","kind":"rule","rule":{"type":"errors"}}')
    found = read_checks(tmp_path)
    assert [check.id for check in found] == ["a", "b", "c", "n", "p/s"]
    assert found[0].file == str(tmp_path / "deep" / "er" / "y.yml")
    assert found == read_checks(str(tmp_path)) == read_checks([tmp_path])


def test_files_that_are_no_check_documents_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "deploy.yaml").write_text("apiVersion: v1\nkind: Deployment\nmetadata: {name: x}\n")
    (tmp_path / "values.yaml").write_text("{{ .Values.x }}: [")
    (tmp_path / "package.json").write_text('{"name": "x", "rules": ')
    (tmp_path / "README.md").write_text("# Title\n---\nid: a\n---\n")
    (tmp_path / "runs.json").write_text('[{"id": "r", "kind": "x", "spans": []}]')
    (tmp_path / "more.json").write_text('{"run_id": "r", "steps": [{"task": "t", "check": {"passed": true}}]}')
    (tmp_path / "cut.json").write_text('{"run_id": "r", "steps": [{"task": "t", "check": {"pas')
    (tmp_path / "ci.yaml").write_text("jobs: {a: {steps: [{run: x}]}}\nsteps: [{run: y, name: check}]\n")
    (tmp_path / "runs.jsonl").write_text("{}\n")
    (tmp_path / "gone.yaml").symlink_to(tmp_path / "nowhere")
    (tmp_path / "empty.yaml").write_text("")
    (tmp_path / "words.yaml").write_text("# only words\n")
    (tmp_path / "logo.md").write_bytes(b"\x89PNG\r\n\x1a\n\x00")
    (tmp_path / "folder.yaml").mkdir()
    assert read(tmp_path) == []
    assert validate_json(tmp_path) == {"files": []}
    assert survey([tmp_path]).others == 12
    with pytest.raises(InputError, match="holds no check"):
        read_checks(tmp_path)


LOST = [
    ("a.yaml", b"", "no-check", "the file is empty"),
    ("a.yaml", b"  \n", "no-check", "the file is empty"),
    ("a.yaml", b"# only words\n", "no-check", "nothing, comments apart"),
    ("a.yaml", b"loop over the same call\n", "no-check", "plain text"),
    ("a.yaml", b"apiVersion: v1\nkind: Deployment\n", "no-check", "no check that the workbench knows"),
    ("a.json", b"[]", "no-check", "nothing, comments apart"),
    ("a.txt", b"hello", "no-check", "plain text"),
    ("a.md", b"---\ntitle: x\n---\n", "no-check", "no check that the workbench knows"),
]


@pytest.mark.parametrize(("name", "data", "code", "words"), LOST)
def test_a_named_file_without_a_check_is_an_error(
    tmp_path: Path, name: str, data: bytes, code: str, words: str
) -> None:
    (tmp_path / name).write_bytes(data)
    (listed,) = validate_json(tmp_path / name)["files"]
    ((found,), checks) = listed["problems"], listed["checks"]
    assert (found["line"], found["severity"], found["code"], checks) == (1, "error", code, [])
    assert words in found["message"]
    with pytest.raises(InputError, match=words):
        read_checks(tmp_path / name)


@pytest.mark.parametrize(("_", "data", "code", "words"), LOST[:5])
@pytest.mark.parametrize("name", ["x.check.yaml", "x.check.yml", "X.CHECK.YAML"])
def test_a_file_that_is_named_like_a_check_never_vanishes(
    tmp_path: Path, _: str, data: bytes, name: str, code: str, words: str
) -> None:
    rule(tmp_path / "good.check.yaml")
    (tmp_path / name).write_bytes(data)
    (problem,) = (p for file in validate_json(tmp_path)["files"] for p in file["problems"])
    assert (problem["severity"], problem["code"]) == ("error", code)
    assert words in problem["message"]
    with pytest.raises(InputError, match=words):
        read_checks(tmp_path)


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("titles.yaml", "id: a\nkind: page\ntitle: b\n", "unknown-value"),
        ("book.json", '{"id": 1, "ask": 1.2, "kind": "limit", "levels": [1, 2]}', "unknown-value"),
        ("cut.json", '{"name": "x", "rule": ', "syntax"),
        ("word.yaml", "id: a\nkind: rule\nrule: repeat\n", "wrong-type"),
        ("rule.yaml", "rule: repeat\n", "wrong-type"),
        ("code.yaml", "x: !!python/object/apply:os.system [ls]\n", "tag"),
        ("process.yaml", "name: p\nsteps:\n- {id: s, agent: x, check: c}\n", "no-check"),
        ("nested.yaml", "checks:\n- id: a\n  kind: rule\n  rule: {type: errors}\n", "no-check"),
        ("PROCESS.md", "---\nname: p\nsteps:\n- {id: s, chek: c}\n---\n", "step-kind"),
        ("PROCESS.md", "---\nname: p\nsteps: {s: {check: c}}\n---\n", "wrong-type"),
    ],
)
def test_a_file_with_a_key_of_a_check_never_vanishes(tmp_path: Path, name: str, text: str, code: str) -> None:
    (tmp_path / name).write_text(text)
    (listed,) = validate_json(tmp_path)["files"]
    assert code in {p["code"] for p in listed["problems"] if p["severity"] == "error"}


def test_wide_text_a_broken_link_and_a_linked_folder_do_not_vanish(tmp_path: Path) -> None:
    checks = tmp_path / "checks"
    rule(checks / "good.check.yaml")
    (checks / "wide.yaml").write_bytes(RULE.format(id="w", at_least=3).encode("utf-16"))
    rule(tmp_path / "team" / "theirs.yaml", "t")
    (checks / "team").symlink_to(tmp_path / "team")
    (checks / "loop").symlink_to(checks)
    found = {Path(r.file).name: [p.code for p in r.problems] for r in read(checks)}
    assert found == {"good.check.yaml": [], "theirs.yaml": [], "wide.yaml": ["encoding"]}
    (checks / "gone.check.yaml").symlink_to(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"gone\.check\.yaml: cannot be read"):
        read(checks)


def test_a_process_without_checks_is_a_warning_in_a_folder_and_an_error_by_name(tmp_path: Path) -> None:
    file = tmp_path / "PROCESS.md"
    file.write_text("---\nname: p\ndescription: d\nsteps:\n- {id: s, agent: x}\n- {id: e, finish: f}\n---\n")
    assert [(p.severity, p.code) for r in read(tmp_path) for p in r.problems] == [("warning", "no-check")]
    assert [(p.severity, p.code) for r in read(file) for p in r.problems] == [("error", "no-check")]


def test_one_check_of_a_file_is_validated(tmp_path: Path) -> None:
    file = tmp_path / "two.yaml"
    file.write_text("- id: a\n  kind: yes_no\n  ask: x\n- id: c\n  kind: yes_no\n  ask: y\n")
    assert [f["checks"] for f in validate_json(f"{file}#c")["files"]] == [["c"]]
    assert [f["checks"] for f in validate_json(f"{tmp_path}#c")["files"]] == [["c"]]
    assert [f["checks"] for f in validate_json([f"{file}#a", f"{file}#c"])["files"]] == [["a", "c"]]
    with pytest.raises(UnknownNameError, match="Known: 'a', 'c'"):
        validate_json(f"{file}#d")
    file.write_text("- id: a\n  kind: yes_no\n  ask: x\n- kind: yes_no\n  ask: y\n")
    assert [p["code"] for f in validate_json(f"{file}#d")["files"] for p in f["problems"]] == ["missing-key"]


def test_a_broken_document_is_listed_with_the_dialect_it_looks_like(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("id: a\nkind: rule\nrule: {type: errors\n")
    (tmp_path / "b.json").write_text('{"id": "b", "kind": "rule", "rule": {"type": "errors"},}')
    (tmp_path / "PROCESS.md").write_text("---\nname: p\nsteps:\n  - id: [\n---\n")
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "PROCESS.md").write_text("# No front matter\n")
    found = read(tmp_path)
    assert [(Path(r.file).name, r.dialect, r.checks, len(r.problems)) for r in found] == [
        ("PROCESS.md", "check-1", (), 1),
        ("a.yaml", "neatroots", (), 1),
        ("b.json", "neatroots", (), 1),
        ("PROCESS.md", "check-1", (), 1),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "id: a\nask: x\n",
        "id: a\nkind: rul\n",
        "kind: score\n\nlevels: [a, b]\n",
        "- id: a\n  flag_at: 0.5\n",
        "rule: {type: errors}\n",
        '[{"id":"a","kind":"yesno","ask":"x"}]',
    ],
)
def test_a_document_with_a_few_keys_of_a_check_is_one(tmp_path: Path, text: str) -> None:
    (tmp_path / ("a.json" if text.startswith("[") else "a.yaml")).write_text(text)
    (found,) = read(tmp_path)
    assert found.dialect == "neatroots"
    assert {p.code for p in found.problems} & {"missing-key", "unknown-value"}


def test_a_process_by_another_name_with_old_line_ends(tmp_path: Path) -> None:
    (tmp_path / "vendor.md").write_bytes(PROCESS.replace("\n", "\r").encode())
    assert [check.id for check in read_checks(tmp_path)] == ["p/s"]


@pytest.mark.parametrize(
    ("name", "data", "dialect", "code"),
    [
        ("a.yaml", b"a: [", "neatroots", "syntax"),
        ("a.yaml", b"\x00\x01\x02", "neatroots", "syntax"),
        ("a.yaml", b"\xff\xfea\x00", "neatroots", "encoding"),
        ("a.json", b"{", "neatroots", "syntax"),
        ("a.md", b"words", "check-1", "front-matter"),
        ("a.check", b"id: a\nkind: [", "neatroots", "syntax"),
        ("a.yaml", b"#" * 2_000_001, "neatroots", "too-large"),
    ],
)
def test_a_broken_file_that_was_named_is_always_listed(
    tmp_path: Path, name: str, data: bytes, dialect: str, code: str
) -> None:
    (tmp_path / name).write_bytes(data)
    found = read(tmp_path / name)
    assert [(r.dialect, [p.code for p in r.problems]) for r in found] == [(dialect, [code])]
    with pytest.raises(InputError, match=rf"{name}:\d+:\d+: "):
        read_checks(tmp_path / name)


def test_one_check_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "two.yaml"
    file.write_text("- id: a#b\n  kind: yes_no\n  ask: x\n- id: c\n  kind: yes_no\n  ask: y\n")
    assert [check.id for check in read_checks(f"{file}#c")] == ["c"]
    assert [check.id for check in read_checks(f"{file}#a#b")] == ["a#b"]
    assert [check.id for check in read_checks([f"{file}#c", f"{file}#a#b"])] == ["a#b", "c"]
    assert [check.id for check in read_checks(f"{tmp_path}#c")] == ["c"]
    with pytest.raises(UnknownNameError, match="Known: 'a#b', 'c'"):
        read_checks(f"{file}#d")
    with pytest.raises(UnknownNameError):
        read_checks(f"{file}#")


def test_a_file_with_a_hash_in_its_name(tmp_path: Path) -> None:
    file = rule(tmp_path / "odd#1.yaml")
    assert [check.id for check in read_checks(file)] == ["a"]
    assert [check.id for check in read_checks(f"{file}#a")] == ["a"]


def test_one_id_in_two_given_files_is_an_error_that_names_both(tmp_path: Path) -> None:
    one, two = rule(tmp_path / "one.yaml"), rule(tmp_path / "two.yaml")
    with pytest.raises(InputError) as caught:
        read_checks([one, two])
    assert str(one) in str(caught.value)
    assert str(two) in str(caught.value)
    listed = validate_json([tmp_path])["files"]
    assert [[p["code"] for p in file["problems"]] for file in listed] == [[], ["id-clash"]]
    assert str(one) in listed[1]["problems"][0]["message"]


def test_one_file_given_twice_is_read_once(tmp_path: Path) -> None:
    file = rule(tmp_path / "one.yaml")
    (tmp_path / "link.yaml").symlink_to(file)
    assert len(read_checks([file, file, tmp_path, f"{file}#a"])) == 1
    assert len(validate_json([tmp_path, file])["files"]) == 1


def test_a_given_check_wins_over_the_users_own_and_that_over_a_shipped_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert read_checks(user=True) == ()
    rule(tmp_path / "home" / ".neatroots" / "checks" / "mine.yaml", "a", 5)
    rule(tmp_path / "home" / ".neatroots" / "checks" / "more.yaml", "b", 6)
    given = rule(tmp_path / "given.yaml", "a", 7)
    assert [(c.id, at_least(c)) for c in read_checks(user=True)] == [("a", 5), ("b", 6)]
    assert [(c.id, at_least(c)) for c in read_checks(given, user=True)] == [("a", 7), ("b", 6)]
    assert [(c.id, at_least(c)) for c in read_checks(given)] == [("a", 7)]


def test_shipped_checks_are_read_from_the_package_without_a_file(tmp_path: Path) -> None:
    shipped = read_checks(library=True)
    assert all(check.file is None for check in shipped)
    if shipped:
        mine = rule(tmp_path / "mine.yaml", shipped[0].id, 99)
        found = {check.id: check for check in read_checks(mine, library=True)}
        assert len(found) == len(shipped)
        assert at_least(found[shipped[0].id]) == 99


def test_every_error_of_every_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("id: a\nkind: rul\nrule: {type: error}\n")
    (tmp_path / "b.yaml").write_text("id: b\nkind: yes_no\nask: x\nflag_at: 2\n")
    with pytest.raises(InputError) as caught:
        read_checks(tmp_path)
    lines = str(caught.value).splitlines()
    assert [line.removeprefix(str(tmp_path) + "/").split(": ")[0] for line in lines] == [
        "a.yaml:2:7",
        "a.yaml:3:14",
        "b.yaml:4:10",
    ]
    assert "Did you mean 'errors'?" in lines[1]


def test_warnings_and_notes_raise_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("id: a\nkind: yes_no\nask: Did it claim x?\nflag_at: 0.95\n")
    assert len(read_checks(tmp_path)) == 1


@pytest.mark.parametrize("path", ["nowhere.yaml", "nowhere#a", "#a", "x" * 999, "x" * 999 + "#a", ""])
def test_a_path_that_does_not_exist(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if path:
        with pytest.raises(InputError, match="no such file or folder"):
            read_checks(path)
    else:
        with pytest.raises(InputError, match="holds no check"):
            read_checks(path)


def test_validate_has_the_form_that_programs_rely_on(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("id: a\nkind: yes_no\nask: x\nflag_att: 1\n")
    found = validate_json(str(tmp_path))
    assert json.loads(json.dumps(found)) == {
        "files": [
            {
                "file": str(tmp_path / "a.yaml"),
                "dialect": "neatroots",
                "checks": ["a"],
                "problems": [
                    {
                        "line": 4,
                        "column": 1,
                        "severity": "error",
                        "code": "unknown-key",
                        "message": "the check has no key 'flag_att'",
                        "hint": "Did you mean 'flag_at'?",
                    },
                ],
            },
        ],
    }


def test_odd_ids_are_read_as_written(tmp_path: Path) -> None:
    ids = ["it's", 'say "x"', "a#b", "a/b", "übung", "a b", "; drop table runs", "{tool}", "-x", "\U0001f600"]
    (tmp_path / "odd.json").write_text(json.dumps([{"id": i, "kind": "yes_no", "ask": "x"} for i in ids]))
    assert {check.id for check in read_checks(tmp_path)} == set(ids)
    for id_ in ids:
        assert [check.id for check in read_checks(f"{tmp_path / 'odd.json'}#{id_}")] == [id_]
