"""Questions about a run: what a learner's answer says, and whether it is right. Pure functions over plain data."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from lessons.format import template
from lessons.format.lesson import ChoiceStep, PointStep, PredictStep, Question
from lessons.results.explanation import label
from lessons.results.result import WHOLE, CheckResult, Judgement, StepResult, Tensor, Verdict, WorkerError

LETTERS = "abcdefghi"
LONGEST = 1000
"""Characters of an answer that are read at all."""

MOST_TOLD = 3
"""Right cells that are named when a learner gives up."""

MOST_FACTORS = 8
_SIGNS = str.maketrans({"−": "-", "–": "-", "×": "x", "∞": "inf", "\u00a0": " "})
_GROUPED = re.compile(r"[-+]?\d{1,3}(,\d{3})+(\.\d+)?$")
_DECIMALS = re.compile(r"[.,](\d+)$")
_BRACKETS = re.compile(r"^(?:torch\.Size)?\s*[(\[]+(.*?)[)\]]+$")
_TIMES = re.compile(r"\s*[*×]\s*|\s+x\s+")
_CELL = re.compile(r"^[\w.]*\s*[(\[](.*)[)\]]$")
_CHOSEN = re.compile(r"\(?\s*([a-z]|\d)\s*(?:[).:]?$|\)\s)")

Index = tuple[int, ...]
Orders = tuple[int, ...]
T = TypeVar("T")


class _Unread(Exception):
    """An answer that cannot be read; the message says how to write one."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the options, filled in: its letter, what it says, why it is right or wrong."""

    letter: str
    text: str
    why: str
    right: bool


# What there is to see -----------------------------------------------------------------------------------------------


def visible(step: Question, result: StepResult, answered: bool) -> tuple[Tensor, ...]:
    """The tensors that a learner may see: what `reveal` names only when the question is answered."""
    names = {shown.name for shown in (step.tensors if answered else step.show)}
    return tuple(tensor for tensor in result.tensors if tensor.name in names)


def form(step: Question, result: StepResult | None = None) -> str:
    """One line that tells how to answer, with an example; with a result, also the words that may stand for numbers."""
    match step:
        case ChoiceStep():
            return f"Answer with a letter from a to {LETTERS[len(step.options) - 1]}, for example: b"
        case PredictStep(asks="number"):
            return "Answer with a number, for example: 0.25 or 3/7"
        case PredictStep(asks="shape"):
            return "Answer with the size of each axis, outermost first, for example: 4, 9"
        case PredictStep():
            names = _names(step, result) if result is not None else ()
            words = f" or {' '.join(names[:3])}" if len(names) > 1 else ""
            return f"Answer with the numbers in order, from first to last, for example: 3 1 2{words}"
        case PointStep():
            return f"Answer with a cell of {step.on}: its {_indices(step)}, or the labels there"


def _indices(step: PointStep) -> str:
    shown = next((shown for shown in step.show if shown.name == step.on), None)
    axes = len(shown.axes) if shown is not None and shown.axes else 2
    if axes == 1:
        return "index, from 0, for example: 1"
    names = "row and column" if axes == 2 else "indices"
    return f"{names}, from 0, for example: {', '.join(['0'] * (axes - 1) + ['1'])}"


def choices(step: ChoiceStep, result: StepResult) -> tuple[Choice, ...]:
    """The options as the run fills them in."""
    return tuple(
        Choice(letter, template.fill(option.text, result.text), template.fill(option.why, result.text), option.right)
        for letter, option in zip(LETTERS, step.options, strict=False)
    )


def why(step: Question, result: StepResult) -> str:
    """What is said when the question is answered."""
    return template.fill(step.why, result.text)


