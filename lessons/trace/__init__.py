"""The door for Python: record what any code computes, and ask how each number came about.

from lessons.trace import record

with record() as trace:
    context = attention(tokens)
print(trace.explain("context", 0, 1, 2))
"""

from lessons.trace.trace import Trace, record
from lessons.trace.trace_errors import Incomplete, NoCell, NoTensor, NotKept, TraceError
from lessons.trace.traced_comparison import TracedComparison
from lessons.trace.traced_flow import TracedFlow
from lessons.trace.traced_nonfinite import TracedNonfinite
from lessons.trace.traced_number import TracedNumber, TracedOperand
from lessons.trace.traced_tensors import TracedTensor, TracedTensors
from lessons.worker.tensor_files.stored_tensor import UnreadableFile
from lessons.worker.tensor_files.tensor_files import TensorFile, open_tensors

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
