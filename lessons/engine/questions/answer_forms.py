"""The forms of answers to questions: how each is written, read, judged and shown. Pure functions over plain data.

Feedback says how an answer differs from the right one, without giving the right one away.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Generic, TypeVar

from attn_tutor.lessons.engine.questions import question_facts
from attn_tutor.lessons.engine.questions.answer_reading import (
    LONGEST,
    UnreadableAnswer,
    read_box,
    read_cell,
    read_numbers,
    read_option,
    read_order,
    read_sizes,
)
from attn_tutor.lessons.engine.questions.question_facts import (
    Index,
    as_number,
    as_whole_numbers,
    check_ready,
    is_same_number,
    is_whole,
    names_of,
    normalize_text,
    order_names,
    pointed_shape,
    pointed_tensor,
    read_facts,
    right_cells,
)
from attn_tutor.lessons.engine.questions.question_words import LETTERS, choices, why
from attn_tutor.lessons.format import template
from attn_tutor.lessons.format.base_steps import BaseStep, Path
from attn_tutor.lessons.format.lesson import ChoiceStep, PredictStep
from attn_tutor.lessons.format.questions import AnsweredQuestion, BaseQuestion
from attn_tutor.lessons.results.explanation import label
from attn_tutor.lessons.results.result import WHOLE, CheckResult, Judgement, StepResult, WorkerError
from attn_tutor.lessons.results.verdict import Verdict
from attn_tutor.lessons.texts.wording import Wording

say = Wording("engine/feedback")

MOST_NAMED = 3
"""Maximum number of right cells that are named when a learner gives up."""

Problem = tuple[Path, str]
"""What an author should mend: the path in the question, and what is wrong there."""

Q = TypeVar("Q", bound=BaseQuestion)
P = TypeVar("P", bound=AnsweredQuestion)
A = TypeVar("A")
V = TypeVar("V")


class Form(ABC, Generic[Q]):
    """A form of answers."""

    @abstractmethod
    def how(self, step: Q, result: StepResult | None) -> str:
        """Return a line that says how to answer, with an example. With a result, it names labels that may be used."""

    @abstractmethod
    def right(self, step: Q, result: StepResult) -> str:
        """Return the right answer as the screen shows it. Raises `WorkerError` if the run did not produce it."""

    def typed(self, step: Q, result: StepResult) -> str:
        """Return the right answer as a learner may write it. Raises `WorkerError`."""
        return self.right(step, result)

    @abstractmethod
    def judge(self, step: Q, result: StepResult, text: str) -> Judgement:
        """Judge an answer. Raises `UnreadableAnswer` or `WorkerError`."""

    @abstractmethod
    def problems(self, step: Q, result: StepResult) -> list[Problem]:
        """Return what an author should mend. Raises `WorkerError`."""


class _Option(Form[ChoiceStep]):
    def how(self, step: ChoiceStep, result: StepResult | None) -> str:
        last = LETTERS[len(step.options) - 1]
        return say("form-choice", "Answer with a letter from a to {last}, for example: b", last=last)

    def right(self, step: ChoiceStep, result: StepResult) -> str:
        right = next(choice for choice in choices(step, result) if choice.right)
        return f"{right.letter}) {right.text}"

    def typed(self, step: ChoiceStep, result: StepResult) -> str:
        return self.right(step, result)[0]

    def judge(self, step: ChoiceStep, result: StepResult, text: str) -> Judgement:
        options = choices(step, result)
        position = read_option(options, text)
        if position is None:
            raise UnreadableAnswer(say("no-such-option", "There is no such option."), says_how=True)
        chosen = options[position]
        name = say("right-option", "the right option")
        return _right(step, result, name) if chosen.right else _judgement(step, name, "failed", chosen.why)

    def problems(self, step: ChoiceStep, result: StepResult) -> list[Problem]:
        texts = [normalize_text(choice.text) for choice in choices(step, result)]
        return [(("options",), "two options say the same")] if len(set(texts)) < len(texts) else []


class _Compared(Form[P], Generic[P, A, V]):
    """Answers that are compared with facts of the run: the right answer, and wrong ones that have feedback.

    A learner's answer is read as an `A`, a fact as a `V`.
    """

    @abstractmethod
    def name(self) -> str:
        """Return a few words for what is right about a right answer."""

    @abstractmethod
    def value(self, step: P, result: StepResult, fact: Any) -> V:
        """Return the answer or the answers that a fact means. Raises `WorkerError`."""

    @abstractmethod
    def read(self, step: P, result: StepResult, text: str, right: V) -> A:
        """Return the answer that a text means. Raises `UnreadableAnswer`."""

    @abstractmethod
    def matches(self, step: P, answer: A, value: V) -> bool:
        """Return whether an answer is one that a fact means."""

    @abstractmethod
    def hint(self, step: P, answer: A, right: V, text: str) -> str:
        """Say how a wrong answer differs from the right one."""

    def judge(self, step: P, result: StepResult, text: str) -> Judgement:
        facts = read_facts(step, result)
        right = self.value(step, result, facts[0])
        answer = self.read(step, result, text, right)
        name = self.name()
        if self.matches(step, answer, right):
            return _right(step, result, name)
        for wrong, fact in zip(step.wrong, facts[1:], strict=True):
            if self.matches(step, answer, self.value(step, result, fact)):
                return _judgement(step, name, "failed", template.fill(wrong.why, result.text))
        return _judgement(step, name, "failed", self.hint(step, answer, right, text))


class _Predicted(_Compared[PredictStep, A, V]):
    """What is predicted, and typed."""

    @abstractmethod
    def asked(self) -> str:
        """Return what the author's expressions have to give."""

    def is_same(self, step: PredictStep, one: V, other: V) -> bool:
        """Return whether the author gives the same answer twice."""
        return one == other

    def problems(self, step: PredictStep, result: StepResult) -> list[Problem]:
        values: list[V] = []
        for (at, _), fact in zip(step.facts_with_paths, read_facts(step, result), strict=True):
            try:
                values.append(self.value(step, result, fact))
            except WorkerError:
                return [(at, f"this does not give {self.asked()}")]
        right, *wrong = values
        found = self.problems_of_right(right)
        for number, value in enumerate(wrong):
            path: Path = ("wrong", number, "is")
            if self.is_same(step, value, right):
                found.append((path, f"wrong answer {number + 1} is right"))
            if any(_is_repeated(value, earlier) for earlier in wrong[:number]):
                found.append((path, f"wrong answer {number + 1} is one of those before it"))
        return found

    def problems_of_right(self, right: V) -> list[Problem]:
        """Return what an author should mend in the right answer alone."""
        return []


