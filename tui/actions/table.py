"""The table of everything that a learner can do with a key, and its words in the learner's language.

A key is written here and nowhere else. The table feeds the bindings of the views and widgets (`bindings`), the line of
keys at the bottom (`hints`), the help (`help_pages`) and the reference (`key_reference`).

The words stand in a table and not where they are said, so their ids are made of the ids of actions, and of the names of
pages with the positions of lines.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from attn_tutor.lessons.format.template import KEY_OF_ACTION
from attn_tutor.lessons.texts.wording import of_table


class Stroke(NamedTuple):
    """Keys that have the same effect.

    Attributes:
        keys: The keys by Textual's names, separated by commas; keys of other layouts are derived (`layouts`).
        call: The action method with its arguments, without `action_`; "" if the widget reads the key itself.
        id: What distinguishes this stroke from the others of its action, if their first keys do not.
        priority: Whether the key goes before those of the widget that has the focus.
        named: What a text calls the action, if lessons speak of the key (`lessons.format.keys`).
    """

    keys: str
    call: str = ""
    id: str = ""
    priority: bool = False
    named: str = ""


class Action(NamedTuple):
    """Something a learner can do, with one stroke or with several that belong together.

    Attributes:
        id: The context and a name: "matrix.move".
        strokes: The keys; none if the widget reads whatever is typed.
        hint: The words for the line of keys.
        help: The sentence for the help and the reference; keys of other actions stand in it as "{id}". "" if the help
            of another action speaks of this one too.
        label: How the help writes the keys, where that is not just a list of them.
        short: How the line of keys writes them, where that is not the first key of each stroke.
    """

    id: str
    strokes: tuple[Stroke, ...]
    hint: str = ""
    help: str = ""
    label: str = ""
    short: str = ""

    def binding_id(self, stroke: Stroke) -> str:
        """Name a stroke for keymaps: as the action if it has no other, else by the stroke's id or first key."""
        if len(self.strokes) == 1:
            return self.id
        context = self.id.partition(".")[0]
        return f"{context}.{stroke.id or stroke.keys.partition(',')[0]}"


def _action(id: str, *strokes: Stroke, hint: str = "", help: str = "", label: str = "", short: str = "") -> Action:
    return Action(id, strokes, hint, help, label, short)


def _named(name: str, call: str = "", id: str = "", *, more: str = "", priority: bool = False) -> Stroke:
    """Make the stroke of which texts speak by this name; `more` are keys that do the same."""
    return Stroke(",".join(filter(None, (KEY_OF_ACTION[name], more))), call, id, priority, name)


