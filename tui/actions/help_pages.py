"""The pages of F1, whose keys and sentences come from the table of actions."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, replace

from lessons.texts.wording import Wording, of_table
from tui.actions.action_words import help_of
from tui.actions.key_names import full_keys
from tui.actions.table import of_context

say = Wording("help/words")
GROUP = "help"
"""The group of the texts of the pages."""

LABEL_WIDTH, SECOND_COLUMN, SECOND_WIDTH = 16, 39, 7
"""Columns of the keys, of the beginning of a second action in a line, and of its keys, at least."""

NARROW = 48
"""Columns below which the sentences do not start in a column of their own."""

GAP = 3
NESTED = "  "
ID = re.compile(r"\{([\w.-]+)\}")


@dataclass(frozen=True, slots=True)
class Entry:
    """Keys and their effect.

    Attributes:
        actions: The ids of the actions.
        help: What they do, if that differs from the sentence in the table for the first of them.
        same: Whether all actions have the same effect, so that the learner may press any of the keys.
    """

    actions: tuple[str, ...]
    help: str = ""
    same: bool = False

    @property
    def keys(self) -> str:
        """The keys."""
        return (say("or", " or ") if self.same else ", ").join(map(full_keys, self.actions))

    @property
    def fewer_keys(self) -> str:
        """The keys for a narrow screen: only the first of those that have the same effect."""
        return ", ".join(full_keys(action, alternatives=False) for action in self.actions)

    @property
    def sentence(self) -> str:
        """The effect of the keys."""
        return sentence(self.help or help_of(self.actions[0]))


@dataclass(frozen=True, slots=True)
class Row:
    """A line with one or two entries; a nested one belongs to the key above it."""

    entries: tuple[Entry, ...]
    nested: bool = False


Page = tuple[str | Row, ...]
"""Lines of text, and rows of keys."""


def sentence(text: str) -> str:
    """Fill the keys of other actions, written as `{id}`, into a sentence."""
    return ID.sub(lambda found: full_keys(found[1], alternatives=False), text)


def rendered(page: Page, width: int = 80) -> str:
    """Lay out a page for so many columns, so that no line is wrapped between keys and their sentence.

    Second entries of neighboring rows are aligned, and go below the first ones where there is no room beside them.
    """
    lines: list[str] = []
    block: list[Row] = []
    for line in (*page, ""):
        if isinstance(line, Row):
            block.append(line)
            continue
        lines += _laid_out(block, width)
        lines += textwrap.wrap(line, width, drop_whitespace=True) if len(line) > width else [line]
        block = []
    return "\n".join(lines)


def _laid_out(block: list[Row], width: int) -> Iterator[str]:
    """Lay out neighboring rows."""
    starts = [_entry_line(row.entries[0], row.nested) for row in block]
    doubles = [(row, start) for row, start in zip(block, starts, strict=True) if len(row.entries) > 1]
    column = max((SECOND_COLUMN, *(len(start) + GAP for _, start in doubles)))
    keys = max((SECOND_WIDTH, *(len(row.entries[1].fewer_keys) + 1 for row, _ in doubles)))
    beside = {
        start: start.ljust(column) + row.entries[1].fewer_keys.ljust(keys) + row.entries[1].sentence
        for row, start in doubles
    }
    if any(len(line) > width for line in beside.values()):
        beside = {}
    for row, start in zip(block, starts, strict=True):
        if start in beside:
            yield beside[start]
        else:
            for entry in row.entries:
                yield from _wrapped(entry, row.nested, width)


def _entry_line(entry: Entry, nested: bool) -> str:
    return _keys(entry, nested).ljust(LABEL_WIDTH - 1) + " " + entry.sentence


def _keys(entry: Entry, nested: bool) -> str:
    return (NESTED if nested else "") + entry.keys


def _wrapped(entry: Entry, nested: bool, width: int) -> list[str]:
    """Wrap an entry; lines after the first one begin below the sentence, or a little indented on a narrow screen."""
    line = _entry_line(entry, nested)
    if len(line) <= width and width >= NARROW:
        return [line]
    keys = _keys(entry, nested)
    start = line[: len(line) - len(entry.sentence)] if width >= NARROW else f"{keys}  "
    indent = " " * (LABEL_WIDTH if width >= NARROW else 2 * len(NESTED))
    # The keys and the first word stay together, because what comes first is never split off.
    words = textwrap.wrap(entry.sentence, max(8, width - len(indent)), initial_indent="-" * (len(start) - len(indent)))
    words[0] = words[0][max(0, len(start) - len(indent)) :]
    return [start + words[0], *(indent + each for each in words[1:])]


def says(help: str, *actions: str) -> Entry:
    """Return an entry for actions with this sentence in place of the table's."""
    return Entry(actions, help)


def either(help: str, *actions: str) -> Entry:
    """Return an entry for actions of which each has the effect `help`; "" stands for the sentence in the table."""
    return Entry(actions, help, same=True)


def _row(*entries: str | Entry, nested: bool = False) -> Row:
    return Row(tuple(Entry((each,)) if isinstance(each, str) else each for each in entries), nested)