def _is_repeated(left: Any, right: Any) -> bool:
    return bool(left == right) or (isinstance(left, float) and math.isnan(left) and math.isnan(right))


class _Number(_Predicted[tuple[float, ...], float]):
    def asked(self) -> str:
        return "a single number"

    def how(self, step: PredictStep, result: StepResult | None) -> str:
        return say("form-number", "Answer with a number, for example: 0.25 or 3/7")

    def right(self, step: PredictStep, result: StepResult) -> str:
        return _format_number(as_number(read_facts(step, result)[0]), step.within)

    def name(self) -> str:
        return say("right-number", "the right number")

    def value(self, step: PredictStep, result: StepResult, fact: Any) -> float:
        return as_number(fact)

    def read(self, step: PredictStep, result: StepResult, text: str, right: float) -> tuple[float, ...]:
        """Return all numbers that a text may mean: `1,024` may mean two."""
        if readings := read_numbers(text):
            return readings
        raise UnreadableAnswer(say("no-number", "This cannot be read as a number."), says_how=True)

    def matches(self, step: PredictStep, answer: tuple[float, ...], value: float) -> bool:
        return any(is_same_number(reading, value, step.within) for reading in answer)

    def hint(self, step: PredictStep, answer: tuple[float, ...], right: float, text: str) -> str:
        """Say how the number differs that is nearest to the right one."""
        nearest = min(answer, key=lambda reading: abs(reading - right) if math.isfinite(reading - right) else math.inf)
        return describe_number_error(nearest, right, text, step.within)

    def is_same(self, step: PredictStep, one: float, other: float) -> bool:
        return is_same_number(one, other, step.within)


