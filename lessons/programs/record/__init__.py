"""The door for Python: record what any code computes, and ask how each number came about.

from attn_tutor import record

with record() as trace:
    context = attention(tokens)
print(trace.explain("context", 0, 1, 2))
"""

from attn_tutor.lessons.programs.record.errors import Incomplete, NoCell, NoTensor, NotKept, TraceError
from attn_tutor.lessons.programs.record.tensors import TracedNumber, TracedOperand, TracedTensor, TracedTensors
from attn_tutor.lessons.programs.record.trace import Trace, TracedComparison, TracedFlow, TracedNonfinite, record
from attn_tutor.lessons.programs.worker.tensor_files.stored_tensor import UnreadableFile
from attn_tutor.lessons.programs.worker.tensor_files.tensor_files import TensorFile, open_tensors

__all__ = [
    "Incomplete",
    "NoCell",
    "NoTensor",
    "NotKept",
    "TensorFile",
    "Trace",
    "TraceError",
    "TracedComparison",
    "TracedFlow",
    "TracedNonfinite",
    "TracedNumber",
    "TracedOperand",
    "TracedTensor",
    "TracedTensors",
    "UnreadableFile",
    "open_tensors",
    "record",
]
