"""The verb `list`: the course with the learner's progress, and the knobs of a lesson."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from attn_tutor.lessons.format.lesson import Course
from attn_tutor.lessons.learner.progress import Progress
from tests.course import COURSE, use_course
from tests.lessons.lesson_builders import doubling_exercise, lesson_of, text_step
from tests.tui.commands.command_line import Command, document, listed_exercise, listed_lesson


def test_list_as_json(command: Command) -> None:
    data = document(command("list", "--json"))
    assert set(data) == {"lessons", "exercises", "position"}
    assert [lesson["id"] for lesson in data["lessons"]] == [lesson.id for lesson in COURSE.lessons]
    for listed, lesson in zip(data["lessons"], COURSE.lessons, strict=True):
        assert set(listed) == {"id", "number", "title", "goal", "steps"}
        assert (listed["number"], listed["title"], listed["goal"]) == (lesson.number, lesson.title, lesson.goal)
        assert listed["steps"] == [
            {"id": step.id, "kind": step.kind, "title": step.title, "side": step.side, "state": "new"}
            for step in lesson.steps
        ]
    assert listed_exercise(data, "two-wide") == {
        "id": "two-wide",
        "number": "3.2",
        "title": "Two heads, two numbers",
        "side": False,
        "lesson": "stacked-heads",
        "step": "two-wide",
        "state": "new",
        "passed": False,
        "due": False,
        "review": None,
    }
    exercises = [exercise.exercise for lesson in COURSE.lessons for exercise in lesson.exercises]
    assert [exercise["id"] for exercise in data["exercises"]] == exercises
    assert data["position"] is None


def test_list_shows_progress(command: Command) -> None:
    progress = Progress.open()
    progress.set_state("one-query", "why", "done")
    progress.set_state("one-query", "inputs", "seen")
    progress.set_state("one-query", "third-row", "skipped")
    progress.set_position("one-query", "inputs")
    progress.add_attempt("two-wide", "code", "passed")
    progress.close()
    data = document(command("list", "--json"))
    states = {step["id"]: step["state"] for step in listed_lesson(data, "one-query")["steps"]}
    assert [states[step] for step in ("why", "inputs", "third-row", "remember")] == ["done", "seen", "skipped", "new"]
    assert data["position"] == {"lesson": "one-query", "step": "inputs"}
    assert [exercise["id"] for exercise in data["exercises"] if exercise["passed"]] == ["two-wide"]
    status, out, err = command("list")
    assert (status, err) == (0, "")
    lines = out.splitlines()
    first = COURSE.lessons[0]
    assert lines[0] == f"{first.number}. {first.title}  [{first.id}]"
    start = lines.index("1. Attention for one word  [one-query]") + 1
    statuses = {
        line.split()[0]: line.split()[-1] for line in lines[start : start + len(COURSE.lesson("one-query").steps)]
    }
    assert [statuses[step] for step in ("why", "inputs", "third-row")] == ["done", "started", "skipped"]
    assert [line for line in lines if "two-wide" in line][-1].endswith(" two numbers                   passed")


def test_list_shows_what_is_due_for_review(command: Command) -> None:
    progress = Progress.open()
    progress.add_attempt("two-wide", "code", "failed")
    exported = progress.export()
    give_up = {"exercise": "same-numbers", "kind": "gave-up", "time": "2024-01-01T00:00:00+00:00"}
    progress.restore({**exported, "help": [give_up]})
    progress.set_state("attention-classes", "same-numbers", "skipped")
    progress.close()

    def status_of(name: str) -> str:
        return [line for line in command("list")[1].splitlines() if line.startswith(f"     {name} ")][-1]

    exercise = listed_exercise(document(command("list", "--json")), "same-numbers")
    assert (exercise["due"], exercise["passed"]) == (True, False)
    assert datetime.fromisoformat(exercise["review"]) <= datetime.now(UTC)
    assert status_of("same-numbers").endswith("  skipped, due for review")
    # What has never been passed is still being learned.
    exercise = listed_exercise(document(command("list", "--json")), "two-wide")
    assert (exercise["due"], exercise["review"]) == (False, None)
    assert status_of("two-wide").endswith(" two numbers")

    progress = Progress.open()
    progress.add_attempt("two-wide", "code", "passed")
    progress.close()
    exercise = listed_exercise(document(command("list", "--json")), "two-wide")
    assert (exercise["due"], exercise["passed"]) == (False, True)
    assert datetime.fromisoformat(exercise["review"]) > datetime.now(UTC)
    assert status_of("two-wide").endswith(" passed")


def test_list_of_knobs(command: Command) -> None:
    for lesson in COURSE.lessons:
        status, out, err = command("list", "--knobs", lesson.id)
        assert (status, err) == (0, "")
        assert [line.split()[0] for line in out.splitlines()] == [knob.name for knob in lesson.knobs]
        data = document(command("list", "--knobs", str(lesson.number), "--json"))
        assert data["lesson"] == lesson.id
        for entry, knob in zip(data["knobs"], lesson.knobs, strict=True):
            assert (entry["name"], entry["kind"], entry["label"]) == (knob.name, knob.kind, knob.label)
            assert entry["places"]
            assert ("values" in entry) != ("least" in entry)
    assert "words          Your own words: 3 to 12 words  (initially Your journey starts with one step)" in "".join(
        command("list", "--knobs", "1")[1]
    )


def test_side_steps_are_listed_below_their_main_step(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    beside = doubling_exercise().model_dump(by_alias=True) | {"side": True}
    lesson = lesson_of(text_step("why", "Why?"), beside, text_step("remember", "Remember."))
    use_course(monkeypatch, Course(lessons=(lesson,)))
    progress = Progress.open()
    progress.set_state("made", "doubling", "done")
    progress.close()
    lines = command("list")[1].splitlines()
    steps = [line for line in lines if line.startswith("     ")]
    assert [line[5:13].rstrip() for line in steps] == ["why", "  doubli", "remember", "  doubli"]
    assert [line.endswith("  Twice as much                            side step, done") for line in steps] == [
        False, True, False, False
    ]  # fmt: skip
    assert steps[-1].endswith("  Twice as much                            side step")
    data = document(command("list", "--json"))
    assert [step["side"] for step in data["lessons"][0]["steps"]] == [False, True, False]
    assert [exercise["side"] for exercise in data["exercises"]] == [True]
    progress = Progress.open()
    give_up = {"exercise": "doubling", "kind": "gave-up", "time": "2024-01-01T00:00:00+00:00"}
    progress.restore({**progress.export(), "help": [give_up]})
    progress.close()
    exercise = listed_exercise(document(command("list", "--json")), "doubling")
    assert (exercise["due"], exercise["review"]) == (False, None)
    assert document(command("history", "doubling", "--json"))["review"] is None