def _rows_of(context: str) -> tuple[Row, ...]:
    """Return a row for each action of a context that has a sentence."""
    return tuple(_row(action.id) for action in of_context(context) if action.help)


NEXT_ANYWHERE = says("next, previous step", "tutor.next-anywhere", "tutor.back-anywhere")
PANE_OF_EXERCISE = says("next pane: task, verdict, editor", "tutor.pane-anywhere")
JUMP_BACK = says("back from a jump", "tutor.jump-back")
BACK_TO_EDITOR = either("back to the editor", "exercise.run", "step.close")
READING = says("what to read on: papers by title, authors, year; again: the terms", "screen.pane")

MAP: Page = (
    "Course map",
    "",
    _row("list.move"),
    _row("map.open"),
    _row("map.challenge"),
    _row("map.review"),
    _row(says("glossary and references", "tutor.glossary")),
    _row("tutor.export"),
    _row("tutor.redraw"),
    _row("tutor.quit"),
    "",
    "●  done   ◐  started   »  skipped   ↻  due for review   ·  new",
    "(without Unicode: x, o, -, !, .)",
)

LESSON: Page = (
    "A step of a lesson: text, code, and the matrices that the code made",
    "",
    _row("tutor.next", "tutor.back"),
    _row("tutor.side-step"),
    _row("screen.pane"),
    _row("tutor.map", "tutor.quit"),
    _row("tutor.rerun", "tutor.stop"),
    _row("tutor.prompt"),
    _row("tutor.flow"),
    _row("tutor.jump-back"),
    _row(says("glossary: the terms of this step, and all others", "tutor.glossary")),
    "",
    "In a matrix",
    *_rows_of("matrix"),
    "In bars the arrows go from bar to bar; in a drawing of memory they walk the",
    "tensor, and the cursor shows where each number lies",
    "In text or code that is longer than its place: arrows, page up, page down",
    "",
    "Every number explains itself",
    _row(says("how the number under the cursor was made. Then:", "number.explain")),
    _row("explanation.choose", nested=True),
    _row("explanation.follow", nested=True),
    _row(says("to the matrix: the explanation goes with the cursor", "screen.pane"), nested=True),
    _row("explanation.close", nested=True),
    "",
    "What if",
    _row("step.what-if"),
    _row("rows.choose", nested=True),
    _row("rows.type", nested=True),
    _row("step.flip", nested=True),
    _row("what-if.undo", nested=True),
    _row("what-if.restore", nested=True),
    "",
    '"recorded" beside a matrix: numbers of an earlier run, until yours is done.',
)

TRAINING: Page = (
    "A training: start it, and watch the numbers while the model learns",
    "",
    _row("training.go", says("stop it", "tutor.stop")),
    _row("training.look", "training.look-far"),
    "                Who looks back stays there while it goes on; > follows it again.",
    _row(says("next pane: code of the loop, then each matrix", "screen.pane")),
    _row("tutor.next", says("previous step (it stops then)", "tutor.back")),
    _row("tutor.map", says("quit", "tutor.quit")),
    "",
    "In a matrix",
    _row("matrix.move"),
    _row(says("previous and next head, and layer or text (leading axes)", "matrix.head")),
    _row("matrix.zoom-out"),
    _row(says("overview of blocks; in numbers, or in shades", "matrix.overview", "matrix.shades")),
    _row(says("what rows amount to", "matrix.statistics")),
    "",
    _row(says("change something, then train with it: {training.go}", "step.what-if")),
    _row(says("a Python prompt, with the trained model", "tutor.prompt")),
    "",
    'The snapshots are those of the course ("recorded") until you train here.',
    "What you have trained is kept, and the next steps use it. Of a training that",
    "was stopped only the snapshots are kept, until you leave the tutor.",
)

PROMPT: Page = (
    "A Python prompt with the variables of the step",
    "",
    _row("prompt-line.run"),
    _row("prompt-line.earlier", "prompt-line.complete"),
    _row(says("to the matrices of the last result and back; there:", "tutor.pane-anywhere")),
    _row(says("move the cursor", "matrix.move"), says("how the number was made", "number.explain"), nested=True),
    _row("prompt-line.leave"),
    "",
    "The value at the end is shown, or the tensors that were made. torch is imported if the lesson has it.",
)

EXERCISE: Page = (
    "An exercise: write code, have it checked",
    "",
    _row("task.edit", "editor.leave"),
    _row("exercise.check", "exercise.run"),
    _row("exercise.hint"),
    _row("exercise.difference"),
    _row("exercise.fold", PANE_OF_EXERCISE),
    _row("tutor.glossary", JUMP_BACK),
    _row("exercise.reset"),
    _row(NEXT_ANYWHERE, says("stop (not in the editor)", "tutor.stop")),
    _row("exercise.outside"),
    "",
    "In the editor",
    _row("editor.indent"),
    _row("editor.undo", "editor.comment"),
    _row(says("first line, last line, everything", "editor.ends", "editor.select-all")),
    "",
    "Your code is kept as you type. The check runs it on inputs made for it alone.",
    "An exercise that you pass over is marked skipped, unless it is a side step.",
)

