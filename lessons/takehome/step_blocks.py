"""The blocks of one step: what the learner read, saw and wrote there, in the order of the screen."""

from __future__ import annotations

from collections.abc import Iterator

from attn_tutor.lessons.engine.questions import question_facts, question_words
from attn_tutor.lessons.format import template
from attn_tutor.lessons.format.exercises import ExerciseStep
from attn_tutor.lessons.format.lesson import (
    ChoiceStep,
    ExperimentStep,
    FilledStep,
    Lesson,
    PointStep,
    Question,
    RunningStep,
    Step,
    TrainStep,
)
from attn_tutor.lessons.learner.records import Attempt, Help
from attn_tutor.lessons.reading import package_source
from attn_tutor.lessons.results.result import Failure, StepResult, Tensor, WorkerError
from attn_tutor.lessons.takehome.learner_work import LearnerWork
from attn_tutor.lessons.takehome.taken_document import Answer, Block, Choices, Code, Matrix, Output, Prose, Remark
from attn_tutor.lessons.texts.wording import Wording

say = Wording("take-home/blocks")


def of_step(lesson: Lesson, step: Step, result: StepResult, work: LearnerWork) -> list[Block]:
    """Return the blocks of a step that the learner has read, with the result of its code."""
    blocks: list[Block] = [Prose(template.fill(step.prose, result.text))]
    blocks += _code(step)
    match step:
        case ExerciseStep():
            blocks += _exercise(step, work)
        case ExperimentStep():
            blocks += [*_results(step, result, answered=True), *_experiment(step, work)]
        case RunningStep():
            answered = isinstance(step, Question) and work.is_answered(step.exercise)
            blocks += _results(step, result, answered=answered)
            if isinstance(step, Question):
                blocks += _question(step, result, work)
    return blocks


def _code(step: Step) -> Iterator[Block]:
    """Yield the code of a step: of the course's package, of its training, its own."""
    if isinstance(step, FilledStep) and step.source:
        title = say("source", "The code of {name}:", name=step.source.partition(":")[2])
        yield Code(package_source.read(step.source), "source", title)
    if isinstance(step, TrainStep):
        yield Code(step.training, "training", say("training", "The training:"))
        yield Code(step.code, "step", say("trained", "With the trained model:"))
    elif isinstance(step, RunningStep) and step.code:
        yield Code(step.code, "step")


def _results(step: RunningStep, result: StepResult, *, answered: bool) -> Iterator[Block]:
    """Yield what came of the code of a step; what a question reveals only once it is answered."""
    if result.stdout:
        yield Output(result.stdout)
    if result.error is not None:
        yield Remark(_failure(result.error), alarm=True)
    for tensor in _visible(step, result, answered):
        if isinstance(step, PointStep) and step.blank and not answered and tensor.name == step.on:
            yield Remark(say("hidden", "The numbers of {name} are hidden until you have answered.", name=tensor.name))
        else:
            yield Matrix(tensor)


def _visible(step: RunningStep, result: StepResult, answered: bool) -> tuple[Tensor, ...]:
    return question_facts.visible_tensors(step, result, answered) if isinstance(step, Question) else result.tensors


def _failure(error: Failure) -> str:
    if error.line:
        return say(
            "stopped-at-line", "This step stopped at line {line}: {message}", line=error.line, message=error.message
        )
    return say("stopped", "This step did not finish: {message}", message=error.message)


# Exercises -----------------------------------------------------------------------------------------------------------


def _exercise(step: ExerciseStep, work: LearnerWork) -> Iterator[Block]:
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


def _experiment(step: ExperimentStep, work: LearnerWork) -> Iterator[Block]:
    """Yield the changes that reached what an experiment asks for, and what was said of them."""
    passed = [each for each in work.attempts.get(step.exercise, ()) if each.verdict == "passed"]
    if passed:
        yield Code(passed[-1].code, "changes", say("changes", "Your changes, which had the effect:"))
        yield from [Prose(passed[-1].message)] if passed[-1].message else []


def _question(step: Question, result: StepResult, work: LearnerWork) -> Iterator[Block]:
    """Yield the options of a question, what the learner answered first and last, and what is true."""
    if isinstance(step, ChoiceStep):
        yield Choices(tuple((each.letter, each.text) for each in question_words.choices(step, result)))
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
            right = question_words.answer_text(step, result)
        except WorkerError:
            return
        yield Prose(say("right", "The right answer: {answer}", answer=right))
    yield Prose(question_words.why(step, result))


def _answer(title: str, attempt: Attempt) -> Answer:
    passed = attempt.verdict == "passed"
    verdict = say("was-right", "right") if passed else say("was-wrong", "not right")
    return Answer(title, attempt.code, verdict, passed)
