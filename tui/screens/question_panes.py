"""The panes of a question and their arrangement: text and code, the matrices, and the answer box."""

from __future__ import annotations

from collections.abc import Sequence

from attn_tutor.tui.drawings import question_layout
from attn_tutor.tui.drawings.question_layout import QuestionLayout
from attn_tutor.tui.render.step_layout import WIDE, Needs, text_width, with_gap
from attn_tutor.tui.tty.terminal import Terminal
from attn_tutor.tui.widgets.answer_box import AnswerBox
from attn_tutor.tui.widgets.line_widget import Box, set_height
from attn_tutor.tui.widgets.matrix import MatrixView
from attn_tutor.tui.widgets.slots import fill_slot, fill_slots
from attn_tutor.tui.widgets.text_pane import AFTER_F4, TextPane


class QuestionPanes(Box):
    """The panes of a question, one below the other, or with the matrices at the right on a wide screen."""

    DEFAULT_CSS = """
    QuestionPanes {
        layout: vertical;
        height: 1fr;
    }

    QuestionPanes.wide {
        layout: grid;
        grid-size: 2 2;
    }

    QuestionPanes #asked-text {
        layout: vertical;
        height: auto;
    }

    QuestionPanes #asked-figures {
        layout: vertical;
        height: 1fr;
    }

    QuestionPanes.wide #asked-text {
        height: 1fr;
    }

    QuestionPanes.wide #asked-figures {
        row-span: 2;
    }

    QuestionPanes.wide #asked-answer {
        height: 1fr;
    }
    """

    def __init__(self, terminal: Terminal, matrices: Sequence[MatrixView], *, id: str | None = None) -> None:
        self.prose = TextPane(ellipsis=terminal.ellipsis, way=AFTER_F4, id="question")
        self.code = TextPane(ellipsis=terminal.ellipsis, way=AFTER_F4, is_code=True, id="asked-code")
        self.answer = AnswerBox(terminal, id="asked-answer")
        self._matrices = matrices
        self._text = Box(self.prose, self.code, id="asked-text")
        self._figures = Box(*matrices, id="asked-figures")
        super().__init__(self._text, self._figures, self.answer, id=id)

    def lay_out(
        self, width: int, height: int, matrices: int, active: int, *, panel: bool, remark: bool, answered: bool
    ) -> QuestionLayout:
        """Give each pane its room, and return the layout, which also says what is left for the explanation.

        Args:
            width, height: the columns and lines for the panes and the explanation.
            matrices: how many matrices are in use.
            active: the pane that the learner has chosen, as in `Needs`.
            panel: whether an explanation is open.
            remark: whether the answer box must show at least one line of its verdict.
            answered: whether the question is answered or given up.
        """
        needs = self._needs(width, matrices, panel=panel)
        wanted = self.answer.lines_at(text_width(width, needs))
        layout = question_layout.lay_out(width, height, needs, wanted, active, answered=answered)
        if layout.wide:
            self.styles.grid_columns = f"{layout.text_width} 1fr"
            self.styles.grid_rows = f"{max(1, layout.prose + layout.code)} 1fr"
        self.set_class(layout.wide, "wide")
        set_height(self.prose, layout.prose)
        set_height(self.code, layout.code)
        self._figures.display = matrices > 0
        fill_slots(self._matrices, layout.matrices, layout.tall, layout.places, layout.widths)
        self.answer.display = layout.answer > 0
        self._figures.styles.height = "1fr" if layout.wide else layout.figures
        self.answer.styles.height = "1fr" if layout.wide else max(1, layout.answer)
        self.answer.give_lines(wanted.within(layout.answer, remark=remark))
        return layout

    def make_room(self, height: int, explained: int, matrices: int, active: int) -> int:
        """Share `height` lines with an explanation that would like `explained` of them; return how many it gets."""
        wanted = [view.natural_size()[1] for view in self._matrices[:matrices]]
        task = with_gap(self.prose.lines_at(self.size.width))
        explained, task, lines = question_layout.beside_explanation(height, explained, task, wanted, active)
        set_height(self.prose, task)
        set_height(self.code, 0)
        for view, each in zip(self._matrices, lines, strict=False):
            fill_slot(view, each)
        self._figures.styles.height = max(1, sum(lines))
        return explained

    def _needs(self, width: int, matrices: int, *, panel: bool) -> Needs:
        """Return the room that text and matrices need at this width."""
        sizes = tuple(view.natural_size() for view in self._matrices[:matrices])
        widest = self.code.widest
        columns = text_width(width, Needs(0, 0, 0, sizes, widest, widest))
        prose, code = with_gap(self.prose.lines_at(columns)), with_gap(self.code.lines_at(columns))
        rows = tuple(view.rows for view in self._matrices[:matrices])
        # On a wide screen they stand beside the text. A question needs their digits, so shades are no choice.
        forms = () if width >= WIDE else tuple(view.forms()[:-1] for view in self._matrices[:matrices])
        return Needs(prose, code, 0, sizes, widest, widest, panel=panel, rows=rows, forms=forms)
