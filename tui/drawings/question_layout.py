"""The layout of a question on a screen of a given size: the task, the matrices, and the answer box."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from attn_tutor.tui.render.step_layout import WIDE, Needs, arrange, fewest_lines, stacked, text_width

BESIDE = 4
"""Lines that the matrices keep beside an explanation and the task: two rows below the names of the columns."""

LEAST_ASIDE = 5
"""Lines that the task keeps beside a long explanation, which scrolls."""

LEAST_TASK = 3
"""Lines that the task keeps beside the answer."""

LEAST_ANSWER = 6
"""Lines that the answer keeps beside the matrix that shows it: that it is right, and why."""

ROOMY = 24
"""Beside an explanation, the answer box is shown too if there are this many lines."""


@dataclass(frozen=True, slots=True)
class AnswerLines:
    """The heights, in lines, of the parts of the answer box.

    Attributes:
        form: the text on how to answer.
        options: what there is to choose from.
        entry: the line to type in.
        word: the verdicts on the answers.
    """

    form: int
    options: int
    entry: int
    word: int

    @property
    def total(self) -> int:
        """Lines of all parts together."""
        return self.form + self.options + self.entry + self.word

    def within(self, room: int, *, remark: bool) -> AnswerLines:
        """Cut the parts to fit: the entry line comes first, then the options, the word, and the form.

        With a `remark`, at least one line goes to the word, so that it is not missed.
        """
        entry = min(self.entry, room)
        options = min(self.options, room - entry)
        word = min(self.word, room - entry - options)
        if options and remark and not word:
            word, options = 1, options - 1
        return AnswerLines(min(self.form, room - entry - options - word), options, entry, word)


@dataclass(frozen=True, slots=True)
class QuestionLayout:
    """The height of each part in lines; 0 for parts that are not shown.

    Attributes:
        wide: whether matrices stand at the right.
        text_width: columns of the text; all columns if not `wide`.
        panel: lines of the explanation.
        widths: columns of the matrices if some stand beside each other, otherwise nothing.
        places: x and y of these matrices, counted from the first.
        figures: lines of all matrices together; if `wide`, they get what there is.
        answer: lines of the answer box; if `wide`, it gets what the text leaves.
        tall: lines of a row of a matrix.
    """

    wide: bool
    text_width: int
    panel: int
    prose: int
    code: int
    matrices: tuple[int, ...]
    figures: int
    answer: int
    tall: int = 1
    widths: tuple[int, ...] = ()
    places: tuple[tuple[int, int], ...] = ()


def lay_out(
    width: int, height: int, needs: Needs, answer: AnswerLines, active: int, *, answered: bool = False
) -> QuestionLayout:
    """Divide `height` lines among the parts of a question.

    Once it is `answered`, the matrix that shows the answer is whole if possible: it comes before the texts, which the
    learner has read or can scroll.

    Args:
        width: columns of the screen.
        height: lines of the screen.
        needs: what task, code and matrices would like, and whether a number is explained.
        answer: what the answer box would like.
        active: the pane that the learner has chosen.
        answered: whether the answer is given, and shown.
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
        lines = _below(width, height, wanted, needs)
        if answered and needs.matrices and not needs.panel:
            figure = needs.matrices[max(active, 0)][1]
            lines = min(lines, max(LEAST_ANSWER, height - figure - LEAST_TASK))
            prose = min(needs.prose, max(LEAST_TASK, height - lines - figure))
            code = needs.code if height - lines - figure - prose >= needs.code else 0
            needs = replace(needs, prose=prose, code=code)
        lay = arrange(width, height - lines, needs, active)
    figures = lay.figure_lines
    # Leave an empty line below the matrices if there is room.
    spare = height - lay.panel - lay.prose - lay.code - figures - lines
    figures += int(spare > 0)
    columns = text_width(width, needs)
    places = lay.places() if lay.widths else ()
    return QuestionLayout(
        wide, columns, lay.panel, lay.prose, lay.code, lay.matrices, figures, lines, lay.tall, lay.widths, places
    )


def beside_explanation(
    height: int, explained: int, task: int, matrices: Sequence[int], active: int
) -> tuple[int, int, tuple[int, ...]]:
    """Divide `height` lines among an explanation, the task that it helps with, and the matrices, which are read last.

    Args:
        height: lines of the screen.
        explained, task, matrices: the lines that each would like.
        active: the matrix that the learner has chosen.

    Returns:
        The lines of the explanation, of the task, and of each matrix.
    """
    figures = min(sum(matrices), BESIDE)
    explained = max(0, min(explained, height - figures - min(task, LEAST_ASIDE)))
    task = max(0, min(task, height - explained - figures))
    return explained, task, stacked(height - explained - task, matrices, active, in_part=True)


def _below(width: int, height: int, wanted: int, needs: Needs) -> int:
    """Return the lines for the answer box below the rest: all it wants if the rest fits, otherwise about half."""
    if needs.panel:
        return wanted if height - wanted >= ROOMY else 0
    rest = needs.prose + needs.code + fewest_lines(width, needs)
    return min(wanted, max(height // 2, height - rest), max(0, height - 2))
