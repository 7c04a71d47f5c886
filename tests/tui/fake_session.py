"""A session without a worker, which replies at once with recorded results, or when a test lets it."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

from attn_tutor.lessons.engine.children import CodeRequest, CodeResult, Names
from attn_tutor.lessons.engine.judging import Diagnosis
from attn_tutor.lessons.engine.run import Run
from attn_tutor.lessons.engine.scratch_run import STEP
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.engine.training import Control
from attn_tutor.lessons.format.lesson import ExerciseStep, Lesson
from attn_tutor.lessons.reading import recorded_outputs
from attn_tutor.lessons.results import formula as f
from attn_tutor.lessons.results.explanation import Explanation
from attn_tutor.lessons.results.flow import Flow, FlowArrow, FlowBox, OpenBox
from attn_tutor.lessons.results.result import (
    AnswerComparison,
    CheckResult,
    Failure,
    Intermediate,
    Judgement,
    StepResult,
    Tensor,
    Training,
    TrainingSnapshot,
    Window,
    WorkerError,
)
from attn_tutor.lessons.results.summaries import Blocks, row_stats
from attn_tutor.lessons.results.tensor_questions import (
    BlocksQuestion,
    BoxQuestion,
    ExplainQuestion,
    FlowQuestion,
    FollowQuestion,
    Refusal,
    RowQuestion,
    TensorQuestion,
    WindowQuestion,
)
from attn_tutor.lessons.what_if.changes import UNCHANGED, Changes, describe
from attn_tutor.lessons.worker.messages import RunScratch
from tests.tui.explanations import explanation, leaf, operand

PATIENCE = 60.0
"""Seconds until a thread that nobody woke gives up, so that a test fails instead of hanging."""

SCRATCH_TENSOR = Tensor("made", "vector", "float32", (2,), ("index",), (("0", "1"),), 1.0, 2.0, (1.0, 2.0))
"""The result of a scratch run, unless a test sets a different one."""


class FakeRun(Run):
    """A run with given results, in whose windows each number is row + column / 1000.

    A cell is explained as the sum of the first two cells of its row, on line 1 of the step; these are literals in the
    setup.
    """

    def __init__(self, steps: list[StepResult]) -> None:
        super().__init__(steps, None)
        self.closed = threading.Event()
        self.asked: list[tuple[tuple[int, ...], int, int, int, int]] = []
        self.explained: list[tuple[str, str, tuple[int, ...]]] = []

    def ask(self, question: TensorQuestion[Any]) -> Any:
        assert question.unit is not None
        # The tensor of a box belongs to the step whose flow it is in.
        unit = question.unit.of or str(question.unit)
        match question:
            case WindowQuestion(_, lead, top, left, height, width):
                self.asked.append((lead, top, left, height, width))
                cols = range(left, left + width)
                rows = tuple(tuple(row + col / 1000 for col in cols) for row in range(top, top + height))
                return Window(lead, top, left, rows)
            case BlocksQuestion():
                return self._blocks(question)
            case RowQuestion(_, lead, row, top):
                return row_stats(lead, row, [row + col / 1000 for col in range(8)], top)
            case ExplainQuestion(name, index):
                return None if self.closed.is_set() else self._explain(unit, name, index)
            case FlowQuestion(opened, references):
                return self._flow(unit, opened, references)
            case BoxQuestion(box):
                step_id = unit if box != "start" else self.steps[0].id
                return next(step.tensors[0] for step in self.steps if step.id == step_id and step.tensors)
            case FollowQuestion(ref):
                return self._follow(ref) if self.explained else Refusal("no such cell")

    def _blocks(self, question: BlocksQuestion) -> Blocks:
        rows, cols = question.rows, question.cols
        shape = next(tensor.shape for step in self.steps for tensor in step.tensors if tensor.name == question.name)
        ends = [
            [(min(row + rows, shape[-2]) - 1, min(col + cols, shape[-1]) - 1) for col in range(0, shape[-1], cols)]
            for row in range(0, shape[-2], rows)
        ]
        grid = tuple(tuple(row + col / 1000 for row, col in line) for line in ends)
        return Blocks(question.lead, rows, cols, question.how, grid, tuple(map(tuple, ends)))

    def _flow(self, unit: str, opened: tuple[str, ...], references: tuple[int, ...]) -> Flow:
        """Return a start that leads to the tensors of a step, by way of a function that can be opened."""
        shown = next(step.tensors for step in self.steps if step.id == unit)
        inside = "function" in opened
        middle = [FlowBox("inner", "inner", shape=(2,), parent="function")] if inside else []
        function = FlowBox("function", "function", opens=True)
        boxes = [
            FlowBox("start", "start", shape=(2,)),
            *(middle or [function]),
            *(FlowBox(tensor.name, tensor.name, shape=tensor.shape, shown=(tensor.name,)) for tensor in shown),
        ]
        return Flow(
            tuple(boxes),
            tuple(FlowArrow(one.id, other.id) for one, other in pairwise(boxes)),
            (OpenBox("function", "function"),) if inside else (),
            ("start",) if references else (),
        )

    def names(self) -> Names:
        return (("x", "(2)"),)

    @property
    def alive(self) -> bool:
        return not self.closed.is_set()

    def _explain(self, step_id: str, name: str, index: tuple[int, ...]) -> Explanation:
        self.explained.append((step_id, name, index))
        value = self._value(step_id, name, index)
        cells = [(*index[:-1], col) for col in range(2)]
        operands = [operand(name, cell, self._value(step_id, name, cell), ref=ref) for ref, cell in enumerate(cells)]
        total = f.add(f.OperandRef(0), f.OperandRef(1))
        return explanation(
            name, index, value, total, operands, op="add", file=step_id, line=1, code="a + b", lit={name: tuple(cells)}
        )

    def _follow(self, ref: int) -> Explanation:
        step_id, name, index = self.explained[-1]
        cell = (*index[:-1], ref)
        return leaf(name, cell, self._value(step_id, name, cell), file="setup", line=3, notes=("Written in the code.",))

    def _value(self, step_id: str, name: str, index: tuple[int, ...]) -> float:
        [tensor] = [each for step in self.steps if step.id == step_id for each in step.tensors if each.name == name]
        row = tensor.row(index[:-2], index[-2] if len(index) > 1 else 0, index[-1], index[-1] + 1)
        assert row is not None
        return row[0]

    def close(self) -> None:
        self.closed.set()


def changed(result: StepResult, changes: Changes) -> StepResult:
    """Return a result after changes: the first number of each matrix grows by one, and cells have their new values."""

    def changed_tensor(tensor: Tensor) -> Tensor:
        if not tensor.values:
            return tensor
        values = [tensor.values[0] + 1, *tensor.values[1:]]
        for cell in changes.cells:
            if cell.name == tensor.name and len(cell.index) == 2:
                values[cell.index[0] * tensor.shape[1] + cell.index[1]] = float(cell.value)
        return replace(tensor, values=tuple(values))

    return replace(result, tensors=tuple(map(changed_tensor, result.tensors)))


def _changes_suffix(lesson: Lesson, changes: Changes) -> str:
    descriptions = describe(lesson, changes)
    return f" with {', '.join(descriptions)}" if descriptions else ""


class FakeSession(Session):
    """A session without a worker, controlled by a test.

    Attributes:
        asked: a line for each request.
        loaded: set when PyTorch is "loaded"; until then everything waits.
        held: while it is clear, runs and checks wait until they are cancelled.
        problem: why nothing can be run, or "".
        printed: the output of a step, by its id.
        wrong_judgement: the judgement of each answer that is not the solution; by default its checks fail.
        scratch_result: the result of a scratch run; by default one tensor, `made`.
        runs: all runs that were returned.
        events: the next events of a training: a snapshot, a failure, its end (None).
        controls: the controls of all trainings.
    """

    def __init__(self, *, loaded: bool = True, problem: str = "") -> None:
        self.loaded, self.held, self.stopped = threading.Event(), threading.Event(), threading.Event()
        if loaded:
            self.loaded.set()
        self.held.set()
        self.problem = problem
        self.printed: dict[str, str] = {}
        self.wrong_judgement: Judgement | None = None
        self.scratch_result: StepResult | None = None
        self.asked: list[str] = []
        self.runs: list[FakeRun] = []
        self.events: queue.Queue[TrainingSnapshot | Failure | None] = queue.Queue()
        self.controls: list[Control] = []
        self.cancelled = 0
        self.closed = False

    @property
    def ready(self) -> bool:
        return self.loaded.is_set() and not self.problem

    def start(self) -> None:
        pass

    def wait_ready(self) -> None:
        assert self.loaded.wait(PATIENCE)
        if self.problem or self.closed:
            raise WorkerError(self.problem or "The tutor is closing.")

    def cancel(self) -> None:
        self.cancelled += 1
        self.stopped.set()

    def close(self) -> None:
        self.closed = True
        self.cancel()
        self.loaded.set()

    def run(self, lesson: Lesson, upto: str | None = None, changes: Changes = UNCHANGED) -> Run:
        finished = self._work(f"run {lesson.id}/{upto}{_changes_suffix(lesson, changes)}")
        last = len(lesson.steps) if upto is None else lesson.index(upto) + 1
        recorded = recorded_outputs.load(lesson)
        ids = [step.id for step in lesson.steps[:last] if step.kind != "exercise"]
        results = [recorded.get(step_id, StepResult(step_id)) for step_id in ids]
        results = [changed(result, changes) for result in results] if changes else results
        run = FakeRun(
            [replace(result, seconds=0.002, stdout=self.printed.get(result.id, result.stdout)) for result in results]
        )
        if not finished:
            run.steps[-1] = replace(run.steps[-1], error=Failure("stopped", "Stopped by you."))
            run.close()
        self.runs.append(run)
        return run

    def train(
        self,
        lesson: Lesson,
        step_id: str,
        on_snapshot: Callable[[TrainingSnapshot], None],
        control: Control | None = None,
        changes: Changes = UNCHANGED,
    ) -> Training:
        control = control or Control()
        self.controls.append(control)
        suffix = _changes_suffix(lesson, changes)
        snapshots: list[TrainingSnapshot] = []
        finished = self._work(f"train {lesson.id}/{step_id}{suffix}")
        end = time.monotonic() + PATIENCE
        while finished and not (self.stopped.is_set() or control.stopped):
            assert time.monotonic() < end, "nobody ended the training"
            if control.paused:
                self.stopped.wait(0.005)
                continue
            try:
                event = self.events.get(timeout=0.005)
            except queue.Empty:
                continue
            if not isinstance(event, TrainingSnapshot):
                return Training(tuple(snapshots), event, seconds=2.0)
            snapshots.append(event)
            on_snapshot(event)
            end = time.monotonic() + PATIENCE
        return Training(tuple(snapshots), stopped=True)

    def run_code(self, run: Run, request: CodeRequest) -> Any:
        """Run an input, which prints itself (`die` ends its child), or a scratch run."""
        assert isinstance(run, FakeRun)
        message = request.message
        if isinstance(message, RunScratch):
            return self._scratch_run(run)
        unit, code = str(message.unit), message.code
        if not self._work(f"enter {message.unit.number} {code}"):
            run.close()
            return CodeResult(unit, error=Failure("stopped", "Stopped by you.")), False
        if code == "die":
            run.close()
            return CodeResult(unit, error=Failure("crash", "It crashed.")), False
        return CodeResult(unit, stdout=f"{code}\n", names=(("x", "(2)"),)), True

    def _scratch_run(self, run: FakeRun) -> tuple[StepResult, bool]:
        if not self._work("scratch run"):
            run.close()
            return StepResult(STEP, error=Failure("stopped", "Stopped by you.")), False
        return self.scratch_result or StepResult(STEP, tensors=(SCRATCH_TENSOR,), seconds=0.002), True

    def check(
        self,
        exercise: ExerciseStep,
        source: str,
        seed: int | None = None,
        rounds: int = 2,
        *,
        diagnosis: Diagnosis = "line",
    ) -> Judgement:
        if not self._work(f"check {exercise.exercise}"):
            return Judgement(exercise.exercise, "error", "Stopped by you.", stopped=True)
        passed = source.strip() == exercise.solution.strip()
        if self.wrong_judgement is not None and not passed:
            return self.wrong_judgement
        checks = tuple(
            CheckResult(check.name, passed, "" if passed else "it is [b]not[/b] so") for check in exercise.checks
        )
        verdict, message = ("passed", "All checks pass.") if passed else ("failed", "Not so.")
        return Judgement(
            exercise.exercise,
            verdict,  # type: ignore[arg-type]
            message,
            checks=checks,
            stdout=self.printed.get(exercise.id, ""),
            seed=123,
        )

    def compare(self, exercise: ExerciseStep, source: str, seed: int | None = None) -> AnswerComparison:
        """Compare an answer that has `scores`, and `own` instead of the `weights` of the model answer."""
        if not self._work(f"compare {exercise.exercise}"):
            raise WorkerError("Stopped by you.")
        return AnswerComparison(
            (Intermediate("scores", 3, (6, 6), "s", 5), Intermediate("weights", 4, (6, 6))),
            (Intermediate("own", 6, (6, 2)),),
        )

    def _work(self, what: str) -> bool:
        """Record a request and wait while held; return whether it finished, rather than being cancelled."""
        self.stopped.clear()
        self.wait_ready()
        self.asked.append(what)
        end = time.monotonic() + PATIENCE
        while not self.stopped.is_set() and not self.held.wait(0.005):
            assert time.monotonic() < end
        return not self.stopped.is_set()
