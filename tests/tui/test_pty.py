"""The tutor in a real terminal: the bytes that it sends, and its end."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from lessons.format.lesson import Course, ExerciseStep, Lesson, RunningStep, RunStep
from lessons.learner.progress import Progress
from tests.course import COURSE
from tests.tui.pty_harness import Pty

ROOT = Path(__file__).parents[2]
TUTOR = [sys.executable, "-m", "tui"]
KB = 1024
# Byte budgets are for a slow line: 80x24 with the 16 colors of xterm.
START, ARROW, PAGE, NEXT, EDITOR_KEY = 20 * KB, 800, 12 * KB, 5 * KB, 2560
# A view of an exercise is a new screen of text, as the next step is; the text after giving up is longer.
CHECKED, VIEW = 4 * KB, 4 * KB
# A panel moves everything below it, so all but title and keys is sent once, and the marks of an explanation twice.
EXPLAIN, FURTHER, WHAT_IF, KNOB = 3584, 1280, 2560, 2560
ENTER, ESCAPE, BACKSPACE = b"\r", b"\x1b", b"\x7f"
UP, DOWN, RIGHT, LEFT, PAGE_DOWN = b"\x1b[A", b"\x1b[B", b"\x1b[C", b"\x1b[D", b"\x1b[6~"
F2, F3, F5, F6, F8 = b"\x1bOQ", b"\x1bOR", b"\x1b[15~", b"\x1b[17~", b"\x1b[19~"
CTRL_O, CTRL_T, CTRL_Z = b"\x0f", b"\x14", b"\x1a"
LAST = COURSE.lessons[-1].title
"""What the map shows when all of it is there."""

LOADING = 90
"""Seconds that PyTorch may take to load on a busy machine."""

COLOR = re.compile(r"\x1b\[(?:[\d;]*;)?(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:;[\d;]*)?m")

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


@pytest.fixture(scope="module")
def course() -> Course:
    return COURSE


@pytest.fixture
def environ(home: Path) -> dict[str, str]:
    """Return the environment of a learner on SSH, except that frames are not counted."""
    return {**os.environ, "TERM": "xterm"}


def task(course: Course, number: str) -> tuple[Lesson, ExerciseStep]:
    """Return an exercise and its lesson."""
    lesson, exercise = course.exercise(number)
    assert isinstance(exercise, ExerciseStep)
    return lesson, exercise


def stand_at(lesson: str, step: str) -> None:
    """Save the position of a learner at this step."""
    progress = Progress.open()
    progress.set_position(lesson, step)
    progress.close()


def ready(terminal: Pty) -> Callable[[], bool]:
    """Return a condition: the map is shown and PyTorch is loaded."""
    return lambda: LAST in terminal.text and "loading" not in terminal.text


def open_step(terminal: Pty, title: str, warm: bool = True) -> None:
    """Continue at a step, as soon as the worker is ready (`warm`) or at once."""
    terminal.send(b"", ready(terminal) if warm else LAST, LOADING, quiet=0.1)
    terminal.send(ENTER, lambda: terminal.screen.display[0].startswith(f" {title}"), quiet=0.1)


def processes_of(home: Path) -> set[int]:
    """Return all processes that were started with this home directory."""
    mark, found = f"HOME={home}\0".encode(), set()
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and mark in (folder / "environ").read_bytes():
                found.add(int(folder.name))
        except OSError:  # it has ended, or belongs to somebody else
            pass
    return found


def await_none(home: Path, seconds: float = 10) -> None:
    """Wait until no process of this home directory is left."""
    end = time.monotonic() + seconds
    while left := processes_of(home):
        assert time.monotonic() < end, f"these processes stay behind: {left}"
        time.sleep(0.01)


# Bytes --------------------------------------------------------------------------------------------------------------


def test_starting_sends_little_and_idling_nothing(environ: dict[str, str]) -> None:
    with Pty(TUTOR, environ) as terminal:
        sent = terminal.send(b"", ready(terminal), LOADING)
        assert len(sent) <= START
        assert terminal.quiet(1.5) == b""


@pytest.mark.parametrize("name", ["attention-classes", "weight-split"])
def test_next_step(name: str, course: Course, environ: dict[str, str]) -> None:
    """Go through the steps of a lesson and on to the next one, first with recorded results, then with live ones."""
    lesson = course.lesson(name)
    after = course.lessons[course.lessons.index(lesson) + 1]
    steps = [(lesson, step) for step in lesson.steps] + [(after, after.steps[0])]
    stand_at(lesson.id, lesson.steps[0].id)
    with Pty(TUTOR, environ) as terminal:
        open_step(terminal, lesson.steps[0].title)

        def shows(title: str, position: str, live: bool) -> Callable[[], bool]:
            def there() -> bool:
                first = terminal.screen.display[0]
                return first.startswith(f" {title}") and position in first and ("   live" in terminal.text or not live)

            return there

        spent = {}
        for where, step in steps[1:]:
            position = f"lesson {where.number}   step {where.index(step.id) + 1} of"
            live = isinstance(step, RunningStep) and bool(step.show)
            spent[where.id, step.id] = len(terminal.send(F8, shows(step.title, position, live), quiet=0.1))
        assert {key: size for key, size in spent.items() if size > NEXT} == {}
        assert terminal.quiet(0.2) == b""


def test_arrows_and_pages_of_a_large_matrix(course: Course, environ: dict[str, str]) -> None:
    stand_at("gpt2-size", "weights")
    with Pty(TUTOR, environ) as terminal:
        open_step(terminal, course.lesson("gpt2-size").step("weights").title)
        terminal.send(b"", "   live", silent=True, quiet=0.1)
        for key in (RIGHT, RIGHT, DOWN, DOWN, LEFT, UP):
            assert len(terminal.send(key, quiet=0.1)) <= ARROW

        def read_out() -> bool:
            return re.search(r"weights\[0,0,[1-9]\d*,\d+\] = \d", terminal.text) is not None

        for _ in range(4):
            assert len(terminal.send(PAGE_DOWN, read_out, quiet=0.15)) <= PAGE


def test_overviews_of_a_large_matrix(course: Course, environ: dict[str, str]) -> None:
    stand_at("gpt2-size", "weights")
    with Pty(TUTOR, environ) as terminal:
        open_step(terminal, course.lesson("gpt2-size").step("weights").title)
        terminal.send(b"", "   live", silent=True, quiet=0.1)

        def shows(what: str) -> Callable[[], bool]:
            return lambda: re.search(what, terminal.text) is not None

        assert len(terminal.send(b"o", shows(r"max of weights\[0,0,0:\d+,0:\d+\] = 1\.0 "), quiet=0.15)) <= PAGE
        for key in (RIGHT, DOWN, DOWN, LEFT, UP):
            assert len(terminal.send(key, quiet=0.1)) <= ARROW
        assert len(terminal.send(b"v", shows(r"v numbers"), quiet=0.15)) <= PAGE
        assert len(terminal.send(DOWN, quiet=0.1)) <= ARROW
        assert len(terminal.send(b"]", shows(r"max of weights\[0,1,.* = \d"), quiet=0.15)) <= PAGE
        assert len(terminal.send(b"-", shows(r"head 1 of 12   max of its blocks"), quiet=0.3)) <= PAGE
        for key in (RIGHT, DOWN):
            assert len(terminal.send(key, quiet=0.1)) <= ARROW
        assert len(terminal.send(ENTER, shows(r"max of weights\[0,8,.* = \d"), quiet=0.15)) <= PAGE
        assert len(terminal.send(ENTER, shows(r"\n weights\[0,8,\d+,\d+\] = \d"), quiet=0.15)) <= PAGE
        assert len(terminal.send(b"t", shows(r"\n row \d+: .* bits"), quiet=0.15)) <= ARROW
        assert len(terminal.send(DOWN, quiet=0.15)) <= ARROW
        assert terminal.quiet(0.3) == b""


EXPLAINED = [("causal-mask", "causal-weights"), ("stacked-heads", "head-weights"), ("gpt2-size", "weights")]


@pytest.mark.parametrize(("lesson", "step"), EXPLAINED)
def test_explanations(lesson: str, step: str, course: Course, environ: dict[str, str]) -> None:
    stand_at(lesson, step)
    with Pty(TUTOR, environ) as terminal:
        open_step(terminal, course.lesson(lesson).step(step).title)
        terminal.send(b"", "   live", silent=True, quiet=0.1)
        terminal.send(DOWN, quiet=0.1)
        assert len(terminal.send(ENTER, "esc close", quiet=0.15)) <= EXPLAIN
        way = terminal.screen.display[2]
        assert way.startswith(" weights[")
        for key in (RIGHT, RIGHT, LEFT):
            assert len(terminal.send(key, quiet=0.15)) <= ARROW
        for key in (ENTER, BACKSPACE):
            # All text of the panel is new.
            assert len(terminal.send(key, quiet=0.15)) <= FURTHER
        assert terminal.screen.display[2] == way
        assert len(terminal.send(ESCAPE, "enter explain", quiet=0.15)) <= EXPLAIN
        assert terminal.quiet(0.2) == b""


@pytest.mark.parametrize(("lesson", "step"), EXPLAINED)
def test_what_if(lesson: str, step: str, course: Course, environ: dict[str, str]) -> None:
    stand_at(lesson, step)
    with Pty(TUTOR, environ) as terminal:
        open_step(terminal, course.lesson(lesson).step(step).title)
        terminal.send(b"", "   live", silent=True, quiet=0.1)
        before = terminal.screen.display[10:]
        assert len(terminal.send(b"w", "esc restore", quiet=0.15)) <= WHAT_IF
        for _ in course.lesson(lesson).knobs:
            if "> Temperature" not in terminal.text:
                assert len(terminal.send(DOWN, quiet=0.1)) <= ARROW
        for _ in range(2):
            assert len(terminal.send(RIGHT, "  after", quiet=0.2)) <= KNOB
        assert "what if" in terminal.screen.display[0]
        assert terminal.screen.display[10:] != before
        terminal.send(ESCAPE, "enter explain", quiet=0.15)
        terminal.send(b"", lambda: "  after" not in terminal.text, silent=True, quiet=0.1)


def test_keys_in_the_editor(course: Course, environ: dict[str, str]) -> None:
    lesson, exercise = task(course, "3.3")
    stand_at(lesson.id, exercise.id)
    with Pty(TUTOR, environ) as terminal:
        open_step(terminal, exercise.title, warm=False)
        # The fullest screen: no task, and code in every line.
        terminal.send(CTRL_T, "ctrl+t: unfold", quiet=0.1)
        terminal.send(ENTER, "esc: map", quiet=0.1)
        terminal.send(b"\x1b[200~" + exercise.solution.encode() + b"\x1b[201~", quiet=0.1)
        for key in (b"a", b"(", LEFT, b"\x7f", ENTER, b"x", UP, DOWN):
            assert len(terminal.send(key, quiet=0.1)) <= EDITOR_KEY, key


def test_many_keys_at_once_are_painted_together(course: Course, environ: dict[str, str]) -> None:
    """Text that scrolls the code sideways repaints all of it, but not for each character.

    On a busy machine there may be a second or a third paint.
    """
    lesson, exercise = task(course, "3.3")
    stand_at(lesson.id, exercise.id)
    with Pty(TUTOR, environ) as terminal:
        open_step(terminal, exercise.title, warm=False)
        terminal.send(ENTER, "esc: map", quiet=0.1)
        terminal.send(b"\x1b[200~" + exercise.solution.encode() + b"\x1b[201~", quiet=0.1)
        for keys, expected in ((b"word " * 30 + b"end", "word end"), (BACKSPACE * 7, "word w"), (LEFT * 20, None)):
            assert len(terminal.send(keys, expected, quiet=0.3)) <= 3 * EDITOR_KEY, keys


def test_the_views_of_an_exercise(course: Course, environ: dict[str, str]) -> None:
    lesson, exercise = task(course, "3.1")
    stand_at(lesson.id, exercise.id)
    with Pty(TUTOR, environ) as terminal:
        open_step(terminal, exercise.title)
        assert len(terminal.send(F5, "Not yet", quiet=0.3)) <= CHECKED
        assert len(terminal.send(F6, "esc editor", quiet=0.3)) <= VIEW
        assert len(terminal.send(ESCAPE, "Not yet", quiet=0.3)) <= VIEW
        for index in range(len(exercise.hints)):
            assert len(terminal.send(F3, f"Hint {index + 1} of", quiet=0.2)) <= NEXT
        terminal.send(F3, "f3 again", quiet=0.2)
        assert len(terminal.send(F3, "You gave up", quiet=0.5)) <= VIEW
        assert len(terminal.send(b"u", "Taken back", quiet=0.3)) <= VIEW
        assert terminal.quiet(0.3) == b""


EDITORS = {
    "writes": "open(path, 'a').write('# from outside')",
    "fails": "open(path, 'a').write('# half'); sys.exit(3)",
    "deletes": "os.remove(path)",
    "is killed": "os.kill(os.getpid(), signal.SIGKILL)",
    "is interrupted": "os.killpg(os.getpgid(0), signal.SIGINT); open(path, 'a').write('# from outside')",
}
SAYS = {"fails": "exit status 3", "deletes": "left no file", "is killed": "SIGKILL", "is interrupted": "SIGINT"}


@pytest.mark.parametrize("what", EDITORS)
def test_the_learners_own_editor(what: str, course: Course, environ: dict[str, str], tmp_path: Path) -> None:
    lesson, exercise = task(course, "3.1")
    stand_at(lesson.id, exercise.id)
    program = tmp_path / "my editor.py"
    wait = "print('now editing', flush=True); sys.stdin.readline()"
    reset = "signal.signal(signal.SIGINT, signal.SIG_DFL)"
    program.write_text(f"import os, signal, sys\npath = sys.argv[-1]\n{reset}\n{wait}\n{EDITORS[what]}\n")
    environ = {**environ, "VISUAL": f"{sys.executable} '{program}'", "EDITOR": "false"}
    with Pty(TUTOR, environ) as terminal:
        open_step(terminal, exercise.title)
        before = terminal.screen.display
        # The editor has the terminal to itself, in its usual line mode.
        terminal.send(CTRL_O, "now editing", quiet=0.2)
        terminal.resize(100, 30)
        sign = SAYS.get(what, "# from outside")
        terminal.send(ENTER, lambda: sign in terminal.text and terminal.text.count(exercise.title) == 2, quiet=0.3)
        assert terminal.screen.display[0].rstrip().endswith(before[0].split("   ")[-1].rstrip())
        terminal.send(ENTER, "esc: map", quiet=0.2)
        terminal.send(b"x", "x", quiet=0.2)
        if what == "writes":
            terminal.send(CTRL_Z, quiet=0.2)
            terminal.send(CTRL_Z, lambda: "outside" not in terminal.text, quiet=0.2)
        terminal.send(ESCAPE, "q quit", quiet=0.2)
        terminal.send(b"q", silent=True, quiet=0.1)
        assert terminal.wait() == 0
    left = [path.read_text() for path in tmp_path.glob("attn-tutor-*/*.py")]
    assert left == ([f"{exercise.starter}# half"] if what == "fails" else [])


def test_a_connection_lost_while_an_editor_runs(
    course: Course, environ: dict[str, str], home: Path, tmp_path: Path
) -> None:
    """Code that an editor saves as it ends is saved in the tutor too."""
    lesson, exercise = task(course, "3.1")
    stand_at(lesson.id, exercise.id)
    program = tmp_path / "editor.py"
    program.write_text(
        "import signal, sys\n"
        "def save(*_):\n    open(sys.argv[-1], 'a').write('# saved')\n    sys.exit(0)\n"
        "signal.signal(signal.SIGHUP, save)\nprint('now editing', flush=True)\nsignal.pause()\n"
    )
    with Pty(TUTOR, {**environ, "VISUAL": f"{sys.executable} {program}"}) as terminal:
        open_step(terminal, exercise.title)
        terminal.send(CTRL_O, "now editing", quiet=0.2)
        terminal.hang_up()
        assert terminal.wait() == 0
        await_none(home)
    progress = Progress.open()
    assert progress.draft(exercise.exercise) == f"{exercise.starter}# saved"
    progress.close()


def test_no_color(environ: dict[str, str]) -> None:
    stand_at("all-queries", "weights")
    with Pty(TUTOR, {**environ, "NO_COLOR": "1"}) as terminal:
        sent = terminal.send(b"", LAST, quiet=0.1)
        sent += terminal.send(ENTER, "weights[0,0] =", quiet=0.1)
        sent += terminal.send(RIGHT, "weights[0,1] =", quiet=0.1)
        assert COLOR.findall(sent.decode()) == []


# Input --------------------------------------------------------------------------------------------------------------

STEP = "causal-mask/causal-weights"
# For each pane: an exercise or a step, the keys that lead to the pane, and the line that shows the typed text.
INPUTS = {
    "editor": ("3.1", ENTER, r"^ *\d+ .*13$"),
    "prompt": (STEP, b"p", r"^ 13\n enter run"),
    "answer": ("one-query/right-angle", b"", r"^ > 13$"),
    "search": (STEP, F2, r"^ Search >13$"),
    "value": (STEP, b"w" + DOWN * 4, r"more: down\n 13$"),
}


@pytest.mark.parametrize("pane", INPUTS)
def test_keys_do_not_overtake_text(pane: str, course: Course, environ: dict[str, str]) -> None:
    """Text does not overtake the keys that lead to its pane either, even if all of it arrives in one read."""
    name, way, expected = INPUTS[pane]
    if "/" in name:
        lesson_id, _, step_id = name.partition("/")
        title = course.lesson(lesson_id).step(step_id).title
    else:
        lesson, exercise = task(course, name)
        lesson_id, step_id, title = lesson.id, exercise.id, exercise.title
    stand_at(lesson_id, step_id)
    with Pty(TUTOR, environ) as terminal:
        open_step(terminal, title)
        terminal.send(
            way + b"12" + BACKSPACE + b"3",
            lambda: re.search(expected, terminal.text, re.MULTILINE) is not None,
            quiet=0.1,
        )


# Without a screen ---------------------------------------------------------------------------------------------------


def test_no_terminal_gets_text(environ: dict[str, str]) -> None:
    done = subprocess.run(TUTOR, env=environ, stdin=subprocess.DEVNULL, capture_output=True, timeout=LOADING)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"attn-tutor: understand attention")
    assert b"\x1b" not in done.stdout


# Odd places and odd bytes -------------------------------------------------------------------------------------------


def test_bytes_that_are_not_text(environ: dict[str, str]) -> None:
    """Bytes that are not UTF-8 do not end the tutor: https://github.com/Textualize/textual/issues/6456 and 6668."""
    with Pty(TUTOR, environ) as terminal:
        terminal.send(b"", LAST, quiet=0.1)
        # Letters in an old encoding, half a letter, and an old kind of mouse report.
        for index, odd in enumerate((b"\xff", b"\xe9", b"\xd0", b"\x1b[M \xa5\xa5"), 1):
            terminal.send(odd + b"z", silent=True, quiet=0.1)
            terminal.send(DOWN, quiet=0.1)
            assert terminal.screen.buffer[2 + index][1].reverse


