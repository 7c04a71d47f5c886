"""The parent's side of the worker: runs lessons, trains models and judges answers, all within deadlines.

All calls block, so a screen makes them from a thread; `cancel` may be called from any other thread.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

from attn_tutor.lessons.engine import children, judging, replies, training
from attn_tutor.lessons.engine.children import CodeRequest, CodeResult, run_in_child
from attn_tutor.lessons.engine.judging import Diagnosis, JudgeAnswer
from attn_tutor.lessons.engine.launching.launchers import (
    ChildProcess,
    ForkUnsafe,
    Launcher,
    SpareLauncher,
    closed,
    make_launcher,
    output,
)
from attn_tutor.lessons.engine.run import Run
from attn_tutor.lessons.engine.training import Control
from attn_tutor.lessons.format.lesson import ExerciseStep, FilledStep, Lesson, Limits
from attn_tutor.lessons.learner import trained_models
from attn_tutor.lessons.results.result import (
    AnswerComparison,
    Failure,
    Judgement,
    StepResult,
    Training,
    TrainingSnapshot,
    WorkerError,
)
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.what_if.changes import UNCHANGED, Changes, apply
from attn_tutor.lessons.worker import channel, wire
from attn_tutor.lessons.worker.messages import LessonDone, RunLesson, StepReport

say = Wording("engine/session")

QUESTION_CPU = 600.0
"""Processor seconds that a child may spend on questions about what it has run."""

Work = Callable[[ChildProcess, Callable[[], bool]], tuple[list[StepResult], bool]]
"""Work in a child; the function tells whether it was cancelled. Returns the results, and whether the child survived."""


class Session:
    """A worker, and the requests to it. Close it when done: this ends all of its processes."""

    def __init__(
        self, launcher: Launcher | None = None, *, nice: int = 0, kind: str = "", limited: bool = True
    ) -> None:
        """Initialize without starting anything; without `limited`, no limits hold for what the worker runs."""
        self.launcher = launcher or make_launcher(kind, nice, limited=limited)
        """The launcher of children; replaced by one of spare processes if forking turns out to be unsafe."""
        self._running: ChildProcess | None = None
        self._cancelled = threading.Event()
        self._closed = threading.Event()
        self._lock = threading.Lock()

    def start(self) -> None:
        """Begin to load PyTorch in the worker; returns at once."""
        self.launcher.start()

    @property
    def ready(self) -> bool:
        """Whether the worker has PyTorch loaded."""
        return self.launcher.ready

    def wait_ready(self) -> None:
        """Wait until the worker can run code. Raises `WorkerError`."""
        # Whoever closes the session may come before a thread that is to wait, and must not wait for it.
        self._refuse_if_closed()
        self.launcher.start()
        self._refuse_if_closed()
        self.launcher.wait_ready()
        self._refuse_if_closed()

    def cancel(self) -> None:
        """Stop the program that is running, if any."""
        self._cancelled.set()
        with self._lock:
            job = self._running
        if job is not None:
            job.end(ask_line=True)

    def interrupt(self) -> bool:
        """Interrupt the program that is running, as Ctrl+C would. Returns whether one is running."""
        job = self._running
        if job is not None:
            job.interrupt()
        return job is not None

    def close(self) -> None:
        """End the worker and all its children. Later requests raise `WorkerError`."""
        self._closed.set()
        self.cancel()
        self.launcher.close()

    # Running a lesson --------------------------------------------------------------------------------------------

    def run(self, lesson: Lesson, upto: str | None = None, changes: Changes = UNCHANGED) -> Run:
        """Run a lesson, with the learner's changes, from its setup through the step `upto` (default: all of it).

        A step that fails ends the run; its result has the failure, and later steps have no result. Raises
        `WorkerError` if the worker cannot run anything, `ChangeError` if the changes do not apply to the lesson.
        """
        cells = replies.cells_of(lesson, changes)
        lesson = apply(lesson, changes)
        last = len(lesson.steps) if upto is None else lesson.index(upto) + 1
        steps = [step for step in lesson.filled if lesson.index(step.id) < last]

        def work(job: ChildProcess, cancelled: Callable[[], bool]) -> tuple[list[StepResult], bool]:
            return _run_steps(lesson, steps, cells, job, cancelled, changed=bool(changes))

        return self.start_run(lesson.limits, work)

    def start_run(self, limits: Limits, work: Work) -> Run:
        """Start a child, have it do some work, which `cancel` can stop, and keep it for questions if it is still there.

        Raises `WorkerError` if the worker cannot run anything.
        """
        self._cancelled.clear()
        job = self._launch(limits, QUESTION_CPU)
        try:
            with self._current(job):
                results, survived = work(job, self._cancelled.is_set)
        except BaseException:
            job.close()
            raise
        if not survived:
            job.close()
            return Run(results, None)
        job.set_idle(True)
        return Run(results, job)

    def train(
        self,
        lesson: Lesson,
        step_id: str,
        on_snapshot: Callable[[TrainingSnapshot], None],
        control: Control | None = None,
        changes: Changes = UNCHANGED,
    ) -> Training:
        """Train the model of a step, with the learner's changes, in a child of its own, and save it.

        Calls `on_snapshot` from this thread with each snapshot as it arrives. A training that `control` or `cancel`
        stops saves nothing. Raises `WorkerError` if the worker cannot run anything, `ChangeError` if the changes do
        not apply to the lesson, `KeyError` for a step without a training.
        """
        return self.train_into(trained_models.own_folder(lesson), lesson, step_id, on_snapshot, control, changes)

    def train_into(
        self,
        folder: Path | None,
        lesson: Lesson,
        step_id: str,
        on_snapshot: Callable[[TrainingSnapshot], None],
        control: Control | None = None,
        changes: Changes = UNCHANGED,
    ) -> Training:
        """Train the model of a step as `train` does, but save it in `folder`; with None, the result has an error."""
        self._cancelled.clear()
        cells = replies.cells_of(lesson, changes)
        lesson = apply(lesson, changes)
        step = lesson.trainings[step_id]
        request = replies.training_request(lesson, step, cells, changed=bool(changes))
        with self._child(step.limits) as job:
            cancelled = self._cancelled.is_set
            ended, data = training.watch(job, lesson, step, request, on_snapshot, control or Control(), cancelled)
        if ended.stopped or ended.error:
            return ended
        try:
            trained_models.save(folder, lesson, step, cells, data)
        except OSError as error:
            problem = say("training-not-kept", "What was trained could not be kept: {reason}.", reason=error.strerror)
            return replace(ended, error=Failure("error", problem))
        return ended

    def run_code(self, run: Run, request: CodeRequest) -> tuple[CodeResult, bool] | None:
        """Run more code in the child of a run, which `cancel` can stop.

        Returns the result, and whether the child survived; None if the child was gone already.
        """
        self._cancelled.clear()

        def watched(job: ChildProcess) -> tuple[CodeResult, bool]:
            with self._current(job):
                return run_in_child(request, job, self._cancelled.is_set)

        return run.use(watched)

    def check(
        self,
        exercise: ExerciseStep,
        source: str,
        seed: int | None = None,
        rounds: int = judging.ROUNDS,
        *,
        diagnosis: Diagnosis = "line",
    ) -> Judgement:
        """Judge an answer on hidden inputs, made from `seed` or at random; see `lessons.engine.judging`.

        Raises `WorkerError` if judging fails through no fault of the answer.
        """
        self._cancelled.clear()
        return judging.check(exercise, source, self._child, self._cancelled.is_set, seed, rounds, diagnosis)

    def judge_on_same_inputs(
        self, exercise: ExerciseStep, seed: int, rounds: int = judging.ROUNDS
    ) -> AbstractContextManager[JudgeAnswer]:
        """Judge many answers to an exercise on the same hidden inputs; see `lessons.engine.judging`."""
        return judging.on_same_inputs(exercise, self._child, seed, rounds)

    def compare(self, exercise: ExerciseStep, source: str, seed: int | None = None) -> AnswerComparison:
        """Compare an answer with the model answer, one intermediate result at a time. Raises `WorkerError`."""
        self._cancelled.clear()
        return judging.compare(exercise, source, self._child, seed)

    def start_child(self, limits: Limits) -> AbstractContextManager[ChildProcess]:
        """Start a child that takes any one job, which `cancel` can stop; leaving the context ends it."""
        self._cancelled.clear()
        return self._child(limits)

    def _launch(self, limits: Limits, question_cpu: float = 0) -> ChildProcess:
        self._refuse_if_closed()
        try:
            job = self.launcher.launch(limits, question_cpu)
        except ForkUnsafe:
            self.launcher.close()
            self.launcher = SpareLauncher(limited=self.launcher.limited)
            job = self.launcher.launch(limits, question_cpu)
        try:
            self._refuse_if_closed()
        except WorkerError:
            job.close()
            raise
        return job

    def _refuse_if_closed(self) -> None:
        """Raise `WorkerError` if the session is closed: what still waited must not restart the worker."""
        if self._closed.is_set():
            self.launcher.close()
            raise closed()

    @contextlib.contextmanager
    def _current(self, job: ChildProcess) -> Iterator[None]:
        """Make a child the one that `cancel` ends, and end it at once if `cancel` has already been called."""
        with self._lock:
            outer, self._running = self._running, job
        if self._cancelled.is_set():
            job.end()
        try:
            yield
        finally:
            with self._lock:
                self._running = outer

    @contextlib.contextmanager
    def _child(self, limits: Limits) -> Iterator[ChildProcess]:
        """Start a child for one purpose, and end it afterwards."""
        job = self._launch(limits)
        try:
            with self._current(job):
                yield job
        finally:
            job.close()


def _run_steps(
    lesson: Lesson,
    steps: list[FilledStep],
    cells: list[dict[str, Any]],
    job: ChildProcess,
    cancelled: Callable[[], bool],
    *,
    changed: bool,
) -> tuple[list[StepResult], bool]:
    """Send the job and collect the results of its steps. Returns them, and whether the child completed it."""
    results: list[StepResult] = []
    deadline = time.monotonic() + lesson.limits.wall
    printed = 0
    try:
        program, trained, blob = replies.program_of(lesson, steps, cells, changed=changed)
        channel.send(job.talk, RunLesson(program, blob))
        while True:
            report = channel.receive(job.talk, StepReport, LessonDone, deadline=deadline)
            if isinstance(report, LessonDone):
                if len(results) < len(steps) and not any(result.error for result in results):
                    raise wire.WireError("a lesson that is done before its steps")
                return results, True
            if len(results) == len(steps):
                raise wire.WireError("a step more than there are")
            result = replies.step_result(lesson, steps[len(results)], report, job)
            results.append(replace(result, trained=trained[result.id].origin) if result.id in trained else result)
            printed = report.stdout[1]
    except TimeoutError:
        failure = children.timeout_failure(job, lesson.limits.wall)
    except wire.WireError as error:
        # A child that sends something unreadable is ended.
        failure = children.exit_failure(job, error, lesson.limits, cancelled())
    if len(results) < len(steps):
        results.append(StepResult(steps[len(results)].id, stdout=output(job.out, printed), error=failure))
    return results, False
