"""The pages of F1 for a program of one's own, and for a file of tensors."""

from __future__ import annotations

from attn_tutor.tui.actions.help_layout import BLANK, Lines, Note, row, rows_of, says

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