def test_starting_in_a_folder_with_a_file_named_torch(course: Course, environ: dict[str, str], tmp_path: Path) -> None:
    """A learner's own torch.py is not taken for the library, and the screen's process loads neither of them."""
    for name in ("torch", "attention"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('the wrong one')\n")
    lesson, exercise = task(course, "3.1")
    with_tensors = [
        step for step in lesson.steps[: lesson.index(exercise.id)] if isinstance(step, RunStep) and step.show
    ]
    stand_at(lesson.id, with_tensors[-1].id)
    with Pty(TUTOR, environ, cwd=tmp_path) as terminal:
        open_step(terminal, with_tensors[-1].title)
        terminal.send(b"", "   live", silent=True, quiet=0.1)
        for step in lesson.steps[lesson.index(with_tensors[-1].id) + 1 : lesson.index(exercise.id) + 1]:
            terminal.send(F8, f" {step.title}  ", quiet=0.1)
        terminal.send(F5, "Not yet", quiet=0.1)
        loaded = Path(f"/proc/{terminal.pid}/maps").read_text()
        assert "python" in loaded
        assert "libtorch" not in loaded


# The end ------------------------------------------------------------------------------------------------------------


def check_something_endless(terminal: Pty, exercise: ExerciseStep) -> None:
    """Start a check of code that never ends, and wait until it runs."""
    open_step(terminal, exercise.title)
    terminal.send(ENTER, "esc: map", quiet=0.1)
    terminal.send(b"\x1b[200~\nwhile True: pass\x1b[201~", "while True", quiet=0.1)
    terminal.send(F5, "checking", quiet=0.1)


def assert_kept(exercise: ExerciseStep, lesson: str) -> None:
    """Assert that the code and the learner's position are on disk."""
    progress = Progress.open()
    draft = progress.draft(exercise.exercise)
    assert draft is not None
    assert draft == f"{exercise.starter.rstrip()}\nwhile True: pass\n"
    assert progress.position() == (lesson, exercise.id)
    progress.close()


@pytest.mark.parametrize("way", ["SIGTERM", "SIGHUP"])
def test_a_signal_ends_it(way: str, course: Course, environ: dict[str, str], home: Path) -> None:
    lesson, exercise = task(course, "3.1")
    stand_at(lesson.id, exercise.id)
    with Pty(TUTOR, environ) as terminal:
        check_something_endless(terminal, exercise)
        assert len(processes_of(home)) >= 3  # the tutor, the worker, and its child
        if way == "SIGTERM":
            terminal.signal(signal.SIGTERM)
        else:
            terminal.hang_up()
        assert terminal.wait() == 0
        await_none(home)
    assert_kept(exercise, lesson.id)


def test_no_process_survives_a_kill(course: Course, environ: dict[str, str], home: Path) -> None:
    lesson, exercise = task(course, "3.1")
    stand_at(lesson.id, exercise.id)
    with Pty(TUTOR, environ) as terminal:
        check_something_endless(terminal, exercise)
        assert len(processes_of(home)) >= 3
        terminal.signal(signal.SIGKILL)
        assert terminal.wait() == -signal.SIGKILL
        await_none(home)
    assert_kept(exercise, lesson.id)
