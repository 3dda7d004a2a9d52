from __future__ import annotations

import errno
import os
import stat
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from check_workbench.errors import InputError
from check_workbench.files import write_file
from check_workbench.rewriting import Rewrite, rewrite_files

if TYPE_CHECKING:
    from collections.abc import Callable

OLD, NEW = b"old\r\n", b"new\n"


def lying(folder: Path, *names: str) -> list[Path]:
    """Return files that hold the old bytes and were written long ago."""
    made = [folder / name for name in names]
    for path in made:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(OLD)
        os.utime(path, ns=(10**18, 10**18))
    return made


def rewrites(*paths: Path) -> list[Rewrite]:
    return [Rewrite(path=path, old=OLD, new=NEW) for path in paths]


def left(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def failing(
    monkeypatch: pytest.MonkeyPatch, at: int, error: BaseException, before: Callable[[], object] = lambda: None
) -> None:
    """Let the move of that number fail, and all later ones go well."""
    real, calls = Path.replace, [0]

    def replace(self: Path, target: Any) -> Path:
        calls[0] += 1
        if calls[0] == at:
            before()
            raise error
        return real(self, target)

    monkeypatch.setattr(Path, "replace", replace)


def full() -> OSError:
    return OSError(errno.ENOSPC, "No space left on device")


class TestOne:
    def test_a_new_file_has_the_mode_of_the_process(self, tmp_path: Path) -> None:
        mask = os.umask(0o027)
        try:
            write_file(tmp_path / "a", NEW)
        finally:
            os.umask(mask)
        assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640
        assert left(tmp_path) == {"a": NEW}

    @pytest.mark.parametrize("mode", [0o600, 0o644, 0o664, 0o755])
    def test_mode_and_owner_stay(self, tmp_path: Path, mode: int) -> None:
        (path,) = lying(tmp_path, "a")
        path.chmod(mode)
        if os.geteuid() == 0:
            os.chown(path, 12345, 54321)
        before = path.stat()
        write_file(path, NEW)
        after = path.stat()
        assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
        assert after.st_mtime_ns > before.st_mtime_ns

    @pytest.mark.parametrize("number", [errno.EPERM, errno.EINVAL, None], ids=["refused", "unmapped", "windows"])
    def test_an_owner_that_cannot_be_kept_is_no_obstacle(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int | None
    ) -> None:
        def refused(*_: Any) -> None:
            raise OSError(number, "refused")

        if number is None:
            monkeypatch.delattr(os, "chown")
        else:
            monkeypatch.setattr(os, "chown", refused)
        (path,) = lying(tmp_path, "a")
        path.chmod(0o640)
        write_file(path, NEW)
        assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (NEW, 0o640)

    def test_links_stay_links(self, tmp_path: Path) -> None:
        (path,) = lying(tmp_path, "a")
        (tmp_path / "one").symlink_to("a")
        (tmp_path / "two").symlink_to(tmp_path / "one")
        (tmp_path / "dangling").symlink_to("b")
        write_file(tmp_path / "two", NEW)
        write_file(tmp_path / "dangling", NEW)
        assert path.read_bytes() == (tmp_path / "b").read_bytes() == NEW
        assert all((tmp_path / name).is_symlink() for name in ("one", "two", "dangling"))

    def test_a_name_of_the_greatest_length(self, tmp_path: Path) -> None:
        write_file(tmp_path / ("ä" * 127), NEW)
        assert left(tmp_path) == {"ä" * 127: NEW}

    def test_a_pipe_is_written_to(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        read: list[bytes] = []
        reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_bytes()))
        reader.start()
        write_file(tmp_path / "pipe", NEW)
        reader.join(10)
        assert read == [NEW]
        assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)

    def test_what_cannot_be_written_is_as_it_was(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (path,) = lying(tmp_path, "a")
        with pytest.raises(InputError, match="nowhere/a: cannot be written: No such file or directory"):
            write_file(tmp_path / "nowhere" / "a", NEW)
        with pytest.raises(InputError, match="cannot be written: Is a directory"):
            write_file(tmp_path, NEW)
        monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(full()))
        with pytest.raises(InputError, match="a: cannot be written: No space left on device"):
            write_file(path, NEW)
        assert left(tmp_path) == {"a": OLD}

    def test_a_file_to_read_only_is_not_replaced(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (path,) = lying(tmp_path, "a")
        monkeypatch.setattr(os, "access", lambda *_: False)
        with pytest.raises(InputError, match="cannot be written: it is read-only"):
            write_file(path, NEW)
        assert left(tmp_path) == {"a": OLD}


class TestSeveral:
    def test_all_are_written(self, tmp_path: Path) -> None:
        one, two, three = lying(tmp_path, "one", "two", "three")
        unchanged = three.stat()
        files = [*rewrites(one, two), Rewrite(path=three, old=OLD, new=OLD)]
        rewrite_files([*files, Rewrite(path=tmp_path / "four", old=None, new=NEW)])
        assert left(tmp_path) == {"one": NEW, "two": NEW, "three": OLD, "four": NEW}
        assert (three.stat().st_ino, three.stat().st_mtime_ns) == (unchanged.st_ino, unchanged.st_mtime_ns)

    def test_nothing_is_nothing(self, tmp_path: Path) -> None:
        rewrite_files([])
        assert left(tmp_path) == {}

    @pytest.mark.parametrize("edit", [lambda path: path.write_bytes(b"theirs"), Path.unlink], ids=["edited", "gone"])
    def test_one_that_changed_before_leaves_all(self, tmp_path: Path, edit: Callable[[Path], object]) -> None:
        one, two = lying(tmp_path, "one", "two")
        edit(two)
        before = left(tmp_path)
        with pytest.raises(InputError, match=r"two: (changed while it was written|cannot be written: No such)") as told:
            rewrite_files(rewrites(one, two))
        assert left(tmp_path) == before
        assert str(told.value).endswith(f"As before: {one}, {two}.")

    def test_a_file_that_came_meanwhile_is_not_lost(self, tmp_path: Path) -> None:
        (one,) = lying(tmp_path, "one")
        with pytest.raises(InputError, match="changed while it was written"):
            rewrite_files([Rewrite(path=one, old=None, new=NEW)])
        assert left(tmp_path) == {"one": OLD}

    def test_a_disk_that_is_full_leaves_all(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        paths = lying(tmp_path, "one", "two", "three")
        real, calls = os.fsync, [0]

        def sync(handle: int) -> None:
            calls[0] += 1
            if calls[0] == 4:
                raise full()
            real(handle)

        monkeypatch.setattr(os, "fsync", sync)
        with pytest.raises(InputError, match="two: cannot be written: No space left on device"):
            rewrite_files(rewrites(*paths))
        assert left(tmp_path) == dict.fromkeys(("one", "two", "three"), OLD)

    @pytest.mark.parametrize("at", [1, 2, 3])
    @pytest.mark.parametrize("error", [full(), KeyboardInterrupt()], ids=["full", "interrupted"])
    def test_a_move_that_fails_puts_the_others_back(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int, error: BaseException
    ) -> None:
        paths = lying(tmp_path, "one", "in/two", "three")
        (tmp_path / "new").mkdir()
        before = [(path.stat().st_mode, path.stat().st_mtime_ns) for path in paths]
        failing(monkeypatch, at, error)
        with pytest.raises(KeyboardInterrupt if isinstance(error, KeyboardInterrupt) else InputError) as told:
            rewrite_files([*rewrites(*paths), Rewrite(path=tmp_path / "new" / "four", old=None, new=NEW)])
        assert left(tmp_path) == dict.fromkeys(("one", "in/two", "three"), OLD)
        assert [(path.stat().st_mode, path.stat().st_mtime_ns) for path in paths] == before
        if isinstance(error, OSError):
            assert str(told.value) == (
                f"{paths[at - 1]}: cannot be written: No space left on device. "
                f"As before: {', '.join(map(str, paths))}, {tmp_path / 'new' / 'four'}."
            )

    def test_a_new_file_is_taken_back(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (one,) = lying(tmp_path, "one")
        failing(monkeypatch, 2, full())
        with pytest.raises(InputError, match="one: cannot be written"):
            rewrite_files([Rewrite(path=tmp_path / "new", old=None, new=NEW), *rewrites(one)])
        assert left(tmp_path) == {"one": OLD}

    def test_an_edit_after_the_move_is_kept_and_told(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        one, two = lying(tmp_path, "one", "two")
        failing(monkeypatch, 2, full(), before=lambda: one.write_bytes(b"theirs"))
        with pytest.raises(InputError) as told:
            rewrite_files(rewrites(one, two))
        assert left(tmp_path) == {"one": b"theirs", "two": OLD}
        assert str(told.value) == (
            f"{two}: cannot be written: No space left on device. "
            f"{one}: was changed by somebody else since, and is left so. As before: {two}."
        )

    def test_what_cannot_be_put_back_is_kept_and_told(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        one, two = lying(tmp_path, "one", "two")
        real = Path.replace

        def replace(self: Path, target: Any) -> Path:
            if target != one or one.read_bytes() == NEW:
                raise full()
            return real(self, target)

        monkeypatch.setattr(Path, "replace", replace)
        with pytest.raises(InputError, match="one: holds the new text and cannot be put back") as told:
            rewrite_files(rewrites(one, two))
        (former,) = tmp_path.glob(".check-workbench-*.tmp")
        assert f"what it held lies in {former}. As before: {two}." in str(told.value)
        assert (former.read_bytes(), one.read_bytes(), two.read_bytes()) == (OLD, NEW, OLD)

    def test_several_writers_at_once_leave_whole_files(self, tmp_path: Path) -> None:
        paths = lying(tmp_path, "one", "two")
        texts = [f"{place}".encode() * 100 for place in range(8)]
        done: list[bytes] = []

        def write(text: bytes) -> None:
            try:
                rewrite_files(Rewrite(path=path, old=OLD, new=text) for path in paths)
            except InputError:
                return
            done.append(text)

        threads = [threading.Thread(target=write, args=(text,)) for text in texts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert {path.read_bytes() for path in paths} <= {OLD, *texts}
        assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "two"]
