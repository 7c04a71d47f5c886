"""Lessons as linear text, for pipes, screen readers, and terminals that cannot draw."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from rich.cells import cell_len

from lessons.engine import explanation_tree, question_words
from lessons.engine.question_facts import visible_tensors
from lessons.format import main_path, template
from lessons.format.lesson import (
    ChoiceStep,
    Course,
    ExerciseStep,
    ExperimentStep,
    FilledStep,
    Lesson,
    PointStep,
    Question,
    RunningStep,
    Step,
    TrainStep,
)
from lessons.reading import package_source
from lessons.results.clean_text import clean
from lessons.results.explanation import COUNTS
from lessons.results.result import Failure, Judgement, StepResult, Tensor
from tui.render import explanation_text, memory_text, operand_choice
from tui.render.numbers import number_format, short, truncated, visible
from tui.render.prose import plain_lines
from tui.render.ruler import Ruler
from tui.render.source_text import NO_NAMES

WIDTH = 80
NARROWEST = 48
"""Columns of a line of an explanation, however deep it stands."""

MOST_ROWS = 24
TRAINED_WORDS = {
    None: "In its place this is run, with what was trained:",
    "own": "You have trained it here. In place of the training this is run, with your model:",
    "course": "In its place this is run, with the model that ships with the course:",
    "missing": "In its place this is run, once it has been trained:",
}
STATE_WORDS = {"new": "", "seen": "started", "skipped": "skipped", "done": "done"}
_VERDICT_WORDS = {"failed": "not passed", "timeout": "too long", "memory": "too large"}

States = Mapping[tuple[str, str], str]


def course(spec: Course, states: States) -> Iterator[str]:
    """Yield the course map: one line per lesson, with the learner's progress."""
    for lesson in spec.lessons:
        steps = lesson.main_steps
        done = sum(states.get((lesson.id, step.id)) == "done" for step in steps)
        started = any(states.get((lesson.id, step.id), "new") != "new" for step in steps)
        word = "done" if done == len(steps) else "started" if started else ""
        yield f"{lesson.number:3}  {lesson.id:20} {lesson.title:34} {done:2} of {len(steps):2}  {word}".rstrip()


def lesson(
    spec: Lesson, results: Mapping[str, StepResult], only: str | None = None, width: int = WIDTH
) -> Iterator[str]:
    """Yield the main path of a lesson, or only one of its steps, with the results of its code.

    Below each main step its side steps are named, with the command that prints them.
    """
    yield f"Lesson {spec.number}: {spec.title}"
    yield from plain_lines(spec.goal, width)
    for step in spec.main_steps if only is None else [spec.step(only)]:
        yield ""
        position = main_path.position_of(spec.steps, step.id)
        yield from lesson_step(step, results.get(step.id, StepResult(step.id)), position, width)
        for beside in () if step.side else spec.side_steps_of(step.id):
            yield ""
            name = main_path.name_of(spec.steps, beside.id).capitalize()
            yield from textwrap.wrap(f"{name}, which may be left out: {beside.title}  [{beside.id}]", width)
            yield f"Print it with: attn-tutor run {spec.id} --step {beside.id}"
            result = results.get(beside.id)
            if result is not None and result.error is not None:
                yield failure(result.error)


def changes(descriptions: Sequence[str], width: int = WIDTH) -> Iterator[str]:
    """Yield the learner's changes, to be printed above a lesson that was run with them."""
    yield "With these changes:"
    for change in descriptions:
        yield from textwrap.wrap(clean(change), width, initial_indent="    ", subsequent_indent="    ")
    yield from textwrap.wrap("The code is what was run. The text was written for the lesson without them.", width)
    yield ""


def knobs(lesson: Lesson) -> Iterator[str]:
    """Yield a line for each knob of a lesson: name, label, what it can be set to, and its initial setting."""
    for knob in lesson.knobs:
        limits, initial = knob.limits(), knob.initial(lesson)
        if "values" in limits:
            settings = ", ".join(map(str, limits["values"]))
        else:
            settings = f"{limits['least']} to {limits['most']} {knob.unit}".rstrip()
        now = "" if initial is None else f"  (is: {initial})"
        yield f"{knob.name:14} {knob.label}: {settings}{now}"


