"""Readers for the text of an answer to a question. Pure functions over plain data."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence

from attn_tutor.lessons.engine.questions.question_facts import (
    Index,
    normalize_text,
    order_names,
    pointed_shape,
    pointed_tensor,
)
from attn_tutor.lessons.engine.questions.question_words import LETTERS, Choice, choices
from attn_tutor.lessons.format.lesson import PredictStep, Step
from attn_tutor.lessons.format.questions import BaseQuestion
from attn_tutor.lessons.results.result import StepResult
from attn_tutor.lessons.texts.wording import Wording

say = Wording("engine/answer-reading")

LONGEST = 1000
"""Maximum number of characters in an answer; a longer one is not read."""

MOST_FACTORS = 8
_SIGNS = str.maketrans({"−": "-", "–": "-", "×": "x", "∞": "inf", "\u00a0": " "})
_GROUPED = re.compile(r"[-+]?\d{1,3}(,\d{3})+(\.\d+)?$")
_BRACKETS = re.compile(r"^(?:torch\.Size)?\s*[(\[]+(.*?)[)\]]+$")
_TIMES = re.compile(r"\s*[*×]\s*|\s+x\s+")
_CELL = re.compile(r"^[\w.]*\s*[(\[](.*)[)\]]$")
_BOX = re.compile(r"[^\W\d][\w.\[\]]*")
_CHOSEN = re.compile(r"\(?\s*([a-z]|\d)\s*(?:[).:]?$|\)\s)")

Orders = tuple[int, ...]


class UnreadableAnswer(Exception):
    """An answer that cannot be read.

    Attributes:
        says_how: whether how to write one is to be said after the message.
    """

    def __init__(self, message: str, *, says_how: bool = False) -> None:
        super().__init__(message)
        self.says_how = says_how


def read_option(options: Sequence[Choice], text: str) -> int | None:
    """Return the position of the option that a text names, None if it names none.

    Raises `UnreadableAnswer` if it could mean two options.
    """
    match = _CHOSEN.match(text.strip().casefold())
    sign = match[1] if match else ""
    if sign and sign in LETTERS[: len(options)]:
        return LETTERS.index(sign)
    found = {position for position, option in enumerate(options) if normalize_text(option.text) == normalize_text(text)}
    if sign.isdecimal() and 1 <= int(sign) <= len(options):
        found.add(int(sign) - 1)
    if len(found) > 1:
        last = options[-1].letter
        raise UnreadableAnswer(
            say(
                "place-or-text",
                "{sign} may be the place of an option or what one says. Answer with a letter from a to {last}.",
                sign=sign,
                last=last,
            )
        )
    return found.pop() if found else None


def choice_of(step: Step, result: StepResult, text: str) -> int | None:
    """Return the position (from 0) of the option that a text names, None if it names none or could mean two."""
    try:
        return read_option(choices(step, result), text)
    except UnreadableAnswer:
        return None


def read_numbers(text: str) -> tuple[float, ...]:
    """Return all numbers that a text may mean; the tuple is empty if the text is not a number.

    Products and fractions are computed. A comma may separate decimals or thousands, so a text can mean two numbers.
    """
    factors = _TIMES.split(text)
    if 1 < len(factors) <= MOST_FACTORS:
        return tuple(math.prod(each) for each in itertools.product(*map(read_numbers, factors)))
    plain = text.translate(_SIGNS).strip()
    above, slash, below = plain.partition("/")
    if slash:
        pairs = itertools.product(read_numbers(above), read_numbers(below)) if "/" not in below else ()
        return tuple(above / below for above, below in pairs if below)
    readings = []
    if "," not in plain:
        readings = [plain]
    if _GROUPED.match(plain):
        readings.append(plain.replace(",", ""))
    if plain.count(",") == 1 and "." not in plain:
        readings.append(plain.replace(",", "."))
    found = []
    for reading in readings:
        try:
            found.append(float(reading))
        except ValueError:
            continue
    return tuple(dict.fromkeys(found))


def read_sizes(text: str) -> tuple[int, ...] | None:
    """Return the shape that a text describes, None if it does not describe a shape."""
    plain = text.translate(_SIGNS).strip()
    bracketed = _BRACKETS.match(plain)
    inner = bracketed[1].strip() if bracketed else plain
    if not inner:
        return () if bracketed else None
    parts = re.split(r"\s*[,x*]\s*|\s+by\s+|\s+", inner.removesuffix(",").strip().casefold())
    return tuple(map(int, parts)) if all(re.fullmatch(r"[0-9]{1,9}", part) for part in parts) else None


def read_order(step: PredictStep, result: StepResult, text: str, right: Orders) -> Orders:
    """Return the order that a text describes. Raises `UnreadableAnswer`, also if it is not as long as the right one."""
    names = order_names(step, result)
    plain = text.translate(_SIGNS).strip()
    bracketed = _BRACKETS.match(plain)
    parts = _parts(bracketed[1] if bracketed else plain, ",;>")
    highest = max(len(names), max(right, default=0))
    if len(parts) == 1 and highest < 10 and parts[0].isdecimal():
        # Single digits need no separators.
        parts = list(parts[0])
    positions = [_position(part, names) for part in parts]
    if not parts or any(position is None for position in positions):
        raise UnreadableAnswer(say("no-order", "This cannot be read as an order."), says_how=True)
    found = tuple(position for position in positions if position is not None)
    if len(set(found)) < len(found):
        raise UnreadableAnswer(say("twice", "One of them stands there twice."))
    if any(not 1 <= position <= highest for position in found):
        raise UnreadableAnswer(say("beyond-highest", "The numbers are those from 1 to {highest}.", highest=highest))
    if len(found) != len(right):
        raise UnreadableAnswer(
            say("other-count", "These are {given}, but {asked} are asked for.", given=len(found), asked=len(right))
        )
    return found


def _position(part: str, names: Sequence[str]) -> int | None:
    if re.fullmatch(r"[0-9]{1,9}", part):
        return int(part)
    same = [position for position, name in enumerate(names, 1) if normalize_text(name) == normalize_text(part)]
    return same[0] if same else None


def read_cell(step: BaseQuestion, result: StepResult, text: str) -> Index:
    """Return the cell that a text names, or the first cell of the row that it names where a row is asked for.

    Raises `UnreadableAnswer`, or `WorkerError` if there are no cells.
    """
    tensor, shape = pointed_tensor(step, result), pointed_shape(step, result)
    plain = text.translate(_SIGNS).strip()
    bracketed = _CELL.match(plain)
    parts = _parts(bracketed[1] if bracketed else plain, ",;")
    if step.answer_form == "row" and len(parts) < len(shape):
        parts.append("0")
    # Leading axes of size 1 may be omitted.
    leading = len(shape) - len(parts)
    if not parts or leading < 0 or any(size != 1 for size in shape[:leading]):
        raise UnreadableAnswer(say("no-cell", "This cannot be read as a cell."), says_how=True)
    found = [0] * leading
    for axis, part in enumerate(parts, leading):
        labels = tensor.labels[axis] if tensor is not None and axis < len(tensor.labels) else ()
        position = _index_along(part, shape[axis], labels)
        if position is None:
            raise UnreadableAnswer(_no_such_label(part), says_how=True)
        found.append(position)
    return tuple(found)


def read_box(text: str) -> str:
    """Return the name of a box of the flow. Raises `UnreadableAnswer` for what is no name."""
    name = text.strip().strip("`").strip()
    if not _BOX.fullmatch(name):
        raise UnreadableAnswer(say("no-box", "This cannot be read as the name of a box."), says_how=True)
    return name


def cell_of(step: BaseQuestion, result: StepResult, text: str) -> Index | None:
    """Return the cell that a text names, None if it names none. Raises `WorkerError` if there are no cells."""
    try:
        return read_cell(step, result, text)
    except UnreadableAnswer:
        return None


def _no_such_label(part: str) -> str:
    if not part:
        return say("no-empty-label", "There is no empty label along that axis.")
    return say("no-such-label", "There is no {label} along that axis.", label=part)


def _index_along(part: str, size: int, labels: Sequence[str]) -> int | None:
    """Return the index that a text names along an axis, None if it names none. Raises `UnreadableAnswer`."""
    if re.fullmatch(r"-?[0-9]{1,9}", part):
        index = int(part)
        if -size <= index < size:
            return index % size
        raise UnreadableAnswer(
            say(
                "beyond-axis",
                "There is no {index} along that axis: it goes from 0 to {last}.",
                index=index,
                last=size - 1,
            )
        )
    same = [position for position, name in enumerate(labels) if normalize_text(name) == normalize_text(part)]
    if len(same) > 1:
        raise UnreadableAnswer(
            say("several-times", "{part} stands there {count} times: write its index.", part=part, count=len(same))
        )
    return same[0] if same else None


def _parts(text: str, separators: str) -> list[str]:
    """Split a list at the given separators, or at spaces if it contains none of them."""
    if any(sign in text for sign in separators):
        text = text.strip().removesuffix(",")
        return [part.strip() for part in re.split(f"[{re.escape(separators)}]", text)]
    return text.split()
