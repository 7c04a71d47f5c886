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


@dataclass(frozen=True, slots=True)
class Note:
    """A line or a paragraph of text with its id; "" is an empty line."""

    id: str = ""
    text: str = ""


BLANK = Note()

Lines = tuple[Note | Row, ...]
"""Texts and rows of keys, in English."""

Page = tuple[str | Row, ...]
"""Lines of text, and rows of keys, in the learner's language."""


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
PANE_OF_EXERCISE = says("next pane: task, verdict, code", "tutor.pane-anywhere")
JUMP_BACK = says("go back from a jump", "tutor.jump-back")
BACK_TO_EDITOR = either("back to the editor", "exercise.run", "step.close")
READING = says("switch to the papers to read next, and back to the terms", "screen.pane")

MAP: Lines = (
    Note("title", "Course map"),
    BLANK,
    _row("list.move"),
    _row("map.open"),
    _row("map.challenge"),
    _row("map.review"),
    _row(says("open the glossary and the references", "tutor.glossary")),
    _row("tutor.export"),
    _row("tutor.redraw"),
    _row("tutor.quit"),
    BLANK,
    Note("signs", "●  done   ◐  started   »  skipped   ↻  due for review   ·  new"),
    Note("signs-in-ascii", "(without Unicode: x, o, -, !, .)"),
)

LESSON: Lines = (
    Note("title", "A step of a lesson: text, code, and the matrices that the code computed"),
    BLANK,
    _row("tutor.next", "tutor.back"),
    _row("tutor.side-step"),
    _row("screen.pane"),
    _row("tutor.map", "tutor.quit"),
    _row("tutor.rerun", "tutor.stop"),
    _row("tutor.prompt"),
    _row("tutor.flow"),
    _row("tutor.jump-back"),
    _row(says("open the glossary, with the terms of this step first", "tutor.glossary")),
    BLANK,
    Note("in-a-matrix", "In a matrix"),
    *_rows_of("matrix"),
    Note(
        "other-drawings",
        "In bars, the arrow keys go from bar to bar. In a drawing of memory, they walk the tensor, and the cursor "
        "shows where each number lies.",
    ),
    Note("long-text", "Long texts and long code scroll with the arrow keys, page up, and page down."),
    BLANK,
    Note("explanation", "Every number explains itself"),
    _row(says("explain how the number under the cursor was computed. Then:", "number.explain")),
    _row("explanation.choose", nested=True),
    _row("explanation.follow", nested=True),
    _row(says("go to the matrix; the explanation follows the cursor", "screen.pane"), nested=True),
    _row("explanation.close", nested=True),
    BLANK,
    Note("what-if", "What if"),
    _row("step.what-if"),
    _row("rows.choose", nested=True),
    _row("rows.type", nested=True),
    _row("step.flip", nested=True),
    _row("what-if.undo", nested=True),
    _row("what-if.restore", nested=True),
    BLANK,
    Note("recorded", 'Numbers marked "recorded" are from an earlier run. Yours replace them when your run is done.'),
)

TRAINING: Lines = (
    Note("title", "A training: start it, and watch the numbers while the model learns"),
    BLANK,
    _row("training.go", says("stop it", "tutor.stop")),
    _row("training.look", "training.look-far"),
    _row(says("go to the next pane: the code of the loop, then each matrix", "screen.pane")),
    _row("tutor.next", says("previous step (stops it)", "tutor.back")),
    _row("tutor.map", says("quit", "tutor.quit")),
    Note(
        "looking-back",
        "If you look back at a snapshot, you stay there while the training goes on; > follows it again.",
    ),
    BLANK,
    Note("in-a-matrix", "In a matrix"),
    _row("matrix.move"),
    _row(says("previous or next head, or layer or text (leading axes)", "matrix.head")),
    _row("matrix.zoom-out"),
    _row(says("overview of blocks; in numbers or in shades", "matrix.overview", "matrix.shades")),
    _row(says("describe the whole row", "matrix.statistics")),
    BLANK,
    _row(says("change something; {training.go} then trains with it", "step.what-if")),
    _row(says("open a Python prompt with the trained model", "tutor.prompt")),
    BLANK,
    Note(
        "kept",
        'Until you train here, the snapshots are those of the course ("recorded"). A model that you have trained is '
        "kept, and the next steps use it. If you stop a training, only its snapshots are kept, until you leave the "
        "tutor.",
    ),
)

PROMPT: Lines = (
    Note("title", "A Python prompt with the variables of the step"),
    BLANK,
    _row("prompt-line.run"),
    _row("prompt-line.earlier", "prompt-line.complete"),
    _row(says("go to the matrices of the last result, and back; there:", "tutor.pane-anywhere")),
    _row(says("move the cursor", "matrix.move"), says("explain the number", "number.explain"), nested=True),
    _row("prompt-line.leave"),
    BLANK,
    Note(
        "results",
        "The prompt shows the value of the last line, or else the tensors that were computed. torch is imported if the "
        "lesson imports it.",
    ),
)

EXERCISE: Lines = (
    Note("title", "An exercise: write code and have it checked"),
    BLANK,
    _row("task.edit", "editor.leave"),
    _row("exercise.check", "exercise.run"),
    _row("exercise.hint"),
    _row("exercise.difference"),
    _row("exercise.fold", PANE_OF_EXERCISE),
    _row("tutor.glossary", JUMP_BACK),
    _row("exercise.reset"),
    _row(NEXT_ANYWHERE, says("stop (not in the editor)", "tutor.stop")),
    _row("exercise.outside"),
    BLANK,
    Note("in-the-editor", "In the editor"),
    _row("editor.indent"),
    _row("editor.undo", "editor.comment"),
    _row(says("first line, last line, everything", "editor.ends", "editor.select-all")),
    BLANK,
    Note(
        "kept",
        "Your code is saved as you type. Each check runs it on new inputs. An exercise that you pass over is marked "
        "as skipped, unless it is a side step.",
    ),
)

