"""What the keys are called here that a text speaks of: texts of lessons are written for the screen."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

from lessons.format.knobs.knob import Knob
from lessons.format.lesson import ExperimentStep, PointStep, Step
from lessons.render.numbers import visible
from lessons.results.result import Tensor
from lessons.texts.wording import Wording
from tui.actions.table import TABLE as ACTIONS
from tui.plain.command_table import TABLE, as_typed

say = Wording("plain/keys")

PRESSED = re.compile(
    r"[Pp]ress(?:ing)?\s+(?:the\s+)?(?:`([^`]+)`|(Enter|Tab))|\b(Enter) on\b|\b[Ww]ith `(f\d+|w)`"
    r"|`(f\d+)` (?:\w+s|to)\b"
)

MOVED = re.compile(
    r"\barrow keys?\b|\bwith the arrows\b|\bcursor\b|\bthe up and down keys\b|\bwalk\b|\bgo down to row\b",
    re.IGNORECASE,
)
"""Words for moving about, by which a text tells a learner to go to a number."""

CHOSEN = re.compile(r"\b[Cc]hoose\b")
"""The word for choosing one of the numbers of an explanation."""

PANEL = re.compile(r"\bpanel\b|\bknobs?\b")

SIDE_SHAPES = re.compile(r"\bshapes?\b[^.?]*\b(?:beside|right of)\b|\b(?:beside|right of)\b[^.?]*\bshapes?\b")
"""Words for the shapes beside the code."""

BRIGHT = re.compile(r"\bbright(?:er|est)?\b|\bcolou?rs?\b|\bdark(?:er|est)?\b", re.IGNORECASE)
"""Words for what a screen shows by its colors."""

FILLED = re.compile(r"\{[^{}]*\}")
"""What is filled into a text, whose names and indices a reader does not see."""

NAMED_CELL = re.compile(r"([A-Za-z_][\w.]*)\[(-?\d+(?:,\s*-?\d+)*)\]")

NAMED = re.compile(r"`([A-Za-z_][\w.]*)`")

CONTEXTS = ("tutor", "step", "number", "find", "matrix", "training", "question", "experiment", "exercise", "options")
"""The contexts of actions whose keys a text may speak of; of two actions with one key, the one of the first context."""

NAMES = {"]": "right_square_bracket", "[": "left_square_bracket", "?": "question_mark", "Enter": "enter", "Tab": "tab"}
"""Textual's names of keys, by what texts call them."""


@dataclass(frozen=True, slots=True)
class Here:
    """What a learner can do at a step.

    Attributes:
        offered: the words of the commands that apply.
        tensors: the tensors that the step shows.
        knobs: what can be changed besides numbers.
        target: a cell of the matrix to point at, "" if the step asks for none.
        start: the number at which the text has the learner begin to explain, "" if the step names none.
    """

    offered: Container[str]
    tensors: Sequence[Tensor] = ()
    knobs: Sequence[Knob] = ()
    target: str = ""
    start: str = ""


def translated(step: Step, hints: Sequence[str], here: Here) -> Iterator[str]:
    """Yield sentences with what to type instead of what the text of a step does on the screen, if it does.

    Args:
        step: the step.
        hints: its hints, as far as they are shown.
        here: what the learner can do at the step.
    """
    text = FILLED.sub("", "\n".join((step.prose, *hints)))
    found: dict[str, str] = {}
    for each in (step.prose, *hints):
        for key in keys_in(each):
            if key == "Enter" and isinstance(step, ExperimentStep) and "Enter on" not in each:
                # It ends what is typed, as here.
                continue
            words = [word for word in commands_for(key, points=isinstance(step, PointStep)) if word in here.offered]
            if typed := [_typed(word, text, here) for word in words]:
                found[key] = say("or", " or ").join(typed)
            elif key.casefold() == "tab" and len(here.tensors) > 1:
                found[key] = as_typed("show", _mentioned(text, here.tensors[1:]).name)
    if PANEL.search(text) and "knob" in here.offered and not any("knob" in typed for typed in found.values()):
        found[say("panel", "the panel")] = _typed("knob", text, here)
    if found:
        pairs = "; ".join(say("for", "for {key}, {typed}", key=key, typed=typed) for key, typed in found.items())
        yield say("here", "What to type here: {pairs}.", pairs=pairs)
    if CHOSEN.search(text) and "explain" in here.offered and any("explain" in typed for typed in found.values()):
        yield say(
            "choose",
            "An explanation lists what the number was computed from. To choose one of these, type its number.",
        )
    elif MOVED.search(text) and "show" in here.offered:
        yield say(
            "cursor",
            "There is no cursor here: name a cell instead, such as {cell}. read {name} reads {what}.",
            cell=_labelled(text, here.tensors), name=_readable(tensor := _mentioned(text, here.tensors)),
            what=say("whole", "the whole matrix") if tensor.values is not None else say("row", "a row"),
        )  # fmt: skip
    if SIDE_SHAPES.search(text) and "shapes" in here.offered:
        yield say("shapes", "On the screen, shapes stand beside each line of the code. Here, shapes lists them.")
    if BRIGHT.search(text) and "row" in here.offered:
        yield say(
            "bright",
            "On the screen, a greater number has a brighter color. row {row} names the greatest numbers of a row.",
            row=f"{_mentioned(text, here.tensors).name}[0]",
        )


