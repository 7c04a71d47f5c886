"""The verb `lint` with `--quick`; to prove the course takes minutes, and `make test` does."""

from __future__ import annotations

from pathlib import Path

import pytest

from attn_tutor.lessons.authoring import claims
from attn_tutor.lessons.engine.run import Run
from attn_tutor.lessons.format.lesson import ExerciseStep, Lesson
from attn_tutor.tui.commands.verbs import lint_course
from tests.course import COURSE, TENSORS
from tests.lessons.lesson_builders import code_step, doubling_exercise, lesson_of
from tests.tui.commands.command_line import Command


def test_lint_of_the_course(command: Command) -> None:
    status, out, err = command("lint", "--quick")
    steps = sum(len(lesson.steps) for lesson in COURSE.lessons)
    assert (status, err) == (0, "")
    assert out.startswith(f"{len(COURSE.lessons)} lessons, {steps} steps, ")
    assert out.endswith(" words: no findings\n")


def test_lint_of_a_folder(command: Command, tmp_path: Path) -> None:
    folder = tmp_path / "01-first"
    folder.mkdir()
    (folder / "lesson.yaml").write_text("title: T\ngaol: G\nsteps: []\n")
    status, out, err = command("lint", tmp_path, "--quick")
    assert (status, err) == (1, "2 findings\n")
    assert [line.split(": ")[0] for line in out.splitlines()] == [
        f"{folder}/lesson.yaml:{position}" for position in ("2:1", "3:8")
    ]
    (folder / "lesson.yaml").unlink()
    assert command("lint", tmp_path, "--quick")[::2] == (1, "1 finding\n")
    assert command("lint", tmp_path / "nowhere", "--quick")[0] == 1


def test_lint_of_a_name_that_is_too_long(command: Command) -> None:
    name = "x" * 300
    found = f"{name}:1:1: cannot be read: File name too long. Check the folder and its rights.\n"
    assert command("lint", name) == (1, found, "1 finding\n")


def test_lint_of_one_lesson(command: Command) -> None:
    lesson = TENSORS.lessons[1]
    status, out, err = command("--course", "tensors", "lint", "--quick", "--lesson", lesson.id)
    assert (status, err) == (0, "")
    assert out.startswith(f"1 lesson, {len(lesson.steps)} steps, ")
    status, _, err = command("--course", "tensors", "lint", "--lesson", "no-such-lesson")
    assert status == 2
    assert f"There is no lesson 'no-such-lesson'. The lessons are: {TENSORS.lessons[0].id}, " in err


def test_lint_lets_a_program_wait_for_a_processor() -> None:
    lesson = lesson_of(
        code_step("one", "x = 1"), doubling_exercise(wall=3).model_dump(by_alias=True), limits={"wall": 2}
    )
    patient = lint_course.patient(lesson)
    assert (patient.limits.wall, patient.limits.cpu) == (2 * lint_course.PATIENCE, lesson.limits.cpu)
    (exercise,) = patient.exercises
    assert isinstance(exercise, ExerciseStep)
    assert (exercise.limits.wall, exercise.limits.memory) == (3 * lint_course.PATIENCE, 256)


def test_lint_runs_what_is_given_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    lesson = lesson_of(code_step("one", "x = 1"))
    ran: list[Lesson] = []

    def run(lesson: Lesson, _: object) -> Run:
        ran.append(lesson)
        return Run([], None)

    monkeypatch.setattr(claims, "run_with_claims", run)
    monkeypatch.setattr(claims, "findings", lambda *_: ())
    lint_course.prove_claims(lint_course.Report([lesson], []))
    assert [each.limits.wall for each in ran] == [lesson.limits.wall * lint_course.PATIENCE]
