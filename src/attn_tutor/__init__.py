"""The tutor under one name, and the door for Python: record what any code computes, and ask how each number came about.

from attn_tutor import record

with record() as trace:
    context = attention(tokens)
print(trace.explain("context", 0, 1, 2))

The folders `tui`, `lessons` and `attention` lie at the root of the repository; links beside this file lead there. So an
environment gets one name of ours, and `attention.py` remains what it is for everybody: a file of their own.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from attn_tutor.lessons.programs.record import Incomplete as Incomplete
    from attn_tutor.lessons.programs.record import NoCell as NoCell
    from attn_tutor.lessons.programs.record import NoTensor as NoTensor
    from attn_tutor.lessons.programs.record import NotKept as NotKept
    from attn_tutor.lessons.programs.record import TensorFile as TensorFile
    from attn_tutor.lessons.programs.record import Trace as Trace
    from attn_tutor.lessons.programs.record import TraceError as TraceError
    from attn_tutor.lessons.programs.record import UnreadableFile as UnreadableFile
    from attn_tutor.lessons.programs.record import open_tensors as open_tensors
    from attn_tutor.lessons.programs.record import record as record

DOOR = frozenset(
    {"Incomplete", "NoCell", "NoTensor", "NotKept", "TensorFile", "Trace", "TraceError", "UnreadableFile"}
    | {"open_tensors", "record"}
)
"""What is for the programs of others. It comes with PyTorch, so it is imported when it is asked for."""


def __getattr__(name: str) -> object:
    if name in DOOR:
        return getattr(importlib.import_module("attn_tutor.lessons.programs.record"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *DOOR})
