"""The pages of F1, whose keys and sentences come from the table of actions, and their layout."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, replace

from attn_tutor.lessons.texts.wording import Wording, of_table
from attn_tutor.tui.actions.hints import full_keys
from attn_tutor.tui.actions.table import help_of, of_context

say = Wording("help/words")

LABEL_WIDTH, SECOND_COLUMN, SECOND_WIDTH = 16, 39, 7
"""Columns of the keys, of the beginning of a second action in a line, and of its keys, at least."""

NARROW = 48
"""Columns below which the sentences do not start in a column of their own."""

GAP = 3
NESTED = "  "
MADE_ID = re.compile(r"\{([\w.-]+)\}")


@dataclass(frozen=True, slots=True)
class HelpEntry:
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

    entries: tuple[HelpEntry, ...]
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
    return MADE_ID.sub(lambda found: full_keys(found[1], alternatives=False), text)


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


def _entry_line(entry: HelpEntry, nested: bool) -> str:
    return _keys(entry, nested).ljust(LABEL_WIDTH - 1) + " " + entry.sentence


def _keys(entry: HelpEntry, nested: bool) -> str:
    return (NESTED if nested else "") + entry.keys


def _wrapped(entry: HelpEntry, nested: bool, width: int) -> list[str]:
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


def says(help: str, *actions: str) -> HelpEntry:
    """Return an entry for actions with this sentence in place of the table's."""
    return HelpEntry(actions, help)


def either(help: str, *actions: str) -> HelpEntry:
    """Return an entry for actions of which each has the effect `help`; "" stands for the sentence in the table."""
    return HelpEntry(actions, help, same=True)


def row(*entries: str | HelpEntry, nested: bool = False) -> Row:
    return Row(tuple(HelpEntry((each,)) if isinstance(each, str) else each for each in entries), nested)


def rows_of(context: str) -> tuple[Row, ...]:
    """Return a row for each action of a context that has a sentence."""
    return tuple(row(action.id) for action in of_context(context) if action.help)


EXPLANATION: Lines = (
    Note("explanation", "Every number explains itself"),
    row(says("explain how the number under the cursor was computed. Then:", "number.explain")),
    row("explanation.choose", nested=True),
    row("explanation.follow", nested=True),
    row(says("go to the matrix; the explanation follows the cursor", "screen.pane"), nested=True),
    row("explanation.close", nested=True),
)
"""How a number explains itself, on the pages of steps too."""

PROGRAM: Lines = (
    Note("title", "A page of your program, or of your file: code, and tensors that it names"),
    BLANK,
    row(says("go to the next page", "tutor.next"), says("previous page", "tutor.back")),
    row("screen.pane"),
    row(says("list all tensors", "tutor.map"), says("quit", "tutor.quit")),
    row(says("read the file again, and run it", "tutor.rerun"), "tutor.stop"),
    row(says("open a Python prompt with the variables of the program and of this page", "tutor.prompt")),
    row("program.call"),
    row("program.call-far", nested=True),
    row("tutor.flow"),
    row(says("keep the matrix or the screen as a file", "tutor.take-home")),
    BLANK,
    Note("in-a-matrix", "In a matrix"),
    *rows_of("matrix"),
    Note("long-text", "Long texts and long code scroll with the arrow keys, page up, and page down."),
    BLANK,
    *EXPLANATION,
    BLANK,
    Note("what-if", "What if"),
    row(says("change the number under the cursor, or a literal of the program, and run it with that", "step.what-if")),
    row("rows.choose", nested=True),
    row("what-if.search", nested=True),
    row("rows.type", nested=True),
    row("step.flip", nested=True),
    row("what-if.undo", nested=True),
    row(says("undo all changes; until then, they apply to all pages", "what-if.restore"), nested=True),
    BLANK,
    Note("again", "When the program has run again, dots mark the cells that differ from the run before."),
)

PROGRAM_MAP: Lines = (
    Note("title", "The tensors of your program, or of your file"),
    BLANK,
    row(says("choose a tensor", "list.move")),
    row(says("open its page", "map.open")),
    row(says("search the names", "tensors.search"), says("list all again", "tensors.all")),
    row("tutor.redraw"),
    row(says("quit", "tutor.quit")),
)


GROUP = "help"
"""The group of the texts of the pages."""

