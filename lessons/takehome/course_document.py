"""A learner's document made from the course, their work, and the lessons as they run today.

Each step has blocks: what the learner read, saw and wrote there, in the order of the screen. The numbers of small
matrices have explanations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import singledispatch
from itertools import product

from attn_tutor.lessons.engine.questions import answer_forms, question_words
from attn_tutor.lessons.engine.run import Run
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format import main_path, template
from attn_tutor.lessons.format.base_steps import BaseStep
from attn_tutor.lessons.format.lesson import Course, ExerciseStep, ExperimentStep, Lesson, Step
from attn_tutor.lessons.format.questions import BaseQuestion
from attn_tutor.lessons.learner import milestones
from attn_tutor.lessons.learner.records import Attempt, Help
from attn_tutor.lessons.play import step_document
from attn_tutor.lessons.play.step_document import (
    Answer,
    Block,
    Code,
    Explained,
    Hidden,
    Matrix,
    Prose,
    Remark,
    StepBlock,
    TrainedCode,
)
from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.results.explanation import Explanation
from attn_tutor.lessons.results.result import StepResult, Tensor, WorkerError
from attn_tutor.lessons.results.tensor_questions import ExplainQuestion
from attn_tutor.lessons.takehome.learner_work import LearnerWork
from attn_tutor.lessons.takehome.taken_document import Chapter, Document, Section
from attn_tutor.lessons.texts.wording import Wording

say = Wording("take-home/blocks")


def blocks_of_step(step: Step, result: StepResult, work: LearnerWork) -> list[Block]:
    """Return the blocks of a step that the learner has read, with the result of its code."""
    read: list[Block]
    if step.answered_in_code:
        read = [Prose(template.fill(step.prose, result.text))]
    else:
        answered = work.is_answered(step.exercise_id)
        read = [*map(_taken, step_document.of_step(step, result, answered=answered))]
    return [*read, *_work_on(step, result, work)]


@singledispatch
def _work_on(step: BaseStep, result: StepResult, work: LearnerWork) -> Iterator[Block]:
    """Yield what the learner has done at a step."""
    yield from ()


def _taken(block: StepBlock) -> Block:
    """Return a block in the words of a document that is read later, and elsewhere."""
    match block:
        case TrainedCode(text, _):
            return Code(text, "step", say("trained", "With the trained model:"))
        case Hidden(tensor):
            return Remark(say("hidden", "The numbers of {name} are hidden until you have answered.", name=tensor.name))
        case _:
            return block


@_work_on.register
def _(step: ExerciseStep, result: StepResult, work: LearnerWork) -> Iterator[Block]:
    """Yield the learner's code for an exercise; without any, the code to start from."""
    answer, draft = work.passing_answer(step.exercise), work.drafts.get(step.exercise)
    if answer is not None:
        yield Code(answer, "answer", say("answer", "Your answer, which passed:"))
    if draft is not None and draft.strip() not in ((answer or "").strip(), step.starter.strip()):
        yield Code(draft, "draft", say("draft", "Your draft:"))
    elif answer is None:
        yield Code(step.starter, "starter", say("starter", "The code to start from:"))
    help_taken = work.help.get(step.exercise, Help())
    if help_taken.solution:
        yield Code(step.solution, "solution", say("solution", "The model answer, which you have read:"))
    if answer is not None or help_taken.solution:
        yield Prose(template.fill(step.why, {}))


@_work_on.register
def _(step: ExperimentStep, result: StepResult, work: LearnerWork) -> Iterator[Block]:
    """Yield the changes that reached what an experiment asks for, and what was said of them."""
    passed = [each for each in work.attempts.get(step.exercise, ()) if each.verdict == "passed"]
    if passed:
        yield Code(passed[-1].code, "changes", say("changes", "Your changes, which had the effect:"))
        yield from [Prose(passed[-1].message)] if passed[-1].message else []


@_work_on.register
def _(step: BaseQuestion, result: StepResult, work: LearnerWork) -> Iterator[Block]:
    """Yield what the learner answered to a question first and last, and what is true."""
    attempts = work.attempts.get(step.exercise, ())
    if attempts:
        single = len(attempts) == 1 or attempts[0].code == attempts[-1].code
        yield _answer(say("only", "Your answer:") if single else say("first", "Your first answer:"), attempts[0])
        if not single:
            yield _answer(say("last", "Your last answer:"), attempts[-1])
    if not work.is_answered(step.exercise):
        return
    if work.passing_answer(step.exercise) is None:
        try:
            right = answer_forms.answer_text(step, result)
        except WorkerError:
            return
        yield Prose(say("right", "The right answer: {answer}", answer=right))
    yield Prose(question_words.why(step, result))


def _answer(title: str, attempt: Attempt) -> Answer:
    passed = attempt.verdict == "passed"
    verdict = say("was-right", "right") if passed else say("was-wrong", "not right")
    return Answer(title, attempt.code, verdict, passed)


MOST_NUMBERS = 36
"""The numbers of a tensor up to which each is explained: a matrix of six words with six words."""


def explained(run: Run, step: str, tensor: Tensor) -> tuple[Explained, ...]:
    """Return the explanation of each number of a small tensor; of a larger one, and of one that has none, nothing."""
    if not 0 < tensor.size <= MOST_NUMBERS:
        return ()
    return tuple(_explanations(run, step, tensor))


def _explanations(run: Run, step: str, tensor: Tensor) -> Iterator[Explained]:
    for index in product(*map(range, tensor.shape)):
        found = run.ask(ExplainQuestion(tensor.name, index, CodeUnit.step(step)))
        if not isinstance(found, Explanation):
            # What refuses one number of a tensor refuses the others too.
            return
        if not found.leaf:
            yield Explained(index, found)


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
    name = step.exercise_id
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
        blocks = blocks_of_step(step, results.get(step.id, StepResult(step.id)), work)
        if run is not None:
            blocks = [
                Matrix(block.tensor, explained(run, step.id, block.tensor)) if isinstance(block, Matrix) else block
                for block in blocks
            ]
        yield Section(step, title, tuple(blocks))
