"""The verb `list`: lessons, steps and exercises with the learner's progress, or the knobs of a lesson."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any

from attn_tutor.lessons.format.lesson import Course, Lesson, Step
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.commands import documents
from attn_tutor.tui.commands.course_lookup import find_lesson, read_course
from attn_tutor.tui.commands.exercise_status import ExerciseStatus, exercise_statuses
from attn_tutor.tui.commands.open_progress import open_progress
from attn_tutor.tui.commands.output import print_json, print_lines
from attn_tutor.tui.render import linear_text
from attn_tutor.tui.render.linear_text import States
from attn_tutor.tui.tty.exit_codes import ExitCode

say = Wording("command/list")


def run(options: argparse.Namespace) -> ExitCode:
    """Print the list."""
    course = read_course(options)
    if options.knobs is not None:
        return _list_knobs(find_lesson(course, options.knobs), as_json=options.json)
    with closing(open_progress(course)) as progress:
        states, position = progress.states(), progress.position()
        statuses = exercise_statuses(course, progress)
    if options.json:
        print_json(_document(course, states, statuses, position))
    else:
        print_lines(_lines(course, states, statuses))
    return ExitCode.OK


def _list_knobs(lesson: Lesson, *, as_json: bool) -> ExitCode:
    if as_json:
        print_json({"lesson": lesson.id, "knobs": [documents.knob(lesson, knob) for knob in lesson.knobs]})
    else:
        print_lines(linear_text.knobs(lesson))
    return ExitCode.OK


def _lines(course: Course, states: States, statuses: Mapping[str, ExerciseStatus]) -> Iterator[str]:
    for lesson in course.lessons:
        yield f"{lesson.number}. {lesson.title}  [{lesson.id}]"
        for step in lesson.steps:
            state = linear_text.state_word(states.get((lesson.id, step.id), "new"))
            yield _line(step, step.id, step.kind, state)
    yield from ("", say("exercises", "Exercises"))
    for lesson in course.lessons:
        for exercise in lesson.exercises:
            words = statuses[exercise.exercise].words
            yield _line(exercise, exercise.exercise, exercise.number, words)


def _line(step: Step, name: str, kind: str, words: str) -> str:
    """Return the line of a step; a side step is indented below its main step, and said to be one."""
    name, words = (
        (f"  {name}", ", ".join(filter(None, (say("side-step", "side step"), words)))) if step.side else (name, words)
    )
    return f"     {name:24} {kind:10} {step.title:40} {words}".rstrip()


def _document(
    course: Course, states: States, statuses: Mapping[str, ExerciseStatus], position: tuple[str, str] | None
) -> dict[str, Any]:
    return {
        "lessons": [
            {
                "id": lesson.id,
                "number": lesson.number,
                "title": lesson.title,
                "goal": lesson.goal,
                "steps": [
                    {
                        "id": step.id,
                        "kind": step.kind,
                        "title": step.title,
                        "side": step.side,
                        "state": states.get((lesson.id, step.id), "new"),
                    }
                    for step in lesson.steps
                ],
            }
            for lesson in course.lessons
        ],
        "exercises": [
            {
                "id": step.exercise,
                "number": step.number,
                "title": step.title,
                "side": step.side,
                "lesson": lesson.id,
                "step": step.id,
                **statuses[step.exercise].document,
            }
            for lesson in course.lessons
            for step in lesson.exercises
        ],
        "position": {"lesson": position[0], "step": position[1]} if position else None,
    }
