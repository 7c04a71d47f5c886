"""The pages of F1, whose keys and sentences come from the table of actions."""

from __future__ import annotations

from dataclasses import replace

from attn_tutor.lessons.texts.wording import Wording, of_table
from attn_tutor.tui.actions.help_layout import BLANK, Lines, Note, Page, Row, either, row, rows_of, says
from attn_tutor.tui.actions.program_help import EXPLANATION, PROGRAM, PROGRAM_MAP

say = Wording("help/words")
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
