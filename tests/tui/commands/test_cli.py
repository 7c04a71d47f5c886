"""The command line as a whole: wrong usage, internal errors, and the command as a process."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from importlib import metadata
from pathlib import Path

import pytest

from attn_tutor.lessons.learner.progress import Progress
from attn_tutor.lessons.reading.folders import TENSORS
from attn_tutor.lessons.reading.loader import load_course
from attn_tutor.lessons.results.result import WorkerError
from attn_tutor.tui.commands.print_version import VERSION
from tests.course import COURSE
from tests.tui.commands.command_line import (
    COMMAND,
    LESSONS,
    ROOT,
    Command,
    WarmSession,
    on_terminal,
    process,
    task,
)

needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")

NO_EXERCISE = "There is no exercise '9.9'. Run 'attn-tutor list' to see all of them."

# Wrong usage ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("run", "nothing"), f"There is no lesson 'nothing'. The lessons are: {LESSONS}"),
        (("run", "99"), "There is no lesson '99'"),
        (("run", "9\x1b[2J"), "There is no lesson '9\ufffd[2J'"),
        (("run", "1", "--step", "x"), "Lesson 'one-query' has no step 'x'. Its steps are: why, inputs, "),
        (("list", "--knobs", "nothing"), f"There is no lesson 'nothing'. The lessons are: {LESSONS}"),
        (("run", "5", "--set", "heads=1"), "Lesson 'causal-mask' has no knob 'heads'. Its knobs are: words, "),
        (("run", "5", "--set", "seed"), "Write NAME=VALUE. The knobs of 'causal-mask' are: words, "),
        (("run", "5", "--set", "diagonal=7"), "'diagonal' cannot be 7. It can be 0, 1 or 2."),
        (("run", "5", "--set", "mask=x"), "'mask' cannot be 'x'. It can be on or off."),
        (("run", "5", "--words", "one"), "This is only 1 word. At least 3 are needed."),
        (("run", "9", "--words", "one two"), "In lesson 'weight-split', the words cannot be changed."),
        (("run", "5", "--cell", "inputs"), "'inputs' does not say which cell to change. Write it like "),
        (("run", "5", "--cell", "foo[0]=1"), "There is no variable 'foo'. These exist: inputs, "),
        (("run", "5", "--cell", "x:inputs[0]=1"), "Lesson 'causal-mask' has no step 'x'. Its steps are: setup, open-"),
        (("check", "9.9", "-"), NO_EXERCISE),
        (("check", "", "-"), "There is no exercise ''"),
        (("check", "3.2", "nowhere.py"), "nowhere.py cannot be read: No such file or directory."),
        (("check", "3.2", "/"), "/ cannot be read: Is a directory."),
        (("check-all", "3.2"), "unrecognized arguments: 3.2"),
        (("history", "9.9"), NO_EXERCISE),
        (("history", "3.2", "--show", "1"), "You have not tried 'two-wide' yet."),
        (("history", "3.2", "--diff", ""), "You have not tried 'two-wide' yet."),
        (("history", "--show", "1"), "--diff and --show need an exercise: name it by its id or number."),
        (("history", "3.2", "--show", "1", "--json"), "not allowed with argument"),
        (("watch",), "the following arguments are required: EXERCISE"),
        (("watch", "9.9"), NO_EXERCISE),
        (("watch", "3.2", "/"), "/ cannot be watched, because it is not a file."),
        (("watch", "3.2", "/nowhere/file.py"), "/nowhere/file.py cannot be created: No such file or directory."),
        (("export", "/nowhere/file"), "/nowhere/file cannot be written: there is no such folder."),
        (("import", "nowhere.json"), "nowhere.json cannot be read: No such file or directory."),
        (("run",), "the following arguments are required: LESSON"),
        (("check", "3.2"), "the following arguments are required: FILE"),
        (("fly",), "invalid choice: 'fly'"),
        (("--fly",), "unrecognized arguments: --fly"),
        (("--fly\x1b[2J",), "unrecognized arguments: --fly\ufffd[2J"),
        (("list", "--json", "more"), "unrecognized arguments: more"),
    ],
)
def test_wrong_usage(command: Command, arguments: Sequence[str], sentence: str) -> None:
    status, out, err = command(*arguments)
    assert (status, out) == (2, "")
    assert sentence in err
    assert "Traceback" not in err


@pytest.mark.parametrize("verb", [("import",), ("check", "3.2")])
def test_a_file_without_an_end(command: Command, tmp_path: Path, verb: Sequence[str]) -> None:
    large = tmp_path / "large"
    large.touch()
    os.truncate(large, 33 * 1024**2)
    for file in (str(large), "/dev/zero"):
        status, out, err = command(*verb, file)
        assert (status, out) == (2, "")
        assert f"{file} has more than 32 MiB." in err


def test_version_and_help(command: Command) -> None:
    status, out, err = command("--version")
    assert (status, err) == (0, "")
    assert out.startswith(
        f"attn-tutor {VERSION} (torch {metadata.version('torch')}, textual {metadata.version('textual')}"
    )
    status, out, _ = command("--help")
    assert status == 0
    for name in ("list", "run", "explain", "check", "lint", "export", "import"):
        assert f"  {name}" in out


# Our own failures ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [("run", "1"), ("run", "1", "--json"), ("check", "3.2", "-")])
def test_worker_that_cannot_start(command: Command, monkeypatch: pytest.MonkeyPatch, arguments: Sequence[str]) -> None:
    def fail(*_: object, **__: object) -> None:
        raise WorkerError("PyTorch could not be loaded: ImportError: libgomp.so.1.")

    monkeypatch.setattr(WarmSession, "run", fail)
    monkeypatch.setattr(WarmSession, "check", fail)
    status, out, err = command(*arguments, given=b"x = 1")
    assert (status, out) == (3, "")
    assert err == "attn-tutor: PyTorch could not be loaded: ImportError: libgomp.so.1.\n"


def test_an_internal_error_does_not_exit_like_a_wrong_answer(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("ours")

    monkeypatch.setattr(WarmSession, "check", fail)
    status, out, err = command("check", "3.2", "-", given=b"x = 1")
    assert (status, out) == (3, "")
    assert "RuntimeError: ours" in err


def test_course_that_cannot_be_loaded(command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "01-bad").mkdir()
    monkeypatch.setattr("attn_tutor.lessons.reading.kept_course.load_course", lambda _: load_course(tmp_path))
    status, out, err = command("list")
    assert (status, out) == (3, "")
    assert err == f"{tmp_path}/01-bad/lesson.yaml:1:1: this file is missing. Every lesson folder needs a lesson.yaml.\n"


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (
            ModuleNotFoundError("No module named 'pydantic'", name="pydantic"),
            "The package pydantic is not installed. To ",
        ),
        (
            ModuleNotFoundError("no part", name="pydantic.main"),
            "The package pydantic is damaged (no part). To install it ",
        ),
        (
            ImportError("libyaml.so", name="yaml._yaml"),
            "The package yaml is damaged (libyaml.so). To install it again: ",
        ),
    ],
)
def test_package_that_cannot_be_imported(
    command: Command, monkeypatch: pytest.MonkeyPatch, error: ImportError, sentence: str
) -> None:
    def fail(_: object) -> None:
        raise error

    monkeypatch.setattr("attn_tutor.lessons.reading.kept_course.load_course", fail)
    status, out, err = command("list")
    assert (status, out) == (4, "")
    assert err.startswith(f"attn-tutor: {sentence}")
    assert re.search(r"make -C \S+ \w+\n$", err)


def test_package_with_a_file_of_zeros(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any error may come from a package that is not what was installed."""

    def fail(*_: object) -> None:
        raise ValueError("source code string cannot contain null bytes")

    monkeypatch.setattr("attn_tutor.lessons.reading.kept_course.load_course", fail)
    monkeypatch.setattr(
        "attn_tutor.lessons.engine.launching.reinstalling.changed_package", lambda: ("pydantic", "pydantic/main.py")
    )
    status, out, err = command("list")
    assert (status, out) == (4, "")
    assert err.startswith(
        "attn-tutor: The package pydantic is damaged: pydantic/main.py is not what was installed (source"
    )
    assert re.search(r"make -C \S+ \w+\n$", err)


