"""The tutor in a real terminal: the bytes that it sends, and its end."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from attn_tutor.lessons.format import main_path
from attn_tutor.lessons.format.lesson import Course, ExerciseStep, Lesson, RunningStep, RunStep, Step
from attn_tutor.lessons.learner import progress_file
from attn_tutor.lessons.learner.progress import Progress
from tests.course import COURSE
from tests.lessons.processes import wait_until
from tests.tui.pty_harness import MARK, Pty, await_none, processes_of

ROOT = Path(__file__).parents[2]
TUTOR = [sys.executable, "-m", "attn_tutor"]
KB = 1024
# Byte budgets are for a slow line: 80x24 with 256 colors and a background of our own, which takes more than 16 do.
START, ARROW, PAGE, NEXT, EDITOR_KEY, PASTE = 6 * KB, 700, 3328, 4 * KB, 256, 3 * KB
# A view of an exercise is a new screen of text, as the next step is; the text after giving up is longer.
CHECKED, VIEW = 1536, 3328
# A panel moves everything below it, so most of the screen is new.
EXPLAIN, FURTHER, WHAT_IF, KNOB = 3328, 1536, 3 * KB, KB
ENTER, ESCAPE, BACKSPACE = b"\r", b"\x1b", b"\x7f"
UP, DOWN, RIGHT, LEFT, PAGE_DOWN = b"\x1b[A", b"\x1b[B", b"\x1b[C", b"\x1b[D", b"\x1b[6~"
F2, F3, F5, F6 = b"\x1bOQ", b"\x1bOR", b"\x1b[15~", b"\x1b[17~"
F7, F8, F9 = b"\x1b[18~", b"\x1b[19~", b"\x1b[20~"
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
    """Return the environment of a learner whose terminal tells nothing about the line to it."""
    return {**os.environ, "TERM": "xterm-256color", MARK: str(home)}


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


@dataclass
class Shared:
    """The tutor that tests share, once one of them has started it, and its folder for temporary files."""

    folder: Path
    terminal: Pty | None = None

    @property
    def editor(self) -> Path:
        """The program that is the learner's own editor; what it does is up to each test."""
        return self.folder / "my editor.py"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    """Yield what tests share."""
    shared = Shared(tmp_path_factory.mktemp("shared"))
    yield shared
    if shared.terminal is not None:
        shared.terminal.end()


@pytest.fixture
def tutor(shared: Shared, environ: dict[str, str]) -> Pty:
    """Return a tutor that has loaded PyTorch and shows the map.

    Tests share it, since to start one takes longer than most of them, and what one leaves open is closed here. They
    share a home directory too, that of the first test.
    """
    if shared.terminal is not None and not return_to_map(shared.terminal):
        shared.terminal.end()
        shared.terminal = None
    if shared.terminal is None:
        editor = {"VISUAL": f"{sys.executable} '{shared.editor}'", "EDITOR": "false"}
        shared.terminal = Pty(TUTOR, {**environ, **editor, "TMPDIR": str(shared.folder)})
        shared.terminal.send(b"", ready(shared.terminal), LOADING, quiet=0.1)
    return shared.terminal


def return_to_map(terminal: Pty) -> bool:
    """Close whatever is open. Returns whether that led to the map."""
    for _ in range(5):
        if LAST in terminal.text:
            return True
        terminal.send(ESCAPE, silent=True, quiet=0.2)
    return False


def go_to(terminal: Pty, lesson: Lesson, step: Step) -> None:
    """Go from the map to a step: open its lesson, which shows the step seen last, and go on or back from there."""
    row = next(row for row in range(2, 24) if terminal.screen.buffer[row][1].reverse)
    # The line above the first lesson continues where the learner was.
    way = 3 + COURSE.lessons.index(lesson) - row
    terminal.send((DOWN if way > 0 else UP) * abs(way), silent=True, quiet=0.1)
    place = re.compile(rf"lesson {lesson.number}   step (\d+) of")
    terminal.send(ENTER, lambda: place.search(terminal.screen.display[0]) is not None, quiet=0.1)
    found = place.search(terminal.screen.display[0])
    assert found is not None
    # The keys lead along the main path, and steps are numbered on it.
    wanted = lesson.main_steps.index(step) + 1
    for number in range(int(found[1]), wanted):
        terminal.send(F8, f"lesson {lesson.number}   step {number + 1} of", quiet=0.05)
    for number in range(int(found[1]), wanted, -1):
        terminal.send(F7, f"lesson {lesson.number}   step {number - 1} of", quiet=0.05)
    terminal.send(b"", lambda: terminal.screen.display[0].startswith(f" {step.title}"), silent=True, quiet=0.1)