def lesson_step(step: Step, result: StepResult, position: str, width: int = WIDTH) -> Iterator[str]:
    """Yield one step: its position in the lesson (`step 5 of 18`) and title, prose, code, output, matrices."""
    yield f"{position.capitalize()}: {step.title}  [{step.id}]"
    yield ""
    yield from plain_lines(clean(template.fill(step.prose, result.text)), width)
    if isinstance(step, FilledStep) and step.source:
        yield ""
        yield f"The code of {step.source.partition(':')[2]}:"
        yield from _indented(package_source.read(step.source))
    if isinstance(step, TrainStep):
        yield ""
        yield "The training, which 'attn-tutor train LESSON' runs here:"
        yield from _indented(step.training)
        yield ""
        yield TRAINED_WORDS[result.trained]
    if isinstance(step, RunningStep) and step.code:
        yield ""
        yield "Code:"
        yield from _indented(step.code)
    if isinstance(step, ExerciseStep):
        number = f"{step.number} " if step.number else ""
        yield ""
        yield f"Exercise {number}({step.exercise}). Start from this:"
        yield from _indented(step.starter)
        yield f"Check your file with: attn-tutor check {step.exercise} FILE"
        yield f"Or have it checked each time you save it: attn-tutor watch {step.exercise}"
    if result.stdout:
        yield ""
        yield "Output:"
        yield from _indented(clean(result.stdout))
    if result.error is not None:
        yield ""
        yield failure(result.error)
    for note in result.notes:
        yield ""
        yield from plain_lines(clean(note), width)
    for tensor in visible_tensors(step, result, answered=False) if isinstance(step, Question) else result.tensors:
        yield ""
        hidden = isinstance(step, PointStep) and step.blank and tensor.name == step.on
        yield from _hidden(tensor) if hidden else tensor_lines(tensor, width)
    if isinstance(step, Question):
        yield ""
        yield from _question(step, result, width)
    if isinstance(step, ExperimentStep):
        yield ""
        yield from _experiment(step)


def _experiment(step: ExperimentStep) -> Iterator[str]:
    """Yield how to try an experiment without a screen."""
    yield f"An experiment ({step.exercise}). Write your changes into a file, one in each line, such as"
    yield from ("    NAME[0,1] = 0.5", "    KNOB = VALUE")
    yield f"and see what comes of them: attn-tutor check {step.exercise} FILE"


def _question(step: Question, result: StepResult, width: int) -> Iterator[str]:
    """Yield the options of a question and how to answer it."""
    if isinstance(step, ChoiceStep):
        for option in question_words.choices(step, result):
            for index, line in enumerate(plain_lines(clean(option.text), width - 6)):
                yield (f"  {option.letter})  " if index == 0 else "      ") + line
    yield f"A question ({step.exercise}). {question_words.form(step, result)}"


def _hidden(tensor: Tensor) -> Iterator[str]:
    """Yield a line for a tensor whose numbers must not be seen yet."""
    yield f"{tensor.name}  {'×'.join(map(str, tensor.shape))}: its numbers are hidden until you have answered."


def _indented(text: str) -> Iterator[str]:
    for line in text.rstrip().splitlines():
        yield f"    {line}".rstrip()


def tensor_lines(tensor: Tensor, width: int = WIDTH) -> Iterator[str]:
    """Yield a tensor drawn the way its lesson asks for: as bars, or as a matrix with or without its storage."""
    if tensor.draw == "bars" and tensor.values:
        yield from bars(tensor, width)
        return
    yield from matrix(tensor, width)
    if tensor.draw == "memory" and memory_text.drawable(tensor):
        yield from storage_lines(tensor)


def bars(tensor: Tensor, width: int = WIDTH) -> Iterator[str]:
    """Yield a tensor as bars, one line per number: label, number, bar."""
    yield f"{tensor.name}  {'×'.join(map(str, tensor.shape)) or 'a single number'}"
    form = number_format(tensor.dtype, tensor.kind, tensor.low, tensor.high, tensor.values)
    groups, labels = [[visible(text) for text in texts] for texts in (tensor.row_labels, tensor.col_labels)]
    group_width, label_width = (max(map(cell_len, texts), default=0) for texts in (groups, labels))
    group_width, label_width = min(16, group_width), min(32, label_width)
    ruler = Ruler.of(tensor.low, tensor.high, max(8, width - group_width - label_width - form.width - 8), unicode=False)
    rows, cols = tensor.matrix_shape
    for lead in _leads(tensor.lead_shape):
        yield from _lead_line(tensor, lead)
        for row in range(rows):
            for col, value in enumerate(tensor.row(lead, row, 0, cols) or ()):
                group = _right(groups[row] if groups and col == 0 else "", group_width)
                label = _right(labels[col] if labels else "", label_width)
                below, above = ruler.bar(value)
                bar = f"{below}|{above}" if ruler.left else above
                yield f"  {group}{'  ' if groups else ''}{label}  {form.text(value)}  {bar}".rstrip()


