"""The door for Python: records what a block of code computes, and answers questions about it.

The answers are about its tensors (`tensors`), its flow, the first number of it that is not finite, and what
differs in another trace.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType, ModuleType, TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, SupportsIndex

from attn_tutor.lessons.programs.record.errors import Incomplete, NoTensor, TraceError
from attn_tutor.lessons.programs.record.harmless_text import harmless
from attn_tutor.lessons.programs.record.questions import RecordQuestions, not_copied
from attn_tutor.lessons.programs.record.recording import RecordingHere
from attn_tutor.lessons.programs.record.tensors import TracedNumber, TracedTensor, TracedTensors
from attn_tutor.lessons.programs.render import comparison_text, nonfinite_text
from attn_tutor.lessons.programs.results.comparison import Agreement, ComparedResult, RunComparison, RunDifference
from attn_tutor.lessons.programs.results.nonfinite import NonfiniteOrigin, NonfiniteReport
from attn_tutor.lessons.programs.worker.diff import comparison
from attn_tutor.lessons.programs.worker.named_report import unlisted_kinds
from attn_tutor.lessons.programs.worker.named_tensors import NamedTensor
from attn_tutor.lessons.render import explanation_text, flow_text
from attn_tutor.lessons.render import html_pieces as html
from attn_tutor.lessons.render.numbers import readable
from attn_tutor.lessons.render.source_text import source
from attn_tutor.lessons.results.explanation_tree import Node
from attn_tutor.lessons.results.flow import Flow, FlowBox
from attn_tutor.lessons.texts.wording import Wording
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
        tensors = [TracedTensor(item, questions) for item in questions.named()]
        return TracedTensors(tensors, unlisted_kinds(self._recording.record))

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
        return TracedComparison(comparison.compare(ours, theirs, rtol, atol))

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


FLOW_WIDTH = 100


@harmless
@dataclass(frozen=True, slots=True, repr=False)
class TracedFlow:
    """The tensors of a trace in the order of computation, and which of them were computed from which.

    Attributes:
        flow: the boxes and the arrows between them, as plain data.
    """

    flow: Flow

    @property
    def boxes(self) -> tuple[FlowBox, ...]:
        """The boxes: tensors, each with the code that computed it."""
        return self.flow.boxes

    @property
    def arrows(self) -> tuple[tuple[str, str], ...]:
        """The arrows as pairs of names: the second was computed from the first."""
        names = flow_text.numbered(self.flow)
        return tuple((names[arrow.source], names[arrow.target]) for arrow in self.flow.arrows)

    def dot(self) -> str:
        """Return the flow in the language of Graphviz."""
        return "\n".join(flow_text.as_dot(self.flow))

    def __str__(self) -> str:
        return "\n".join(flow_text.lines(self.flow, FLOW_WIDTH))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {', '.join(flow_text.numbered(self.flow).values())}>"

    def _repr_html_(self) -> str:
        return html.page(html.flow(self.flow))


@harmless
@dataclass(frozen=True, slots=True, repr=False)
class TracedNonfinite:
    """What a search for numbers that are not finite has found; false if all numbers are finite.

    Where none was found, but not all were looked at, it is neither true nor false: `bool` raises `Incomplete`.

    >>> if found := trace.first_nan():
    ...     print(found.first.code, *found.cures)

    Attributes:
        report: all that was found, as plain data.
    """

    report: NonfiniteReport
    _questions: RecordQuestions

    def __bool__(self) -> bool:
        if (is_finite := self.report.is_finite) is None:
            raise Incomplete(nonfinite_text.looked_at(self.report))
        return not is_finite

    @property
    def first(self) -> TracedNumber | None:
        """The first number that is not finite, with its explanation; None if none was found."""
        origin = self.report.first
        return TracedNumber(origin.first, self._questions) if origin is not None else None

    @property
    def reason(self) -> str:
        """The reason as a sentence; "" if there is none."""
        return self.report.first.reason if self.report.first is not None else ""

    @property
    def cures(self) -> tuple[str, ...]:
        """What helps, a sentence each."""
        return self.report.first.cures if self.report.first is not None else ()

    def __str__(self) -> str:
        return "\n".join(nonfinite_text.lines(self.report))

    def __repr__(self) -> str:
        found = self.report.first.first if self.report.first is not None else None
        if found is None:
            said = (
                say("none", "all numbers are finite")
                if self.report.is_finite
                else nonfinite_text.looked_at(self.report)
            )
            return f"<{type(self).__name__}: {said}>"
        at = ": ".join(filter(None, (explanation_text.where(found), found.code)))
        value = readable(found.value, found.dtype)
        return f"<{type(self).__name__}: {found.label} = {value}{f' ({at})' if at else ''}>"

    def _repr_html_(self) -> str:
        if self.report.first is None:
            return html.page(*map(html.words, nonfinite_text.lines(self.report, width=1000)))
        origins = self.report.origins
        return html.page(*(_origin(origin, origins[0] if count else None) for count, origin in enumerate(origins)))


def _origin(origin: NonfiniteOrigin, earlier: NonfiniteOrigin | None) -> str:
    first = Node(origin.first, [Node(item) for item in origin.operands] or None)
    later = "".join(html.line(html.code(item.label), html.code(item.code)) for item in origin.chain[1:])
    return "".join(
        (
            html.words(nonfinite_text.headline(origin, earlier)),
            html.number(first),
            html.opened(html.facts(say("from-there", "From there it went on")), later) if later else "",
            *map(html.words, (*origin.afterwards, *origin.cures)),
        )
    )


@harmless
@dataclass(frozen=True, slots=True, repr=False)
class TracedComparison:
    """Two traces compared by the values of their results, whatever these are called; true if they agree.

    Where no difference was found, but not everything was compared, it is neither true nor false: `bool` raises
    `Incomplete`.

    Attributes:
        comparison: what both have, and the first difference, as plain data.
    """

    comparison: RunComparison

    @property
    def agreed(self) -> tuple[Agreement, ...]:
        """The results that both have, in the order of this trace: `one` is of this trace, `other` of the other one."""
        return self.comparison.agreed

    @property
    def first(self) -> RunDifference | None:
        """The first result that one of the traces lacks, beside the one in its place; None if none was found."""
        return self.comparison.difference

    def __bool__(self) -> bool:
        if (agree := self.comparison.agree) is None:
            raise Incomplete(comparison_text.summary(self.comparison, _compared_names(), traces=True))
        return agree

    def __str__(self) -> str:
        return "\n".join(comparison_text.lines(self.comparison, _compared_names(), traces=True))

    def __repr__(self) -> str:
        summary = comparison_text.summary(self.comparison, _compared_names(), traces=True)
        first = self.first.one or self.first.other if self.first is not None else None
        at = say("first", "The first difference: {code}", code=_where_compared(first)) if first is not None else ""
        return f"<{type(self).__name__}: {' '.join(filter(None, (summary, at)))}>"

    def _repr_html_(self) -> str:
        return html.page(html.lines(str(self)))


def _where_compared(result: ComparedResult) -> str:
    at = source(result.file, result.line)
    return f"{result.code} ({at})" if at else result.code


def _compared_names() -> tuple[str, str]:
    return say("this", "this trace"), say("other", "the other trace")
