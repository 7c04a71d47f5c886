"""Questions about the tensors that a run has left: they are answered until the peer leaves."""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from typing import Any

import torch

from lessons.worker import shown, wire

LARGEST_WINDOW = 256

Question = dict[str, Any]
Kept = Mapping[tuple[str, str], torch.Tensor]
"""The tensors that the steps have shown, by step and name."""

Answer = tuple[dict[str, Any], bytes]


class Refused(Exception):
    """A question that has no answer; the message says why."""


def serve(talk: socket.socket, kept: Kept) -> None:
    """Answer questions until the peer closes the connection."""
    while True:
        question = wire.receive(talk).header
        op = str(question.get("op"))
        try:
            if op not in ANSWERS:
                raise Refused("unknown question")
            header, blob = ANSWERS[op](kept, question)
        except Refused as error:
            header, blob = {"error": str(error)}, b""
        wire.send(talk, {"op": op, **header}, blob)


def window(kept: Kept, question: Question) -> Answer:
    """A rectangle of the matrix at some leading indices."""
    matrix = matrix_at(kept, question)
    top, left = int(question["top"]), int(question["left"])
    height, width = (min(int(question[key]), LARGEST_WINDOW) for key in ("height", "width"))
    part = matrix[top : top + height, left : left + width]
    code, data = shown.numbers(part)
    return {"rows": part.shape[0], "cols": part.shape[1], "code": code}, data


def matrix_at(kept: Kept, question: Question) -> torch.Tensor:
    """The matrix that a question is about: a shown tensor at the leading indices; a vector is one row."""
    tensor = kept.get((str(question.get("step")), str(question.get("name"))))
    lead = tuple(question.get("lead", ()))
    if tensor is None or len(lead) != max(0, tensor.dim() - 2):
        raise Refused("no such tensor")
    matrix = tensor[lead]
    return matrix.reshape(1, -1) if matrix.dim() < 2 else matrix


ANSWERS: dict[str, Callable[[Kept, Question], Answer]] = {"window": window}