def storage_lines(tensor: Tensor) -> Iterator[str]:
    """Yield the storage of a tensor: its numbers in memory order, each with its index in the tensor."""
    yield "  in memory: " + ", ".join(memory_text.facts(tensor))
    assert tensor.layout is not None
    form = number_format(tensor.dtype, tensor.kind, tensor.low, tensor.high, tensor.values)
    found = memory_text.elements(tensor)
    for position in range(tensor.layout.size):
        index = found.get(position)
        if index is None:
            yield f"  {position:4}  not in {tensor.name}"
        else:
            text = form.text(memory_text.value(tensor, index) or 0.0)
            yield f"  {position:4}  {text}  {tensor.name}[{','.join(map(str, index))}]"


def matrix(tensor: Tensor, width: int = WIDTH) -> Iterator[str]:
    """Yield a tensor as aligned tables, one per leading index; of a large tensor only the corner that is loaded."""
    shape = "×".join(map(str, tensor.shape)) or "a single number"
    bounds = ""
    if tensor.shape and tensor.low is not None and tensor.high is not None:
        bounds = f"  from {short(tensor.low, tensor.dtype)} to {short(tensor.high, tensor.dtype)}"
    names = ""
    if len(tensor.shape) > 1:
        names = f"  rows: {tensor.axes[-2]}, columns: {tensor.axes[-1]}"
    elif tensor.shape:
        names = f"  columns: {tensor.axes[-1]}"
    yield f"{tensor.name}  {shape}{names}{bounds}"
    if tensor.values is None:
        yield from _table(tensor, (0,) * len(tensor.lead_shape), width)
        return
    for lead in _leads(tensor.lead_shape):
        yield from _lead_line(tensor, lead)
        yield from _table(tensor, lead, width)


def _lead_line(tensor: Tensor, lead: tuple[int, ...]) -> Iterator[str]:
    """Yield the leading index that the following lines belong to, if the tensor has leading axes."""
    if lead:
        yield "  " + ", ".join(f"{axis} {index}" for axis, index in zip(tensor.axes, lead, strict=False)) + ":"