class _WholeNumbers(_Predicted[Index, Index]):
    def value(self, step: PredictStep, result: StepResult, fact: Any) -> Index:
        return as_whole_numbers(fact)

    def matches(self, step: PredictStep, answer: Index, value: Index) -> bool:
        return answer == value


class _Shape(_WholeNumbers):
    def asked(self) -> str:
        return "a shape, such as 'table.shape' or '(2, 3)'"

    def how(self, step: PredictStep, result: StepResult | None) -> str:
        return say("form-shape", "Answer with the size of each axis, outermost first, for example: 4, 9")

    def right(self, step: PredictStep, result: StepResult) -> str:
        return str(as_whole_numbers(read_facts(step, result)[0]))

    def name(self) -> str:
        return say("right-shape", "the right shape")

    def read(self, step: PredictStep, result: StepResult, text: str, right: Index) -> Index:
        answer = read_sizes(text)
        if answer is None:
            raise UnreadableAnswer(say("no-shape", "This cannot be read as a shape."), says_how=True)
        return answer

    def hint(self, step: PredictStep, answer: Index, right: Index, text: str) -> str:
        return describe_shape_error(answer, right)


class _Order(_WholeNumbers):
    def asked(self) -> str:
        return "an order: the places of the items, best first, such as 'chances.argsort(descending=True) + 1'"

    def how(self, step: PredictStep, result: StepResult | None) -> str:
        names = order_names(step, result) if result is not None else ()
        if len(names) < 2:
            return say("form-order", "Answer with the numbers in order, from first to last, for example: 3 1 2")
        return say(
            "form-order-of-words",
            "Answer with the numbers in order, from first to last, for example: 3 1 2 or {words}",
            words=" ".join(names[:3]),
        )

    def right(self, step: PredictStep, result: StepResult) -> str:
        order = as_whole_numbers(read_facts(step, result)[0])
        names = order_names(step, result)
        return ", ".join(names[number - 1] for number in order) if names else ", ".join(map(str, order))

    def name(self) -> str:
        return say("right-order", "the right order")

    def read(self, step: PredictStep, result: StepResult, text: str, right: Index) -> Index:
        return read_order(step, result, text, right)

    def hint(self, step: PredictStep, answer: Index, right: Index, text: str) -> str:
        return describe_order_error(answer, right)

    def problems_of_right(self, right: Index) -> list[Problem]:
        return [(("answer",), "the right order holds a number twice")] if len(set(right)) < len(right) else []


