"""Lessons as linear text, for pipes, screen readers, and terminals that cannot draw."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import singledispatch

from rich.cells import cell_len

from attn_tutor.lessons.engine.questions import answer_forms
from attn_tutor.lessons.format import main_path
from attn_tutor.lessons.format.base_steps import BaseStep
from attn_tutor.lessons.format.lesson import (
    Course,
    ExerciseStep,
    ExperimentStep,
    Lesson,
    Step,
    TrainStep,
)
from attn_tutor.lessons.play import step_document
from attn_tutor.lessons.play.step_document import (
    Choices,
    Code,
    Hidden,
    Matrix,
    Output,
    Prose,
    Remark,
    StepBlock,
    TrainedCode,
)
from attn_tutor.lessons.reading import folders
from attn_tutor.lessons.render import linear_matrix
from attn_tutor.lessons.results.result import (
    AnswerDifference,
    Failure,
    Judgement,
    NamedMistake,
    Origin,
    StepResult,
    Tensor,
)
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.render.prose import plain_lines

MOST_LINES = 5
"""Lines of the message of an exception that are printed; some quote a tensor."""

WIDTH = 80

say = Wording("linear/lesson")

States = Mapping[tuple[str, str], str]

Drawer = Callable[[Tensor, int], Iterator[str]]
"""Yields a tensor in lines of a width."""


def course(spec: Course, states: States) -> Iterator[str]:
    """Yield the course map: one line per lesson, with the learner's progress."""
    for lesson in spec.lessons:
        steps = lesson.main_steps
        done = sum(states.get((lesson.id, step.id)) == "done" for step in steps)
        started = any(states.get((lesson.id, step.id), "new") != "new" for step in steps)
        word = state_word("done" if done == len(steps) else "seen" if started else "new")
        count = say("done-of-all", "{done:2} of {all:2}", done=done, all=len(steps))
        yield f"{lesson.number:3}  {lesson.id:20} {lesson.title:34} {count}  {word}".rstrip()


def state_word(state: str) -> str:
    """Return the word for how far a learner is with a step, "" for a new one."""
    match state:
        case "seen":
            return say("started", "started")
        case "skipped":
            return say("skipped", "skipped")
        case "done":
            return say("done", "done")
    return ""


def lesson(
    spec: Lesson, results: Mapping[str, StepResult], only: str | None = None, width: int = WIDTH
) -> Iterator[str]:
    """Yield the main path of a lesson, or only one of its steps, with the results of its code.

    Below each main step its side steps are named, with the command that prints them.
    """
    yield say("title", "Lesson {number}: {title}", number=spec.number, title=spec.title)
    yield from plain_lines(spec.goal, width)
    for step in spec.main_steps if only is None else [spec.step(only)]:
        yield ""
        position = main_path.position_of(spec.steps, step.id)
        yield from lesson_step(spec, step, results.get(step.id, StepResult(step.id)), position, width)
        for beside in () if step.side else spec.side_steps_of(step.id):
            yield ""
            name = _capitalized(main_path.name_of(spec.steps, beside.id))
            optional = say("side-step", "{name}, which is optional: {title}", name=name, title=beside.title)
            yield from textwrap.wrap(f"{optional}  [{beside.id}]", width)
            ids = {"lesson": spec.id, "step": beside.id}
            if (of_course := folders.option_for(spec)) is not None:
                ids["course"] = of_course
                yield say("print-side-step", "Print it with: attn-tutor run {lesson} --step {step}{course}", **ids)
            result = results.get(beside.id)
            if result is not None and result.error is not None:
                yield step_document.failure(result.error)


def changes(descriptions: Sequence[str], width: int = WIDTH) -> Iterator[str]:
    """Yield the learner's changes, to be printed above a lesson that was run with them."""
    yield say("changes", "With these changes:")
    for change in descriptions:
        yield from textwrap.wrap(change, width, initial_indent="    ", subsequent_indent="    ")
    as_run = say(
        "text-unchanged", "The code is shown as it ran, but the text was written for the lesson without these changes."
    )
    yield from textwrap.wrap(as_run, width)
    yield ""


def knobs(lesson: Lesson) -> Iterator[str]:
    """Yield a line for each knob of a lesson: name, label, what it can be set to, and its initial setting."""
    for knob in lesson.knobs:
        limits, initial = knob.limits(), knob.initial(lesson)
        if "values" in limits:
            settings = ", ".join(map(str, limits["values"]))
        else:
            settings = say("range", "{least} to {most}", least=limits["least"], most=limits["most"])
            settings = f"{settings} {knob.unit}".rstrip()
        at_first = "" if initial is None else f"  ({say('initially', 'initially {value}', value=initial)})"
        yield f"{knob.name:14} {knob.label}: {settings}{at_first}"