def _leads(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    if not shape:
        yield ()
        return
    for first in range(shape[0]):
        for rest in _leads(shape[1:]):
            yield (first, *rest)


def _table(tensor: Tensor, lead: tuple[int, ...], width: int) -> Iterator[str]:
    rows, cols = tensor.matrix_shape
    if tensor.window is not None:
        here_rows, here_cols = len(tensor.window.rows), len(tensor.window.rows[0]) if tensor.window.rows else 0
    else:
        here_rows, here_cols = rows, cols
    form = number_format(tensor.dtype, tensor.kind, tensor.low, tensor.high, tensor.values)
    head = [visible(label) for label in tensor.row_labels[:here_rows]]
    tops = [visible(label) for label in tensor.col_labels[:here_cols]]
    label_width = min(16, max(map(cell_len, head), default=0))
    cell = max(form.width, min(10, max(map(cell_len, tops), default=0))) + 2
    fit = max(1, (width - label_width - 2) // cell)
    shown_rows = min(here_rows, MOST_ROWS) if tensor.window is not None else here_rows
    # Columns that do not fit side by side continue in a table below.
    for left in range(0, here_cols if tensor.window is None else min(here_cols, fit), fit):
        right = min(left + fit, here_cols)
        if tops:
            yield (
                "  " + " " * label_width + "".join(_right(truncated(text, cell - 2), cell) for text in tops[left:right])
            )
        for row in range(shown_rows):
            values = tensor.row(lead, row, left, right) or ()
            label = _right(head[row], label_width) if head else " " * label_width
            yield "  " + label + "".join(form.text(value).rjust(cell) for value in values)
    if tensor.values is None:
        left_out = f"the first {shown_rows} of {rows} rows and {min(here_cols, fit)} of {cols} columns"
        yield f"  ({left_out} of {', '.join(f'{a} 0' for a in tensor.axes[:-2]) or 'the whole'})"


def failure(error: Failure) -> str:
    """Return a sentence on why a step failed."""
    where = f" (line {error.line})" if error.line else ""
    return f"This step did not come to its end{where}: {clean(error.message)}"


def explanation(
    root: explanation_tree.Node,
    most: int = operand_choice.MOST,
    here: str = "",
    steps: Mapping[str, str] = NO_NAMES,
) -> Iterator[str]:
    """Yield how a number was computed: its formula, then, indented, the formulas of its operands, each only once.

    A tree that was grown with `operand_choice` has the operands of the `most` largest terms; a line sums up the others.
    Lines of the step `here` are called by their number alone; `steps` are the names of other steps by their ids.
    """
    explained: dict[tuple[object, ...], float] = {}
    said: set[str] = set()
    depths = explanation_tree.depths(root)
    is_too_much = False
    pending: list[tuple[explanation_tree.Node | str, int]] = [(root, 0)]
    while pending:
        node, level = pending.pop()
        if isinstance(node, str):
            yield from textwrap.wrap(node, WIDTH, initial_indent="    " * level, subsequent_indent="    " * (level + 1))
            continue
        identity, depth = explanation_tree.identity(node), depths[id(node)]
        if explained.get(identity, -1) >= depth:
            # The number is explained above already, with at least as many levels of operands.
            continue
        explained[identity] = depth
        indent = "    " * level
        # Deep in a tree lines are longer rather than narrower.
        width = max(WIDTH, len(indent) + NARROWEST)
        # What counts in labels mean is said once.
        notes = tuple(note for note in node.explanation.notes if note not in said)
        said |= {COUNTS} & set(notes)
        for line in explanation_text.report(replace(node.explanation, notes=notes), most=most, here=here, steps=steps):
            hanging = indent + ("      " if line.startswith(" ") else "    ")
            yield from textwrap.wrap(
                clean(line), width, initial_indent=indent, subsequent_indent=hanging, break_long_words=False,
                break_on_hyphens=False,
            )  # fmt: skip
        is_too_much |= node.is_too_much
        if node.operands is not None and len(node.operands) < len(node.explanation.operands):
            pending.append((operand_choice.choose(node.explanation, most).rest, level + 1))
        pending += ((operand, level + 1) for operand in reversed(node.operands or ()))
    if is_too_much:
        yield "  Not everything is told: there are too many numbers behind this one."


def verdict_word(verdict: str) -> str:
    """Return the word that learners see for a verdict."""
    return _VERDICT_WORDS.get(verdict, verdict)


def judgement(value: Judgement, more: str = "") -> Iterator[str]:
    """Yield the verdict on an answer, check by check, and a sentence on what follows from it."""
    yield f"{verdict_word(value.verdict).upper()}  {value.exercise}"
    where = f" (line {value.unmentioned_line})" if value.unmentioned_line else ""
    yield from textwrap.wrap(clean(value.message) + where, WIDTH)
    yield from _diagnosis(value)
    ran = value.verdict in ("passed", "failed") and any(check.passed or check.message for check in value.checks)
    for check in value.checks if ran else ():
        yield f"  {'ok  ' if check.passed else 'no  '} {check.name}"
        if check.message:
            yield from textwrap.wrap(clean(check.message), WIDTH, initial_indent="       ", subsequent_indent="       ")
    if value.stdout:
        yield "Your program printed:"
        yield from _indented(clean(value.stdout))
    if value.verdict == "failed" and value.seed is not None:
        yield f"The hidden inputs were those of --seed {value.seed}."
    yield from textwrap.wrap(more, WIDTH)


def _diagnosis(value: Judgement) -> Iterator[str]:
    """Yield the known mistakes in an answer, or else where it departs from the model answer."""
    for mistake in value.mistakes:
        where = f" (line {mistake.line})" if mistake.line and mistake.line != value.line else ""
        yield from textwrap.wrap(clean(f"What it looks like: {mistake.name}{where}."), WIDTH)
        yield from textwrap.wrap(clean(mistake.text), WIDTH, initial_indent="    ", subsequent_indent="    ")
    difference = value.difference
    if difference is not None:
        where = f" (line {difference.line})" if difference.line else ""
        agreed = f"As expected: {', '.join(difference.agreed)}. " if difference.agreed else ""
        yield from textwrap.wrap(clean(f"{agreed}The first that differs: {difference.name}{where}."), WIDTH)


def _right(text: str, width: int) -> str:
    """Right-justify a text in exactly `width` cells, cutting it if necessary."""
    text = truncated(text, width)
    return " " * (width - cell_len(text)) + text
