"""The table of the commands of the dialogue, and which actions of the screen each of them stands for.

A step offers some of these commands; `help` lists those. What the screen offers and the dialogue does not is listed
with the reason, so that a test notices an action that was forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from lessons.texts.wording import Wording

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
        form: what may follow the word.
        help: the sentence for the help.
        actions: the actions of the screen that it stands for.
    """

    word: str
    letter: str
    form: str
    help: Callable[[], str]
    actions: tuple[str, ...] = ()


_command = PlainCommand

TABLE: tuple[PlainCommand, ...] = (
    # Through the course
    _command("next", "n", "", lambda: say("next", "go to the next step"), ("tutor.next", "tutor.next-anywhere")),
    _command("back", "b", "", lambda: say("back", "go to the step before"), ("tutor.back", "tutor.back-anywhere")),
    _command("side", "i", "", lambda: say("side", "open the side step, which never counts"), ("tutor.side-step",)),
    _command(
        "again",
        "",
        "",
        lambda: say("again", "print this step again"),
        ("text.scroll", "text.jump", "exercise.fold", "tutor.redraw"),
    ),
    _command("map", "m", "", lambda: say("map", "list the lessons, with your progress"), ("tutor.map", "list.move")),
    _command("steps", "", "[LESSON]", lambda: say("steps", "list the steps of a lesson, with your progress")),
    _command(
        "go",
        "",
        "LESSON [STEP]",
        lambda: say("go", "open a lesson where you left off, or one of its steps, by number or name"),
        ("map.open", "list.choose"),
    ),
    _command("progress", "", "", lambda: say("progress", "say how far you are, and what is due for review")),
    _command(
        "review", "v", "", lambda: say("review", "open the next exercise that is due for review"), ("map.review",)
    ),
    _command(
        "challenge",
        "",
        "[LESSON]",
        lambda: say("challenge", "try the challenge of a lesson; if you pass, you may skip the rest"),
        ("map.challenge",),
    ),
    _command(
        "return",
        "j",
        "",
        lambda: say("return", "go back to where you were before a jump"),
        ("tutor.jump-back",),
    ),
    _command(
        "glossary",
        "",
        "[TERM]",
        lambda: say("glossary", "say what a term means, or list the terms"),
        ("tutor.glossary", "glossary.search", "glossary.move"),
    ),
    _command("term", "", "TERM", lambda: say("term", "go to the step that introduces a term"), ("glossary.go",)),
    # Numbers
    _command(
        "run",
        "r",
        "",
        lambda: say("run", "run the step, or your code, and print what comes of it"),
        ("tutor.rerun", "exercise.run"),
    ),
    _command(
        "show",
        "s",
        "NAME[INDEX]",
        lambda: say("show", "print a matrix as a table, or a part of it: show weights[1], show weights[0:3, 2]"),
        (
            "matrix.move",
            "matrix.jump",
            "matrix.head",
            "matrix.batch",
            "matrix.cells",
            "matrix.enter-block",
            "matrix.zoom-in",
        ),
    ),
    _command(
        "read",
        "",
        "NAME[INDEX]",
        lambda: say("read", "print a matrix or a part of it in sentences, one for each row"),
    ),
    _command(
        "row",
        "t",
        "NAME[ROW]",
        lambda: say("row", "describe a row: its largest values, and its entropy or sum"),
        ("matrix.statistics",),
    ),
    _command(
        "overview",
        "o",
        "NAME",
        lambda: say("overview", "print the greatest number of each block of a large matrix"),
        ("matrix.overview", "matrix.zoom-out"),
    ),
    _command(
        "explain",
        "e",
        "NAME[INDEX] [LEVELS]",
        lambda: say("explain", "say how a number was computed; with LEVELS, also what it was computed from"),
        ("number.explain", "question.explain"),
    ),
    _command(
        "follow",
        "",
        "NUMBER",
        lambda: say("follow", "explain one of the numbers that it was computed from; its number alone will do"),
        ("explanation.choose", "explanation.jump", "explanation.follow"),
    ),
    _command(
        "up",
        "",
        "",
        lambda: say("up", "go back to the explanation before"),
        ("explanation.back", "number.back"),
    ),
    _command("flow", "f", "", lambda: say("flow", "list what was computed from what"), ("tutor.flow", "flow.move")),
    _command(
        "open", "", "BOX", lambda: say("open", "list what is inside a box of the flow, or no longer"), ("flow.toggle",)
    ),
    _command("box", "", "BOX", lambda: say("box", "print the matrix of a box of the flow"), ("flow.matrix",)),
    # What if
    _command(
        "set",
        "w",
        "NAME[INDEX] = VALUE",
        lambda: say("set", "change a number, run again, and say what that changes"),
        ("step.what-if", "rows.type"),
    ),
    _command(
        "knob",
        "k",
        "[NAME VALUE]",
        lambda: say("knob", "change the words, the mask, a size, ...; alone: list what can be changed"),
        ("rows.choose", "rows.turn"),
    ),
    _command("changes", "", "", lambda: say("changes", "list what you have changed")),
    _command(
        "compare",
        "d",
        "[NAME]",
        lambda: say("compare", "list what your changes have changed, with the numbers before and after"),
        ("step.flip",),
    ),
    _command("undo", "u", "", lambda: say("undo", "undo the last change"), ("what-if.undo", "rows.put-back")),
    _command("redo", "", "", lambda: say("redo", "make it again"), ("what-if.redo",)),
    _command("reset", "", "", lambda: say("reset", "undo all changes"), ("what-if.restore",)),
    # Tasks
    _command(
        "answer",
        "a",
        "TEXT",
        lambda: say("answer", "answer the question"),
        ("options.choose", "options.take", "options.letter", "question.enter", "answer-line.check", "flow.point"),
    ),
    _command(
        "point",
        "",
        "NAME[INDEX]",
        lambda: say("point", "answer with a cell, or with a numbered number of an explanation: point 2"),
        ("find.point",),
    ),
    _command(
        "code",
        "",
        "[END]",
        lambda: say("code", "write your code: lines, up to a line with a period alone, or with END"),
        ("task.edit",),
    ),
    _command("draft", "", "", lambda: say("draft", "print your code as it is")),
    _command(
        "starter",
        "",
        "",
        lambda: say("starter", "switch to the starter code, and back"),
        ("exercise.reset",),
    ),
    _command(
        "edit", "", "", lambda: say("edit", "write it in your own editor: $VISUAL or $EDITOR"), ("exercise.outside",)
    ),
    _command(
        "check",
        "c",
        "[FILE]",
        lambda: say("check", "have your code judged; with FILE, the code in that file"),
        ("exercise.check",),
    ),
    _command(
        "difference",
        "",
        "",
        lambda: say("difference", "print the first result that differs, yours and the expected one"),
        ("exercise.difference", "difference.flip"),
    ),
    _command(
        "hint",
        "h",
        "",
        lambda: say("hint", "read the next hint"),
        ("exercise.hint", "question.hint", "experiment.hint"),
    ),
    _command(
        "solution",
        "",
        "",
        lambda: say("solution", "read the solution; if you have not solved it, this gives up"),
    ),
    _command(
        "retract",
        "",
        "",
        lambda: say("retract", "take back giving up"),
        ("solution.take-back",),
    ),
    # Trainings and the prompt
    _command("train", "g", "", lambda: say("train", "train the model; Ctrl+C stops it"), ("training.go", "tutor.stop")),
    _command(
        "snapshot",
        "",
        "[NUMBER]",
        lambda: say("snapshot", "print the next snapshot of the training, or that of a number"),
        ("training.look", "training.look-far"),
    ),
    _command(
        "python",
        "p",
        "",
        lambda: say("python", "open a Python prompt with the variables of this step"),
        ("tutor.prompt", "prompt-line.run"),
    ),
    # The dialogue itself
    _command("export", "x", "", lambda: say("export", "save your progress and code to a file"), ("tutor.export",)),
    _command(
        "help",
        "?",
        "[COMMAND]",
        lambda: say("help", "list what can be done here"),
        ("tutor.help", "tutor.help-anywhere"),
    ),
    _command("quit", "q", "", lambda: say("quit", "quit; everything is saved"), ("tutor.quit",)),
)

