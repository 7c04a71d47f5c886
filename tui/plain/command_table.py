"""The table of the commands of the dialogue: the actions that each stands for, and what to type for a key.

A step offers some of these commands; `help` lists those. `tests/tui/plain/test_parity.py` fails if an action of the
screen has no command and no reason for that.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from attn_tutor.lessons.format import template
from attn_tutor.lessons.format.knobs import Knob
from attn_tutor.lessons.format.lesson import Step
from attn_tutor.lessons.format.template import Key, keys_of
from attn_tutor.lessons.render.numbers import visible
from attn_tutor.lessons.results.result import Tensor
from attn_tutor.lessons.texts.wording import Wording, of_table
from attn_tutor.tui.actions.table import NAMED

TEXT_GROUP = "plain/commands"
say = Wording("plain/commands")

Handler = Callable[[str], Iterable[str]]
"""Does a command with what was typed after its word, and yields lines. Raises `Refused`."""

Handlers = dict[str, Handler]
"""The commands that apply at the moment, by their words."""


class PlainCommand(NamedTuple):
    """A command.

    Attributes:
        word: what a learner types.
        letter: the short form, "" for none; where the screen has a key for the same, it is that key.
        form: what may follow the word, in English; "" if nothing does.
        help: the sentence for the help, in English.
        actions: the actions of the screen that it stands for.
    """

    word: str
    letter: str
    form: str
    help: str
    actions: tuple[str, ...]

    def said_form(self) -> str:
        """Return what may follow the word."""
        return of_table(f"{TEXT_GROUP}/{self.word}-form", self.form) if self.form else ""

    def said_help(self) -> str:
        """Return the sentence for the help."""
        return of_table(f"{TEXT_GROUP}/{self.word}", self.help)


def _command(word: str, letter: str, help: str, actions: str = "", form: str = "") -> PlainCommand:
    return PlainCommand(word, letter, form, help, tuple(actions.split()))


TABLE: tuple[PlainCommand, ...] = (
    # Through the course
    _command("next", "n", "go to the next step", "tutor.next tutor.next-anywhere"),
    _command("back", "b", "go to the step before", "tutor.back tutor.back-anywhere"),
    _command("side", "i", "open the side step, which never counts", "tutor.side-step"),
    _command("again", "", "print this step again", "text.scroll text.jump exercise.fold tutor.redraw"),
    _command(
        "map",
        "m",
        "list the lessons, with your progress",
        "tutor.map list.move tensors.search tensors.all search.words",
    ),
    _command("steps", "", "list the steps of a lesson, with your progress", form="[LESSON]"),
    _command(
        "go",
        "",
        "open a lesson where you left off, or one of its steps, by number or name",
        "map.open list.choose",
        form="LESSON [STEP]",
    ),
    _command("courses", "", "list the courses that you can open, with your progress"),
    _command("course", "", "switch to a different course", "map.open", form="ID"),
    _command("progress", "", "say how far you are, and what is due for review"),
    _command("review", "v", "open the next exercise that is due for review", "map.review"),
    _command(
        "challenge",
        "",
        "try the challenge of a lesson; if you pass, you may skip the rest",
        "map.challenge",
        form="[LESSON]",
    ),
    _command("return", "j", "go back to where you were before a jump", "tutor.jump-back"),
    _command(
        "glossary",
        "",
        "say what a term means, or list the terms",
        "tutor.glossary glossary.search glossary.move",
        form="[TERM]",
    ),
    _command("term", "", "go to the step that introduces a term", "glossary.go", form="TERM"),
    # Numbers
    _command(
        "call",
        "",
        "show an earlier call of this function: call 3, or call before, after, first, last",
        "program.call program.call-far",
        form="NUMBER",
    ),
    _command("run", "r", "run the step, or your code, and print what comes of it", "tutor.rerun exercise.run"),
    _command(
        "show",
        "s",
        "print a matrix as a table, or a part of it: show weights[1], show weights[0:3, 2]",
        "matrix.move matrix.jump matrix.head matrix.batch matrix.cells matrix.enter-block matrix.zoom-in",
        form="NAME[INDEX]",
    ),
    _command("read", "", "print a matrix or a part of it in sentences, one for each row", form="NAME[INDEX]"),
    _command("shapes", "", "say which tensors each line of the code takes and makes, with their shapes"),
    _command("sentences", "", "have all matrices printed in sentences, and with the next sentences as tables again"),
    _command(
        "row", "t", "describe a row: its largest values, and its entropy or sum", "matrix.statistics", form="NAME[ROW]"
    ),
    _command(
        "overview",
        "o",
        "print the greatest number of each block of a large matrix",
        "matrix.overview matrix.zoom-out",
        form="NAME",
    ),
    _command(
        "explain",
        "e",
        "say how a number was computed; with LEVELS, also what it was computed from",
        "number.explain question.explain",
        form="NAME[INDEX] [LEVELS]",
    ),
    _command(
        "follow",
        "",
        "explain one of the numbers that it was computed from; its number alone will do",
        "explanation.choose explanation.jump explanation.follow",
        form="NUMBER",
    ),
    _command("up", "", "go back to the explanation before", "explanation.back number.back"),
    _command("flow", "f", "list what was computed from what", "tutor.flow flow.move"),
    _command("open", "", "list what is inside a box of the flow, or no longer", "flow.toggle", form="BOX"),
    _command("box", "", "print the matrix of a box of the flow", "flow.matrix", form="BOX"),
    # What if
    _command(
        "set",
        "w",
        "change a number, run again, and say what that changes",
        "step.what-if rows.type",
        form="NAME[INDEX] = VALUE",
    ),
    _command(
        "knob",
        "k",
        "change the words, the mask, a size, ...; alone: list what can be changed",
        "rows.choose rows.jump rows.turn what-if.search",
        form="[NAME VALUE]",
    ),
    _command("changes", "", "list what you have changed"),
    _command(
        "compare",
        "d",
        "list what your changes have changed, with the numbers before and after",
        "step.flip",
        form="[NAME]",
    ),
    _command("undo", "u", "undo the last change", "what-if.undo rows.put-back"),
    _command("redo", "", "make it again", "what-if.redo"),
    _command("reset", "", "undo all changes", "what-if.restore"),
    # Tasks
    _command(
        "answer",
        "a",
        "answer the question",
        "options.choose options.take options.letter answer-line.check flow.point",
        form="TEXT",
    ),
    _command(
        "point",
        "",
        "answer with a cell, or with a numbered number of an explanation: point 2",
        "find.point question.enter",
        form="NAME[INDEX]",
    ),
    _command(
        "code", "", "write your code: lines, up to a line with a period alone, or with END", "task.edit", form="[END]"
    ),
    _command("draft", "", "print your code as it is"),
    _command(
        "line",
        "",
        "print a line of your code, or write another in its place, which is indented as the old one is",
        form="NUMBER [CODE]",
    ),
    _command("starter", "", "switch to the starter code, and back", "exercise.reset"),
    _command("edit", "", "write it in your own editor: $VISUAL or $EDITOR", "exercise.outside"),
    _command("check", "c", "have your code judged; with FILE, the code in that file", "exercise.check", form="[FILE]"),
    _command(
        "difference",
        "",
        "print the first result that differs, yours and the expected one",
        "exercise.difference difference.flip",
    ),
    _command("hint", "h", "read the next hint", "exercise.hint question.hint experiment.hint"),
    _command("solution", "", "read the solution; if you have not solved it, this gives up"),
    _command("retract", "", "take back giving up", "solution.take-back"),
    # Trainings and the prompt
    _command("train", "g", "train the model; Ctrl+C pauses it, and train goes on", "training.go"),
    _command("stop", "", "end a paused training", "tutor.stop"),
    _command(
        "curves", "", "say how the curves of the training go, in a few numbers each, or in so many", form="[POINTS]"
    ),
    _command(
        "snapshot",
        "",
        "print the next snapshot of the training, or that of a number",
        "training.look training.look-far",
        form="[NUMBER]",
    ),
    _command("python", "p", "open a Python prompt with the variables of this step", "tutor.prompt prompt-line.run"),
    # The dialogue itself
    _command("export", "x", "save your progress and code to a file", "tutor.export"),
    _command(
        "keep",
        "",
        "write a file of your own: a matrix (keep weights weights.csv, or .txt, or .svg), or module, markdown, "
        "notebook, html: what you wrote and read",
        "tutor.take-home home.move home.name home.take",
        form="WHAT [FILE]",
    ),
    _command("help", "?", "list what can be done here", "tutor.help tutor.help-anywhere", form="[COMMAND]"),
    _command("quit", "q", "quit", "tutor.quit"),
)

COMMANDS = {command.word: command for command in TABLE}
"""The commands by their words."""

LETTERS = {command.letter: command.word for command in TABLE if command.letter}
"""The words by their short forms."""


def texts() -> dict[str, str]:
    """Return the English words of all commands by their ids."""
    helps = {f"{TEXT_GROUP}/{command.word}": command.help for command in TABLE}
    return helps | {f"{TEXT_GROUP}/{command.word}-form": command.form for command in TABLE if command.form}


def word_of(text: str) -> str | None:
    """Return the word of the command that a text means, by its word or its letter; None if it means none."""
    text = text.casefold()
    return text if text in COMMANDS else LETTERS.get(text)


def as_typed(word: str, rest: str) -> str:
    """Return a command as a learner types it."""
    return f"{word} {rest}"


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


def sentences_to_type(step: Step, hints: Sequence[str], here: Here) -> Iterator[str]:
    """Yield what to type for each key of which the text of a step speaks, if it speaks of any.

    Args:
        step: the step.
        hints: its hints, as far as they are shown.
        here: what the learner can do at the step.
    """
    found: dict[str, str] = {}
    for key in (key for text in (step.prose, *hints) for key in keys_of(text)):
        # A dialogue has no letters in backquotes.
        name = template.written_key(key.action).strip("`")
        if name not in found and (typed := _typed(key, step, here)):
            found[name] = typed
    if found:
        pairs = "; ".join(say("for", "for {key}, {typed}", key=key, typed=typed) for key, typed in found.items())
        yield say("here", "What to type here: {pairs}.", pairs=pairs)
    if "explain" in here.offered and here.start:
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
            what=say("whole", "the whole matrix") if first.values is not None else say("keys-row", "a row"),
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
        case "answer" if step.answer_form == "box":
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