def keys_in(text: str) -> Iterator[str]:
    """Yield the keys that a text tells a learner to press."""
    for match in PRESSED.finditer(text):
        yield next(group for group in match.groups() if group)


def commands_for(key: str, *, points: bool = False) -> tuple[str, ...]:
    """Return the words of the commands that stand for a key; in a matrix to point at, Enter answers."""
    name = NAMES.get(key, key.casefold())
    for context in ("question", *CONTEXTS) if points else CONTEXTS:
        for action in ACTIONS:
            if action.id.partition(".")[0] != context:
                continue
            if any(name in stroke.keys.split(",") for stroke in action.strokes):
                words = tuple(command.word for command in TABLE if action.id in command.actions)
                # What the panel of changes has in one list has two commands here.
                return (*words, "knob") if "set" in words else words
    return ()


def _mentioned(text: str, tensors: Sequence[Tensor]) -> Tensor:
    """Return the tensor that a text mentions first, in quotes as code; the first one if it mentions none."""
    by_name = {tensor.name: tensor for tensor in tensors}
    return next((by_name[name] for name in NAMED.findall(text) if name in by_name), tensors[0])


def _cell(text: str, tensors: Sequence[Tensor]) -> str:
    """Return the cell that a text mentions first, or else the first one of the tensor that it mentions first."""
    shapes = {tensor.name: tensor.shape for tensor in tensors}
    for name, inner in NAMED_CELL.findall(text):
        index = [int(part) for part in inner.split(",")]
        shape = shapes.get(name, ())
        if len(index) == len(shape) and all(-size <= at < size for at, size in zip(index, shape, strict=True)):
            return f"{name}[{','.join(map(str, index))}]"
    tensor = _mentioned(text, tensors)
    return f"{tensor.name}[{','.join('0' for _ in tensor.shape)}]" if tensor.shape else tensor.name


def _readable(tensor: Tensor) -> str:
    """Return what of a tensor can be read at once: all of it, or of a large one a row."""
    if tensor.values is not None:
        return tensor.name
    return f"{tensor.name}[{','.join('0' for _ in tensor.shape[:-1])}]"


def _labelled(text: str, tensors: Sequence[Tensor]) -> str:
    """Return a cell as an example of how cells are named: by its labels where these are words."""
    cell = _cell(text, tensors)
    tensor = next(each for each in tensors if each.name == cell.partition("[")[0])
    words = []
    for axis, at in enumerate(cell.partition("[")[2].rstrip("]").split(",") if tensor.shape else ()):
        labels = tensor.labels[axis] if axis < len(tensor.labels) else ()
        label = visible(labels[int(at)]) if labels and -len(labels) <= int(at) < len(labels) else at
        if not label.isidentifier() or labels.count(label) != 1:
            return cell
        words.append(label)
    named = f"{tensor.name}[{','.join(words)}]"
    return say("cell-or", "{cell} or {named}", cell=cell, named=named) if words else cell


def _knob(text: str, knobs: Sequence[Knob]) -> str:
    """Return the commands for the knobs that a text names, or for the only one."""
    named = [knob for knob in knobs if knob.label.casefold() in text.casefold() or f"`{knob.name}`" in text]
    if not named and len(knobs) > 1:
        return "knob"
    return say("or", " or ").join(
        say("knob-value", "knob {name} and a value", name=knob.name) for knob in named or knobs
    )


def _typed(word: str, text: str, here: Here) -> str:
    """Return a command with an example of what follows."""
    if word == "knob":
        return _knob(text, here.knobs)
    if word == "point" and here.target:
        return as_typed(word, here.target)
    if not here.tensors:
        return word
    cell = _cell(text, here.tensors)
    match word:
        case "explain":
            # What is to be explained stands behind the key.
            return as_typed(word, here.start or _cell(text[text.find("Enter") :] + text, here.tensors))
        case "set":
            return as_typed(word, f"{_cell(text[text.find('cursor') :] + text, here.tensors)} = 0.5")
        case "show":
            name = cell.partition("[")[0]
            return as_typed(word, name + ("[1]" if cell.count(",") > 1 else ""))
        case "row" | "overview":
            return f"{word} {cell.partition('[')[0]}"
    return word
