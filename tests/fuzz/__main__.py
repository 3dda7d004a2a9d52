"""Hunt for files that crash, hang or exhaust a reader: `python -m tests.fuzz --minutes 60`; needs atheris.

Each format gets an equal share of the time in a process of its own, which is guided by the coverage of
`check_workbench.sources` and starts from real files. A finding stays in the folder that `--out` names.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SECONDS_A_FILE = 20
MEGABYTES = 2048


def main() -> int:
    """Hunt through the formats and say what was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0, help="for all formats together (%(default)s)")
    parser.add_argument("--format", action="append", help="only this format; repeatable")
    parser.add_argument("--corpus", type=Path, default=Path("../shared/realdata"), help="folder of files to start from")
    parser.add_argument("--out", type=Path, default=Path(tempfile.gettempdir(), "fuzz"), help="where findings are kept")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments, rest = parser.parse_known_args()
    if arguments.one:
        return _hunt(arguments.one, rest)
    return _all(arguments)


def _all(arguments: argparse.Namespace) -> int:
    from tests.fuzz.reading import seeds

    files = seeds(arguments.corpus)
    names = arguments.format or sorted(files)
    seconds = int(arguments.minutes * 60 / len(names))
    failed = []
    for name in names:
        corpus, found = arguments.out / name / "corpus", arguments.out / name / "found"
        for folder in (corpus, found):
            folder.mkdir(parents=True, exist_ok=True)
        for place, data in enumerate(files.get(name, [])[:60]):
            (corpus / f"{place:03d}").write_bytes(data)
        flags = [f"-max_total_time={seconds}", f"-timeout={SECONDS_A_FILE}", f"-rss_limit_mb={MEGABYTES}"]
        flags += ["-max_len=200000", f"-artifact_prefix={found}/", "-print_final_stats=1", str(corpus)]
        command = [sys.executable, "-m", "tests.fuzz", "--one", name, *flags]
        with (arguments.out / name / "log").open("wb") as log:
            code = subprocess.run(command, stdout=log, stderr=log, check=False).returncode
        said = "nothing found" if code == 0 else f"see {found} and the log"
        sys.stdout.write(f"{name}: {said} in {seconds} s\n")
        sys.stdout.flush()
        failed += [name] * (code != 0)
    return 1 if failed else 0


def _hunt(name: str, flags: list[str]) -> int:
    import atheris

    with atheris.instrument_imports(include=["check_workbench.sources", "check_workbench.decisions"]):
        from tests.fuzz.mutating import damaged
        from tests.fuzz.reading import consume

    path = Path(tempfile.mkdtemp(), "file.json")

    def read(data: bytes) -> None:
        path.write_bytes(data)
        consume(path, name)

    def mutate(data: bytes, most: int, seed: int) -> bytes:
        if seed % 2 and data:
            return damaged(data, seed)[:most]
        return bytes(atheris.Mutate(data, most))

    atheris.Setup([sys.argv[0], *flags], read, custom_mutator=mutate)
    try:
        atheris.Fuzz()
    finally:
        shutil.rmtree(path.parent)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