NEXT_ANYWHERE = says("next, previous step", "tutor.next-anywhere", "tutor.back-anywhere")
PANE_OF_EXERCISE = says("next pane: task, verdict, code", "tutor.pane-anywhere")
JUMP_BACK = says("go back from a jump", "tutor.jump-back")
BACK_TO_EDITOR = either("back to the editor", "exercise.run", "step.close")
READING = says("switch to the papers to read next, and back to the terms", "screen.pane")

MAP: Lines = (
    Note("title", "Course map"),
    BLANK,
    row("list.move"),
    row("map.open"),
    row("map.challenge"),
    row("map.review"),
    row(says("open the glossary and the references", "tutor.glossary")),
    row("tutor.export"),
    row("tutor.take-home"),
    row("tutor.redraw"),
    row("tutor.quit"),
    BLANK,
    Note("signs", "●  done   ◐  started   »  skipped   ↻  due for review   ·  new   ◆  a course"),
    Note("signs-in-ascii", "(without Unicode: x, o, -, !, ., =)"),
)

LESSON: Lines = (
    Note("title", "A step of a lesson: text, code, and the matrices that the code computed"),
    BLANK,
    row("tutor.next", "tutor.back"),
    row("tutor.side-step"),
    row("screen.pane"),
    row("tutor.map", "tutor.quit"),
    row("tutor.rerun", "tutor.stop"),
    row("tutor.prompt"),
    row("tutor.flow"),
    row("tutor.jump-back"),
    row(says("open the glossary, with the terms of this step first", "tutor.glossary")),
    row("tutor.take-home"),
    BLANK,
    Note("in-a-matrix", "In a matrix"),
    *rows_of("matrix"),
    Note(
        "other-drawings",
        "In bars, the arrow keys go from bar to bar. In a drawing of memory, they walk the tensor, and the cursor "
        "shows where each number lies.",
    ),
    Note("long-text", "Long texts and long code scroll with the arrow keys, page up, and page down."),
    BLANK,
    *EXPLANATION,
    BLANK,
    Note("what-if", "What if"),
    row("step.what-if"),
    row("rows.choose", nested=True),
    row("rows.type", nested=True),
    row("step.flip", nested=True),
    row("what-if.undo", nested=True),
    row("what-if.restore", nested=True),
    BLANK,
    Note("recorded", 'Numbers marked "recorded" are from an earlier run. Yours replace them when your run is done.'),
)

TRAINING: Lines = (
    Note("title", "A training: start it, and watch the numbers while the model learns"),
    BLANK,
    row("training.go", says("stop it", "tutor.stop")),
    row("training.look", "training.look-far"),
    row(says("go to the next pane: the code of the loop, then each matrix", "screen.pane")),
    row("tutor.next", says("previous step (stops it)", "tutor.back")),
    row("tutor.map", says("quit", "tutor.quit")),
    Note(
        "looking-back",
        "If you look back at a snapshot, you stay there while the training goes on; > follows it again.",
    ),
    BLANK,
    Note("in-a-matrix", "In a matrix"),
    row("matrix.move"),
    row(says("previous or next head, or layer or text (leading axes)", "matrix.head")),
    row("matrix.zoom-out"),
    row(says("overview of blocks; in numbers or in shades", "matrix.overview", "matrix.shades")),
    row(says("describe the whole row", "matrix.statistics")),
    BLANK,
    row(says("change something; {training.go} then trains with it", "step.what-if")),
    row(says("open a Python prompt with the trained model", "tutor.prompt")),
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
    row("prompt-line.run"),
    row("prompt-line.earlier", "prompt-line.complete"),
    row(says("go to the matrices of the last result, and back; there:", "tutor.pane-anywhere")),
    row(says("move the cursor", "matrix.move"), says("explain the number", "number.explain"), nested=True),
    row("prompt-line.leave"),
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
    row("task.edit", "editor.leave"),
    row("exercise.check", "exercise.run"),
    row("exercise.hint"),
    row("exercise.difference"),
    row("exercise.fold", PANE_OF_EXERCISE),
    row("tutor.glossary", JUMP_BACK),
    row("exercise.reset"),
    row(NEXT_ANYWHERE, says("stop (not in the editor)", "tutor.stop")),
    row("exercise.outside"),
    BLANK,
    Note("in-the-editor", "In the editor"),
    row("editor.indent"),
    row("editor.undo", "editor.comment"),
    row(says("first line, last line, everything", "editor.ends", "editor.select-all")),
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
    row("options.letter"),
    row("answer-line.check"),
    row("question.hint"),
    row(says("go to the next pane: the answer, the matrices, the code", "screen.pane")),
    row("question.explain"),
    row("question.leave"),
    row(NEXT_ANYWHERE, "tutor.rerun"),
    row("tutor.glossary", JUMP_BACK),
    BLANK,
    Note(
        "kept",
        "Your answer is saved. If you pass over a question, it is marked as skipped, unless it is a side step.",
    ),
)