def lesson_step(spec: Lesson, step: Step, result: StepResult, position: str, width: int = WIDTH) -> Iterator[str]:
    """Yield one step as `step_lines` does, then how to go on with it in a shell."""
    yield from step_lines(step, result, position, width)
    of_course = folders.option_for(spec)
    if how := answer_forms.how_to_answer(step, result):
        yield from () if step.offered_options else ("",)
        question = say("question", "This is a question ({id}).", id=step.exercise_id)
        yield f"{question} {how}"
    else:
        yield from _go_on(step, spec, of_course)


@singledispatch
def _go_on(step: BaseStep, lesson: Lesson, of_course: str | None) -> Iterator[str]:
    """Yield how to go on in a shell with a step that is no question."""
    yield from ()


@_go_on.register
def _(step: ExerciseStep, lesson: Lesson, of_course: str | None) -> Iterator[str]:
    if of_course is not None:
        ids = {"id": step.exercise, "course": of_course}
        yield say("check", "Check your file with: attn-tutor check {id} FILE{course}", **ids)
        yield say("watch", "Or have it checked each time you save it: attn-tutor watch {id}{course}", **ids)


@_go_on.register
def _(step: TrainStep, lesson: Lesson, of_course: str | None) -> Iterator[str]:
    if of_course is not None:
        yield ""
        ids = {"lesson": lesson.id, "course": of_course}
        yield say("train", "Run the training with: attn-tutor train {lesson}{course}", **ids)


@_go_on.register
def _(step: ExperimentStep, lesson: Lesson, of_course: str | None) -> Iterator[str]:
    id = step.exercise
    yield ""
    yield say("experiment", "This is an experiment ({id}). Write your changes in a file, one per line:", id=id)
    yield "    " + say("cell-change", "NAME[0,1] = 0.5")
    yield "    " + say("knob-change", "KNOB = VALUE")
    if of_course is not None:
        yield say(
            "try-experiment", "Then see what they do: attn-tutor check {id} FILE{course}", id=id, course=of_course
        )


def step_lines(
    step: Step,
    result: StepResult,
    position: str,
    width: int = WIDTH,
    *,
    answered: bool = False,
    draw: Drawer = linear_matrix.tensor_lines,
) -> Iterator[str]:
    """Yield one step: its position in the lesson (`step 5 of 18`) and title, prose, code, output, matrices, options.

    What a question reveals is left out until it was `answered`; `draw` yields the lines of a tensor.
    """
    # The pages of a program have numbers and no ids that anybody types.
    id = "" if step.is_page else f"  [{step.id}]"
    yield from textwrap.wrap(f"{_capitalized(position)}: {step.title}{id}", width)
    yield from _blocks(step_document.of_step(step, result, answered=answered), width, draw)


def result_lines(
    step: Step,
    result: StepResult,
    width: int = WIDTH,
    *,
    answered: bool = False,
    draw: Drawer = linear_matrix.tensor_lines,
) -> Iterator[str]:
    """Yield what came of the code of a step, as `step_lines` does, with an empty line before each."""
    yield from _blocks(step_document.of_result(step, result, answered=answered), width, draw)


def _blocks(blocks: Iterable[StepBlock], width: int, draw: Drawer) -> Iterator[str]:
    for block in blocks:
        yield ""
        yield from _block(block, width, draw)


def _block(block: StepBlock, width: int, draw: Drawer) -> Iterator[str]:
    """Yield a block of a step."""
    match block:
        case Prose(text):
            yield from plain_lines(text, width)
        case Remark(text, _):
            yield from textwrap.wrap(text, width, break_on_hyphens=False)
        case Code(text, _, title):
            yield from textwrap.wrap(title or say("code", "Code:"), width)
            yield from _indented(text)
        case TrainedCode(text, trained):
            yield from textwrap.wrap(trained_words(trained), width)
            yield from ("", say("code", "Code:"), *_indented(text))
        case Output(text):
            yield say("output", "Output:")
            yield from _indented(text)
        case Matrix(tensor, _):
            yield from draw(tensor, width)
        case Hidden(tensor):
            hidden = say("hidden", "its numbers are hidden until you have answered.")
            yield f"{tensor.name}  {linear_matrix.shape_text(tensor)}: {hidden}"
        case Choices(options):
            for option in options:
                for index, line in enumerate(plain_lines(option.text, width - 6)):
                    yield (f"  {option.letter})  " if index == 0 else "      ") + line