class _Cell(_Compared[AnsweredQuestion, Index, tuple[Index, ...]]):
    def how(self, step: AnsweredQuestion, result: StepResult | None) -> str:
        return _form_of_cell(step)

    def right(self, step: AnsweredQuestion, result: StepResult) -> str:
        parts = [_cell_text(step, result, part) for part in self.named(right_cells(step, result))]
        named = say("or", " or ").join(parts[:MOST_NAMED])
        rest = len(parts) - MOST_NAMED
        return say("and-more", "{named} (and {rest} more)", named=named, rest=rest) if rest > 0 else named

    def named(self, cells: Sequence[Index]) -> Sequence[Index]:
        """Return what is named of the right cells."""
        return cells

    def typed(self, step: AnsweredQuestion, result: StepResult) -> str:
        return ", ".join(map(str, next(iter(right_cells(step, result)), ())))

    def name(self) -> str:
        return say("right-cell", "the right cell")

    def value(self, step: AnsweredQuestion, result: StepResult, fact: Any) -> tuple[Index, ...]:
        return question_facts.cells_of(step, fact, pointed_shape(step, result))

    def read(self, step: AnsweredQuestion, result: StepResult, text: str, right: tuple[Index, ...]) -> Index:
        return read_cell(step, result, text)

    def matches(self, step: AnsweredQuestion, answer: Index, value: tuple[Index, ...]) -> bool:
        return answer in value

    def hint(self, step: AnsweredQuestion, answer: Index, right: tuple[Index, ...], text: str) -> str:
        return point_elsewhere(answer, right)

    def problems(self, step: AnsweredQuestion, result: StepResult) -> list[Problem]:
        size = math.prod(pointed_shape(step, result))
        right, *wrong = (set(self.value(step, result, fact)) for fact in read_facts(step, result))
        found: list[Problem] = []
        if size > WHOLE:
            found.append((("on",), f"{step.pointed_at} has more than {WHOLE} cells"))
        if not right or len(right) == size:
            found.append((step.right_with_path[0], "no cell is right" if not right else "every cell is right"))
        for number, cells in enumerate(wrong):
            if not cells - right:
                found.append((("wrong", number, "is"), f"wrong answer {number + 1} is no wrong cell"))
        return found


class _Row(_Cell):
    """A row, which is answered with any of its cells."""

    def how(self, step: AnsweredQuestion, result: StepResult | None) -> str:
        return say(
            "form-row",
            "Answer with a row of {on}: its index, from 0, or its label, for example: 1",
            on=step.pointed_at,
        )

    def named(self, cells: Sequence[Index]) -> Sequence[Index]:
        return list(dict.fromkeys(cell[:-1] for cell in cells))

    def name(self) -> str:
        return say("question-judging-right-row", "the right row")

    def hint(self, step: AnsweredQuestion, answer: Index, right: tuple[Index, ...], text: str) -> str:
        return point_at_other_row(answer, right)


class _Box(_Compared[AnsweredQuestion, str, tuple[str, ...]]):
    def how(self, step: AnsweredQuestion, result: StepResult | None) -> str:
        return say("form-box", "Answer with the name of a box of the flow, for example: weights")

    def right(self, step: AnsweredQuestion, result: StepResult) -> str:
        return say("or", " or ").join(names_of(read_facts(step, result)[0]))

    def typed(self, step: AnsweredQuestion, result: StepResult) -> str:
        return names_of(read_facts(step, result)[0])[0]

    def name(self) -> str:
        return say("right-box", "the right box")

    def value(self, step: AnsweredQuestion, result: StepResult, fact: Any) -> tuple[str, ...]:
        return names_of(fact)

    def read(self, step: AnsweredQuestion, result: StepResult, text: str, right: tuple[str, ...]) -> str:
        return read_box(text)

    def matches(self, step: AnsweredQuestion, answer: str, value: tuple[str, ...]) -> bool:
        return answer in value

    def hint(self, step: AnsweredQuestion, answer: str, right: tuple[str, ...], text: str) -> str:
        return say("other-box", "Not this box. Follow the arrows, back or forth.")

    def problems(self, step: AnsweredQuestion, result: StepResult) -> list[Problem]:
        right, *wrong = (set(names_of(fact)) for fact in read_facts(step, result))
        return [
            (("wrong", number, "is"), f"wrong answer {number + 1} is right")
            for number, names in enumerate(wrong)
            if names & right
        ]


FORMS: Mapping[str, Form[Any]] = {
    "option": _Option(),
    "number": _Number(),
    "shape": _Shape(),
    "order": _Order(),
    "cell": _Cell(),
    "row": _Row(),
    "box": _Box(),
}
"""Every form of answers, by the name that questions have for it."""


def how_to_answer(step: BaseStep, result: StepResult | None = None) -> str:
    """Return a line that says how to answer a question, with an example; "" if the step is none.

    With a result, it also names labels that may be used.
    """
    return FORMS[step.answer_form].how(step, result) if step.answer_form else ""


