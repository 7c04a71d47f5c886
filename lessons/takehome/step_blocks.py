"""The blocks of one step: what the learner read, saw and wrote there, in the order of the screen."""

from __future__ import annotations

from collections.abc import Iterator

from attn_tutor.lessons.engine.questions import question_words
from attn_tutor.lessons.format import template
from attn_tutor.lessons.format.lesson import ExerciseStep, ExperimentStep, Question, Step
from attn_tutor.lessons.learner.records import Attempt, Help
from attn_tutor.lessons.play import step_document
from attn_tutor.lessons.play.step_document import Answer, Block, Code, Hidden, Prose, Remark, StepBlock, TrainedCode
from attn_tutor.lessons.results.result import StepResult, WorkerError
from attn_tutor.lessons.takehome.learner_work import LearnerWork
from attn_tutor.lessons.texts.wording import Wording

say = Wording("take-home/blocks")


def of_step(step: Step, result: StepResult, work: LearnerWork) -> list[Block]:
    """Return the blocks of a step that the learner has read, with the result of its code."""
    if isinstance(step, ExerciseStep):
        return [Prose(template.fill(step.prose, result.text)), *_exercise(step, work)]
    answered = isinstance(step, Question) and work.is_answered(step.exercise)
    blocks = [*map(_taken, step_document.of_step(step, result, answered=answered))]
    if isinstance(step, ExperimentStep):
        blocks += _experiment(step, work)
    elif isinstance(step, Question):
        blocks += _question(step, result, work)
    return blocks


def _taken(block: StepBlock) -> Block:
    """Return a block in the words of a document that is read later, and elsewhere."""
    match block:
        case TrainedCode(text, _):
            return Code(text, "step", say("trained", "With the trained model:"))
        case Hidden(tensor):
            return Remark(say("hidden", "The numbers of {name} are hidden until you have answered.", name=tensor.name))
        case _:
            return block


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
            right = question_words.answer_text(step, result)
        except WorkerError:
            return
        yield Prose(say("right", "The right answer: {answer}", answer=right))
    yield Prose(question_words.why(step, result))


def _answer(title: str, attempt: Attempt) -> Answer:
    passed = attempt.verdict == "passed"
    verdict = say("was-right", "right") if passed else say("was-wrong", "not right")
    return Answer(title, attempt.code, verdict, passed)
