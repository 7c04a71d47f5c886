"""What a reader sees of a step, as blocks in the order of the screen: each writer turns them into a form of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from attn_tutor.lessons.engine.questions import question_facts, question_words
from attn_tutor.lessons.engine.questions.question_words import Choice
from attn_tutor.lessons.format import template
from attn_tutor.lessons.format.lesson import (
    Step,
)
from attn_tutor.lessons.reading import package_source
from attn_tutor.lessons.results.explanation import Explanation
from attn_tutor.lessons.results.result import Failure, Origin, StepResult, Tensor
from attn_tutor.lessons.texts.wording import Wording

say = Wording("linear/lesson")

CodeRole = Literal["setup", "step", "training", "source", "starter", "answer", "draft", "solution", "changes"]
"""What a piece of code is: code that the lesson runs, or text of the course, or the learner's own."""


@dataclass(frozen=True, slots=True)
class Prose:
    """A text in the markup of lesson prose, with all values filled in."""

    text: str


@dataclass(frozen=True, slots=True)
class Remark:
    """A plain sentence, without markup; an `alarm` says what went wrong."""

    text: str
    alarm: bool = False


@dataclass(frozen=True, slots=True)
class Code:
    """A piece of code, with the line above it, which may be empty."""

    text: str
    role: CodeRole
    title: str = ""


@dataclass(frozen=True, slots=True)
class TrainedCode:
    """Code that runs in place of a training, with the model of whoever trained it, None if nobody knows."""

    text: str
    trained: Origin | None


@dataclass(frozen=True, slots=True)
class Output:
    """What a program printed."""

    text: str


@dataclass(frozen=True, slots=True)
class Explained:
    """The explanation of one number of a matrix."""

    index: tuple[int, ...]
    explanation: Explanation


@dataclass(frozen=True, slots=True)
class Matrix:
    """A tensor as the learner saw it, with the explanations of some of its numbers."""

    tensor: Tensor
    explained: tuple[Explained, ...] = ()


@dataclass(frozen=True, slots=True)
class Hidden:
    """A tensor whose numbers must not be seen yet."""

    tensor: Tensor


@dataclass(frozen=True, slots=True)
class Choices:
    """The options of a question, in the markup of prose."""

    options: tuple[Choice, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """What the learner answered to a question, and whether that was right."""

    title: str
    text: str
    verdict: str
    passed: bool


Block = Prose | Remark | Code | Output | Matrix | Choices | Answer

StepBlock = Block | TrainedCode | Hidden
"""A block of a step as it is; those that are none of `Block` are said in different words by each front end."""


def of_step(step: Step, result: StepResult, *, answered: bool) -> Iterator[StepBlock]:
    """Yield a step with the result of its code; what a question reveals only once it is `answered`."""
    yield Prose(template.fill(step.prose, result.text))
    yield from code_of(step, result.trained)
    yield from of_result(step, result, answered=answered)
    if options := question_words.choices(step, result):
        yield Choices(options)


def code_of(step: Step, trained: Origin | None = None) -> Iterator[Code | TrainedCode]:
    """Yield the code of a step: of the course's package, of its training, its own, or the code to start from."""
    if step.source_name:
        title = say("code-of", "The code of {name}:", name=step.source_name.partition(":")[2])
        yield Code(package_source.read(step.source_name), "source", title)
    for role, text in step.own_code:
        match role:
            case "trained":
                yield TrainedCode(text, trained)
            case "training":
                yield Code(text, role, say("training", "The training:"))
            case "starter":
                yield Code(text, role, _start_from(step))
            case "step":
                yield Code(text, role)


def _start_from(step: Step) -> str:
    """Return the line above the code that an exercise begins with."""
    number, id = step.exercise_number, step.exercise_id
    if number:
        return say("exercise", "Exercise {number} ({id}). Start from this code:", number=number, id=id)
    return say("exercise-unnumbered", "Exercise ({id}). Start from this code:", id=id)


def of_result(step: Step, result: StepResult, *, answered: bool) -> Iterator[StepBlock]:
    """Yield what came of the code of a step: output, failure, notes, matrices."""
    if result.stdout:
        yield Output(result.stdout)
    if result.error is not None:
        yield Remark(failure(result.error, of_page=step.is_page), alarm=True)
    yield from map(Prose, result.notes)
    for tensor in question_facts.visible_tensors(step, result, answered):
        hidden = not answered and tensor.name == step.blank_tensor
        yield Hidden(tensor) if hidden else Matrix(tensor)


def failure(error: Failure, *, of_page: bool = False) -> str:
    """Return a sentence on why a step failed, or a program of one's own, which has pages."""
    message = error.message
    if of_page:
        if line := error.unmentioned_line:
            return say("program-stopped-at-line", "It stopped at line {line}: {message}", line=line, message=message)
        return say("program-stopped", "It stopped. {message}", message=message)
    if error.line:
        return say("stopped-at-line", "This step stopped at line {line}: {message}", line=error.line, message=message)
    return say("stopped", "This step did not finish: {message}", message=message)