def answer_text(step: BaseQuestion, result: StepResult) -> str:
    """Return the right answer as the screen shows it. Raises `WorkerError` if the run did not produce it."""
    check_ready(step, result)
    return FORMS[step.answer_form].right(step, result)


def right_answer(step: BaseQuestion, result: StepResult) -> str:
    """Return the right answer as a learner may write it. Raises `WorkerError` if the run did not produce it."""
    return FORMS[step.answer_form].typed(step, result)


def judge(step: BaseQuestion, result: StepResult, text: str) -> Judgement:
    """Judge a learner's answer by the results of the run.

    An unreadable answer gets the verdict `error`, and is not counted (`stopped`). Raises `WorkerError` if the run did
    not produce the facts that the answer is judged by.
    """
    check_ready(step, result)
    try:
        if len(text) > LONGEST:
            raise UnreadableAnswer(say("too-long-answer", "This is too long to be an answer."))
        return FORMS[step.answer_form].judge(step, result, text)
    except UnreadableAnswer as unread:
        message = f"{unread} {how_to_answer(step, result)}" if unread.says_how else str(unread)
        return Judgement(step.exercise, "error", message, stopped=True)


def problems_of(step: BaseQuestion, result: StepResult) -> list[Problem]:
    """Return what an author should mend, such as a wrong answer that is right, or two options that are the same."""
    try:
        check_ready(step, result)
        return FORMS[step.answer_form].problems(step, result)
    except WorkerError as error:
        paths = [path for path, _ in step.facts_with_paths]
        return [(next(iter(paths), ("answer",)), str(error))]


def _judgement(step: BaseQuestion, name: str, verdict: Verdict, message: str) -> Judgement:
    return Judgement(step.exercise, verdict, message, checks=(CheckResult(name, verdict == "passed"),))


def _right(step: BaseQuestion, result: StepResult, name: str) -> Judgement:
    return _judgement(step, name, "passed", why(step, result))


def _form_of_cell(step: AnsweredQuestion) -> str:
    shown = next((shown for shown in step.show if shown.name == step.pointed_at), None)
    axes = len(shown.axes) if shown is not None and shown.axes else 2
    if axes == 1:
        return say(
            "form-cell-of-vector",
            "Answer with a cell of {on}: its index, from 0, for example: 1, or the labels there",
            on=step.pointed_at,
        )
    if axes == 2:
        return say(
            "form-cell",
            "Answer with a cell of {on}: its row and column, from 0, for example: 0, 1, or the labels there",
            on=step.pointed_at,
        )
    return say(
        "form-cell-of-many-axes",
        "Answer with a cell of {on}: its indices, from 0, for example: {example}, or the labels there",
        on=step.pointed_at,
        example=", ".join(["0"] * (axes - 1) + ["1"]),
    )


def _format_number(value: float, within: float) -> str:
    """Format a number with as few significant digits, from four on, as the tolerance `within` allows."""
    if is_whole(value):
        return str(int(value))
    if not math.isfinite(value):
        return str(value)
    return next(text for digits in range(4, 18) if is_same_number(float(text := f"{value:.{digits}g}"), value, within))


def _cell_text(step: AnsweredQuestion, result: StepResult, cell: Index) -> str:
    tensor = pointed_tensor(step, result)
    words = [
        name
        for axis, place in enumerate(cell)
        if tensor is not None and not (name := tensor.labels[axis][place]).strip().isdecimal()
    ]
    return label(step.pointed_at, cell) + (f" ({', '.join(words)})" if words else "")


_DECIMALS = re.compile(r"[.,](\d+)$")