def answer_text(step: Question, result: StepResult) -> str:
    """The right answer, for people. Raises `WorkerError` if the run did not give it."""
    _check_ready(step, result)
    match step:
        case ChoiceStep():
            right = next(choice for choice in choices(step, result) if choice.right)
            return f"{right.letter}) {right.text}"
        case PredictStep(asks="number"):
            return _written(_number(_facts(step, result)[0]), step.within)
        case PredictStep(asks="shape"):
            return str(_whole(_facts(step, result)[0]))
        case PredictStep():
            order = _whole(_facts(step, result)[0])
            names = _names(step, result)
            return ", ".join(names[place - 1] for place in order) if names else ", ".join(map(str, order))
        case PointStep():
            cells = right_cells(step, result)
            told = " or ".join(_cell_text(step, result, cell) for cell in cells[:MOST_TOLD])
            return f"{told} (and {len(cells) - MOST_TOLD} more)" if len(cells) > MOST_TOLD else told


def right_answer(step: Question, result: StepResult) -> str:
    """The right answer, as a learner may write it. Raises `WorkerError` if the run did not give it."""
    if isinstance(step, PointStep):
        return ", ".join(map(str, next(iter(right_cells(step, result)), ())))
    text = answer_text(step, result)
    return text[0] if isinstance(step, ChoiceStep) else text


def right_cells(step: PointStep, result: StepResult) -> tuple[Index, ...]:
    """The cells that may be pointed at. Raises `WorkerError` if the run did not give them."""
    return tuple(_cells(_facts(step, result)[0], _shape(step, result)))


# Judging --------------------------------------------------------------------------------------------------------------


def judge(step: Question, result: StepResult, text: str) -> Judgement:
    """Judge a learner's answer by what the run gave.

    An answer that cannot be read is an `error` that counts for nothing (`stopped`). Raises `WorkerError` if the run did
    not give what the answer is judged by.
    """
    _check_ready(step, result)
    try:
        if len(text) > LONGEST:
            raise _Unread("This is too long to be an answer.")
        match step:
            case ChoiceStep():
                return _judge_choice(step, result, text)
            case PredictStep(asks="number"):
                return _judge_number(step, result, text)
            case PredictStep(asks="shape"):
                return _judge_shape(step, result, text)
            case PredictStep():
                return _judge_order(step, result, text)
            case PointStep():
                return _judge_cell(step, result, text)
    except _Unread as unread:
        return Judgement(step.exercise, "error", str(unread), stopped=True)


def _unreadable(step: Question, result: StepResult, what: str) -> _Unread:
    """An answer of a form that nobody can read; the form of one that can be follows."""
    return _Unread(f"{what} {form(step, result)}")


def complaints(step: Question, result: StepResult) -> list[str]:
    """What an author should mend, as only a run can tell: a wrong answer that is right, options that say the same."""
    try:
        _check_ready(step, result)
        if isinstance(step, ChoiceStep):
            texts = [_bare(choice.text) for choice in choices(step, result)]
            return ["two options say the same"] if len(set(texts)) < len(texts) else []
        facts = _facts(step, result)
        if isinstance(step, PointStep):
            return _complaints_of_cells(step, result, facts)
        read: Callable[[Any], Any] = _number if step.asks == "number" else _whole
        right, *wrong = map(read, facts)
    except WorkerError as error:
        return [str(error)]
    found = []
    if step.asks == "order" and len(set(right)) < len(right):
        found.append("the right order holds a number twice")
    for place, answer in enumerate(wrong):
        if _close(answer, right, step.within) if step.asks == "number" else answer == right:
            found.append(f"wrong answer {place + 1} is right")
        if any(_same(answer, earlier) for earlier in wrong[:place]):
            found.append(f"wrong answer {place + 1} is one of those before it")
    return found


def _complaints_of_cells(step: PointStep, result: StepResult, facts: Sequence[Any]) -> list[str]:
    shape = _shape(step, result)
    right, *wrong = (set(_cells(fact, shape)) for fact in facts)
    found = [f"{step.on} has more than {WHOLE} cells"] if math.prod(shape) > WHOLE else []
    if not right or len(right) == math.prod(shape):
        found.append("no cell is right" if not right else "every cell is right")
    for place, cells in enumerate(wrong):
        if not cells - right:
            found.append(f"wrong answer {place + 1} is no wrong cell")
    return found


def _said(step: Question, name: str, verdict: Verdict, message: str) -> Judgement:
    return Judgement(step.exercise, verdict, message, checks=(CheckResult(name, verdict == "passed"),))


