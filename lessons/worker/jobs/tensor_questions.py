"""Answers to questions after a run: about the tensors of the run, and requests to run more code."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import torch

from attn_tutor.lessons.results.flow import Flow
from attn_tutor.lessons.results.summaries import LARGEST_WINDOW, RowStats, row_stats
from attn_tutor.lessons.results.tensor_questions import (
    BlocksQuestion,
    BoxQuestion,
    ExplainQuestion,
    FlowQuestion,
    FollowQuestion,
    Refusal,
    RowQuestion,
    ShowQuestion,
    WindowQuestion,
    box_unit,
)
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker import channel, messages, wire
from attn_tutor.lessons.worker.explaining.explainer import NoSuchCell
from attn_tutor.lessons.worker.flow.diagram import Diagram, NoBox
from attn_tutor.lessons.worker.jobs import prompt, tensor_entries
from attn_tutor.lessons.worker.jobs.execute import describe
from attn_tutor.lessons.worker.jobs.run_state import RunState, as_tensor, in_parts
from attn_tutor.lessons.worker.messages import (
    MOST_BLOCKS,
    BlocksReport,
    ExplanationReport,
    ShowReport,
    WindowReport,
)
from attn_tutor.lessons.worker.recording.element_history import TookTooLong, ValueLost

say = Wording("worker/questions")

PATIENCE = 8.0
"""Seconds that an explanation or a flow may take. After a few more, the peer would end this process."""


Handlers = dict[type[object], Callable[[RunState, Any], object]]
"""For each kind of question the function that answers it."""


class QuestionRefused(Exception):
    """A question that has no answer; the message says why."""


def serve(talk: socket.socket, run: RunState, more: Handlers | None = None) -> None:
    """Answer questions until the peer closes the connection; `more` answers those that only this run is asked."""
    handlers = {**HANDLERS, **(more or {})}
    while True:
        question = channel.receive(talk)
        try:
            if type(question) not in handlers:
                raise QuestionRefused(say("unknown", "unknown question"))
            reply = handlers[type(question)](run, question)
        except QuestionRefused as error:
            reply = Refusal(str(error))
        try:
            channel.send(talk, reply)
        except wire.Closed:
            raise
        except wire.WireError:
            channel.send(talk, Refusal(say("too-long", "the answer is too long to be told")))


def explain(run: RunState, question: ExplainQuestion) -> ExplanationReport:
    """Explain a cell of a shown tensor."""
    return _explained(run, lambda: run.explainer.ask(question.unit, question.name, question.index))


def follow(run: RunState, question: FollowQuestion) -> ExplanationReport:
    """Explain an operand of an earlier explanation."""
    return _explained(run, lambda: run.explainer.follow(question.ref, question.unit))


def _explained(run: RunState, ask: Callable[[], dict[str, Any]]) -> ExplanationReport:
    try:
        with run.explainer.history.no_longer_than(PATIENCE):
            return ExplanationReport(ask())
    except NoSuchCell:
        raise QuestionRefused(say("no-cell", "no such cell")) from None
    except TookTooLong:
        raise QuestionRefused(_too_slow()) from None
    except Exception as error:
        # A bug in one explanation must not end the child: the other cells can still be explained.
        kind = type(error).__name__
        why = say("cell-failed", "this cell cannot be explained ({kind}: {error})", kind=kind, error=error)
        raise QuestionRefused(why) from error


def _too_slow() -> str:
    return say("too-slow", "This would take longer than {seconds:g} seconds to find out.", seconds=PATIENCE)


def flow(run: RunState, question: FlowQuestion) -> Flow:
    """Return the boxes and arrows that lead to what a unit shows."""
    try:
        with run.explainer.history.no_longer_than(PATIENCE):
            path = run.explainer.path_of(question.references)
            diagram = Diagram(run.explainer, question.unit, question.opened, run.end_of(question.unit))
            return diagram.flow(path)
    except TookTooLong:
        raise QuestionRefused(_too_slow()) from None
    except Exception as error:
        # A bug in a flow must not end the child: its numbers can still be explained.
        kind = type(error).__name__
        why = say("flow-failed", "this flow cannot be drawn ({kind}: {error})", kind=kind, error=error)
        raise QuestionRefused(why) from error


def box(run: RunState, question: BoxQuestion) -> ShowReport:
    """Show the tensor of a box from now on, as it was when the code of the box had run."""
    if question.unit is None:
        raise QuestionRefused(say("no-box", "no such box"))
    try:
        diagram = Diagram(run.explainer, question.unit, question.opened, run.end_of(question.unit))
        name, region, time = diagram.result(question.box)
    except NoBox:
        raise QuestionRefused(say("no-own-tensor", "this box has no tensor of its own")) from None
    except Exception as error:
        kind = type(error).__name__
        why = say("box-failed", "this box cannot be shown ({kind}: {error})", kind=kind, error=error)
        raise QuestionRefused(why) from error
    try:
        tensor = in_parts(as_tensor(run.explainer.history.tensor(region, time)))
    except (ValueLost, TypeError) as error:
        raise QuestionRefused(str(error)) from None
    unit, blob = box_unit(question.unit, question.box), bytearray()
    run.explainer.show_region(unit, name, region, time)
    run.shown[unit, name] = tensor
    report = tensor_entries.entry(name, tensor, blob)
    return ShowReport(report, bytes(blob))


def show(run: RunState, question: ShowQuestion) -> ShowReport:
    """Show a named tensor, or the value of an expression, from now on."""
    if question.unit is None:
        raise QuestionRefused(say("no-tensor", "no such tensor"))
    blob = bytearray()
    try:
        return ShowReport(run.show_named(question.unit, question.name, blob), bytes(blob))
    except (ValueLost, TypeError) as error:
        why = str(error)
    except BaseException as error:
        why = describe(error, question.unit.filename).message
    raise QuestionRefused(say("not-shown", "{name} cannot be shown: {why}", name=question.name, why=why))


def window(run: RunState, question: WindowQuestion) -> WindowReport:
    """Return a rectangle of the matrix at some leading indices."""
    matrix = matrix_at(run, question)
    height, width = min(question.height, LARGEST_WINDOW), min(question.width, LARGEST_WINDOW)
    part = matrix[question.top : question.top + height, question.left : question.left + width]
    code, data = tensor_entries.numbers(part)
    return WindowReport(part.shape[0], code, data)


def blocks(run: RunState, question: BlocksQuestion) -> BlocksReport:
    """Return the matrix at some leading indices, divided into blocks."""
    matrix, rows, cols = matrix_at(run, question), question.rows, question.cols
    if rows < 1 or cols < 1 or tensor_entries.block_count(matrix, rows, cols) > MOST_BLOCKS:
        raise QuestionRefused(say("no-blocks", "no such blocks"))
    return tensor_entries.blocks_report(matrix, rows, cols, question.how)


def row(run: RunState, question: RowQuestion) -> RowStats:
    """Return the statistics of a row of the matrix at some leading indices."""
    matrix = matrix_at(run, question)
    if not 0 <= question.row < matrix.shape[0]:
        raise QuestionRefused(say("no-row", "no such row"))
    return row_stats(question.lead, question.row, matrix[question.row].tolist(), question.top)


def matrix_at(run: RunState, question: WindowQuestion | BlocksQuestion | RowQuestion) -> torch.Tensor:
    """Return the matrix that a question is about: a shown tensor at the leading indices; a vector is one row."""
    tensor = run.shown.get((question.unit, question.name)) if question.unit is not None else None
    if tensor is None or len(question.lead) != max(0, tensor.dim() - 2):
        raise QuestionRefused(say("no-tensor", "no such tensor"))
    matrix = tensor[question.lead]
    matrix = matrix.reshape(1, -1) if matrix.dim() < 2 else matrix
    if question.matrix not in (None, tuple(matrix.shape)):
        # The code has given it another shape since it was shown.
        raise QuestionRefused(say("no-tensor", "no such tensor"))
    return matrix


HANDLERS: Handlers = {
    ExplainQuestion: explain,
    FollowQuestion: follow,
    FlowQuestion: flow,
    BoxQuestion: box,
    ShowQuestion: show,
    WindowQuestion: window,
    BlocksQuestion: blocks,
    RowQuestion: row,
    messages.RunInput: prompt.run_input,
    messages.RunScratch: prompt.run_scratch,
    messages.BindNamed: prompt.bind_named,
    messages.ListNames: prompt.list_names,
}
"""The function that answers each question."""