QUESTION: Lines = (
    Note("title", "A question about the run: answer it, and see whether you were right"),
    BLANK,
    _row("options.letter"),
    _row("answer-line.check"),
    _row("question.hint"),
    _row(says("go to the next pane: the answer, the matrices, the code", "screen.pane")),
    _row("question.explain"),
    _row("question.leave"),
    _row(NEXT_ANYWHERE, "tutor.rerun"),
    _row("tutor.glossary", JUMP_BACK),
    BLANK,
    Note(
        "kept",
        "Your answer is saved. If you pass over a question, it is marked as skipped, unless it is a side step.",
    ),
)

EXPERIMENT: Lines = (
    Note("title", "An experiment: change the run until it does what the task asks for"),
    BLANK,
    _row("step.what-if"),
    *_rows_of("rows"),
    _row("what-if.undo"),
    _row("step.flip"),
    _row(says("undo all changes", "what-if.restore")),
    _row("experiment.hint"),
    _row("number.explain"),
    _row("screen.pane"),
    _row("tutor.next", "tutor.back"),
    _row("tutor.glossary", JUMP_BACK),
    BLANK,
    Note("judged", "Each change is judged by what it leads to. Your changes apply to this step only."),
)

FIND: Lines = (
    Note("title", "Something to find: explain numbers until you know where it is, then point"),
    BLANK,
    _row("number.explain"),
    _row("explanation.follow", nested=True),
    _row("find.point"),
    _row(says("go to the next pane: matrices, code, the explanation", "screen.pane")),
    _row("tutor.flow"),
    _row("flow.point", nested=True),
    _row("question.hint"),
    _row("question.leave"),
    _row("tutor.next", "tutor.back"),
    _row("tutor.glossary", JUMP_BACK),
    BLANK,
    Note("kept", "Your answer is saved. If you pass over this step, it is marked as skipped."),
)

SCRATCH: Lines = (
    Note("title", "Your code, run on the lesson's own numbers. It is neither judged nor saved."),
    BLANK,
    _row("screen.pane"),
    _row("matrix.move"),
    _row("number.explain"),
    _row(BACK_TO_EDITOR, "exercise.check"),
)

DIFFERENCE: Lines = (
    Note("title", "The first result of your code that differs from the model answer's"),
    BLANK,
    _row(either("", "difference.flip", "screen.pane")),
    _row(says("move the cursor in all of them", "matrix.move")),
    _row("matrix.head"),
    _row("difference.leave"),
)

SOLUTION: Lines = (
    Note("title", "The model answer beside yours. Your code stays as it is."),
    BLANK,
    _row("text.scroll", "solution.leave"),
    _row("solution.take-back"),
    _row("tutor.next", "tutor.map"),
    BLANK,
    Note("signs", "-  yours   +  the model answer   =  both have this result"),
)

GLOSSARY: Lines = (
    Note("title", "The terms of the course, beginning with those of the step that you come from"),
    BLANK,
    _row("glossary.search", "glossary.move"),
    _row("glossary.go"),
    _row(READING),
    _row(either("go back to where you were", "tutor.glossary", "glossary.close")),
)

FLOW: Lines = (
    Note("title", "The flow: what was computed from what, from top to bottom"),
    BLANK,
    *_rows_of("flow"),
    BLANK,
    Note("in-the-matrix", "In the matrix of a box"),
    _row("matrix.move"),
    _row("number.explain"),
    _row("flow-matrix.leave"),
    BLANK,
    Note(
        "signs",
        "A box has the name that its tensor has in the code, or it shows the code itself. You can open a box that is "
        "marked with +. ×6 means that its code ran six times, and ↺ that it went on from its own value, or from that "
        "of the box that is named there. The boxes that the step shows are lit, and the path of an open explanation "
        "is drawn in bold.",
    ),
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
    return tuple(
        of_table(_id(topic, line.id), line.text) if isinstance(line, Note) else _translated(topic, line)
        for line in PAGES[topic]
    )


def _translated(topic: str, row: Row) -> Row:
    return replace(
        row,
        entries=tuple(
            replace(entry, help=of_table(_id(topic, entry.actions[0]), entry.help)) if entry.help else entry
            for entry in row.entries
        ),
    )


def _id(topic: str, name: str) -> str:
    """Return the id of a text, or of what a page says of the keys of an action."""
    return f"{GROUP}/{topic}/{name}"


def texts() -> dict[str, str]:
    """Return the English texts of all pages by their ids. Raises `ValueError` if two of a page have the same id."""
    found: dict[str, str] = {}
    for topic, lines in PAGES.items():
        for line in lines:
            own = [(line.id, line.text)] if isinstance(line, Note) else [(e.actions[0], e.help) for e in line.entries]
            for name, text in own:
                if text and found.setdefault(_id(topic, name), text) != text:
                    raise ValueError(f"two texts of the page '{topic}' have the id '{name}'")
    return found


def any_key() -> str:
    """Say how the help is closed, below a page."""
    return "\n" + say("any-key", "Any key closes this.")


def scroll() -> str:
    """Say how to turn the pages of the help and how it is closed, above a page that is too long for the screen."""
    return say("scroll", "Down and up turn the pages of this; any other key closes it.") + "\n\n"