def _right(step: Question, result: StepResult, name: str) -> Judgement:
    return _said(step, name, "passed", why(step, result))


def _wrong(
    step: PredictStep | PointStep, result: StepResult, name: str, matches: Callable[[Any], bool], otherwise: str
) -> Judgement:
    """What the author says of the first wrong answer that this one is; else the general sentence."""
    for wrong, fact in zip(step.wrong, _facts(step, result)[1:], strict=True):
        if matches(fact):
            return _said(step, name, "failed", template.fill(wrong.why, result.text))
    return _said(step, name, "failed", otherwise)


# Choosing -------------------------------------------------------------------------------------------------------------


def _judge_choice(step: ChoiceStep, result: StepResult, text: str) -> Judgement:
    options = choices(step, result)
    place = _option(options, text)
    if place is None:
        raise _unreadable(step, result, "There is no such option.")
    chosen = options[place]
    name = "the right option"
    return _right(step, result, name) if chosen.right else _said(step, name, "failed", chosen.why)


def _option(options: Sequence[Choice], text: str) -> int | None:
    """The place of the option that a text means, None if it means none. Raises `_Unread` if it means two."""
    match = _CHOSEN.match(text.strip().casefold())
    sign = match[1] if match else ""
    if sign and sign in LETTERS[: len(options)]:
        return LETTERS.index(sign)
    found = {place for place, option in enumerate(options) if _bare(option.text) == _bare(text)}
    if sign.isdecimal() and 1 <= int(sign) <= len(options):
        found.add(int(sign) - 1)
    if len(found) > 1:
        last = options[-1].letter
        raise _Unread(f"{sign} may be the place of an option or what one says. Answer with a letter from a to {last}.")
    return found.pop() if found else None


def choice_of(step: ChoiceStep, result: StepResult, text: str) -> int | None:
    """The place of the option that a text means, from 0; None if it means none."""
    try:
        return _option(choices(step, result), text)
    except _Unread:
        return None


def _bare(text: str) -> str:
    """A text without markup, case and spaces at its ends."""
    return " ".join(re.sub(r"[`*]", "", text).split()).rstrip(".").casefold()


# Numbers --------------------------------------------------------------------------------------------------------------


def _judge_number(step: PredictStep, result: StepResult, text: str) -> Judgement:
    right = _number(_facts(step, result)[0])
    readings = numbers(text)
    if not readings:
        raise _unreadable(step, result, "This cannot be read as a number.")
    # `1,024` may be meant in two ways; whoever means the one that is nearer shall not be told about the other.
    answer = min(readings, key=lambda reading: abs(reading - right) if math.isfinite(reading - right) else math.inf)
    name = "the right number"
    if any(_close(reading, right, step.within) for reading in readings):
        return _right(step, result, name)
    return _wrong(
        step,
        result,
        name,
        lambda fact: any(_close(reading, _number(fact), step.within) for reading in readings),
        _off(answer, right, text, step.within),
    )


def numbers(text: str) -> tuple[float, ...]:
    """The numbers that a text may mean, or a product of such; none if it is no number.

    A comma may stand before decimals or thousands.
    """
    factors = _TIMES.split(text)
    if 1 < len(factors) <= MOST_FACTORS:
        return tuple(math.prod(each) for each in itertools.product(*map(numbers, factors)))
    bare = text.translate(_SIGNS).strip()
    above, slash, below = bare.partition("/")
    if slash:
        pairs = itertools.product(numbers(above), numbers(below)) if "/" not in below else ()
        return tuple(above / below for above, below in pairs if below)
    readings = []
    if "," not in bare:
        readings = [bare]
    if _GROUPED.match(bare):
        readings.append(bare.replace(",", ""))
    if bare.count(",") == 1 and "." not in bare:
        readings.append(bare.replace(",", "."))
    found = []
    for reading in readings:
        try:
            found.append(float(reading))
        except ValueError:
            continue
    return tuple(dict.fromkeys(found))


