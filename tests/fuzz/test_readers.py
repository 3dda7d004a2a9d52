"""Every reader, over damaged copies of real files."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from check_workbench.sources import READERS, Origin
from tests.fuzz.mutating import damaged
from tests.fuzz.reading import consume, recognised, seeds

if TYPE_CHECKING:
    from pathlib import Path

NAMES = sorted(name for name, reader in READERS.items() if reader.read is not None)


@functools.cache
def _seeds(folder: Path) -> dict[str, list[bytes]]:
    return seeds(folder)


@pytest.mark.parametrize("name", NAMES)
def test_a_damaged_real_file_never_breaks_its_reader(
    realdata: Path, tmp_path_factory: pytest.TempPathFactory, name: str
) -> None:
    files = _seeds(realdata).get(name)
    if not files:
        pytest.skip(f"no real file of format {name}")
    copy = tmp_path_factory.mktemp("damaged") / "copy.json"

    @settings(max_examples=25, database=None)
    @given(st.sampled_from(range(len(files))), st.integers(0, 2**32))
    def check(place: int, seed: int) -> None:
        copy.write_bytes(damaged(files[place], seed))
        assert consume(copy, name) >= 0
        recognised(copy)

    check()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("junk", [b"", b"{", b"[", b"null", b"[[[[", b'{"a": ' * 5000, b"\x00" * 64, b"PK\x03\x04junk"])
def test_junk_is_refused_in_words(tmp_path: Path, name: str, junk: bytes) -> None:
    path = tmp_path / "junk.json"
    path.write_bytes(junk)
    read = READERS[name].read
    assert read is not None
    assert Origin.of(path).stem == "junk"
    assert consume(path, name) < 50