def ready(terminal: Pty) -> Callable[[], bool]:
    """Return a condition: the map is shown and PyTorch is loaded."""
    return lambda: LAST in terminal.text and "loading" not in terminal.text


def open_step(terminal: Pty, title: str, warm: bool = True) -> None:
    """Continue at a step, as soon as the worker is ready (`warm`) or at once."""
    terminal.send(b"", ready(terminal) if warm else LAST, LOADING, quiet=0.1)
    terminal.send(ENTER, lambda: terminal.screen.display[0].startswith(f" {title}"), quiet=0.1)


# Bytes --------------------------------------------------------------------------------------------------------------


def test_starting_sends_little_and_idling_nothing(environ: dict[str, str]) -> None:
    with Pty(TUTOR, environ) as terminal:
        sent = terminal.send(b"", ready(terminal), LOADING)
        assert sent.needed <= START
        assert terminal.quiet(1.5) == b""
        terminal.send(b"q", silent=True, quiet=0.1)
        assert terminal.wait() == 0


@pytest.mark.parametrize("name", ["attention-classes", "weight-split"])
def test_next_step(name: str, course: Course, tutor: Pty) -> None:
    """Go through the steps of a lesson and on to the next one, first with recorded results, then with live ones."""
    lesson = course.lesson(name)
    after = course.lessons[course.lessons.index(lesson) + 1]
    steps = [(lesson, step) for step in lesson.main_steps] + [(after, after.steps[0])]
    go_to(tutor, lesson, lesson.steps[0])

    def shows(title: str, position: str, live: bool) -> Callable[[], bool]:
        def there() -> bool:
            first = tutor.screen.display[0]
            return first.startswith(f" {title}") and position in first and ("   live" in tutor.text or not live)

        return there

    spent = {}
    for where, step in steps[1:]:
        position = f"lesson {where.number}   {main_path.position_of(where.steps, step.id)}"
        live = isinstance(step, RunningStep) and bool(step.show)
        spent[where.id, step.id] = tutor.send(F8, shows(step.title, position, live), quiet=0.1).needed
    assert {key: size for key, size in spent.items() if size > NEXT} == {}
    assert tutor.quiet(0.2) == b""


def test_arrows_and_pages_of_a_large_matrix(course: Course, tutor: Pty) -> None:
    lesson = course.lesson("gpt2-size")
    go_to(tutor, lesson, lesson.step("weights"))
    tutor.send(b"", "   live", silent=True, quiet=0.1)
    # Another test may have left the overview of this tutor before.
    if "arrows cell" not in tutor.text:
        tutor.send(ESCAPE, "arrows cell", quiet=0.1)
    # The last columns and rows of the window are passed, so the window scrolls.
    for key in (RIGHT,) * 9 + (DOWN,) * 9 + (LEFT, UP):
        assert tutor.send(key, quiet=0.1).needed <= ARROW

    def read_out() -> bool:
        return re.search(r"weights\[0,0,[1-9]\d*,\d+\] = \d", tutor.text) is not None

    for _ in range(4):
        assert tutor.send(PAGE_DOWN, read_out, quiet=0.15).needed <= PAGE