def _close(answer: float, right: float, within: float) -> bool:
    if math.isnan(answer) or math.isnan(right):
        return math.isnan(answer) and math.isnan(right)
    if math.isinf(answer) or math.isinf(right):
        return answer == right
    # The last bits of decimals and of 32-bit numbers are nobody's mistake; a whole number has none.
    slack = 1e-6 * within + (0 if _is_whole(right) else 1e-7 * abs(right))
    return abs(answer - right) <= within + slack


def _is_whole(value: float) -> bool:
    return math.isfinite(value) and value == int(value)


def _off(answer: float, right: float, text: str, within: float) -> str:
    """How far off a number is, and in which direction."""
    if math.isnan(answer):
        return "It is a number."
    if math.isnan(right):
        return "Not that. Neither a larger nor a smaller number would be right."
    if math.isfinite(right) and right and _close(-answer, right, within):
        return "The size is right, the sign is not."
    where = "large" if answer > right else "small"
    if not (math.isfinite(answer) and math.isfinite(right)):
        return f"Too {where}."
    decimals = _DECIMALS.search(text.strip())
    if round(right, len(decimals[1]) if decimals else 0) == answer and answer:
        return "Right as far as it goes, but rounded too much: give more digits."
    if right and answer and (right > 0) == (answer > 0):
        ratio = answer / right
        if ratio >= 10 or ratio <= 0.1:
            return f"Too {where}: it is off by a factor of more than ten."
        if 0.9 < ratio < 1.1:
            return f"Close, but too {where}."
    return f"Too {where}."


def _number(fact: Any) -> float:
    """The one number that a fact is. Raises `WorkerError`."""
    while isinstance(fact, list) and len(fact) == 1:
        fact = fact[0]
    if not isinstance(fact, int | float):
        raise WorkerError("The answer of this question is not a number.")
    return float(fact)


def _written(value: float, within: float) -> str:
    """A number with as many digits as are asked for."""
    if _is_whole(value):
        return str(int(value))
    if not math.isfinite(value):
        return str(value)
    return next(text for digits in range(4, 18) if _close(float(text := f"{value:.{digits}g}"), value, within))


# Shapes ---------------------------------------------------------------------------------------------------------------


def _judge_shape(step: PredictStep, result: StepResult, text: str) -> Judgement:
    right = _whole(_facts(step, result)[0])
    answer = sizes(text)
    if answer is None:
        raise _unreadable(step, result, "This cannot be read as a shape.")
    name = "the right shape"
    if answer == right:
        return _right(step, result, name)
    return _wrong(step, result, name, lambda fact: _whole(fact) == answer, _misshapen(answer, right))


def sizes(text: str) -> tuple[int, ...] | None:
    """The shape that a text means, None if it means none."""
    bare = text.translate(_SIGNS).strip()
    bracketed = _BRACKETS.match(bare)
    inner = bracketed[1].strip() if bracketed else bare
    if not inner:
        return () if bracketed else None
    parts = re.split(r"\s*[,x*]\s*|\s+by\s+|\s+", inner.removesuffix(",").strip().casefold())
    return tuple(map(int, parts)) if all(re.fullmatch(r"[0-9]{1,9}", part) for part in parts) else None


def _misshapen(answer: Index, right: Index) -> str:
    if len(answer) != len(right):
        return f"It has {'fewer' if len(answer) > len(right) else 'more'} axes."
    if sorted(answer) == sorted(right):
        transposed = answer == tuple(reversed(right))
        return "The right sizes in the wrong order" + (": yours is transposed." if transposed else ".")
    good = sum(map(int.__eq__, answer, right))
    if len(right) == 1:
        return f"Too {'large' if answer > right else 'small'}."
    if not good:
        return "As many axes as it has, but none of them has that size."
    return f"As many axes as it has, but only {good} of the {len(right)} sizes {'is' if good == 1 else 'are'} right."


def _whole(fact: Any) -> tuple[int, ...]:
    """A shape or an order. Raises `WorkerError`."""
    if isinstance(fact, int) and not isinstance(fact, bool):
        fact = [fact]
    if not isinstance(fact, list) or not all(
        isinstance(item, int) and not isinstance(item, bool) and item >= 0 for item in fact
    ):
        raise WorkerError("The answer of this question is not a list of whole numbers.")
    return tuple(fact)


