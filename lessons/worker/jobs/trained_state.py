"""The trained state of a model: a dict of tensors, sent and saved as a file in PyTorch's own format."""

from __future__ import annotations

import io
from typing import Any

import torch

from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.results.result import MOST_KEPT
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.jobs.execute import describe
from attn_tutor.lessons.worker.message_parts import ErrorReport

say = Wording("worker/trained")

KEEP = CodeUnit.internal("keep").filename


def pack(expression: str, namespace: dict[str, Any]) -> tuple[bytes, ErrorReport | None]:
    """Save the tensors that a training keeps in PyTorch's format. Returns the file, and the failure, if any."""
    try:
        tensors = eval(compile(expression, KEEP, "eval"), namespace)
        # Copy them: a view would save its whole storage.
        copies = {str(name): tensor.detach().clone() for name, tensor in tensors.items()}
        file = io.BytesIO()
        torch.save(copies, file)
    except BaseException as error:
        failure = describe(error, KEEP)
        message = say("not-kept", "What was trained cannot be kept: {why}", why=failure.message)
        return b"", ErrorReport(failure.kind, message)
    data = file.getvalue()
    if len(data) > MOST_KEPT:
        message = say(
            "too-large",
            "What was trained is too large to be kept: {size} MiB, {most} are allowed.",
            size=len(data) >> 20,
            most=MOST_KEPT >> 20,
        )
        return b"", ErrorReport("error", message)
    return data, None


def unpack(data: bytes) -> tuple[dict[str, torch.Tensor], ErrorReport | None]:
    """Return the tensors in a saved file, and the failure if it cannot be read. Loads nothing but tensors."""
    try:
        tensors = torch.load(io.BytesIO(data), weights_only=True)
        if not isinstance(tensors, dict) or not all(isinstance(item, torch.Tensor) for item in tensors.values()):
            raise TypeError("no dict of tensors")
    except Exception:
        message = say("unreadable", "What was trained cannot be read any more. Train again.")
        return {}, ErrorReport("error", message)
    return tensors, None