def test_overviews_of_a_large_matrix(course: Course, tutor: Pty) -> None:
    lesson = course.lesson("gpt2-size")
    go_to(tutor, lesson, lesson.step("weights"))
    tutor.send(b"", "   live", silent=True, quiet=0.1)

    def shows(what: str) -> Callable[[], bool]:
        return lambda: re.search(what, tutor.text) is not None

    # A matrix of this size opens on its overview; the tests share a tutor, and one of them may have closed that.
    tutor.send(b"", lambda: "arrows cell" in tutor.text or "arrows block" in tutor.text, silent=True, quiet=0.15)
    if "arrows cell" in tutor.text:
        tutor.send(b"o", "arrows block", quiet=0.15)
    tutor.send(b"", shows(r"max of weights\[0,0,0:\d+,0:\d+\] = 1\.0 "), silent=True, quiet=0.15)
    assert tutor.send(ESCAPE, "arrows cell", quiet=0.15).needed <= PAGE
    assert tutor.send(b"o", shows(r"max of weights\[0,0,0:\d+,0:\d+\] = 1\.0 "), quiet=0.15).needed <= PAGE
    for key in (RIGHT, DOWN, DOWN, LEFT, UP):
        assert tutor.send(key, quiet=0.1).needed <= ARROW
    assert tutor.send(b"v", shows(r"v numbers"), quiet=0.15).needed <= PAGE
    assert tutor.send(DOWN, quiet=0.1).needed <= ARROW
    assert tutor.send(b"]", shows(r"max of weights\[0,1,.* = \d"), quiet=0.15).needed <= PAGE
    assert tutor.send(b"-", shows(r"head 1 of 12   max of its blocks"), quiet=0.3).needed <= PAGE
    for key in (RIGHT, RIGHT):
        assert tutor.send(key, quiet=0.1).needed <= ARROW
    assert tutor.send(ENTER, shows(r"max of weights\[0,\d+,.* = \d"), quiet=0.15).needed <= PAGE
    assert tutor.send(ENTER, shows(r"\n weights\[0,\d+,\d+,\d+\] = \d"), quiet=0.15).needed <= PAGE
    assert tutor.send(b"t", shows(r"\n row \d+: .* bits"), quiet=0.15).needed <= ARROW
    assert tutor.send(DOWN, quiet=0.15).needed <= ARROW
    assert tutor.quiet(0.3) == b""


EXPLAINED = [("causal-mask", "causal-weights"), ("stacked-heads", "head-weights"), ("gpt2-size", "weights")]


@pytest.mark.parametrize(("lesson", "step"), EXPLAINED)
def test_explanations(lesson: str, step: str, course: Course, tutor: Pty) -> None:
    go_to(tutor, course.lesson(lesson), course.lesson(lesson).step(step))
    tutor.send(b"", "   live", silent=True, quiet=0.1)
    if "arrows block" in tutor.text:
        tutor.send(ESCAPE, "arrows cell", quiet=0.1)
    tutor.send(DOWN, quiet=0.1)
    assert tutor.send(ENTER, "esc close", quiet=0.15).needed <= EXPLAIN
    at = next(y for y, line in enumerate(tutor.screen.display) if line.startswith(" weights["))
    way = tutor.screen.display[at]
    for key in (RIGHT, RIGHT, LEFT):
        assert tutor.send(key, quiet=0.15).needed <= ARROW
    for key in (ENTER, BACKSPACE):
        # All text of the panel is new, and the code scrolls to the line that it is about.
        assert tutor.send(key, quiet=0.15).needed <= FURTHER
    assert tutor.screen.display[at] == way
    assert tutor.send(ESCAPE, "enter explain", quiet=0.15).needed <= EXPLAIN
    assert tutor.quiet(0.2) == b""


@pytest.mark.parametrize(("lesson", "step"), EXPLAINED)
def test_what_if(lesson: str, step: str, course: Course, tutor: Pty) -> None:
    go_to(tutor, course.lesson(lesson), course.lesson(lesson).step(step))
    tutor.send(b"", "   live", silent=True, quiet=0.1)
    if "arrows block" in tutor.text:
        tutor.send(ESCAPE, "arrows cell", quiet=0.1)
    before = tutor.screen.display[10:]
    assert tutor.send(b"w", "esc restore", quiet=0.15).needed <= WHAT_IF
    for _ in course.lesson(lesson).knobs:
        if "> Temperature" not in tutor.text:
            assert tutor.send(DOWN, quiet=0.1).needed <= ARROW
    for _ in range(2):
        assert tutor.send(RIGHT, "  after", quiet=0.2).needed <= KNOB
    assert "what if" in tutor.screen.display[0]
    assert tutor.screen.display[10:] != before
    tutor.send(ESCAPE, "enter explain", quiet=0.15)
    tutor.send(b"", lambda: "  after" not in tutor.text, silent=True, quiet=0.1)


def test_keys_in_the_editor(course: Course, tutor: Pty) -> None:
    lesson, exercise = task(course, "3.3")
    go_to(tutor, lesson, exercise)
    # The fullest screen: no task, and code in every line.
    tutor.send(CTRL_T, "ctrl+t: unfold", quiet=0.1)
    tutor.send(ENTER, "esc: map", quiet=0.1)
    tutor.send(b"\x1b[200~" + exercise.solution.encode() + b"\x1b[201~", quiet=0.1)
    for key in (b"a", b"(", LEFT, b"\x7f", ENTER, b"x", UP, DOWN):
        assert tutor.send(key, quiet=0.1).needed <= EDITOR_KEY, key
    tutor.send(CTRL_T, "ctrl+t: fold", quiet=0.1)