TABLE: tuple[Action, ...] = (
    # Everywhere. What ends in "-anywhere" also works while text is typed.
    _action("tutor.next", Stroke("n,space", "next"), hint="next", help="go to the next step"),
    _action("tutor.back", Stroke("b", "previous"), hint="back", help="go to the previous step"),
    _action("tutor.next-anywhere", Stroke("f8", "next", priority=True), hint="next"),
    _action("tutor.back-anywhere", Stroke("f7", "previous", priority=True), hint="back"),
    _action(
        "tutor.side-step",
        Stroke("i", "side_step"),
        hint="side step",
        help="open the side step, if there is one; side steps never count",
    ),
    _action("tutor.map", Stroke("m,escape", "map"), hint="map", help="go to the course map"),
    _action(
        "tutor.jump-back",
        Stroke("j", "jump_back"),
        hint="jump back",
        help="go back from a jump (glossary, challenge, review)",
    ),
    _action("tutor.rerun", _named("rerun", "rerun"), hint="run again", help="run the step again"),
    _action("tutor.stop", Stroke("s", "stop"), hint="stop", help="stop what is running"),
    _action("tutor.prompt", _named("prompt", "prompt"), help="open a Python prompt with the variables of this step"),
    _action(
        "tutor.flow",
        _named("flow", "flow"),
        hint="flow",
        help="show the flow of the numbers: what was computed from what",
    ),
    _action("tutor.glossary", Stroke("f2", "glossary", priority=True), help="open the glossary"),
    _action(
        "tutor.export", Stroke("x", "export"), hint="export", help="on the map: save your progress and code to a file"
    ),
    _action(
        "tutor.take-home",
        Stroke("k", "take_home"),
        hint="keep",
        help="keep the matrix, the screen, or what you read and wrote, as a file of yours",
    ),
    _action("tutor.pane-anywhere", Stroke("f4", "next_pane", priority=True), hint="pane"),
    _action("tutor.help", Stroke("question_mark", "help"), hint="help", help="show the help for this screen"),
    _action("tutor.help-anywhere", Stroke("f1", "help", priority=True), hint="help"),
    _action("tutor.redraw", Stroke("ctrl+l", "redraw", priority=True), help="redraw the screen"),
    _action("tutor.quit", Stroke("q", "quit"), hint="quit", help="quit"),
    # On the screen and not on the app: Textual's own screen binds them too, and would come first.
    _action(
        "screen.pane",
        _named("pane", "app.pane(1)"),
        Stroke("shift+tab", "app.pane(-1)"),
        hint="pane",
        help="go to the next pane: the code, then each matrix",
        label="tab",
        short="tab",
    ),
    # The course map
    _action("list.move", Stroke("up", "move(-1)"), Stroke("down", "move(1)"), hint="choose", help="choose a lesson"),
    _action(
        "list.jump",
        Stroke("home", "edge(-1)"),
        Stroke("end", "edge(1)"),
        Stroke("pageup", "turn(-1)"),
        Stroke("pagedown", "turn(1)"),
    ),
    _action("list.choose", Stroke("enter,space", "choose")),
    _action(
        "map.open", Stroke("enter", "open"), hint="open", help="open it; the first line continues where you left off"
    ),
    _action(
        "map.challenge",
        Stroke("c", "challenge"),
        hint="challenge",
        help="try the lesson's challenge; if you pass, you may skip the rest",
    ),
    _action("map.review", Stroke("v", "review"), help="open the next exercise that is due for review"),
    # The list of tensors, which takes the place of the course map
    _action("tensors.search", Stroke("slash", "search"), hint="search", help="in the list of tensors: search names"),
    _action("tensors.all", Stroke("escape", "show_all"), hint="all", help="after that: list all again"),
    _action("search.words", hint="search", label="letters", short="letters"),
    _action("search.move", Stroke("up", "move(-1)"), Stroke("down", "move(1)"), hint="choose", short="arrows"),
    _action("search.take", Stroke("enter"), hint="to the list"),
    _action("search.leave", Stroke("escape", "leave"), hint="all again"),
    # A matrix
    _action(
        "matrix.move",
        _named("move", "move(-1,0)"),
        Stroke("down", "move(1,0)"),
        Stroke("left", "move(0,-1)"),
        Stroke("right", "move(0,1)"),
        help="move the cursor; the line below describes the cell",
    ),
    _action(
        "matrix.jump",
        Stroke("home", "edge('row',-1)"),
        Stroke("end", "edge('row',1)"),
        Stroke("pageup", "page(-1)", "page-up"),
        Stroke("pagedown", "page(1)", "page-down"),
        Stroke("ctrl+home", "edge('matrix',-1)", "first"),
        Stroke("ctrl+end", "edge('matrix',1)", "last"),
        help="first or last column (ctrl: cell); page up and down scroll",
        label="home, end",
    ),
    _action(
        "matrix.head",
        _named("previous-slice", "lead(-1,-1)", "head-previous"),
        _named("next-slice", "lead(-1,1)", "head-next"),
        help="previous or next head, or text of the batch (leading axes)",
        label="[ ] and { }",
        short="[ ]",
    ),
    _action(
        "matrix.batch",
        Stroke("left_curly_bracket", "lead(0,-1)", "batch-previous"),
        Stroke("right_curly_bracket", "lead(0,1)", "batch-next"),
        short="{ }",
    ),
    _action(
        "matrix.statistics",
        Stroke("t", "statistics"),
        help="describe the row: largest values, entropy; again: the cell",
    ),
    _action(
        "matrix.overview",
        Stroke("o", "overview"),
        hint="overview",
        help="overview of a large matrix: maximum of blocks, mean, cells",
    ),
    _action(
        "matrix.zoom-out",
        Stroke("minus", "zoom_out"),
        help="zoom out, as far as all heads at once, and zoom in",
        label="- and + (enter)",
    ),
    _action("matrix.zoom-in", Stroke("plus,equals_sign", "zoom_in")),
    _action("matrix.enter-block", Stroke("enter", "enter_block"), hint="in"),
    _action("matrix.cells", Stroke("escape", "cells"), hint="cells"),
    _action("matrix.shades", Stroke("v", "shades"), help="overview in numbers, or in shades, which need less room"),
    # Text that scrolls
    _action(
        "text.scroll",
        Stroke("up", "scroll_lines(-1)"),
        Stroke("down", "scroll_lines(1)"),
        hint="scroll",
        help="scroll",
        short="arrows",
    ),
    _action(
        "text.jump",
        Stroke("pageup", "scroll_pages(-1)"),
        Stroke("pagedown", "scroll_pages(1)"),
        Stroke("home", "scroll_lines(-100000)"),
        Stroke("end", "scroll_lines(100000)"),
    ),
    # A number, and how it was made
    _action(
        "number.explain",
        _named("explain", "explain"),
        hint="explain",
        help="explain how the number under the cursor was computed",
    ),
    _action("number.back", Stroke("backspace", "explain_back"), hint="back"),
    _action(
        "explanation.choose",
        Stroke("up", "choose(-1,0)"),
        Stroke("down", "choose(1,0)"),
        Stroke("left", "choose(0,-1)"),
        Stroke("right", "choose(0,1)"),
        hint="choose",
        help="choose one of the numbers that it was computed from",
    ),
    _action(
        "explanation.jump",
        Stroke("home", "choose(0,-100000)"),
        Stroke("end", "choose(0,100000)"),
        Stroke("pagedown", "page(True)"),
        Stroke("pageup", "page(False)"),
    ),
    _action(
        "explanation.follow",
        Stroke("enter", "follow"),
        hint="go on",
        help="explain that number; {explanation.back}: back to the one before",
    ),
    _action("explanation.back", Stroke("backspace", "back"), hint="back"),
    _action("explanation.close", Stroke("escape", "close"), hint="close", help="close the explanation"),
    # The flow
    _action(
        "flow.move",
        Stroke("up", "move(-1,0)"),
        Stroke("down", "move(1,0)"),
        Stroke("left", "move(0,-1)"),
        Stroke("right", "move(0,1)"),
        hint="choose",
        help="choose a box",
        short="arrows",
    ),
    _action("flow.edge", Stroke("home", "edge(-1)"), Stroke("end", "edge(1)"), help="first or last box"),
    _action("flow.matrix", Stroke("enter", "matrix"), hint="matrix", help="show the matrix of the box"),
    _action(
        "flow.toggle",
        Stroke("o", "open_close"),
        hint="open",
        help="open a box marked with +; inside an open box: close it",
    ),
    _action(
        "flow.detail", Stroke("v", "detail"), hint="detail", help="draw boxes with frames and thumbnails, or smaller"
    ),
    _action(
        "flow.point",
        Stroke(KEY_OF_ACTION["answer"], "point"),
        hint="this is it",
        help="if you are looking for a box: answer with this one",
    ),
    _action("flow.leave", Stroke("escape", "leave"), hint="back", help="go back to where you were"),
    _action("flow-matrix.leave", Stroke("escape", "leave"), hint="flow", help="go back from the matrix to the flow"),
    # What if
    _action(
        "step.what-if",
        _named("change", "what_if"),
        hint="what if",
        help="change the number under the cursor, the words, the mask, ...",
    ),
    _action(
        "step.flip",
        Stroke("d", "flip"),
        hint="difference",
        help="after, difference, or before; dots mark the cells that changed",
    ),
    _action("step.close", Stroke("escape", "close"), hint="close"),
    _action(
        "rows.choose",
        Stroke("up", "choose(-1)"),
        Stroke("down", "choose(1)"),
        hint="choose, change",
        help="choose what to change; {rows.turn}: change it",
        short="arrows",
    ),
    _action("rows.jump", Stroke("pageup", "choose(-10)"), Stroke("pagedown", "choose(10)")),
    _action("rows.turn", Stroke("left,minus", "turn(-1)"), _named("turn", "turn(1)", more="plus")),
    _action(
        "rows.type",
        Stroke("enter", "type"),
        hint="type",
        help="type a value; {rows.put-back}: put the old one back",
        label="enter, digit",
    ),
    _action("rows.put-back", Stroke("delete,backspace", "put_back")),
    _action(
        "what-if.undo", _named("undo", "undo", more="u"), hint="undo", help="undo; {what-if.redo}: redo", label="ctrl+z"
    ),
    _action("what-if.redo", Stroke("ctrl+y,U", "redo"), hint="redo"),
    _action(
        "what-if.restore",
        Stroke("escape", "escape"),
        hint="restore",
        help="undo all changes; until then, they apply to the whole lesson",
    ),
    _action("what-if.search", Stroke("slash", "search"), hint="search", help="search what can be changed"),
    _action("what-if-line.take", _named("enter"), hint="take it"),
    # A training
    _action("training.go", _named("train", "go"), hint="train", help="start, pause, resume"),
    _action(
        "training.look",
        Stroke("comma", "look(-1)", "snapshot-previous"),
        Stroke("full_stop", "look(1)", "snapshot-next"),
        hint="snapshots",
        help="previous, next snapshot",
        label=", and .",
        short=", .",
    ),
    _action(
        "training.look-far",
        Stroke("less_than_sign", "look(-1000000)", "snapshot-first"),
        Stroke("greater_than_sign", "look(1000000)", "snapshot-newest"),
        help="first, newest",
        label="< >",
    ),
    # A program of one's own
    _action(
        "program.call",
        Stroke("comma", "call('before')", "call-before"),
        Stroke("full_stop", "call('after')", "call-after"),
        hint="call",
        help="show the call of this function before, or after",
        label=", and .",
        short=", .",
    ),
    _action(
        "program.call-far",
        Stroke("less_than_sign", "call('first')", "call-first"),
        Stroke("greater_than_sign", "call('last')", "call-last"),
        help="the first call that is recorded, or the last one",
        label="< >",
    ),
    # The prompt
    _action("prompt.leave", Stroke("escape", "leave"), hint="to the prompt"),
    _action(
        "prompt-line.run",
        Stroke("enter"),
        hint="run",
        help="run it; a block of code goes on until you enter an empty line",
    ),
    _action("prompt-line.earlier", Stroke("up"), Stroke("down"), hint="earlier", help="earlier inputs"),
    _action("prompt-line.complete", Stroke("tab"), hint="complete", help="complete a name"),
    _action("prompt-line.clear", Stroke("ctrl+u", "clear")),
    _action(
        "prompt-line.leave",
        Stroke("escape"),
        hint="leave",
        help="stop what is running, or go back to the step as it was",
    ),
    # An exercise. Priority goes before the editor, which has other uses for some of these keys.
    _action(
        "exercise.check", _named("check", "check", more="ctrl+r", priority=True), hint="check", help="check your code"
    ),
    _action(
        "exercise.run", _named("run", "attempt", priority=True), hint="run", help="run it and look at its matrices"
    ),
    _action(
        "exercise.hint",
        Stroke("f3", "hint", priority=True),
        hint="hint",
        help="next hint; after the last one, give up; after passing, see why",
    ),
    _action(
        "exercise.difference",
        Stroke("d", "difference"),
        Stroke("ctrl+d", "difference", "difference-anywhere", priority=True),
        hint="difference",
        help="show where the first result differs (in the editor: ctrl+d)",
        label="d, ctrl+d",
        short="d",
    ),
    _action("exercise.fold", Stroke("ctrl+t", "fold", priority=True), hint="fold", help="fold task and hints"),
    _action(
        "exercise.reset",
        Stroke("f9", "reset", priority=True),
        help="switch to the starter code, and back until you edit it",
    ),
    _action(
        "exercise.outside",
        Stroke("ctrl+o", "outside", priority=True),
        help="edit in your own editor: $VISUAL or $EDITOR",
    ),
    _action("task.edit", Stroke("enter", "edit"), hint="edit", help="go to the editor"),
    _action(
        "editor.leave",
        Stroke("escape"),
        hint="leave",
        help="leave it; then {tutor.next}, {tutor.back}, {tutor.map}, {tutor.quit} work",
    ),
    _action(
        "editor.indent", Stroke("tab"), Stroke("shift+tab", "dedent", "dedent"), help="indent or dedent the selection"
    ),
    _action("editor.undo", Stroke("ctrl+z"), Stroke("ctrl+y"), help="undo or redo"),
    _action(
        "editor.ends",
        Stroke("ctrl+home", "to_end(-1)"),
        Stroke("ctrl+end", "to_end(1)"),
        help="first or last line",
        label="ctrl+home, ctrl+end",
    ),
    _action("editor.select-all", Stroke("ctrl+a", "select_all"), help="select all"),
    # Terminals send the second for the first.
    _action("editor.comment", Stroke("ctrl+slash,ctrl+underscore", "comment"), help="comment out", label="ctrl+/"),
    # What an exercise leads to: the difference, the solution
    _action("difference.flip", Stroke("d", "flip"), help="yours, expected, or the difference; dots mark wrong cells"),
    _action("difference.leave", Stroke("escape", "leave"), hint="editor", help="go back to the editor"),
    _action("solution.leave", Stroke("escape", "leave"), hint="back", help="go back to the exercise"),
    _action(
        "solution.take-back",
        Stroke("u", "take_back"),
        hint="take back giving up",
        help="take back giving up, and hide this again",
    ),
    # A question
    _action("options.choose", Stroke("up", "move(-1)"), Stroke("down", "move(1)"), hint="choose"),
    _action("options.jump", Stroke("home", "move(-10)"), Stroke("end", "move(10)")),
    _action("options.take", Stroke("enter", "take"), hint="answer"),
    _action(
        "options.letter",
        *(Stroke(letter) for letter in "abcdefgh"),
        help="choose an answer; {options.take}: give it",
        label="up, down, a, b",
    ),
    _action("question.enter", _named("point", "enter"), hint="answer"),
    _action(
        "question.explain",
        Stroke("e", "explain"),
        hint="explain",
        help="explain how the number under the cursor was computed",
    ),
    _action(
        "question.hint",
        Stroke("f3", "hint", priority=True),
        hint="hint",
        help="next hint; after the last one, give up and see the answer",
    ),
    _action(
        "question.leave",
        Stroke("escape", "leave"),
        hint="leave the line",
        help="leave the input line; then {tutor.next}, {tutor.back}, {tutor.map}, {tutor.quit} work",
    ),
    _action(
        "answer-line.check",
        Stroke("enter"),
        hint="check",
        help="check what you typed, or answer with the cell under the cursor",
    ),
    # An experiment
    _action(
        "experiment.hint",
        Stroke("f3", "hint", priority=True),
        hint="hint",
        help="next hint; after the last one, give up and see one way",
    ),
    # A find
    _action(
        "find.point",
        _named("answer", "point"),
        hint="this is it",
        help="answer with the cell or row under the cursor, or with the chosen operand",
    ),
    # What is taken home
    _action(
        "home.move", Stroke("up", "move(-1)"), Stroke("down", "move(1)"), hint="choose", help="choose what to take"
    ),
    _action("home.jump", Stroke("pageup", "move(-10)"), Stroke("pagedown", "move(10)")),
    _action("home.name", hint="name", help="change the name of the file", label="letters", short="letters"),
    _action("home.take", Stroke("enter", "take", priority=True), hint="write", help="write the file"),
    _action("home.close", Stroke("escape", "close"), hint="back", help="go back to where you were"),
    # The glossary
    _action("glossary.search", hint="search", help="search", label="letters", short="letters"),
    _action("glossary.move", Stroke("up", "move(-1)"), Stroke("down", "move(1)"), hint="choose", help="choose"),
    _action("glossary.jump", Stroke("pageup", "move(-10)"), Stroke("pagedown", "move(10)")),
    _action(
        "glossary.go",
        Stroke("enter", "go", priority=True),
        hint="its step",
        help="go to the step that introduces the term",
    ),
    _action("glossary.close", Stroke("escape", "close"), hint="back", help="go back to where you were"),
)