QUESTION: Page = (
    "A question about the run: answer it, and see whether you were right",
    "",
    _row("options.letter"),
    _row("answer-line.check"),
    _row("question.hint"),
    _row(says("next pane: the answer, matrices, code", "screen.pane")),
    _row("question.explain"),
    _row("question.leave"),
    _row(NEXT_ANYWHERE, "tutor.rerun"),
    _row("tutor.glossary", JUMP_BACK),
    "",
    "What you answer is kept. A question that you pass over is marked skipped, unless",
    "it is a side step.",
)

EXPERIMENT: Page = (
    "An experiment: change the run until it does what is asked for",
    "",
    _row("step.what-if"),
    *_rows_of("rows"),
    _row("what-if.undo"),
    _row("step.flip"),
    _row("what-if.restore"),
    _row("experiment.hint"),
    _row("number.explain"),
    _row("screen.pane"),
    _row("tutor.next", "tutor.back"),
    _row("tutor.glossary", JUMP_BACK),
    "",
    "Each change is judged by what comes of it. The changes hold in this step only.",
)

FIND: Page = (
    "Something to find: explain numbers until you know where it is, then point at it",
    "",
    _row("number.explain", "explanation.follow"),
    _row("find.point"),
    _row(says("next pane: matrices, code, the explanation", "screen.pane")),
    _row("tutor.flow", "flow.point"),
    _row("question.hint"),
    _row("question.leave"),
    _row("tutor.next", "tutor.back"),
    _row("tutor.glossary", JUMP_BACK),
    "",
    "What you answer is kept. What you pass over is marked skipped.",
)

SCRATCH: Page = (
    "Your code, run on the lesson's own numbers: not judged, not kept",
    "",
    _row("screen.pane"),
    _row("matrix.move"),
    _row("number.explain"),
    _row(BACK_TO_EDITOR, "exercise.check"),
)

DIFFERENCE: Page = (
    "The first result of your code that differs from the model answer's",
    "",
    _row(either("", "difference.flip", "screen.pane")),
    _row(says("move the cursor, in all of them", "matrix.move")),
    _row("matrix.head"),
    _row("difference.leave"),
)

SOLUTION: Page = (
    "The model answer beside yours. Your code stays as it is",
    "",
    _row("text.scroll", "solution.leave"),
    _row("solution.take-back"),
    _row("tutor.next", "tutor.map"),
    "",
    "-  yours   +  the model answer   =  both have this result",
)

GLOSSARY: Page = (
    "The terms of the course, those of the step that you come from first",
    "",
    _row("glossary.search", "glossary.move"),
    _row("glossary.go"),
    _row(READING),
    _row(either("back to where you were", "tutor.glossary", "glossary.close")),
)

FLOW: Page = (
    "The flow: what was made from what, from the top down",
    "",
    *_rows_of("flow"),
    "",
    "In the matrix of a box",
    _row("matrix.move"),
    _row("number.explain"),
    _row("flow-matrix.leave"),
    "",
    "A box has the name that the code gives to its tensor, or the code itself. With + it can be",
    "opened, ×6 says that its code ran six times, ↺ that it went on from its own value or from that",
    "of the box named behind. A lit box is shown by the step; the path of an open explanation is",
    "drawn in bold.",
)

PAGES = {
    "map": MAP,
    "lesson": LESSON,
    "training": TRAINING,
    "prompt": PROMPT,
    "exercise": EXERCISE,
    "question": QUESTION,
    "find": FIND,
    "experiment": EXPERIMENT,
    "scratch": SCRATCH,
    "difference": DIFFERENCE,
    "solution": SOLUTION,
    "glossary": GLOSSARY,
    "flow": FLOW,
}
"""The pages, by the view that they describe."""


def page(topic: str) -> Page:
    """Return a page in the learner's language. Raises `KeyError` if there is none of this topic."""
    found: list[str | Row] = []
    for number, line in enumerate(PAGES[topic]):
        start = f"{GROUP}/{topic}/{number}"
        if isinstance(line, str):
            found.append(of_table(start, line))
        else:
            entries = enumerate(line.entries)
            translated = (
                replace(entry, help=of_table(f"{start}/{place}", entry.help)) if entry.help else entry
                for place, entry in entries
            )
            found.append(replace(line, entries=tuple(translated)))
    return tuple(found)


def texts() -> dict[str, str]:
    """Return the English texts of all pages by their ids."""
    found: dict[str, str] = {}
    for topic, lines in PAGES.items():
        for number, line in enumerate(lines):
            start = f"{GROUP}/{topic}/{number}"
            entries = () if isinstance(line, str) else line.entries
            found |= {f"{start}/{place}": entry.help for place, entry in enumerate(entries) if entry.help}
            if isinstance(line, str) and any(map(str.isalpha, line)):
                found[start] = line
    return found


def any_key() -> str:
    """Say how the help is closed, below a page."""
    return "\n" + say("any-key", "Any key closes this.")


def scroll() -> str:
    """Say how to turn the pages of the help and how it is closed, above a page that is too long for the screen."""
    return say("scroll", "Down and up turn the pages of this; any other key closes it.") + "\n\n"