def test_many_keys_at_once_are_painted_together(course: Course, tutor: Pty) -> None:
    """Text that scrolls the code sideways repaints all of it, but not for each character.

    On a busy machine there may be a second or a third paint.
    """
    lesson, exercise = task(course, "3.2")
    go_to(tutor, lesson, exercise)
    tutor.send(ENTER, "esc: map", quiet=0.1)
    tutor.send(b"\x1b[200~" + exercise.solution.encode() + b"\x1b[201~", quiet=0.1)
    for keys, expected in ((b"word " * 30 + b"end", "word end"), (BACKSPACE * 7, "word w"), (LEFT * 20, None)):
        assert tutor.send(keys, expected, quiet=0.3).needed <= PASTE, keys


def test_the_views_of_an_exercise(course: Course, tutor: Pty) -> None:
    lesson, exercise = task(course, "3.1")
    go_to(tutor, lesson, exercise)
    assert tutor.send(F5, "Not yet", quiet=0.3).needed <= CHECKED
    assert tutor.send(F6, "esc editor", quiet=0.3).needed <= VIEW
    assert tutor.send(ESCAPE, "Not yet", quiet=0.3).needed <= VIEW
    for index in range(len(exercise.hints)):
        assert tutor.send(F3, f"Hint {index + 1} of", quiet=0.2).needed <= NEXT
    tutor.send(F3, "f3 again", quiet=0.2)
    assert tutor.send(F3, "You gave up", quiet=0.5).needed <= VIEW
    assert tutor.send(b"u", "Taken back", quiet=0.3).needed <= VIEW
    assert tutor.quiet(0.3) == b""


EDITORS = {
    "writes": "open(path, 'a').write('# from outside')",
    "fails": "open(path, 'a').write('# half'); sys.exit(3)",
    "deletes": "os.remove(path)",
    "is killed": "os.kill(os.getpid(), signal.SIGKILL)",
    "is interrupted": "os.killpg(os.getpgid(0), signal.SIGINT); open(path, 'a').write('# from outside')",
}
SAYS = {"fails": "exit status 3", "deletes": "left no file", "is killed": "SIGKILL", "is interrupted": "SIGINT"}


def test_what_another_program_wrote_is_drawn_over(course: Course, tutor: Pty) -> None:
    lesson = course.lessons[1]
    go_to(tutor, lesson, lesson.steps[1])
    before = list(tutor.screen.display)
    tutor.show(b"\x1b[5;3HBroadcast message from root")
    assert list(tutor.screen.display) != before
    tutor.send(b"\x0c", lambda: "Broadcast" not in tutor.text, quiet=0.2)
    assert list(tutor.screen.display) == before


@pytest.mark.parametrize("what", EDITORS)
def test_the_learners_own_editor(what: str, course: Course, tutor: Pty, shared: Shared) -> None:
    lesson, exercise = task(course, "3.1")
    wait = "print('now editing', flush=True); sys.stdin.readline()"
    reset = "signal.signal(signal.SIGINT, signal.SIG_DFL)"
    shared.editor.write_text(f"import os, signal, sys\npath = sys.argv[-1]\n{reset}\n{wait}\n{EDITORS[what]}\n")
    go_to(tutor, lesson, exercise)
    before = tutor.screen.display
    # The editor has the terminal to itself, in its usual line mode.
    tutor.send(CTRL_O, "now editing", quiet=0.2)
    tutor.resize(100, 30)
    sign = SAYS.get(what, "# from outside")
    tutor.send(ENTER, lambda: sign in tutor.text and tutor.text.count(exercise.title) == 2, quiet=0.3)
    assert tutor.screen.display[0].rstrip().endswith(before[0].split("   ")[-1].rstrip())
    kept = [path.read_text() for path in shared.folder.glob("attn-tutor-*/*.py")]
    assert kept == ([f"{exercise.starter}# half"] if what == "fails" else [])
    tutor.send(ENTER, "esc: map", quiet=0.2)
    tutor.send(b"x", "x", quiet=0.2)
    for file in shared.folder.glob("attn-tutor-*/*.py"):
        file.unlink()
    # The next test begins as this one did. The starter that F9 brings would not do: it is not saved until it is edited.
    tutor.resize(80, 24)
    tutor.send(CTRL_Z, quiet=0.2)
    if what == "writes":
        tutor.send(CTRL_Z, quiet=0.2)
    last = exercise.starter.splitlines()[-1]
    tutor.send(b"", lambda: any(line.endswith(last) for line in tutor.text.splitlines()), silent=True, quiet=0.2)


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
        open_step(terminal, exercise.title, warm=False)
        terminal.send(CTRL_O, "now editing", quiet=0.2)
        terminal.hang_up()
        assert terminal.wait() == 128 + signal.SIGHUP
        await_none(home)
    progress = Progress.open()
    assert progress.draft(exercise.exercise) == f"{exercise.starter}# saved"
    progress.close()


