"""The parent's side of the worker: run a lesson's steps, have an answer judged, within deadlines, whatever happens.

Everything here blocks, so a screen calls it from a thread; `cancel` may be called from any other thread.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from lessons.engine import child_failures, judging, replies, training
from lessons.engine.child_code import CodeRequest, run_in_child
from lessons.engine.judging import Diagnosis
from lessons.engine.launchers import ChildProcess, ForkUnsafe, Launcher, SpareLauncher, make_launcher, output
from lessons.engine.question_judging import judge
from lessons.engine.run import Run
from lessons.engine.training import Control
from lessons.format.lesson import ExerciseStep, FilledStep, Lesson, Limits, Question, TrainStep
from lessons.learner import trained_models
from lessons.results.result import (
    AnswerComparison,
    Failure,
    Judgement,
    StepResult,
    Training,
    TrainingSnapshot,
    WorkerError,
)
from lessons.what_if.changes import UNCHANGED, Changes, apply
from lessons.worker import channel
from lessons.worker.messages import LessonDone, RunLesson, StepReport

QUESTION_CPU = 600.0
"""Processor seconds that a child may spend on questions about what it has run."""

T = TypeVar("T")


class Session:
    """A worker and what is asked of it. Close it when done: nothing of it survives that."""

    def __init__(self, launcher: Launcher | None = None, *, nice: int = 0, kind: str = "") -> None:
        self.launcher = launcher or make_launcher(kind, nice)
        """Starts the children; replaced by one for spare processes where a fork turns out not to be safe."""
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
        self.launcher.wait_ready()

    def cancel(self) -> None:
        """Stop the program that is running now, if any."""
        self._cancelled.set()
        with self._lock:
            job = self._running
        if job is not None:
            job.end(ask_line=True)

    def close(self) -> None:
        """End the worker and all its children. What is asked of the session afterwards raises `WorkerError`."""
        self._closed.set()
        self.cancel()
        self.launcher.close()

    # Running a lesson --------------------------------------------------------------------------------------------

    def run(self, lesson: Lesson, upto: str | None = None, changes: Changes = UNCHANGED) -> Run:
        """Run the lesson, with the learner's changes, from its setup up to the step `upto` (default: all of it).

        A step that fails ends the run; its result says how, and later steps have none. Raises `WorkerError` if the
        worker cannot run anything at all, `ChangeError` if the lesson cannot be changed like that.
        """
        self._cancelled.clear()
        cells = replies.cells_of(lesson, changes)
        lesson = apply(lesson, changes)
        last = len(lesson.steps) if upto is None else lesson.index(upto) + 1
        steps: list[FilledStep] = [step for step in lesson.steps[:last] if isinstance(step, FilledStep)]
        results: list[StepResult] = []
        job = self._launch(lesson.limits, QUESTION_CPU)
        try:
            with self._current(job):
                came_to_end = self._run_steps(lesson, steps, cells, job, results, changed=bool(changes))
        except BaseException:
            job.close()
            raise
        if not came_to_end:
            job.close()
            return Run(results, None)
        job.set_idle(True)
        return Run(results, job)

    def _run_steps(
        self,
        lesson: Lesson,
        steps: list[FilledStep],
        cells: list[dict[str, Any]],
        job: ChildProcess,
        results: list[StepResult],
        *,
        changed: bool,
    ) -> bool:
        """Send the job and collect the results of its steps. Returns whether the child said that it was done."""
        deadline = time.monotonic() + lesson.limits.wall
        printed = 0
        try:
            program, trained, blob = replies.program_of(lesson, steps, cells, changed=changed)
            channel.send(job.talk, RunLesson(program, blob))
            while True:
                report = channel.receive(job.talk, StepReport, LessonDone, deadline=deadline)
                if isinstance(report, LessonDone):
                    return True
                result = replies.step_result(lesson, steps[len(results)], report, job)
                results.append(replace(result, trained=trained[result.id].origin) if result.id in trained else result)
                printed = report.stdout[1]
        except TimeoutError:
            failure = child_failures.timeout_failure(job, lesson.limits.wall)
        except Exception as error:
            # Whatever a child sends that cannot be read is its own end.
            failure = child_failures.exit_failure(job, error, lesson.limits, self._cancelled.is_set())
        if len(results) < len(steps):
            results.append(StepResult(steps[len(results)].id, stdout=output(job.out, printed), error=failure))
        return False

    def train(
        self,
        lesson: Lesson,
        step_id: str,
        on_snapshot: Callable[[TrainingSnapshot], None],
        control: Control | None = None,
        changes: Changes = UNCHANGED,
    ) -> Training:
        """Train what a step trains, with the learner's changes, in a child of its own, and keep it.

        Calls `on_snapshot` from this thread with every picture as it comes. `control` and `cancel` stop it, and then
        nothing is kept. Raises `WorkerError` if nothing can be run at all, `ChangeError` if the lesson cannot be
        changed like that, `KeyError` for a step that trains nothing.
        """
        return self.train_into(trained_models.own_folder(), lesson, step_id, on_snapshot, control, changes)

    def train_into(
        self,
        folder: Path | None,
        lesson: Lesson,
        step_id: str,
        on_snapshot: Callable[[TrainingSnapshot], None],
        control: Control | None = None,
        changes: Changes = UNCHANGED,
    ) -> Training:
        """The same as `train`, but what is kept lies in another folder."""
        self._cancelled.clear()
        cells = replies.cells_of(lesson, changes)
        lesson = apply(lesson, changes)
        step = lesson.step(step_id)
        if not isinstance(step, TrainStep):
            raise KeyError(step_id)
        request = replies.training_request(lesson, step, cells, changed=bool(changes))
        with self._child(step.limits) as job:
            cancelled = self._cancelled.is_set
            ended, data = training.watch(job, lesson, step, request, on_snapshot, control or Control(), cancelled)
        if ended.stopped or ended.error:
            return ended
        try:
            trained_models.save(folder, lesson, step, cells, data)
        except OSError as error:
            return replace(ended, error=Failure("error", f"What was trained could not be kept: {error.strerror}."))
        return ended

    def run_code(self, run: Run, request: CodeRequest[Any, T]) -> tuple[T, bool] | None:
        """Have the child of a run run more code, which `cancel` can stop.

        Returns what became of it, and whether the child survived it; None if it was gone before.
        """
        self._cancelled.clear()

        def watched(job: ChildProcess) -> tuple[T, bool]:
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
        """Judge an answer on hidden inputs, made from `seed` or by chance; see `lessons.engine.judging`.

        Raises `WorkerError` if it cannot be judged through no fault of the answer.
        """
        self._cancelled.clear()
        return judging.check(exercise, source, self._child, self._cancelled.is_set, seed, rounds, diagnosis)

    def ask(self, lesson: Lesson, question: Question, answer: str) -> Judgement:
        """Judge the answer to a question about a run of the lesson. Raises `WorkerError`."""
        run = self.run(lesson, question.id)
        run.close()
        return judge(question, run.result(question.id) or run.steps[-1], answer)

    def compare(self, exercise: ExerciseStep, source: str, seed: int | None = None) -> AnswerComparison:
        """An answer beside the model answer, result by result. Raises `WorkerError`."""
        self._cancelled.clear()
        return judging.compare(exercise, source, self._child, seed)

    def _launch(self, limits: Limits, question_cpu: float = 0) -> ChildProcess:
        if self._closed.is_set():
            # A request that was still waiting must not start the worker again.
            raise WorkerError("The worker has been closed.")
        try:
            job = self.launcher.launch(limits, question_cpu)
        except ForkUnsafe:
            self.launcher.close()
            self.launcher = SpareLauncher()
            job = self.launcher.launch(limits, question_cpu)
        if self._closed.is_set():
            job.close()
            self.launcher.close()
            raise WorkerError("The worker has been closed.")
        return job

    @contextlib.contextmanager
    def _current(self, job: ChildProcess) -> Iterator[None]:
        """Let `cancel` find the job; end it at once if that came before."""
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
        """A child for one purpose, ended afterwards."""
        job = self._launch(limits)
        try:
            with self._current(job):
                yield job
        finally:
            job.close()