COMMANDS = {command.word: command for command in TABLE}
"""The commands by their words."""

LETTERS = {command.letter: command.word for command in TABLE if command.letter}
"""The words by their short forms."""

SCREEN_ONLY: dict[str, str] = {
    "tutor.pane-anywhere": "there are no panes",
    "screen.pane": "there are no panes",
    "list.jump": "a list is printed whole",
    "matrix.shades": "there are no shades",
    "explanation.close": "nothing is covered by an explanation",
    "flow.edge": "the flow is printed whole",
    "flow.detail": "the flow is text",
    "flow.leave": "nothing is covered by the flow",
    "flow-matrix.leave": "nothing is covered by a matrix",
    "step.close": "nothing is covered",
    "what-if-line.take": "a line of input ends with Enter anyway",
    "prompt.leave": "there are no panes",
    "prompt-line.earlier": "the terminal has a history or none",
    "prompt-line.complete": "names can be listed with dir()",
    "prompt-line.clear": "the terminal edits the line",
    "prompt-line.leave": "an end of input or a period leaves the prompt",
    "editor.leave": "there is no editor",
    "editor.indent": "there is no editor",
    "editor.undo": "there is no editor",
    "editor.ends": "there is no editor",
    "editor.select-all": "there is no editor",
    "editor.comment": "there is no editor",
    "difference.leave": "nothing is covered by the difference",
    "solution.leave": "nothing is covered by the solution",
    "options.jump": "options are few, and have letters",
    "question.leave": "there is no line to leave",
    "glossary.jump": "the list of terms is printed whole",
    "glossary.close": "nothing is covered by the glossary",
}
"""The actions of the screen without a command, each with the reason."""


def word_of(text: str) -> str | None:
    """Return the word of the command that a text means, by its word or its letter; None if it means none."""
    text = text.casefold()
    return text if text in COMMANDS else LETTERS.get(text)
