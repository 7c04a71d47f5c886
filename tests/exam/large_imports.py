"""How long `import` and `report` take, and how much memory, for files as large as they may be, or larger.

`python -m tests.exam.large_imports [--tree PATH] [FILE ...]` makes each file, has the command read it where there is no
progress yet, and prints a line: what became of it, in seconds and MB of memory. It returns 1 if a command takes more
than `SECONDS` or `MEGABYTES`, or ends in anything but success or a sentence. What it takes has an end in any case, so
that `--tree` can examine the tutor of an old checkout.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from attn_tutor.lessons.learner import exports, tables
from attn_tutor.tui.commands.files import MEBIBYTE, MOST
from attn_tutor.tui.tty.exit_codes import ExitCode

ROOT = Path(__file__).parents[2]
SECONDS, MEGABYTES = 15.0, 300
"""What an import may take, on a busy machine too."""

GIVEN_UP, CEILING = 60.0, 4096 * MEBIBYTE
"""Seconds after which an import is ended, and the address space that it has."""

FIRST = datetime(2024, 1, 1, tzinfo=UTC)
Rows = Iterable[dict[str, str]]


def times() -> Iterator[str]:
    """Yield moments, each a second after the one before."""
    moment = FIRST
    while True:
        yield moment.isoformat(timespec="microseconds")
        moment += timedelta(seconds=1)


def attempts(number: int, length: int, exercises: int = 1, at_once: int = 1) -> Rows:
    """Yield answers of so many characters to so many exercises by turns, so many of them at each moment."""
    moments = times()
    for index in range(number):
        if index % at_once == 0:
            moment = next(moments)
        code = f"{index:08}".ljust(length, "x")
        yield {"exercise": f"exercise-{index % exercises}", "time": moment, "verdict": "failed", "code": code}


def drafts(number: int, length: int) -> Rows:
    """Yield drafts of so many characters."""
    for index, moment in zip(range(number), times(), strict=False):
        yield {"exercise": f"exercise-{index}", "time": moment, "code": "x" * length}


def exported(**rows: Rows) -> bytes:
    """Return an export with these rows, of a version that old tutors read too."""
    return json.dumps({"format": tables.FORMAT, "version": 3, **{name: list(of) for name, of in rows.items()}}).encode()


def kept_codes(number: int, length: int, at_once: int = 1) -> Rows:
    """Yield archived code."""
    for row in attempts(number, length, at_once=at_once):
        yield {"exercise": row["exercise"], "time": row["time"], "code": row["code"], "why": "reset"}


def progress_file(number: int, length: int) -> bytes:
    """Return a progress file with so many answers of so many characters."""
    with closing(sqlite3.connect(":memory:")) as database:
        tables.make_tables(database)
        database.executemany(
            "INSERT INTO attempts (exercise, time, verdict, code) VALUES (:exercise, :time, :verdict, :code)",
            attempts(number, length),
        )
        database.execute("PRAGMA user_version = 3")
        database.commit()
        return database.serialize()


FILES: dict[str, Callable[[], bytes]] = {
    "answers-of-a-year": lambda: exported(attempts=attempts(20_000, 1000, exercises=90)),
    "answers-32-MiB": lambda: exported(attempts=attempts(30_000, 1000)),
    "answers-most-rows": lambda: exported(attempts=attempts(exports.MOST_ROWS, 200)),
    "answers-at-once": lambda: exported(attempts=attempts(exports.MOST_ROWS, 200, at_once=exports.MOST_AT_ONCE)),
    "answers-of-one-moment": lambda: exported(attempts=attempts(60_000, 60, at_once=60_000)),
    "archive-at-once": lambda: exported(kept=kept_codes(exports.MOST_ROWS, 200, at_once=exports.MOST_AT_ONCE)),
    "archive-of-one-moment": lambda: exported(kept=kept_codes(60_000, 60, at_once=60_000)),
    "draft-4-MiB": lambda: exported(drafts=drafts(1, exports.LONGEST)),
    "draft-31-MiB": lambda: exported(drafts=drafts(1, 31 * MEBIBYTE)),
    "draft-150-MiB": lambda: exported(drafts=drafts(1, 150 * MEBIBYTE)),
    "drafts-most-rows": lambda: exported(drafts=drafts(exports.MOST_ROWS, 200)),
    "brackets": lambda: b"[" * (MOST - 1),
    "empty-lists": lambda: b"[" + b"[]," * (MOST // 3 - 2) + b"1]",
    "empty-entries": lambda: exported(attempts=[])[:-3] + b"[" + b"{}," * (MOST // 3 - 100) + b"{}]}",
    "numbers": lambda: b"[" + b"9," * (MOST // 2 - 2) + b"9]",
    "one-number": lambda: b"9" * (MOST - 1),
    "pairs": lambda: b"[" + b'{"a":1},' * (MOST // 8 - 2) + b"1]",
    "texts": lambda: b"[" + b'"ab",' * (MOST // 5 - 2) + b"1]",
    "progress-file-32-MiB": lambda: progress_file(23_000, 1000),
    "progress-file-300-MiB": lambda: progress_file(230_000, 1000),
}


@dataclass(frozen=True)
class Measurement:
    """What became of a command: its exit status (None: it was ended), its words, and what it took."""

    status: int | None
    words: str
    seconds: float
    megabytes: float

    def faults(self) -> list[str]:
        """Return what must not be."""
        faults = ["a traceback"] if "Traceback" in self.words else []
        if self.status is None:
            faults.append("it did not end")
        elif self.status not in (ExitCode.OK, ExitCode.USAGE):
            faults.append(f"exit status {self.status}")
        elif self.status and len(self.words.splitlines()) != 1:
            faults.append("no sentence")
        if self.seconds > SECONDS:
            faults.append(f"more than {SECONDS:.0f} seconds")
        if self.megabytes > MEGABYTES:
            faults.append(f"more than {MEGABYTES} MB")
        return faults

    def __str__(self) -> str:
        shown = "read" if self.status == 0 else self.words.strip().rpartition("\n")[2][-100:]
        faults = "".join(f"; FAILS: {fault}" for fault in self.faults())
        return f"{self.seconds:6.1f} s  {self.megabytes:5.0f} MB  {shown}{faults}"


def measure(tree: Path, verb: str, file: Path, home: Path) -> Measurement:
    """Have a command read a file."""
    environ = {**os.environ, "HOME": str(home), "XDG_STATE_HOME": str(home)}
    command = [sys.executable, "-m", "attn_tutor", verb, str(file)]
    began = time.monotonic()
    with tempfile.TemporaryFile("w+") as words:
        process = subprocess.Popen(
            command, cwd=tree, env=environ, stdout=subprocess.DEVNULL, stderr=words, preexec_fn=_limit_memory
        )
        megabytes = 0.0
        while process.poll() is None and time.monotonic() < began + GIVEN_UP:
            megabytes = max(megabytes, peak_memory(process.pid))
            time.sleep(0.01)
        seconds, status = time.monotonic() - began, process.poll()
        process.kill()
        process.wait()
        words.seek(0)
        return Measurement(status, words.read(), seconds, megabytes)


def peak_memory(pid: int) -> float:
    """Return the most memory in MB that a process has had in its program, 0 once it has ended.

    What the kernel says of a child that has ended includes the memory of the parent that it was copied from.
    """
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found[1]) / 1000 if found else 0


def _limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (CEILING, CEILING))


def main(arguments: Sequence[str]) -> int:
    """Measure all files; return 1 if anything must not be."""
    parser = argparse.ArgumentParser(prog="python -m tests.exam.large_imports", description=__doc__)
    parser.add_argument("--tree", type=Path, default=ROOT, help="the checkout to examine (this one)")
    parser.add_argument("files", nargs="*", metavar="FILE", help=", ".join(FILES))
    options = parser.parse_args(arguments)
    failed = False
    for name in options.files or FILES:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "file"
            size = file.write_bytes(FILES[name]())
            verb = "report" if name.startswith("progress-file") else "import"
            measurement = measure(options.tree, verb, file, Path(folder))
            print(f"{name:22}  {size / MEBIBYTE:5.1f} MiB  {verb}  {measurement}", flush=True)
            failed |= bool(measurement.faults())
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
