"""What to type for the keys of which a text speaks: texts of lessons are written for the screen."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

from attn_tutor.lessons.format import keys
from attn_tutor.lessons.format.knobs.knob import Knob
from attn_tutor.lessons.format.lesson import FindStep, Step
from attn_tutor.lessons.format.template import Key, keys_of
from attn_tutor.lessons.render.numbers import visible
from attn_tutor.lessons.results.result import Tensor
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.actions.table import NAMED
from attn_tutor.tui.plain.command_table import TABLE, as_typed

say = Wording("plain/keys")


@dataclass(frozen=True, slots=True)
class Here:
    """What a learner can do at a step.

    Attributes:
        offered: the words of the commands that apply.
        tensors: the tensors that the step shows.
        knobs: what can be changed besides numbers.
        target: a cell of the matrix to point at, "" if the step asks for none.
        start: the number at which the learner begins to explain, "" if the step names none.
    """

    offered: Container[str]
    tensors: Sequence[Tensor] = ()
    knobs: Sequence[Knob] = ()
    target: str = ""
    start: str = ""


def sentences(step: Step, hints: Sequence[str], here: Here) -> Iterator[str]:
    """Yield what to type for each key of which the text of a step speaks, if it speaks of any.

    Args:
        step: the step.
        hints: its hints, as far as they are shown.
        here: what the learner can do at the step.
    """
    found: dict[str, str] = {}
    for key in (key for text in (step.prose, *hints) for key in keys_of(text)):
        # A dialogue has no letters in backquotes.
        name = keys.written(key.action).strip("`")
        if name not in found and (typed := _typed(key, step, here)):
            found[name] = typed
    if found:
        pairs = "; ".join(say("for", "for {key}, {typed}", key=key, typed=typed) for key, typed in found.items())
        yield say("here", "What to type here: {pairs}.", pairs=pairs)
    if isinstance(step, FindStep) and "explain" in here.offered and here.start:
        yield say(
            "choose",
            "An explanation lists what the number was computed from. To choose one of these, type its number.",
        )
    elif here.tensors and "show" in here.offered and any(key.action == "move" for key in keys_of(step.prose)):
        first = here.tensors[0]
        yield say(
            "cursor",
            "There is no cursor here: name a cell instead, such as {cell}. read {name} reads {what}.",
            cell=_labelled(first), name=_readable(first),
            what=say("whole", "the whole matrix") if first.values is not None else say("row", "a row"),
        )  # fmt: skip


def commands_for(action: str) -> tuple[str, ...]:
    """Return the words of the commands that stand for what a key does."""
    words = tuple(command.word for command in TABLE if NAMED[action] in command.actions)
    # What the panel of changes has in one list has two commands here.
    return (*words, "knob") if "set" in words else words


def _typed(key: Key, step: Step, here: Here) -> str:
    """Return what to type for a key, with an example of what follows; "" if there is nothing to type."""
    match key.action:
        case "enter" | "turn" | "move":
            # It ends what is typed, as here, or belongs to a cursor.
            return ""
        case "answer" if isinstance(step, FindStep) and step.target == "box":
            # Which boxes there are is part of the question.
            return "point"
        case "previous-slice" if here.tensors and not key.example:
            return as_typed("show", f"{_first_of_many(here.tensors)}[0]")
        case "pane":
            return as_typed("show", key.example or here.tensors[1].name) if len(here.tensors) > 1 else ""
    words = [word for word in commands_for(key.action) if word in here.offered]
    if "set" in words and "knob" in words and key.example:
        # An example is a knob or a number.
        words = ["knob" if _knob_named(key.example, here.knobs) else "set"]
    return say("or", " or ").join(_with_example(word, key.example, here) for word in words)


def _with_example(word: str, example: str, here: Here) -> str:
    """Return a command with an example of what follows."""
    match word:
        case "knob":
            return _knob(example, here.knobs)
        case "point" if here.target or example:
            return as_typed(word, example or here.target)
        case "explain" if here.start and not example:
            return as_typed(word, here.start)
    if not here.tensors:
        return word
    match word:
        case "explain":
            return as_typed(word, example or _first_cell(here.tensors[0]))
        case "point":
            return as_typed(word, _first_cell(here.tensors[min(1, len(here.tensors) - 1)]))
        case "set":
            return as_typed(word, f"{example or _first_cell(here.tensors[0])} = 0.5")
        case "show":
            return as_typed(word, example or f"{_first_of_many(here.tensors)}[1]")
    return word


def _first_of_many(tensors: Sequence[Tensor]) -> str:
    """Return the name of the first tensor of which a screen shows one matrix at a time, or else of the first one."""
    return next((tensor.name for tensor in tensors if len(tensor.shape) > 2), tensors[0].name)


def _first_cell(tensor: Tensor) -> str:
    return f"{tensor.name}[{','.join('0' for _ in tensor.shape)}]" if tensor.shape else tensor.name


def _readable(tensor: Tensor) -> str:
    """Return what of a tensor can be read at once: all of it, or of a large one a row."""
    if tensor.values is not None:
        return tensor.name
    return f"{tensor.name}[{','.join('0' for _ in tensor.shape[:-1])}]"


def _labelled(tensor: Tensor) -> str:
    """Return a cell as an example of how cells are named: by its labels where these are words."""
    cell = _first_cell(tensor)
    words = []
    for axis in range(len(tensor.shape)):
        labels = tensor.labels[axis] if axis < len(tensor.labels) else ()
        label = visible(labels[0]) if labels else "0"
        if not label.isidentifier() or labels.count(label) != 1:
            return cell
        words.append(label)
    named = f"{tensor.name}[{','.join(words)}]"
    return say("cell-or", "{cell} or {named}", cell=cell, named=named) if words else cell


def _knob_named(name: str, knobs: Sequence[Knob]) -> Knob | None:
    return next((knob for knob in knobs if knob.name == name), None)


def _knob(example: str, knobs: Sequence[Knob]) -> str:
    """Return the command for the knob of an example, or for the only one."""
    knob = _knob_named(example, knobs) or (knobs[0] if len(knobs) == 1 else None)
    return say("knob-value", "knob {name} and a value", name=knob.name) if knob else "knob"