EXPERIMENT: Lines = (
    Note("title", "An experiment: change the run until it does what the task asks for"),
    BLANK,
    row("step.what-if"),
    *rows_of("rows"),
    row("what-if.undo"),
    row("step.flip"),
    row(says("undo all changes", "what-if.restore")),
    row("experiment.hint"),
    row("number.explain"),
    row("screen.pane"),
    row("tutor.next", "tutor.back"),
    row("tutor.glossary", JUMP_BACK),
    BLANK,
    Note("judged", "Each change is judged by what it leads to. Your changes apply to this step only."),
)

FIND: Lines = (
    Note("title", "Something to find: explain numbers until you know where it is, then point"),
    BLANK,
    row("number.explain"),
    row("explanation.follow", nested=True),
    row("find.point"),
    row(says("go to the next pane: matrices, code, the explanation", "screen.pane")),
    row("tutor.flow"),
    row("flow.point", nested=True),
    row("question.hint"),
    row("question.leave"),
    row("tutor.next", "tutor.back"),
    row("tutor.glossary", JUMP_BACK),
    BLANK,
    Note("kept", "Your answer is saved. If you pass over this step, it is marked as skipped."),
)

SCRATCH: Lines = (
    Note("title", "Your code, run on the lesson's own numbers. It is neither judged nor saved."),
    BLANK,
    row("screen.pane"),
    row("matrix.move"),
    row("number.explain"),
    row(BACK_TO_EDITOR, "exercise.check"),
)

DIFFERENCE: Lines = (
    Note("title", "The first result of your code that differs from the model answer's"),
    BLANK,
    row(either("", "difference.flip", "screen.pane")),
    row(says("move the cursor in all of them", "matrix.move")),
    row("matrix.head"),
    row("difference.leave"),
)

SOLUTION: Lines = (
    Note("title", "The model answer beside yours. Your code stays as it is."),
    BLANK,
    row("text.scroll", "solution.leave"),
    row("solution.take-back"),
    row("tutor.next", "tutor.map"),
    BLANK,
    Note("signs", "-  yours   +  the model answer   =  both have this result"),
)

GLOSSARY: Lines = (
    Note("title", "The terms of the course, beginning with those of the step that you come from"),
    BLANK,
    row("glossary.search", "glossary.move"),
    row("glossary.go"),
    row(READING),
    row(either("go back to where you were", "tutor.glossary", "glossary.close")),
)

HOME: Lines = (
    Note("title", "Take home: a matrix, the screen, or what you read and wrote, as a file of yours"),
    BLANK,
    row("home.move"),
    row("home.name"),
    row("home.take"),
    row("home.close"),
    BLANK,
    Note(
        "where",
        "A name without a folder is in the folder in which you started the tutor. A file that is there already stays "
        "as it is, unless you have written it here and nobody has changed it since.",
    ),
)

FLOW: Lines = (
    Note("title", "The flow: what was computed from what, from top to bottom"),
    BLANK,
    *rows_of("flow"),
    BLANK,
    Note("in-the-matrix", "In the matrix of a box"),
    row("matrix.move"),
    row("number.explain"),
    row("flow-matrix.leave"),
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
    "program": PROGRAM,
    "program-map": PROGRAM_MAP,
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
    "home": HOME,
}
"""The pages, by the view that they describe."""


def page(topic: str) -> Page:
    """Return a page in the learner's language. Raises `KeyError` if there is none of this topic."""
    return tuple(
        of_table(_id(topic, line.id), line.text) if isinstance(line, Note) else _translated(topic, line)
        for line in PAGES[topic]
    )


def _translated(topic: str, line: Row) -> Row:
    return replace(
        line,
        entries=tuple(
            replace(entry, help=of_table(_id(topic, entry.actions[0]), entry.help)) if entry.help else entry
            for entry in line.entries
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
