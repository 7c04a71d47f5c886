"""Conversion between the lesson's data and messages to the worker, and between its replies and results."""

from __future__ import annotations

import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any, TypeVar, cast

from attn_tutor.lessons.engine.launching.launchers import ChildProcess, output
from attn_tutor.lessons.format import axis_labels
from attn_tutor.lessons.format.axis_labels import NamesAndLabels
from attn_tutor.lessons.format.lesson import FilledStep, Lesson, ShownTensor, TrainStep
from attn_tutor.lessons.learner import trained_models
from attn_tutor.lessons.learner.trained_models import TrainedModel
from attn_tutor.lessons.results import line_shapes
from attn_tutor.lessons.results.clean_text import clean
from attn_tutor.lessons.results.code_unit import PROGRAM, CodeUnit
from attn_tutor.lessons.results.explanation import Explanation
from attn_tutor.lessons.results.flow import Flow
from attn_tutor.lessons.results.result import (
    LONGEST_AXIS,
    WHOLE,
    StepResult,
    Tensor,
    TrainingSnapshot,
    Window,
)
from attn_tutor.lessons.results.summaries import LARGEST_WINDOW, Blocks, RowStats
from attn_tutor.lessons.results.tensor_questions import (
    BlocksQuestion,
    BoxQuestion,
    ExplainQuestion,
    FlowQuestion,
    FollowQuestion,
    Refusal,
    RowQuestion,
    ShowQuestion,
    TensorQuestion,
    WindowQuestion,
)
from attn_tutor.lessons.what_if.changes import Changes, statements_before_cells
from attn_tutor.lessons.worker import wire
from attn_tutor.lessons.worker.message_parts import CellWrite, LessonCode, NamedExpression, StepRequest, TensorReport
from attn_tutor.lessons.worker.messages import (
    BlocksReport,
    ExplanationReport,
    ShowReport,
    Snapshot,
    StepReport,
    Train,
    TrainingRequest,
    WindowReport,
)

T = TypeVar("T")


def step_request(lesson: Lesson, step: FilledStep) -> StepRequest:
    """Return the request to run a step."""
    return StepRequest(step.id, step.run_code, lesson.seed_of(step), _expressions(step.tensors), step.fields)


def _expressions(shown: Iterable[ShownTensor]) -> tuple[NamedExpression, ...]:
    return tuple(NamedExpression(tensor.name, tensor.expression) for tensor in shown)


def program_of(
    lesson: Lesson, steps: Sequence[FilledStep], cells: list[dict[str, Any]], *, changed: bool
) -> tuple[LessonCode, dict[str, TrainedModel], bytes]:
    """Return the program of the setup and these steps, the trained models found for them, and the blob of their files.

    The models are keyed by the id of their step.
    """
    blob = bytearray()
    requests: list[StepRequest] = []
    found: dict[str, TrainedModel] = {}
    trainings = lesson.trainings
    for step in steps:
        request = step_request(lesson, step)
        if (training := trainings.get(step.id)) is not None:
            model = found[step.id] = trained_models.find(lesson, training, cells)
            if model.origin == "missing":
                request = replace(request, untrained=trained_models.untrained_message(training, changed=changed))
            else:
                request = replace(request, trained=(len(blob), len(blob) + len(model.data)))
                blob += model.data
        requests.append(request)
    return LessonCode(lesson.seed, lesson.setup, tuple(map(_cell_write, cells)), tuple(requests)), found, bytes(blob)


def _cell_write(cell: dict[str, Any]) -> CellWrite:
    unit = CodeUnit.parse(cell["part"])
    return CellWrite(cell["name"], tuple(cell["index"]), cell["value"], unit, cell["line"], cell["column"])


def training_request(lesson: Lesson, step: TrainStep, cells: list[dict[str, Any]], *, changed: bool) -> Train:
    """Return the message that starts the training of a step."""
    program, _, blob = program_of(lesson, lesson.running_before(step.id), cells, changed=changed)
    training = TrainingRequest(
        id=step.id,
        code=step.training,
        seed=lesson.seed_of(step),
        curves=tuple(NamedExpression(name, expression) for name, expression in step.measured),
        watch=_expressions(step.watch),
        keep=step.keep,
    )
    return Train(program, training, blob)


