from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from check_workbench.documents import LIMIT, FlawError, decode, parse, plain, read_text

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("data", "words", "line", "column"),
    [
        ("id: x\n".encode("utf-16"), "UTF-16", 1, 1),
        ("id: x\n".encode("utf-16-le"), "UTF-16", 1, 1),
        ("id: x\n".encode("utf-16-be"), "UTF-16", 1, 1),
        (b"id: x\nb: caf\xe9\n", "0xe9", 2, 7),
        (b"\x89PNG\r\n\x1a\n", "0x89", 1, 1),
        (b"a: \xed\xa0\x80", "0xed", 1, 4),
        (b"a: \xc0\xaf", "0xc0", 1, 4),
    ],
)
def test_bytes_that_are_not_utf_8_are_told_in_words(data: bytes, words: str, line: int, column: int) -> None:
    with pytest.raises(FlawError, match=words) as caught:
        decode(data)
    flaw = caught.value.flaw
    assert (flaw.line, flaw.column, flaw.code, flaw.hint) == (line, column, "encoding", "Save the file as UTF-8.")


def test_decoding_keeps_every_byte() -> None:
    data = "\ufeffa: é\r\nb: 1\rc: 2\n\n\n".encode()
    assert decode(data).encode() == data


def test_a_large_file_is_not_read_to_its_end(tmp_path: Path) -> None:
    file = tmp_path / "large.yaml"
    with file.open("wb") as stream:
        stream.truncate(50_000_000)
    with pytest.raises(FlawError, match="larger than 2 MB"):
        read_text(file)


def test_the_largest_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "full.yaml"
    file.write_bytes(b"#" * LIMIT)
    assert len(read_text(file)) == LIMIT


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_front_matter_keeps_places_and_the_body_as_written(newline: str, mark: str) -> None:
    text = mark + newline.join(["---  ", "name: a", "steps: []", "---", "", "# Title --- x", "---", "end"])
    document = parse(text, "markdown")
    assert document.flaws == ()
    assert plain(document.roots[0]) == {"name": "a", "steps": []}
    assert document.body == newline.join(["", "# Title --- x", "---", "end"])
    name = document.at((0, "name"))
    assert name is not None
    assert (name.line, name.column, text[name.start : name.end]) == (2, 7, "a")


@pytest.mark.parametrize(
    ("text", "words"),
    [("# Title\n", "starts"), ("", "starts"), ("---\nname: a\n", "ends"), ("----\na: 1\n---\n", "starts")],
)
def test_markdown_without_front_matter_is_told(text: str, words: str) -> None:
    document = parse(text, "markdown")
    assert document.roots == ()
    assert words in document.flaws[0].message


def test_empty_front_matter_has_no_root() -> None:
    document = parse("---\n---\nWords.", "markdown")
    assert (document.roots, document.flaws, document.body) == ((), (), "Words.")


def test_front_matter_errors_are_placed_in_the_whole_file() -> None:
    document = parse("---\nname: a\nsteps: [\n---\nbody\n", "markdown")
    assert document.flaws[0].line == 4


def test_paths_that_lead_nowhere() -> None:
    document = parse("a: [1]", "yaml")
    paths: list[tuple[str | int, ...]] = [(), (1,), ("a",), (0, "b"), (0, "a", 3), (0, "a", 0, "x")]
    assert [document.at(path) for path in paths] == [None] * 6