# Orders ---------------------------------------------------------------------------------------------------------------


def _judge_order(step: PredictStep, result: StepResult, text: str) -> Judgement:
    right = _whole(_facts(step, result)[0])
    answer = _order(step, result, text, right)
    name = "the right order"
    if answer == right:
        return _right(step, result, name)
    good = sum(map(int.__eq__, answer, right))
    otherwise = f"{good} of {len(right)} {'is' if good == 1 else 'are'} in the right place."
    if answer == tuple(reversed(right)):
        otherwise = "Right, but the wrong way round: yours begins where it should end."
    return _wrong(step, result, name, lambda fact: _whole(fact) == answer, otherwise)


def _order(step: PredictStep, result: StepResult, text: str, right: Orders) -> Orders:
    """The order that a text means. Raises `_Unread`."""
    names = _names(step, result)
    bare = text.translate(_SIGNS).strip()
    bracketed = _BRACKETS.match(bare)
    parts = _parts(bracketed[1] if bracketed else bare, ",;>")
    highest = max(len(names), max(right, default=0))
    if len(parts) == 1 and highest < 10 and parts[0].isdecimal():
        # Single digits need nothing between them.
        parts = list(parts[0])
    places = [_place(part, names) for part in parts]
    if not parts or any(place is None for place in places):
        raise _unreadable(step, result, "This cannot be read as an order.")
    found = tuple(place for place in places if place is not None)
    if len(set(found)) < len(found):
        raise _Unread("One of them stands there twice.")
    if any(not 1 <= place <= highest for place in found):
        raise _Unread(f"The numbers are those from 1 to {highest}.")
    if len(found) != len(right):
        raise _Unread(f"These are {len(found)}, but {len(right)} are asked for.")
    return found


def _place(part: str, names: Sequence[str]) -> int | None:
    if re.fullmatch(r"[0-9]{1,9}", part):
        return int(part)
    same = [place for place, name in enumerate(names, 1) if _bare(name) == _bare(part)]
    return same[0] if same else None


def _names(step: PredictStep, result: StepResult) -> tuple[str, ...]:
    """The words that stand for the numbers of an order: labels of a shown tensor, nothing if they tell nothing more."""
    try:
        order = _whole(_facts(step, result)[0])
    except WorkerError:
        return ()
    count = max(order, default=0)
    for tensor in visible(step, result, answered=False):
        for labels in reversed(tensor.labels):
            enough = len(labels) == count if len(order) == count else len(labels) >= count
            told = {_bare(text) for text in labels}
            if enough and len(told) == len(labels) and not any(text.isdecimal() or not text for text in told):
                return labels
    return ()


def _parts(text: str, separators: str) -> list[str]:
    """The parts of a list; spaces divide it if nothing else does."""
    if any(sign in text for sign in separators):
        text = text.strip().removesuffix(",")
        return [part.strip() for part in re.split(f"[{re.escape(separators)}]", text)]
    return text.split()


# Cells ----------------------------------------------------------------------------------------------------------------


def _judge_cell(step: PointStep, result: StepResult, text: str) -> Judgement:
    shape = _shape(step, result)
    cell = _pointed(step, result, text)
    right = right_cells(step, result)
    name = "the right cell"
    if cell in right:
        return _right(step, result, name)
    return _wrong(step, result, name, lambda fact: cell in set(_cells(fact, shape)), _elsewhere(cell, right))


def _pointed(step: PointStep, result: StepResult, text: str) -> Index:
    """The cell that a text means. Raises `_Unread`."""
    tensor, shape = _tensor(step, result), _shape(step, result)
    bare = text.translate(_SIGNS).strip()
    bracketed = _CELL.match(bare)
    parts = _parts(bracketed[1] if bracketed else bare, ",;")
    # Axes of one index may be left out.
    leading = len(shape) - len(parts)
    if not parts or leading < 0 or any(size != 1 for size in shape[:leading]):
        raise _unreadable(step, result, "This cannot be read as a cell.")
    found = [0] * leading
    for axis, part in enumerate(parts, leading):
        labels = tensor.labels[axis] if tensor is not None and axis < len(tensor.labels) else ()
        place = _along(part, shape[axis], labels)
        if place is None:
            raise _unreadable(step, result, f"There is no {part or 'empty label'} along that axis.")
        found.append(place)
    return tuple(found)


