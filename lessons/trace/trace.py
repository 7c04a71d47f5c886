"""The door for Python: records what a block of code computes, and answers questions about it."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from types import FrameType, ModuleType, TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, SupportsIndex

from attn_tutor.lessons.render import flow_text
from attn_tutor.lessons.render import html_pieces as html
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.trace.harmless_text import harmless
from attn_tutor.lessons.trace.trace_errors import NoTensor, TraceError
from attn_tutor.lessons.trace.traced_comparison import TracedComparison
from attn_tutor.lessons.trace.traced_flow import TracedFlow
from attn_tutor.lessons.trace.traced_nonfinite import TracedNonfinite
from attn_tutor.lessons.trace.traced_number import TracedNumber
from attn_tutor.lessons.trace.traced_tensors import TracedTensor, TracedTensors
from attn_tutor.lessons.worker.comparing import program_comparison
from attn_tutor.lessons.worker.programs.named_tensors import NamedTensor
from attn_tutor.lessons.worker.programs.record_questions import RecordQuestions, not_copied
from attn_tutor.lessons.worker.programs.recording_here import RecordingHere
from attn_tutor.lessons.worker.recording.recorder import KEEP

if TYPE_CHECKING:
    import torch

say = Wording("trace/trace")

Watched = str | Path | ModuleType


class record:
    """Record what a block of code computes with PyTorch, in this process, and ask about it afterwards.

    >>> from attn_tutor import record
    >>> with record() as trace:
    ...     scores = queries @ keys.T
    ...     weights = torch.softmax(scores, dim=-1)
    >>> print(trace.explain("weights", 1, 0))

    What the block computes stays the same, down to the last bit and the state of random generators. Everything that
    runs in the block is recorded, also in modules, in functions, and in a backward pass; but only in this thread, and
    what `torch.compile` has compiled runs as it was written. Names and lines come from the files in the folder of
    the code with the block and below it, or from the cells of a notebook.

    Args:
        watch: more modules, files or folders whose code gives tensors their names.
        keep: how many bytes of tensors the record may keep alive; the same again when the block ends, for copies of
            the tensors that your code has then. A block inside another one is recorded together with it.
    """

    def __init__(self, *, watch: Iterable[Watched] = (), keep: int = KEEP) -> None:
        self._watched = [_path(item) for item in ((watch,) if isinstance(watch, Watched) else watch)]
        self._keep = keep
        self._frame: FrameType | None = None
        self._trace: Trace | None = None

    def __enter__(self) -> Trace:
        if self._trace is not None:
            raise TraceError(say("once", "A recording can be used once. For another block call record() again."))
        self._frame = _caller(sys._getframe(1))
        recording = RecordingHere.of_thread(self._keep)
        recording.begin(self._frame, self._watched)
        self._trace = Trace(recording, self._frame)
        return self._trace

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        assert self._trace is not None
        self._trace._end(error, traceback)
        self._frame = None


@harmless
class Trace:
    """What a block of code has computed. It can be asked as long as it lives, and also in the block.

    Attributes:
        failure: the exception that ended the block, in a line; "" if none did. Everything up to there can be asked.
    """

    def __init__(self, recording: RecordingHere, frame: FrameType) -> None:
        self._recording, self._frame = recording, frame
        code = frame.f_code
        self._main, self._scope, self._line = code.co_filename, code.co_qualname, frame.f_lineno
        self._ended: RecordQuestions | None = None
        self.failure = ""

    def __reduce__(self) -> NoReturn:
        raise not_copied()

    def _end(self, error: BaseException | None, traceback: TracebackType | None) -> None:
        self._ended = self._questions_at(self._recording.end(self._frame, traceback))
        if self._recording.until is None:
            # Names that the block around this one binds later are none of its own.
            self._ended.named()
        self.failure = f"{type(error).__name__}: {error}" if error is not None else ""
        # It keeps all variables of the block alive.
        del self._frame

    # Questions ----------------------------------------------------------------------------------------------------

    @property
    def tensors(self) -> TracedTensors:
        """The tensors that your code gives a name: variables, parameters, and the variables of functions."""
        questions = self._questions()
        return TracedTensors([TracedTensor(item, questions) for item in questions.named()])

    def explain(self, tensor: str | torch.Tensor, *index: SupportsIndex) -> TracedNumber:
        """Explain how a number was computed.

        >>> trace.explain("context", 1, 0)
        >>> trace.explain("Attention.forward.scores", 0, 1, 2).operands[0].explain()

        Args:
            tensor: the name of a tensor, as `tensors` lists them, or the tensor itself.
            index: the index of the number; one that is negative counts from the end, as in Python.

        Raises:
            NoTensor: The trace knows no such tensor.
            NoCell: The tensor has no number at this index.
        """
        return self._tensor(tensor).explain(*index)

    def flow(self, *opened: str) -> TracedFlow:
        """Return which tensors were computed from which.

        >>> trace.flow()
        >>> trace.flow("context")

        Args:
            opened: the names of tensors that a function of yours has made: what it computed stands in their place.

        Raises:
            NoTensor: There is no such tensor that can be opened.
        """
        questions = self._questions()
        found, ids = questions.flow(), list[str]()
        for name in opened:
            closed = flow_text.closed(found)
            if name not in closed:
                raise NoTensor(flow_text.why_not_opened(found, name))
            ids.append(closed[name])
            found = questions.flow(tuple(ids))
        return TracedFlow(found)

    def first_nan(self) -> TracedNonfinite:
        """Find the first number that is NaN or infinite and that your code did not set so, also in a backward pass.

        >>> print(trace.first_nan())
        """
        questions = self._questions()
        return TracedNonfinite(questions.first_nonfinite(), questions)

    def compare(self, other: Trace, rtol: float | None = None, atol: float | None = None) -> TracedComparison:
        """Compare the results of your code with those of another trace, by value, to find the first that differs.

        >>> print(mine.compare(reference))

        Args:
            other: the other trace.
            rtol: the relative tolerance; without it, that of `torch.testing.assert_close` for the type of the numbers.
            atol: the absolute tolerance, likewise.
        """
        ours, theirs = self._questions().results(), other._questions().results()
        return TracedComparison(program_comparison.compare(ours, theirs, rtol, atol))

    @property
    def stopped(self) -> str:
        """Why recording stopped before the block ended; "" if it did not."""
        return self._recording.record.stopped

    @property
    def operations(self) -> int:
        """The number of operations that are recorded."""
        return sum(not event.view for event in self._recording.record.events if event.sites)

    def _tensor(self, tensor: str | torch.Tensor) -> TracedTensor:
        if isinstance(tensor, str):
            return self.tensors[tensor]
        questions = self._questions()
        region = questions.region_of(tensor)
        if region is None:
            raise NoTensor(say("not-seen", "The block had nothing to do with this tensor."))
        named = next((item for item in questions.named() if _is_same(item, region)), None)
        if named is None:
            named = NamedTensor("tensor", "tensor", "variable", "", "", None, region, questions.until, 1)
        return TracedTensor(named, questions)

    def _questions(self) -> RecordQuestions:
        if self._ended is not None:
            return self._ended
        with self._recording.aside():
            return self._questions_at(self._recording.note(self._frame))

    def _questions_at(self, until: int) -> RecordQuestions:
        recording = self._recording
        return RecordQuestions(
            *(recording.explainer, self._main, self._scope, until, recording.aside, recording.is_used),
            frozenset(recording.recorder.naming.present),
        )

    # Text ---------------------------------------------------------------------------------------------------------

    def _summary(self) -> str:
        file = self._recording.explainer.names.positions.file_of(self._main)
        count = self.operations
        lines = [
            say.count(
                "summary",
                count,
                "{count:,} operation recorded from {file}, line {line}",
                "{count:,} operations recorded from {file}, line {line}",
                file=file,
                line=self._line,
            )
        ]
        if self.failure:
            lines.append(say("failed", "The block ended with {failure}", failure=self.failure))
        if self.stopped:
            lines.append(say("stopped", "Recording had stopped before its end: {why}.", why=self.stopped))
        return "\n".join(lines)

    def __str__(self) -> str:
        return f"{self._summary()}\n{self.tensors}"

    def __repr__(self) -> str:
        return f"<trace: {self._summary().splitlines()[0]}>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    def _repr_html_(self) -> str:
        return html.page(*map(html.words, self._summary().splitlines()), self.tensors.html())


def _is_same(item: NamedTensor, region: Any) -> bool:
    own = item.region
    return (own.storage, own.offset, own.shape, own.stride) == (
        region.storage,
        region.offset,
        region.shape,
        region.stride,
    )


def _path(watched: Watched) -> Path:
    """Return the file or folder of what is to be watched. Raises `TraceError`."""
    if isinstance(watched, ModuleType):
        if not watched.__file__:
            raise TraceError(say("no-source", "{module} has no source that could be watched.", module=watched.__name__))
        file = Path(watched.__file__)
        return file.parent if file.stem == "__init__" else file
    path = Path(watched).resolve()
    if not path.exists():
        raise TraceError(say("no-path", "There is no file or folder {path}.", path=watched))
    return path


def _caller(frame: FrameType) -> FrameType:
    """Return the frame that a block is in, where something such as an `ExitStack` enters it."""
    found: FrameType | None = frame
    while found is not None and found.f_globals.get("__name__") == "contextlib":
        found = found.f_back
    return found or frame
