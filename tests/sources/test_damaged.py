"""Files that are damaged where they begin: every reader says so, and a load goes on."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

import pytest

from check_workbench.sources import READERS, Origin, Rejected, recognise

if TYPE_CHECKING:
    from pathlib import Path

    from check_workbench.store import Store


def archive_of_a_later_version(path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", "{}")
    data = bytearray(path.read_bytes())
    place = data.index(b"PK\x01\x02")
    data[place + 6 : place + 8] = (253).to_bytes(2, "little")
    path.write_bytes(data)
    return path


def test_an_archive_of_a_version_that_is_not_known(tmp_path: Path, store: Store) -> None:
    path = archive_of_a_later_version(tmp_path / "log.eval")
    found = recognise(path)
    assert isinstance(found, Rejected)
    assert "version" in found.reason
    assert [one.file for one in store.load(tmp_path).rejected] == [str(path)]
    read = READERS["inspect"].read
    assert read is not None
    [rejected] = read(path, Origin.of(path))
    assert isinstance(rejected, Rejected)
    assert "the archive is damaged" in rejected.reason


@pytest.mark.parametrize("name", sorted(name for name, one in READERS.items() if one.read is not None))
def test_a_compressed_file_of_two_bytes(tmp_path: Path, name: str) -> None:
    path = tmp_path / "x.json.gz"
    path.write_bytes(b"\x1f\x8b")
    read = READERS[name].read
    assert read is not None
    found = list(read(path, Origin.of(path)))
    assert found
    assert all(isinstance(one, Rejected) for one in found)
