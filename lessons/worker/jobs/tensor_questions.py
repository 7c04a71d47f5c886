"""Questions about the tensors that a run has left: they are answered until the peer leaves."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import torch

from lessons.worker import wire
from lessons.worker.explaining.explainer import NoCell
from lessons.worker.jobs import prompt, scratch_run, summaries, tensor_entries
from lessons.worker.jobs.run_state import RunState

LARGEST_WINDOW = 256

Question = dict[str, Any]

Answer = tuple[dict[str, Any], bytes]


class QuestionRefused(Exception):
    """A question that has no answer; the message says why."""


def serve(talk: socket.socket, stage: RunState) -> None:
    """Answer questions until the peer closes the connection."""
    while True:
        question = wire.receive(talk).header
        op = str(question.get("op"))
        try:
            if op not in ANSWERS:
                raise QuestionRefused("unknown question")
            header, blob = ANSWERS[op](stage, question)
        except QuestionRefused as error:
            header, blob = {"error": str(error)}, b""
        try:
            wire.send(talk, {"op": op, **header}, blob)
        except wire.Closed:
            raise
        except wire.WireError:
            wire.send(talk, {"op": op, "error": "the answer is too long to be told"})


def explain(stage: RunState, question: Question) -> Answer:
    """How a cell was made: a cell of a shown tensor by its index, or an operand of an earlier answer by `ref`."""
    step, explainer = str(question.get("step")), stage.explainer
    try:
        if "ref" in question:
            told = explainer.follow(int(question["ref"]), step)
        else:
            told = explainer.ask(step, str(question["name"]), tuple(map(int, question["index"])))
    except NoCell:
        raise QuestionRefused("no such cell") from None
    except Exception as error:
        # One number less that explains itself, but all others go on.
        raise QuestionRefused(f"this cell cannot be explained ({type(error).__name__}: {error})") from error
    return {"explanation": told}, b""


def window(stage: RunState, question: Question) -> Answer:
    """A rectangle of the matrix at some leading indices."""
    matrix = matrix_at(stage, question)
    top, left = int(question["top"]), int(question["left"])
    height, width = (min(int(question[key]), LARGEST_WINDOW) for key in ("height", "width"))
    part = matrix[top : top + height, left : left + width]
    code, data = tensor_entries.numbers(part)
    return {"rows": part.shape[0], "cols": part.shape[1], "code": code}, data


def blocks(stage: RunState, question: Question) -> Answer:
    """The matrix at some leading indices, divided into blocks."""
    matrix = matrix_at(stage, question)
    rows, cols = int(question["rows"]), int(question["cols"])
    if rows < 1 or cols < 1 or summaries.count(matrix, rows, cols) > summaries.MOST_BLOCKS:
        raise QuestionRefused("no such blocks")
    return summaries.blocks(matrix, rows, cols, "mean" if question["how"] == "mean" else "max")


def row(stage: RunState, question: Question) -> Answer:
    """What a row of the matrix at some leading indices amounts to."""
    matrix, place = matrix_at(stage, question), int(question["row"])
    if not 0 <= place < matrix.shape[0]:
        raise QuestionRefused("no such row")
    return summaries.row(matrix, place, int(question["top"]))


def matrix_at(stage: RunState, question: Question) -> torch.Tensor:
    """The matrix that a question is about: a shown tensor at the leading indices; a vector is one row."""
    tensor = stage.kept.get((str(question.get("step")), str(question.get("name"))))
    lead = tuple(question.get("lead", ()))
    if tensor is None or len(lead) != max(0, tensor.dim() - 2):
        raise QuestionRefused("no such tensor")
    matrix = tensor[lead]
    return matrix.reshape(1, -1) if matrix.dim() < 2 else matrix


ANSWERS: dict[str, Callable[[RunState, Question], Answer]] = {
    "explain": explain,
    "window": window,
    "blocks": blocks,
    "row": row,
    "play": prompt.play,
    "attempt": scratch_run.attempt,
    "names": prompt.listed,
}
