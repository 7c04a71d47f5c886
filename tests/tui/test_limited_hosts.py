"""Hosts that give little, in a real terminal: few open files, locales without Unicode, a folder that is read-only."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from contextlib import closing
from pathlib import Path

import pytest

from attn_tutor.lessons.engine.launching import host_limits
from attn_tutor.lessons.learner.progress import Progress
from tests.course import COURSE
from tests.tui.pty_harness import Pty

COMMAND = [sys.executable, "-m", "attn_tutor"]
LAST = COURSE.lessons[-1].title

LOCALE = ("LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "PYTHONUTF8", "PYTHONIOENCODING")

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="sets limits and capabilities as Linux has them")


@pytest.fixture
def environ(home: Path) -> dict[str, str]:
    """Return the environment of a learner who has not said what language they speak."""
    without = {name: value for name, value in os.environ.items() if name not in LOCALE}
    return {**without, "TERM": "xterm-256color"}


# Open files ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("most", [16, 24, host_limits.FEWEST_FILES, 48, 64, 72])
def test_a_verdict_or_a_reason_for_none(environ: dict[str, str], tmp_path: Path, most: int) -> None:
    """Every child takes some files; without them the judge used to end without a word."""
    answer = tmp_path / "answer.py"
    answer.write_text("x = 1\n")
    limited = ["sh", "-c", f'ulimit -n {most}; exec "$@"', "sh", *COMMAND, "check", "3.1", str(answer)]
    with Pty(limited, {**environ, "LANG": "C.UTF-8"}, columns=120) as terminal:
        status = terminal.wait(90)
        said = " ".join(terminal.text.split())
    if most < host_limits.FEWEST_FILES:
        assert (status, said) == (
            3,
            f"attn-tutor: Only {most} files may be open at once. Raise that with 'ulimit -n 256', and start again.",
        )
    else:
        assert status == 1
        assert said.startswith("NOT PASSED")


# Locales -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("locale", "others"),
    [({"LANG": "C"}, b""), ({"LC_ALL": "POSIX"}, b""), ({"LANG": "ru_RU.KOI8-R"}, "·".encode("koi8-r"))],
    ids=str,
)
def test_a_terminal_without_unicode_gets_none(environ: dict[str, str], locale: dict[str, str], others: bytes) -> None:
    """Also if Python has changed the locale to UTF-8 before the tutor could look at it."""
    with Pty(COMMAND, environ | locale) as terminal:
        sent: bytes = terminal.send(b"", LAST, 30, quiet=0.1)
        sent += terminal.send(b"?", silent=True, quiet=0.2)
        sent += terminal.type(b"qq")
    assert LAST.encode() in sent
    assert {byte for byte in sent if byte > 127} <= {*others}


# A folder that is read-only on purpose -------------------------------------------------------------------------------


def test_a_folder_that_is_read_only_on_purpose_stays_so(environ: dict[str, str]) -> None:
    """The tutor says that nothing is kept, and changes nothing."""
    with closing(Progress.open()) as progress:
        progress.visit(COURSE.lessons[0].id, COURSE.lessons[0].steps[0].id)
    folder = Path(environ["XDG_STATE_HOME"], "attn-tutor")
    before = sorted((file.name, file.read_bytes()) for file in folder.iterdir())
    command = COMMAND
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("root may write everywhere")
        command = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search", *COMMAND]
    folder.chmod(0o500)
    try:
        with Pty(command, {**environ, "LANG": "C.UTF-8"}, columns=100) as terminal:
            terminal.send(b"", "nothing can be written in the folder", 30, quiet=0.1)
            # In the title too, as long as it is so.
            assert "not saved" in terminal.text.splitlines()[0]
            terminal.type(b"q")
            assert terminal.wait() == 0
            terminal.show(terminal.sent_at_end)
        assert stat.S_IMODE(folder.stat().st_mode) == 0o500
        assert sorted((file.name, file.read_bytes()) for file in folder.iterdir()) == before
    finally:
        folder.chmod(0o700)
