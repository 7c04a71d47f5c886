"""The verb `check-all`: judge the last passing code of every exercise again."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing

from attn_tutor.lessons.engine.questions import answering
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import Course, Exercise
from attn_tutor.lessons.results.result import Judgement
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.commands import documents, output
from attn_tutor.tui.commands.course_lookup import read_course
from attn_tutor.tui.commands.open_progress import open_to_read
from attn_tutor.tui.commands.open_session import open_session
from attn_tutor.tui.render import linear_text
from attn_tutor.tui.tty.exit_codes import ExitCode

say = Wording("command/check-all")


def run(options: argparse.Namespace) -> ExitCode:
    """Judge the answers and print each verdict as it comes."""
    course = read_course(options)
    with closing(open_to_read(course)) as progress:
        passed = progress.last_passed()
    missing = missing_exercises(course, passed)
    judgements = []
    with open_session() as session:
        if len(passed) > len(missing):
            # Wait first, so that the duration in a verdict is that of the judging alone.
            session.wait_ready()
        for exercise, judgement in check_again(course, passed, session):
            judgements.append(judgement)
            if not options.json:
                output.print_now(verdict_lines(exercise, judgement))
    if options.json:
        output.print_json({"exercises": [documents.judgement(each) for each in judgements], "gone": missing})
    else:
        output.print_lines(summary(judgements, missing))
    return ExitCode.OK if all(each.passed for each in judgements) else ExitCode.NOT_PASSED


def missing_exercises(course: Course, passed: Iterable[str]) -> list[str]:
    """Return the passed exercises that are no longer in the course."""
    known = {step.exercise for lesson in course.lessons for step in lesson.exercises}
    return sorted(set(passed) - known)


def check_again(course: Course, passed: dict[str, str], session: Session) -> Iterator[tuple[Exercise, Judgement]]:
    """Judge the passing answers once more, in course order. Raises `WorkerError`."""
    for lesson in course.lessons:
        for step in lesson.exercises:
            if (answer := passed.get(step.exercise)) is None:
                continue
            yield step, answering.judge(session, lesson, step, answer)


def verdict_lines(exercise: Exercise, judgement: Judgement) -> Iterator[str]:
    """Yield a line for one exercise and, if it no longer passes, the reason."""
    word = linear_text.verdict_word(judgement.verdict)
    yield f"{word:10}  {judgement.seconds:6.2f} s  {exercise.exercise:24} {exercise.title}"
    if not judgement.passed:
        yield from linear_text.message(judgement.verdict, judgement.message, " " * 22)


def summary(judgements: Sequence[Judgement], gone: Sequence[str]) -> Iterator[str]:
    """Yield the closing lines: exercises that can no longer be judged, and how many pass."""
    for exercise in gone:
        sentence = say("no-longer-there", "This exercise is no longer in the course.")
        yield f"{say('gone', 'gone'):10}  {'':8}  {exercise:24} {sentence}"
    if judgements:
        passed = sum(each.passed for each in judgements)
        yield say.count(
            "still-pass", passed, "{count} of {all} still passes.", "{count} of {all} still pass.", all=len(judgements)
        )
    elif not gone:
        yield say("none-passed", "You have not passed any exercises yet.")
