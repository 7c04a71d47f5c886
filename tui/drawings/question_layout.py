"""What of a question stands where on a screen of a given size: the task, the matrices, and the place for the answer."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tui.render.step_layout import WIDE, Needs, arrange, text_width

ROOMY = 24
"""Lines beside an explanation from which the place for the answer is shown as well."""


@dataclass(frozen=True, slots=True)
class AnswerLines:
    """Lines of the parts of the place for the answer.

    Attributes:
        form: how to answer.
        options: what there is to choose from.
        entry: the line to type in.
        word: what is said of the answers.
    """

    form: int
    options: int
    entry: int
    word: int

    @property
    def total(self) -> int:
        """Lines of all parts."""
        return self.form + self.options + self.entry + self.word

    def within(self, room: int, *, remark: bool) -> AnswerLines:
        """Return what fits: what is typed stays; then come options, the word, and last how to answer.

        With a `remark` at least one line is for the word, which is not to be missed.
        """
        entry = min(self.entry, room)
        options = min(self.options, room - entry)
        word = min(self.word, room - entry - options)
        if options and remark and not word:
            word, options = 1, options - 1
        return AnswerLines(min(self.form, room - entry - options - word), options, entry, word)


@dataclass(frozen=True, slots=True)
class QuestionLayout:
    """Heights of what is shown, 0 for what is not.

    Attributes:
        wide: whether matrices stand at the right.
        text_width: columns of the text; all columns if not `wide`.
        panel: lines of the explanation.
        figures: lines of all matrices together; if `wide`, they get what there is.
        answer: lines of the place for the answer; if `wide`, it gets what the text leaves.
    """

    wide: bool
    text_width: int
    panel: int
    prose: int
    code: int
    matrices: tuple[int, ...]
    figures: int
    answer: int


def plan(width: int, height: int, needs: Needs, answer: AnswerLines, active: int) -> QuestionLayout:
    """Give `height` lines to the parts of a question.

    Args:
        width: columns of the screen.
        height: lines of the screen.
        needs: what task, code and matrices would like, and whether a number is explained.
        answer: what the place for the answer would like.
        active: the pane that the learner has chosen.
    """
    wanted = answer.total
    wide = width >= WIDE and bool(needs.matrices)
    if wide:
        lay = arrange(width, height, needs, active)
        body = height - lay.panel
        lines = min(wanted, max(body * 3 // 5, body - needs.prose - needs.code))
        beside = arrange(width, body - lines, replace(needs, panel=False), active)
        lay = replace(lay, prose=beside.prose, code=beside.code)
    else:
        lines = _below(height, wanted, needs)
        lay = arrange(width, height - lines, needs, active)
    figures = sum(lay.matrices)
    # An empty line below the matrices if there is room for it.
    spare = height - lay.panel - lay.prose - lay.code - figures - lines
    figures += int(spare > 0)
    return QuestionLayout(wide, text_width(width, needs), lay.panel, lay.prose, lay.code, lay.matrices, figures, lines)


def _below(height: int, wanted: int, needs: Needs) -> int:
    """Lines for the answer below the rest: all it wants if the rest fits, else about half."""
    if needs.panel:
        return wanted if height - wanted >= ROOMY else 0
    rest = needs.prose + needs.code + sum(lines for _, lines in needs.matrices)
    return min(wanted, max(height // 2, height - rest), max(0, height - 2))