def describe_number_error(answer: float, right: float, text: str, within: float) -> str:
    """Describe how far off a number is, and in which direction. `text` is the number as the learner wrote it."""
    if math.isnan(answer):
        return say("is-number", "It is a number.")
    if math.isnan(right):
        return say("neither-larger-nor-smaller", "Not that. Neither a larger nor a smaller number would be right.")
    if math.isfinite(right) and right and is_same_number(-answer, right, within):
        return say("wrong-sign", "The size is right, the sign is not.")
    large = answer > right
    if not (math.isfinite(answer) and math.isfinite(right)):
        return _too_large() if large else _too_small()
    decimals = _DECIMALS.search(text.strip())
    if round(right, len(decimals[1]) if decimals else 0) == answer and answer:
        return say("rounded-too-much", "Right as far as it goes, but rounded too much: give more digits.")
    if right and answer and (right > 0) == (answer > 0):
        ratio = answer / right
        if ratio >= 10 or ratio <= 0.1:
            if large:
                return say("much-too-large", "Too large: it is off by a factor of more than ten.")
            return say("much-too-small", "Too small: it is off by a factor of more than ten.")
        if 0.9 < ratio < 1.1:
            if large:
                return say("a-little-too-large", "Close, but too large.")
            return say("a-little-too-small", "Close, but too small.")
    return _too_large() if large else _too_small()


def _too_large() -> str:
    return say("too-large", "Too large.")


def _too_small() -> str:
    return say("too-small", "Too small.")


def describe_shape_error(answer: Index, right: Index) -> str:
    """Describe how a shape differs from the right one."""
    if len(answer) > len(right):
        return say("fewer-axes", "It has fewer axes.")
    if len(answer) < len(right):
        return say("more-axes", "It has more axes.")
    if sorted(answer) == sorted(right):
        if answer == tuple(reversed(right)):
            return say("transposed", "The right sizes in the wrong order: yours is transposed.")
        return say("wrong-order-of-sizes", "The right sizes in the wrong order.")
    good = sum(map(int.__eq__, answer, right))
    if len(right) == 1:
        return _too_large() if answer > right else _too_small()
    if not good:
        return say("no-size-right", "The number of axes is right, but none of the sizes is.")
    return say.count(
        "some-sizes-right",
        good,
        "The number of axes is right, but only {count} of the {sizes} sizes is.",
        "The number of axes is right, but only {count} of the {sizes} sizes are.",
        sizes=len(right),
    )


def describe_order_error(answer: Sequence[int], right: Sequence[int]) -> str:
    """Describe how much of an order is right."""
    if tuple(answer) == tuple(reversed(right)):
        return say("reversed", "Right, but the wrong way around: yours begins where it should end.")
    return say.count(
        "some-in-place",
        sum(map(int.__eq__, answer, right)),
        "{count} of {all} is in the right place.",
        "{count} of {all} are in the right place.",
        all=len(right),
    )


def point_at_other_row(cell: Index, right: Sequence[Index]) -> str:
    """Say where to look for the right row, given a cell of a wrong one."""
    same = [other for other in right if other[:-2] == cell[:-2]]
    if not same:
        return _other_matrix()
    above, below = any(other[-2] < cell[-2] for other in same), any(other[-2] > cell[-2] for other in same)
    if above and below:
        return say("not-this-row", "Not this row.")
    if above:
        return say("row-further-up", "Not this row. Look further up.")
    return say("row-further-down", "Not this row. Look further down.")


def point_elsewhere(cell: Index, right: Sequence[Index]) -> str:
    """Say where to look for the right cell, given a wrong one."""
    if len(cell) == 1:
        before, after = any(other < cell for other in right), any(other > cell for other in right)
        if before and after:
            return say("not-this-one", "Not this one.")
        return say("further-left", "Further to the left.") if before else say("further-right", "Further to the right.")
    same = [other for other in right if other[:-2] == cell[:-2]]
    if not same:
        return _other_matrix()
    if any(other[-2] == cell[-2] for other in same):
        return say("right-row", "The row is right; look for another cell of it.")
    if any(other[-1] == cell[-1] for other in same):
        return say("right-column", "The column is right, but the cell is in another row.")
    return say("other-row-and-column", "It is in another row and in another column.")


def _other_matrix() -> str:
    return say("other-matrix", "Not in this matrix: look at another one of them.")