def snapshot_of(lesson: Lesson, step: TrainStep, report: Snapshot) -> TrainingSnapshot:
    """Return a snapshot of a training from the worker's report. Raises `WireError` for one of another training."""
    names = [name for name, _ in step.measured]
    if not report.numbers.keys() >= set(names) or len(report.tensors) != len(step.watch):
        raise wire.WireError("a snapshot of another training")
    tensors = tuple(
        tensor_of(lesson, spec, tensor, report.blob) for spec, tensor in zip(step.watch, report.tensors, strict=True)
    )
    return TrainingSnapshot(report.done, report.total, {name: report.numbers[name] for name in names}, tensors)


def cells_of(lesson: Lesson, changes: Changes) -> list[dict[str, Any]]:
    """List the changed cells, each with the statement after which it is written. Raises `ChangeError`."""
    return [
        {"index": list(cell.index), "value": cell.value, **asdict(position), "name": position.variable or cell.name}
        for cell, position in statements_before_cells(lesson, changes)
    ]


def cell_writes(lesson: Lesson, changes: Changes) -> tuple[CellWrite, ...]:
    """Return the changed cells of a program of one's own, which runs as one piece of code. Raises `ChangeError`."""
    return tuple(_cell_write({**cell, "part": str(PROGRAM)}) for cell in cells_of(lesson, changes))


def step_result(lesson: Lesson, step: FilledStep, report: StepReport, job: ChildProcess) -> StepResult:
    """Return the result of a step from the worker's report. Raises `WireError` for the report of another step."""
    shown = step.tensors
    if report.id != step.id or len(report.tensors) > len(shown):
        raise wire.WireError("the report of another step")
    return StepResult(
        id=step.id,
        stdout=output(job.out, *report.stdout),
        error=report.error,
        tensors=with_letters(
            tensor_of(lesson, spec, tensor, report.blob, report.text)
            for spec, tensor in zip(shown, report.tensors, strict=False)
        ),
        text=report.text,
        seconds=report.seconds,
        notes=report.notes,
        shapes=line_shapes.of_worker(report.shapes, partial(axis_labels.axes_of, lesson, step.id)),
    )


def tensor_of(
    lesson: Lesson,
    shown: ShownTensor,
    report: TensorReport,
    blob: bytes,
    filled: Mapping[str, str] = axis_labels.NOTHING,
) -> Tensor:
    """Return a tensor from the worker's report and its blob; `filled` is what the run has filled in."""
    return _tensor(shown, report, blob, axis_labels.names_and_labels(lesson, shown, report.shape, filled))


def _tensor(shown: ShownTensor, report: TensorReport, blob: bytes, names_and_labels: NamesAndLabels) -> Tensor:
    shape, bounds = report.shape, (report.low, report.high)
    numbers = _cast(report.code, blob[report.offset : report.offset + report.size])
    window = None if report.whole else Window((0,) * max(0, len(shape) - 2), 0, 0, _rows(numbers, report.rows))
    values = tuple(numbers) if report.whole else None
    return Tensor.of(shown, report.dtype, shape, names_and_labels, bounds, values, window, report.layout)


def corner_of(name: str, report: TensorReport, blob: bytes) -> Tensor:
    """Return a tensor of any size of which only what was sent can be seen, with labels for its corner alone."""
    seen = tuple(min(size, WHOLE) for size in report.shape)
    plain = ShownTensor(name="_", kind="mask" if report.dtype == "bool" else "vector")
    tensor = _tensor(plain, replace(report, shape=seen), blob, axis_labels.numbered(seen))
    return replace(tensor, name=clean(name, keep=""), shape=report.shape)


