"""The environment of every test: a home of its own, an ordinary terminal, and no settings of the tutor."""

from __future__ import annotations

import gc
import itertools
import os
import signal
import sys
import tempfile
import warnings
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import hypothesis
import pytest

if TYPE_CHECKING:
    from attn_tutor.lessons.engine.session import Session
    from tests.lessons.course_runs import CourseRuns

FOLDERS = ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")
COLORS = ("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLORTERM", "COLORFGBG")
SESSION = ("SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY", "TMUX", "STY", "TERM_PROGRAM", "COLUMNS", "LINES", "LANGUAGE")

FAILED = pytest.StashKey[bool]()
"""Whether a test has failed, or its fixtures."""

NUMBERS = itertools.count()
"""A number for the folder of each test."""

MOST_JOBS = 8
"""The largest number of parallel test processes, each of which takes half a gigabyte."""


def pytest_configure() -> None:
    """Handle signals as usual, since tests send them; a shell has ctrl+c ignored in the background, nohup a hangup."""
    for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, usual)
    # Speed is measured in bench/; on a busy machine a time limit for each example would fail without a reason.
    hypothesis.settings.register_profile("tutor", deadline=None)
    hypothesis.settings.load_profile("tutor")


def pytest_xdist_auto_num_workers() -> int:
    """Run one process more than there are processors: many tests wait for a terminal or for another process."""
    return min((os.cpu_count() or 1) + 1, MOST_JOBS)


T = TypeVar("T")


def from_own_part(found: list[T]) -> list[T]:
    """Return what was found in a folder, beginning with the part that is for this one of several processes."""
    count = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", 1))
    first = len(found) * int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) // count
    return found[first:] + found[:first]


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Have each parallel process begin with a different part of each folder.

    Each of them imports all tests. In a new checkout that means to compile them, which takes longer than all else that
    happens before the first test. Like this, each file is compiled by one process and read by the others.
    """
    report = yield
    if isinstance(collector, pytest.Dir) and report.passed:
        report.result = from_own_part(report.result)
    return report


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the longest tests first, and the others in an order that does not depend on which file was read first."""
    items.sort(key=lambda item: (item.get_closest_marker("long") is None, item.path.parts))


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Exempt all that was loaded from garbage collection, which would look through half a million objects each time."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note which tests fail."""
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Let go of what a failed test has left: a session that is collected in a later test makes that one fail too."""
    done = yield
    if item.stash.get(FAILED, False):
        # Its exception holds its variables.
        for name in ("last_type", "last_value", "last_traceback", "last_exc"):
            if hasattr(sys, name):
                delattr(sys, name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            gc.collect()
    return done


@pytest.fixture
def tmp_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create an empty folder. pytest's own fixture reads and links folders too, which takes longer than most tests."""
    folder = tmp_path_factory.getbasetemp() / f"test{next(NUMBERS)}"
    folder.mkdir()
    return folder


@pytest.fixture(scope="session")
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the cache folder of all tests, so that not every process they start reads all files of the course."""
    folder = tmp_path_factory.getbasetemp()
    # Parallel test processes have a folder each, side by side.
    return (folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder) / "cache"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a fresh home directory, so that no test reaches the files of the person who runs it."""
    home_folder = tmp_path / "home"
    home_folder.mkdir()
    monkeypatch.setenv("HOME", str(home_folder))
    for name in FOLDERS:
        monkeypatch.setenv(name, str(home_folder / name.lower()))
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache_folder))
    for name in list(os.environ):
        if name in COLORS or name in SESSION or name.startswith(("ATTN_TUTOR_", "TEXTUAL", "LC_")):
            monkeypatch.delenv(name)
    # Also what goes to the directory for temporary files.
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("LANG", "C.UTF-8")
    return home_folder


@pytest.fixture(scope="session")
def session() -> Iterator[Session]:
    """Start one worker for all tests, because loading PyTorch takes longer than most of them."""
    from attn_tutor.lessons.engine.session import Session

    session = Session()
    session.start()
    yield session
    session.close()


@pytest.fixture(scope="session")
def worker(session: Session) -> Session:
    """Return the session, for tests of what only a fork server can do."""
    if sys.platform != "linux":
        pytest.skip("the fork server is for Linux")
    return session


@pytest.fixture(scope="session")
def results(worker: Session, cache_folder: Path) -> CourseRuns:
    """Return the results of the lessons of the course; each lesson runs once for all tests of all processes."""
    from tests.lessons.course_runs import CourseRuns

    return CourseRuns(worker, cache_folder / "course-runs")