def cell_of(step: PointStep, result: StepResult, text: str) -> Index | None:
    """The cell that a text means; None if it means none. Raises `WorkerError` if the run gave nothing to point at."""
    try:
        return _pointed(step, result, text)
    except _Unread:
        return None


def _along(part: str, size: int, labels: Sequence[str]) -> int | None:
    """The index that a text means along an axis, None if it means none. Raises `_Unread`."""
    if re.fullmatch(r"-?[0-9]{1,9}", part):
        index = int(part)
        if -size <= index < size:
            return index % size
        raise _Unread(f"There is no {index} along that axis: it goes from 0 to {size - 1}.")
    same = [place for place, name in enumerate(labels) if _bare(name) == _bare(part)]
    if len(same) > 1:
        raise _Unread(f"{part} stands there {len(same)} times: write its index.")
    return same[0] if same else None


def _elsewhere(cell: Index, right: Sequence[Index]) -> str:
    """Where to look instead."""
    if len(cell) == 1:
        before, after = any(other < cell for other in right), any(other > cell for other in right)
        return "Not this one." if before and after else f"Further to the {'left' if before else 'right'}."
    same = [other for other in right if other[:-2] == cell[:-2]]
    if not same:
        return "Not in this matrix: look at another one of them."
    if any(other[-2] == cell[-2] for other in same):
        return "The row is right; look for another cell of it."
    if any(other[-1] == cell[-1] for other in same):
        return "The column is right, but the cell is in another row."
    return "It is in another row and in another column."


def _tensor(step: PointStep, result: StepResult) -> Tensor | None:
    return next((tensor for tensor in result.tensors if tensor.name == step.on), None)


def _shape(step: PointStep, result: StepResult) -> Index:
    """The shape of the tensor that is pointed at."""
    tensor = _tensor(step, result)
    if tensor is not None:
        return tensor.shape
    shape, fact = [], _facts(step, result)[0]
    while isinstance(fact, list) and fact:
        shape.append(len(fact))
        fact = fact[0]
    return tuple(shape)


def _cells(fact: Any, shape: Index) -> Iterator[Index]:
    """The indices at which a fact, lists in lists, is true. Raises `WorkerError` if it has another shape."""
    if not shape:
        if isinstance(fact, list):
            raise WorkerError("The cells of this question have another shape than what is shown.")
        if fact:
            yield ()
        return
    if not isinstance(fact, list) or len(fact) != shape[0]:
        raise WorkerError("The cells of this question have another shape than what is shown.")
    for place, inner in enumerate(fact):
        for rest in _cells(inner, shape[1:]):
            yield (place, *rest)


def _cell_text(step: PointStep, result: StepResult, cell: Index) -> str:
    tensor = _tensor(step, result)
    words = [
        name
        for axis, place in enumerate(cell)
        if tensor is not None and not (name := tensor.labels[axis][place]).strip().isdecimal()
    ]
    return label(step.on, cell) + (f" ({', '.join(words)})" if words else "")


# What the run gave ----------------------------------------------------------------------------------------------------


def _check_ready(step: Question, result: StepResult) -> None:
    """Raises `WorkerError` if the run did not give all that an answer is judged by."""
    if all(field.key in result.text for field in step.fields):
        return
    if result.error is not None:
        raise WorkerError(f"The code of this question did not come to its end: {result.error.message}")
    raise WorkerError("This question has not run yet, so there is nothing to judge an answer by.")


def _facts(step: Question, result: StepResult) -> list[Any]:
    """The values of the facts of a question. Raises `WorkerError`."""
    try:
        return [json.loads(result.text[template.fact(expression).key]) for expression in step.facts]
    except (KeyError, ValueError, RecursionError):
        raise WorkerError("The run did not give what an answer to this question is judged by.") from None


def _same(left: Any, right: Any) -> bool:
    return bool(left == right) or (isinstance(left, float) and math.isnan(left) and math.isnan(right))