def with_letters(tensors: Iterable[Tensor]) -> tuple[Tensor, ...]:
    """Name the storages of a step's tensors A, B, ... in place of their addresses."""
    letters: dict[str, str] = {}
    named: list[Tensor] = []
    for tensor in tensors:
        if tensor.layout is not None:
            letter = letters.setdefault(tensor.layout.storage, chr(ord("A") + len(letters)))
            tensor = replace(tensor, layout=replace(tensor.layout, storage=letter))
        named.append(tensor)
    return tuple(named)


def result_of(question: TensorQuestion[T], reply: object) -> T | Refusal:
    """Return the reply to a question about a tensor as plain data. Raises `WireError` for one to another question."""
    if isinstance(reply, Refusal):
        return reply
    return cast(T, _READERS[type(question)](question, reply))


def _window(question: WindowQuestion, report: WindowReport) -> Window:
    rows = _rows(_cast(report.code, report.blob), report.rows)
    size = len(rows), len(rows[0]) if rows else 0
    height, width = min(question.height, LARGEST_WINDOW), min(question.width, LARGEST_WINDOW)
    if question.matrix is not None:
        # A window that reaches beyond the last row or column has what is there.
        height, width = (
            max(0, min(length, most - start))
            for length, most, start in zip((height, width), question.matrix, (question.top, question.left), strict=True)
        )
    if size[0] > height or size[1] > width or (question.matrix is not None and height and size != (height, width)):
        raise wire.WireError("a window of another size")
    return Window(question.lead, question.top, question.left, rows)


def _blocks(question: BlocksQuestion, report: BlocksReport) -> Blocks:
    half, down, width = len(report.blob) // 2, report.rows, report.width
    cells = array.array("q", report.blob[half:])
    across = len(cells) // down if down else 0
    height = down * question.rows
    if question.matrix is not None:
        height, cols = question.matrix
        if (width, down, across) != (cols, -(-height // question.rows), -(-cols // question.cols)):
            raise wire.WireError("blocks of another matrix")
    peaks = tuple(
        tuple(divmod(cell, width) for cell in cells[row * across : (row + 1) * across]) for row in range(down)
    )
    for row, strip in enumerate(peaks):
        for col, (peak_row, peak_col) in enumerate(strip):
            if peak_row >= height or (peak_row // question.rows, peak_col // question.cols) != (row, col):
                raise wire.WireError("the greatest cell of another block")
    return Blocks(
        *(question.lead, question.rows, question.cols, question.how),
        _rows(_cast("d", report.blob[:half]), down),
        peaks,
    )


def _row(question: RowQuestion, stats: RowStats) -> RowStats:
    cols = LONGEST_AXIS if question.matrix is None else question.matrix[1]
    is_other = (stats.lead, stats.row) != (question.lead, question.row) or len(stats.top) > question.top
    if is_other or stats.support > cols or any(col >= cols for col, _ in stats.top):
        raise wire.WireError("the values of another row")
    return stats


def _explanation(question: ExplainQuestion | FollowQuestion, report: ExplanationReport) -> Explanation:
    return cast(Explanation, report.explanation)


def _flow(question: FlowQuestion, flow: Flow) -> Flow:
    return flow


def _show(question: BoxQuestion | ShowQuestion, report: ShowReport) -> Tensor:
    tensor = report.tensor
    plain = ShownTensor(name=clean(tensor.name, keep="") or "_", kind="mask" if tensor.dtype == "bool" else "vector")
    return _tensor(plain, tensor, report.blob, axis_labels.numbered(tensor.shape))


_READERS: dict[type[Any], Callable[[Any, Any], object]] = {
    WindowQuestion: _window,
    BlocksQuestion: _blocks,
    RowQuestion: _row,
    ExplainQuestion: _explanation,
    FollowQuestion: _explanation,
    FlowQuestion: _flow,
    BoxQuestion: _show,
    ShowQuestion: _show,
}


def _cast(code: str, data: bytes) -> list[float]:
    return [*array.array(code, data)]


def _rows(numbers: list[float], rows: int) -> tuple[tuple[float, ...], ...]:
    width = len(numbers) // rows if rows else 0
    return tuple(tuple(numbers[row * width : (row + 1) * width]) for row in range(rows))
