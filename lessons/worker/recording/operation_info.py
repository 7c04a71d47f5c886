"""What the schema of an operation says, and what it does not: which arguments it writes to, what it draws at random."""

from __future__ import annotations

from typing import Any

import torch
from torch._ops import HigherOrderOperator

from attn_tutor.lessons.worker.recording import composites
from attn_tutor.lessons.worker.recording.event import IN_PLACE, PLAIN, SPECIAL, Info
from attn_tutor.lessons.worker.recording.fast_calls import FAST, fast_call

RESHAPING = frozenset(
    {
        "squeeze_",
        "unsqueeze_",
        "t_",
        "transpose_",
        "swapaxes_",
        "swapdims_",
        "detach_",
        "as_strided_",
        "resize_",
        "set_",
        "requires_grad_",
    }
)
"""In-place operations that change the shape of a tensor and none of its elements."""

UNDECLARED_WRITES = {"native_batch_norm": ("running_mean", "running_var")}
"""Arguments that an operation writes to in training although its schema does not say so."""

MARKING = frozenset({"_conj", "_neg_view", "_efficientzerotensor"})
"""Operations whose results do not have in memory what they are: the sign is another, or there are only zeros."""

DATA = "lift_fresh"
"""The operation that data from outside come through."""


KNOWN: dict[int, Info] = {}
"""What was read of operations, by their identity: their hash is a function in Python. An `Info` keeps its operation."""


def read_common() -> None:
    """Read the schemas of common operations, which takes as long as to run a step of a lesson."""
    for overload, ops in FAST.items():
        for op in ops:
            read(getattr(getattr(torch.ops.aten, op), overload or "default"))


def read(func: Any) -> Info:
    """Read the schema of an operation, and keep what it says."""
    info = KNOWN[id(func)] = _read(func)
    return info


def _read(func: Any) -> Info:
    if isinstance(func, HigherOrderOperator):
        return Info(func, func.name(), {}, {}, (), False, runs_code=True)
    schema = func._schema
    op = schema.name.partition("::")[2]
    undeclared = UNDECLARED_WRITES.get(op, ())
    written = tuple(
        (position, item.name)
        for position, item in enumerate(schema.arguments)
        if (item.alias_info and item.alias_info.is_write and op not in RESHAPING) or item.name in undeclared
    )
    names = {item.name: position for position, item in enumerate(schema.arguments)}
    random = torch.Tag.nondeterministic_seeded in func.tags
    in_place = (
        [position for position, _ in written] == [0]
        and str(schema.arguments[0].type) == "Tensor"
        and "resize" not in op
    )
    reshaping = not in_place and any(item.alias_info and item.alias_info.is_write for item in schema.arguments)
    special = random or reshaping or op in MARKING or op == DATA or (written and not in_place)
    return Info(
        func,
        op,
        names,
        {item.name: item.default_value for item in schema.arguments if item.has_default_value()},
        written,
        random,
        fast_call(op, schema.overload_name),
        any("Tensor" in str(item.type) for item in schema.arguments),
        names["training"] if undeclared else None,
        any(item.is_out for item in schema.arguments),
        in_place,
        op in MARKING,
        reshaping,
        SPECIAL if special else IN_PLACE if in_place else PLAIN,
        composites.function_of(func),
        torch.Tag.pointwise in func.tags,
    )