def test_no_color(environ: dict[str, str]) -> None:
    stand_at("all-queries", "weights")
    with Pty(TUTOR, {**environ, "NO_COLOR": "1"}) as terminal:
        sent: bytes = terminal.send(b"", LAST, quiet=0.1)
        sent += terminal.send(ENTER, "weights[0,0] =", quiet=0.1)
        sent += terminal.send(RIGHT, "weights[0,1] =", quiet=0.1)
        assert COLOR.findall(sent.decode()) == []


# Input --------------------------------------------------------------------------------------------------------------

STEP = "causal-mask/causal-weights"
# For each pane: a step, the keys that lead to the pane, and the line that shows the typed text.
INPUTS = {
    "editor": ("buffers/repair-counting-attention", ENTER, r"^ *\d+ +13"),
    "prompt": (STEP, b"p", r"^ >>> 13\n enter run"),
    "answer": ("one-query/right-angle", b"", r"^ > 13$"),
    "search": (STEP, F2, r"^ Search >13$"),
    "value": (STEP, b"w" + UP * 9 + DOWN * 4, r"  on\n 13$"),
}


@pytest.mark.parametrize("pane", INPUTS)
def test_keys_do_not_overtake_text(pane: str, course: Course, tutor: Pty) -> None:
    """Text does not overtake the keys that lead to its pane either, even if all of it arrives in one read."""
    name, way, expected = INPUTS[pane]
    lesson_id, _, step_id = name.partition("/")
    lesson = course.lesson(lesson_id)
    go_to(tutor, lesson, lesson.step(step_id))
    tutor.send(
        way + b"12" + BACKSPACE + b"3",
        lambda: re.search(expected, tutor.text, re.MULTILINE) is not None,
        quiet=0.1,
    )


def test_all_of_a_paste_is_text(course: Course, tutor: Pty) -> None:
    """An escape does not end it, behind which ctrl+q would end the tutor."""
    lesson_id, step_id = "buffers", "repair-counting-attention"
    lesson = course.lesson(lesson_id)
    go_to(tutor, lesson, lesson.step(step_id))
    tutor.send(ENTER, quiet=0.1)
    tutor.send(b"\x1b[200~pasted\x1b\x11 = \x1b[15~1\x1b[20", silent=True, quiet=0.3)
    tutor.send(b"1~", "pasted = [15~1", quiet=0.1)


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