def trained_words(trained: Origin | None) -> str:
    """Return the line between a training and the code that runs in its place; None if nobody knows who trained."""
    match trained:
        case "own":
            return say("runs-with-own", "You have trained it, so this code runs instead, with your model:")
        case "course":
            return say("runs-with-ours", "This code runs instead, with the model that ships with the course:")
        case "missing":
            return say("runs-once-trained", "Once it has been trained, this code runs instead:")
    return say("runs-with-trained", "This code runs instead, with the trained model:")


def _capitalized(text: str) -> str:
    return text[:1].upper() + text[1:]


def _indented(text: str) -> Iterator[str]:
    for line in text.rstrip().splitlines():
        yield f"    {line}".rstrip()


def file_failure(file: str, error: Failure) -> str:
    """Return a sentence on why the program in a file failed."""
    message = _first_lines(error.message)
    if line := error.unmentioned_line:
        return say("file-failed-at-line", "{file}, line {line}: {message}", file=file, line=line, message=message)
    return say("file-failed", "{file}: {message}", file=file, message=message)


def _first_lines(message: str) -> str:
    """Return a message without most of the lines of a tensor that it quotes."""
    lines = message.splitlines()
    return message if len(lines) <= MOST_LINES else "\n".join([*lines[: MOST_LINES - 1], "..."])


def verdict_word(verdict: str) -> str:
    """Return the word that learners see for a verdict."""
    match verdict:
        case "passed":
            return say("passed", "passed")
        case "failed":
            return say("failed", "not passed")
        case "error":
            return say("error", "error")
        case "timeout":
            return say("timeout", "too long")
        case "memory":
            return say("memory", "too large")
        case "crash":
            return say("crash", "crash")
    return verdict


def judgement(value: Judgement, more: str = "", width: int = WIDTH, *, in_shell: bool = True) -> Iterator[str]:
    """Yield the verdict on an answer, check by check, and a sentence on what follows from it.

    Only a reader who is `in_shell` is told of options.
    """
    yield f"{verdict_word(value.verdict).upper()}  {value.exercise}"
    yield from message(value.verdict, _with_line(value.message, value.unmentioned_line), width=width)
    yield from _diagnosis(value, width)
    ran = value.verdict in ("passed", "failed") and any(check.passed or check.message for check in value.checks)
    # A check without a message was not made, since it rests on one that failed.
    for check in (check for check in value.checks if ran and (check.passed or check.message)):
        sign = say("check-passed", "ok") if check.passed else say("check-failed", "no")
        yield f"  {sign}{' ' * (4 - cell_len(sign))} {check.name}"
        if check.message:
            yield from _prose(check.message, " " * 7, width)
    if value.stdout:
        yield say("printed", "Your program printed:")
        yield from _indented(value.stdout)
    if in_shell and value.verdict == "failed" and value.seed is not None:
        yield say("repeat", "To check again with the same hidden inputs, add --seed {seed}.", seed=value.seed)
    yield from textwrap.wrap(more, width)


def message(verdict: str, text: str, indent: str = "", width: int = WIDTH) -> Iterator[str]:
    """Yield the message of a verdict, in lines that begin with `indent`."""
    if verdict in ("passed", "failed"):
        yield from _prose(text, indent, width)
    else:
        # It may be Python's own, in which `a * b * c` is no emphasis.
        yield from textwrap.wrap(text, width, initial_indent=indent, subsequent_indent=indent)


def _prose(text: str, indent: str, width: int) -> Iterator[str]:
    return (f"{indent}{line}".rstrip() for line in plain_lines(text, width - len(indent)))


def _diagnosis(value: Judgement, width: int) -> Iterator[str]:
    """Yield the known mistakes in an answer, or else where it departs from the model answer."""
    for mistake in (item for item in value.mistakes if item.name):
        yield from textwrap.wrap(_named(mistake, value.line), width)
        yield from _prose(mistake.text, " " * 4, width)
    if value.difference is not None:
        yield from textwrap.wrap(_departure(value.difference), width)


def _named(mistake: NamedMistake, line: int | None) -> str:
    """Return the name of a known mistake, with its line if that is not the line of the verdict."""
    name = _with_line(mistake.name, mistake.line if mistake.line != line else None)
    return say("looks-like", "This looks like a known mistake: {name}.", name=name)


def _departure(difference: AnswerDifference) -> str:
    """Say where an answer departs from the model answer."""
    name = _with_line(difference.name, difference.line)
    said = say("first-different", "The first result that differs is {name}.", name=name)
    if not difference.agreed:
        return said
    agreed = say("agreed", "These results are as expected: {names}.", names=", ".join(difference.agreed))
    return f"{agreed} {said}"


def _with_line(text: str, line: int | None) -> str:
    """Return a text followed by the line that it is about, if there is one."""
    return f"{text} ({say('line', 'line {number}', number=line)})" if line else text