def test_a_module_of_ours_that_cannot_be_imported_is_our_failure(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> None:
        raise ImportError("cannot import name", name="attn_tutor.lessons.format")

    monkeypatch.setattr("attn_tutor.lessons.reading.kept_course.load_course", fail)
    status, _, err = command("list")
    assert status == 3
    assert "Traceback" in err


def test_interrupt(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(WarmSession, "run", interrupt)
    assert command("run", "1")[0] == 130


# As a process --------------------------------------------------------------------------------------------------------


def test_without_a_terminal_the_course_is_printed() -> None:
    done = process()
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "attn-tutor: understand attention by touching every number."
    assert lines[2] == "There is no terminal to draw on, so the course is printed as plain text."
    for lesson in COURSE.lessons:
        assert any(lesson.id in line and lesson.title in line for line in lines[: 4 + len(COURSE.lessons)])
    assert f"Lesson {COURSE.lessons[0].number}: {COURSE.lessons[0].title}" in lines
    assert "\x1b" not in done.stdout


def test_a_dumb_terminal_gets_linear_text() -> None:
    # Of a lesson that was begun, only that lesson is printed, and the whole course takes seconds.
    lesson = COURSE.lesson("one-query")
    with closing(Progress.open()) as progress:
        progress.set_position(lesson.id, lesson.steps[0].id)
    sent = on_terminal(environ={"TERM": "dumb"})
    assert f"Lesson {lesson.number}: {lesson.title}" in sent
    assert "\x1b" not in sent


def test_a_learner_in_the_middle_of_a_lesson_gets_that_lesson(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "dumb")
    with closing(Progress.open()) as progress:
        progress.set_position("dropout", "ones")
    status, out, _ = command()
    assert status == 0
    assert "Lesson 6: Dropout on the weights" in out
    assert all(f"Lesson {lesson.number}: " not in out for lesson in COURSE.lessons if lesson.id != "dropout")


def test_a_reader_that_stops_early() -> None:
    with subprocess.Popen(
        [*COMMAND, "run", "one-query"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.close()
        assert running.stderr.read() == ""
        assert running.wait(60) == 0


@needs_full
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    "arguments", [("list",), ("list", "--json"), ("lint", "--quick", TENSORS.path), ("export", "-")]
)
def test_a_full_disk_is_a_failure(arguments: Sequence[str | Path], unbuffered: str) -> None:
    """The error may come with a line or, if output is buffered, at the end."""
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*COMMAND, *arguments], cwd=ROOT, env={**os.environ, "PYTHONUNBUFFERED": unbuffered}, stdout=full,
            stderr=subprocess.PIPE, text=True, timeout=60, check=False,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (3, "attn-tutor: No space left on device\n")


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("check 3.2 - <&-", "Nothing can be read, because standard input is closed."),
        ("import - <&-", "Nothing can be read, because standard input is closed."),
        ("list >&-", "Nothing can be printed, because standard output is closed."),
    ],
)
def test_a_closed_stream(line: str, sentence: str) -> None:
    shell = f'exec "{sys.executable}" -m attn_tutor {line}'
    done = subprocess.run(["/bin/sh", "-c", shell], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"attn-tutor: {sentence}\n")


@pytest.mark.parametrize("stream", ["2>&-", pytest.param("2>/dev/full", marks=needs_full)])
def test_an_error_that_cannot_be_printed_keeps_its_exit_code(stream: str) -> None:
    shell = f'exec "{sys.executable}" -m attn_tutor run 99 {stream}'
    done = subprocess.run(["/bin/sh", "-c", shell], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (2, "")


def test_a_module_of_somebody_else_with_the_name_of_a_package(tmp_path: Path) -> None:
    (tmp_path / "lessons.py").write_text("raise SystemExit('not ours')")
    command = [sys.executable, "-P", "-m", "attn_tutor", "glossary", "mask"]
    environ = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_without_torch(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('no such thing')")
    done = process("run", "1", environ={"PYTHONPATH": str(tmp_path)})
    assert done.returncode == 3
    sentence = "attn-tutor: PyTorch could not be loaded: ImportError: no such thing. To install it again: make -C "
    assert done.stderr.startswith(sentence)
    assert done.stderr.count("\n") == 1


def test_check_as_a_process() -> None:
    exercise = task("3.2")
    done = process("check", "3.2", "-", "--json", given=exercise.solution)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["verdict"] == "passed"