def test_a_tutor_that_was_stopped_goes_on(environ: dict[str, str]) -> None:
    """By a signal that it cannot handle; in the end, the terminal is as it was."""
    with Pty(TUTOR, environ) as terminal:
        before = terminal.attributes()
        terminal.send(b"", LAST, quiet=0.1)
        terminal.signal(signal.SIGSTOP)
        wait_until(lambda: Path(f"/proc/{terminal.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T")
        terminal.show(b"\x1b[2J")
        terminal.signal(signal.SIGCONT)
        terminal.send(b"", LAST, quiet=0.1)
        for index in range(1, 4):
            terminal.send(DOWN, quiet=0.1)
            assert terminal.screen.buffer[2 + index][1].reverse
        terminal.type(b"q")
        assert terminal.wait() == 0
        assert terminal.attributes() == before


def test_starting_in_a_folder_with_a_file_named_torch(course: Course, environ: dict[str, str], tmp_path: Path) -> None:
    """A learner's own torch.py is not taken for the library, and the screen's process loads neither of them."""
    for name in ("torch", "attention"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('the wrong one')\n")
    lesson, exercise = task(course, "3.1")
    with_tensors = [
        step for step in main_path.steps_behind(lesson.steps, exercise.id) if isinstance(step, RunStep) and step.show
    ]
    stand_at(lesson.id, with_tensors[-1].id)
    with Pty(TUTOR, environ, cwd=tmp_path) as terminal:
        open_step(terminal, with_tensors[-1].title)
        terminal.send(b"", "   live", silent=True, quiet=0.1)
        for step in lesson.steps[lesson.index(with_tensors[-1].id) + 1 : lesson.index(exercise.id) + 1]:
            if step.side:
                continue
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


@pytest.mark.parametrize("way", ["SIGTERM", "SIGHUP", "SIGUSR1"])
def test_a_signal_ends_it(way: str, course: Course, environ: dict[str, str], home: Path) -> None:
    lesson, exercise = task(course, "3.1")
    stand_at(lesson.id, exercise.id)
    with Pty(TUTOR, environ) as terminal:
        check_something_endless(terminal, exercise)
        wait_until(lambda: len(processes_of(home)) >= 3)  # the tutor, the worker, and its child
        if way == "SIGHUP":
            terminal.hang_up()
        else:
            terminal.signal(signal.Signals[way])
        assert terminal.wait() == 128 + signal.Signals[way]
        await_none(home)
    assert_kept(exercise, lesson.id)


@pytest.mark.parametrize("way", ["SIGTERM", "SIGHUP"])
def test_a_stopped_worker_does_not_outlive_the_tutor(way: str, environ: dict[str, str], home: Path) -> None:
    """It cannot notice that its parent is gone, so the parent has to end it in time."""
    with Pty(TUTOR, environ) as terminal:
        terminal.send(b"", ready(terminal), LOADING, quiet=0.1)
        worker = [pid for pid in processes_of(home) if pid != terminal.pid]
        assert worker
        for pid in worker:
            os.kill(pid, signal.SIGSTOP)
        if way == "SIGTERM":
            terminal.signal(signal.SIGTERM)
        else:
            terminal.hang_up()
        assert terminal.wait() == 128 + signal.Signals[way]
        await_none(home)


def test_no_process_survives_a_kill(course: Course, environ: dict[str, str], home: Path) -> None:
    lesson, exercise = task(course, "3.1")
    stand_at(lesson.id, exercise.id)
    with Pty(TUTOR, environ) as terminal:
        check_something_endless(terminal, exercise)
        wait_until(lambda: len(processes_of(home)) >= 3)
        terminal.signal(signal.SIGKILL)
        assert terminal.wait() == -signal.SIGKILL
        await_none(home)
    assert_kept(exercise, lesson.id)


@pytest.mark.parametrize("way", ["SIGKILL", "SIGTERM", "SIGHUP", "q"])
def test_what_is_typed_while_another_program_locks_the_progress_is_kept(
    way: str, course: Course, environ: dict[str, str], home: Path
) -> None:
    lesson, exercise = task(course, "3.1")
    stand_at(lesson.id, exercise.id)
    path = progress_file.default_path()
    with closing(sqlite3.connect(path, isolation_level=None)) as other, Pty(TUTOR, environ) as terminal:
        open_step(terminal, exercise.title, warm=False)
        other.execute("BEGIN EXCLUSIVE")
        terminal.send(ENTER, "esc: map", quiet=0.1)
        terminal.send(b"\x1b[200~\nmine = 1\x1b[201~", "mine = 1", quiet=0.1)
        # It is told where one types.
        terminal.send(b"", "another program keeps", silent=True, quiet=0.1)
        wait_until(lambda: any("mine = 1" in file.read_text() for file in path.parent.glob("unsaved-*.json")))
        if way == "q":
            terminal.send(ESCAPE, quiet=0.3)
            terminal.type(b"q")
            assert terminal.wait() == 0
            assert b"from where" in terminal.sent_at_end
        elif way == "SIGHUP":
            terminal.hang_up()
            assert terminal.wait() == 128 + signal.SIGHUP
        else:
            terminal.signal(signal.Signals[way])
            assert terminal.wait() == (-signal.SIGKILL if way == "SIGKILL" else 128 + signal.SIGTERM)
        other.execute("ROLLBACK")
    await_none(home)
    with closing(Progress.open()) as progress:
        assert progress.draft(exercise.exercise) == f"{exercise.starter.rstrip()}\nmine = 1\n"
    assert list(path.parent.glob("unsaved-*.json")) == []
