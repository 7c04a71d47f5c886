"""Answers to questions after a run: about the tensors of the run, and requests to run more code."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import torch

from lessons.results.tensor_questions import (
    BlocksQuestion,
    ExplainQuestion,
    FollowQuestion,
    Refusal,
    RowQuestion,
    WindowQuestion,
)
from lessons.worker import channel, messages, wire
from lessons.worker.explaining.explainer import NoCell
from lessons.worker.jobs import prompt, scratch_run, summaries, tensor_entries
from lessons.worker.jobs.run_state import RunState
from lessons.worker.messages import BlocksReport, ExplanationReport, RowReport, WindowReport

LARGEST_WINDOW = 256


class QuestionRefused(Exception):
    """A question that has no answer; the message says why."""


def serve(talk: socket.socket, run: RunState) -> None:
    """Answer questions until the peer closes the connection."""
    while True:
        question = channel.receive(talk)
        try:
            if type(question) not in HANDLERS:
                raise QuestionRefused("unknown question")
            reply = HANDLERS[type(question)](run, question)
        except QuestionRefused as error:
            reply = Refusal(str(error))
        try:
            channel.send(talk, reply)
        except wire.Closed:
            raise
        except wire.WireError:
            channel.send(talk, Refusal("the answer is too long to be told"))


def explain(run: RunState, question: ExplainQuestion) -> ExplanationReport:
    """Explain a cell of a shown tensor."""
    return _explained(lambda: run.explainer.ask(question.unit, question.name, question.index))


def follow(run: RunState, question: FollowQuestion) -> ExplanationReport:
    """Explain an operand of an earlier explanation."""
    return _explained(lambda: run.explainer.follow(question.ref, question.unit))


def _explained(ask: Callable[[], dict[str, Any]]) -> ExplanationReport:
    try:
        return ExplanationReport(ask())
    except NoCell:
        raise QuestionRefused("no such cell") from None
    except Exception as error:
        # A bug in one explanation must not end the child: the other cells can still be explained.
        raise QuestionRefused(f"this cell cannot be explained ({type(error).__name__}: {error})") from error


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
    if rows < 1 or cols < 1 or summaries.count(matrix, rows, cols) > summaries.MOST_BLOCKS:
        raise QuestionRefused("no such blocks")
    return summaries.blocks(matrix, rows, cols, question.how)


def row(run: RunState, question: RowQuestion) -> RowReport:
    """Return the statistics of a row of the matrix at some leading indices."""
    matrix = matrix_at(run, question)
    if not 0 <= question.row < matrix.shape[0]:
        raise QuestionRefused("no such row")
    return summaries.row(matrix, question.row, question.top)


def matrix_at(run: RunState, question: WindowQuestion | BlocksQuestion | RowQuestion) -> torch.Tensor:
    """Return the matrix that a question is about: a shown tensor at the leading indices; a vector is one row."""
    tensor = run.shown.get((question.unit, question.name)) if question.unit is not None else None
    if tensor is None or len(question.lead) != max(0, tensor.dim() - 2):
        raise QuestionRefused("no such tensor")
    matrix = tensor[question.lead]
    return matrix.reshape(1, -1) if matrix.dim() < 2 else matrix


HANDLERS: dict[type[object], Callable[[RunState, Any], object]] = {
    ExplainQuestion: explain,
    FollowQuestion: follow,
    WindowQuestion: window,
    BlocksQuestion: blocks,
    RowQuestion: row,
    messages.RunInput: prompt.run_input,
    messages.RunScratch: scratch_run.run,
    messages.ListNames: prompt.list_names,
}
"""The function that answers each question."""
