"""A learner's document made from the course, their work, and the lessons as they run today."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from attn_tutor.lessons.engine.run import Run
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format import main_path
from attn_tutor.lessons.format.lesson import Course, Lesson, Step
from attn_tutor.lessons.learner import milestones
from attn_tutor.lessons.play.step_document import Block, Code, Matrix, Prose
from attn_tutor.lessons.results.result import StepResult
from attn_tutor.lessons.takehome import step_blocks
from attn_tutor.lessons.takehome.explained_numbers import explained
from attn_tutor.lessons.takehome.learner_work import LearnerWork
from attn_tutor.lessons.takehome.taken_document import Chapter, Document, Section
from attn_tutor.lessons.texts.wording import Wording

say = Wording("take-home/document")


def steps_read(lesson: Lesson, work: LearnerWork) -> tuple[Step, ...]:
    """Return the steps of a lesson that the learner has read.

    Who has tested out of a lesson has not read what that skipped, but for exercises that they have worked on.
    """
    tested_out = milestones.is_tested_out(lesson, dict(work.states))
    return tuple(step for step in lesson.steps if _was_read(lesson, step, work, tested_out))


def _was_read(lesson: Lesson, step: Step, work: LearnerWork, tested_out: bool) -> bool:
    state = work.states.get((lesson.id, step.id), "new")
    if state in ("seen", "done"):
        return True
    name = getattr(step, "exercise", "")
    worked_on = name in work.attempts or name in work.drafts
    return worked_on or (state == "skipped" and not tested_out)


def build(
    session: Session,
    course: Course,
    work: LearnerWork,
    *,
    whole: bool = False,
    explain: bool = False,
    on_lesson: Callable[[Lesson], object] | None = None,
) -> Document:
    """Run the lessons that the learner has read from, and put together what they read, wrote and saw there.

    Args:
        session: the worker that runs the lessons.
        course: the course, or some of its lessons.
        work: what the learner has done.
        whole: whether steps are taken that the learner has not read.
        explain: whether numbers of small matrices are explained.
        on_lesson: called before each lesson that is run.

    Raises:
        WorkerError: if the worker cannot run anything.
    """
    chapters: list[Chapter] = []
    for lesson in course.lessons:
        read = lesson.steps if whole else steps_read(lesson, work)
        if not read:
            continue
        if on_lesson is not None:
            on_lesson(lesson)
        run = session.run(lesson, read[-1].id)
        try:
            chapters.append(_chapter(lesson, read, work, run, explain))
        finally:
            run.close()
    about = say("about", "What you read, wrote and saw in attn-tutor. The numbers are from a run on this machine.")
    return Document(course.title or say("title", "Attention, step by step"), about, tuple(chapters))


def _chapter(lesson: Lesson, read: tuple[Step, ...], work: LearnerWork, run: Run, explain: bool) -> Chapter:
    results = {result.id: result for result in run.steps}
    last = lesson.index(read[-1].id)
    names = {step.id for step in read}
    sections = tuple(_sections(lesson, lesson.steps[: last + 1], names, work, results, run if explain else None))
    title = say("lesson", "Lesson {number}: {title}", number=lesson.number, title=lesson.title)
    opening: list[Block] = [Prose(lesson.goal)]
    if lesson.setup:
        opening.append(Code(lesson.setup, "setup", say("setup", "The code that every step builds on:")))
    return Chapter(lesson, title, tuple(opening), sections)


def _sections(
    lesson: Lesson,
    steps: tuple[Step, ...],
    read: set[str],
    work: LearnerWork,
    results: Mapping[str, StepResult],
    run: Run | None,
) -> Iterator[Section]:
    for step in steps:
        name = main_path.name_of(lesson.steps, step.id)
        title = say("step", "{step}: {title}", step=name[:1].upper() + name[1:], title=step.title)
        if step.id not in read:
            yield Section(step, title, was_read=False)
            continue
        blocks = step_blocks.of_step(step, results.get(step.id, StepResult(step.id)), work)
        if run is not None:
            blocks = [
                Matrix(block.tensor, explained(run, step.id, block.tensor)) if isinstance(block, Matrix) else block
                for block in blocks
            ]
        yield Section(step, title, tuple(blocks))