ACTIONS = {action.id: action for action in TABLE}
"""The actions by their ids."""

NAMED = {stroke.named: action.id for action in TABLE for stroke in action.strokes if stroke.named}
"""The ids of the actions by what texts call them."""


def of_context(context: str) -> tuple[Action, ...]:
    """List the actions of a context, in the order of the table."""
    return tuple(action for action in TABLE if action.id.partition(".")[0] == context)


TEXT_GROUP = "keys"
"""The group of these texts."""

TEXT_FIELDS = ("hint", "help", "label", "short")

WORD = re.compile(r"[^\W\d_]{2}")
"""What tells a text from a list of signs such as `[ ]`."""


def hint_of(action: str) -> str:
    """Return the words of an action for the line of keys. Raises `KeyError` if there is no such action."""
    return of_table(f"{TEXT_GROUP}/{action}/hint", ACTIONS[action].hint)


def help_of(action: str) -> str:
    """Return the sentence of an action for the help. Raises `KeyError` if there is no such action."""
    return of_table(f"{TEXT_GROUP}/{action}/help", ACTIONS[action].help)


def label_of(action: str) -> str:
    """Return how the help writes the keys of an action, "" for a plain list. Raises `KeyError` if there is none."""
    return of_table(f"{TEXT_GROUP}/{action}/label", ACTIONS[action].label)


def short_of(action: str) -> str:
    """Return how the line of keys writes these keys, "" for a plain list. Raises `KeyError` if there is none."""
    return of_table(f"{TEXT_GROUP}/{action}/short", ACTIONS[action].short)


def table_texts() -> dict[str, str]:
    """Return the English words of all actions by their ids."""
    return {
        f"{TEXT_GROUP}/{action.id}/{field}": text
        for action in ACTIONS.values()
        for field, text in zip(TEXT_FIELDS, (action.hint, action.help, action.label, action.short), strict=True)
        if WORD.search(text)
    }
