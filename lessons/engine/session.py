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

from lessons.engine import child_failures, judging, prompt, questions, replies, scratch_run, training
from lessons.engine.launchers import ChildProcess, ForkUnsafe, Launcher, SpareLauncher, make_launcher, output
from lessons.engine.prompt import Names
from lessons.engine.training import Control
from lessons.format.lesson import ExerciseStep, Lesson, Limits, Question, ReadStep, RunningStep, TrainStep
from lessons.learner import trained_models
from lessons.results.explanation import Explanation
from lessons.results.result import (
    AnswerComparison,
    Failure,
    Judgement,
    StepResult,
    Training,
    TrainingSnapshot,
    Window,
    WorkerError,
)
from lessons.results.summaries import Blocks, How, RowStats
from lessons.what_if.changes import UNCHANGED, Changes, apply
from lessons.worker import wire

ANSWER_LIMIT = 10.0

QUESTIONS = 600.0
"""Processor seconds that a child may spend on questions about what it has run."""

T = TypeVar("T")


class Run:
    """A lesson that has run up to a step: the results, and a child that still holds the tensors."""

    def __init__(self, steps: list[StepResult], job: ChildProcess | None) -> None:
        self.steps = steps
        self._job = job
        self._lock = threading.Lock()

    def result(self, step_id: str) -> StepResult | None:
        """What a step gave, None if the run did not come to it."""
        return next((step for step in self.steps if step.id == step_id), None)

    def window(
        self, step_id: str, name: str, lead: tuple[int, ...], top: int, left: int, height: int, width: int
    ) -> Window | None:
        """A rectangle of a shown tensor from the child; None if the child is gone or does not know it."""
        question = {"op": "window", "step": step_id, "name": name, "lead": list(lead)}
        place = {"top": top, "left": left, "height": height, "width": width}
        return self._ask(question | place, lambda reply: replies.window_of(reply, lead, top, left))

    def blocks(self, step_id: str, name: str, lead: tuple[int, ...], rows: int, cols: int, how: How) -> Blocks | None:
        """A shown matrix divided into blocks; None if the child is gone or does not know it."""
        question = {"op": "blocks", "step": step_id, "name": name, "lead": list(lead)}
        size = {"rows": rows, "cols": cols, "how": how}
        return self._ask(question | size, lambda reply: replies.blocks_in(reply, lead, rows, cols, how))

    def row(self, step_id: str, name: str, lead: tuple[int, ...], row: int, top: int) -> RowStats | None:
        """What a row of a shown matrix amounts to; None if the child is gone or does not know it."""
        question = {"op": "row", "step": step_id, "name": name, "lead": list(lead), "row": row, "top": top}
        return self._ask(question, lambda reply: replies.row_of(reply, lead, row))

    def explain(self, step_id: str, name: str, index: tuple[int, ...]) -> Explanation | str | None:
        """How a cell of a shown tensor was made.

        A sentence if it cannot be told, None if the child is gone.
        """
        question = {"op": "explain", "step": step_id, "name": name, "index": list(index)}
        return self._ask(question, replies.explanation_of)

    def follow(self, step_id: str, ref: int) -> Explanation | str | None:
        """How an operand of an earlier explanation was made; see `explain`."""
        return self._ask({"op": "explain", "step": step_id, "ref": ref}, replies.explanation_of)

    def names(self) -> Names:
        """The names that code can use where the run has come to, and what each stands for."""
        return self._ask({"op": "names"}, lambda reply: prompt.names_of(reply.header["names"])) or ()

    def use(self, ask: Callable[[ChildProcess], tuple[T, bool]]) -> tuple[T, bool] | None:
        """Have the child do more while nobody else asks it; None if it is gone. `ask` tells whether it survived."""
        with self._lock:
            if self._job is None:
                return None
            survived = False
            try:
                answer = ask(self._job)
                survived = answer[1]
                return answer
            finally:
                if not survived:
                    self._end()

    @property
    def alive(self) -> bool:
        """Whether there is a child to ask."""
        return self._job is not None

    def _ask(self, question: dict[str, Any], read: Callable[[wire.Frame], T]) -> T | None:
        """Put a question to the child and read its answer; a child that answers nonsense is ended."""
        with self._lock:
            if self._job is None:
                return None
            try:
                wire.send(self._job.talk, question)
                return read(wire.receive(self._job.talk, deadline=time.monotonic() + ANSWER_LIMIT))
            except Exception:
                # The child has run the learner's code: it may say anything.
                self._end()
                return None

    def close(self) -> None:
        """End the child."""
        with self._lock:
            self._end()

    def _end(self) -> None:
        if self._job is not None:
            self._job.close()
            self._job = None


class Session:
    """A worker and what is asked of it. Close it when done: nothing of it survives that."""

    def __init__(self, launcher: Launcher | None = None, *, nice: int = 0, kind: str = "") -> None:
        self._launcher = launcher or make_launcher(kind, nice)
        self._running: ChildProcess | None = None
        self._cancelled = threading.Event()
        self._closed = threading.Event()
        self._lock = threading.Lock()

    def start(self) -> None:
        """Begin to load PyTorch in the worker; returns at once."""
        self._launcher.start()

    @property
    def ready(self) -> bool:
        """Whether the worker has PyTorch loaded."""
        return self._launcher.ready

    def wait_ready(self) -> None:
        """Wait until the worker can run code. Raises `WorkerError`."""
        self._launcher.wait_ready()

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
        self._launcher.close()

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
        steps: list[ReadStep | RunningStep] = [
            step for step in lesson.steps[:last] if isinstance(step, ReadStep | RunningStep)
        ]
        results: list[StepResult] = []
        job = self._launch(lesson.limits, QUESTIONS)
        try:
            with self._current(job):
                came_to_end = self._run_steps(lesson, steps, cells, job, results, changed=bool(changes))
        except BaseException:
            job.close()
            raise
        if not came_to_end:
            job.close()
            return Run(results, None)
        job.settled()
        return Run(results, job)

    def _run_steps(
        self,
        lesson: Lesson,
        steps: list[ReadStep | RunningStep],
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
            request, kept = replies.lesson_request(lesson, steps, cells, changed=changed)
            wire.send(job.talk, request.header, request.blob)
            while (frame := wire.receive(job.talk, deadline)).op == "step":
                result = replies.step_result(lesson, steps[len(results)], frame, job)
                results.append(replace(result, trained=kept[result.id].origin) if result.id in kept else result)
                printed = int(frame.header["stdout"][1])
            if frame.op != "done":
                raise wire.WireError("unexpected message")
            return True
        except TimeoutError:
            failure = child_failures.timed_out(job, lesson.limits.wall)
        except Exception as error:
            # Whatever a child sends that cannot be read is its own end.
            failure = child_failures.died(job, error, lesson.limits, self._cancelled.is_set())
        if len(results) < len(steps):
            results.append(StepResult(steps[len(results)].id, stdout=output(job.out, printed), error=failure))
        return False

    def train(
        self,
        lesson: Lesson,
        step_id: str,
        on_picture: Callable[[TrainingSnapshot], None],
        control: Control | None = None,
        changes: Changes = UNCHANGED,
    ) -> Training:
        """Train what a step trains, with the learner's changes, in a child of its own, and keep it.

        Calls `on_picture` from this thread with every picture as it comes. `control` and `cancel` stop it, and then
        nothing is kept. Raises `WorkerError` if nothing can be run at all, `ChangeError` if the lesson cannot be
        changed like that, `KeyError` for a step that trains nothing.
        """
        return self.train_for(trained_models.own_folder(), lesson, step_id, on_picture, control, changes)

    def train_for(
        self,
        folder: Path | None,
        lesson: Lesson,
        step_id: str,
        on_picture: Callable[[TrainingSnapshot], None],
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
            ended, data = training.watch(job, lesson, step, request, on_picture, control or Control(), cancelled)
        if ended.stopped or ended.error:
            return ended
        try:
            trained_models.keep(folder, lesson, step, cells, data)
        except OSError as error:
            return replace(ended, error=Failure("error", f"What was trained could not be kept: {error.strerror}."))
        return ended

    def enter(
        self, run: Run, ask: Callable[[ChildProcess, Callable[[], bool]], tuple[T, bool]]
    ) -> tuple[T, bool] | None:
        """Have the child of a run do more, which `cancel` can stop; see `Run.use`."""
        self._cancelled.clear()

        def watched(job: ChildProcess) -> tuple[T, bool]:
            with self._current(job):
                return ask(job, self._cancelled.is_set)

        return run.use(watched)

    def check(
        self,
        exercise: ExerciseStep,
        source: str,
        seed: int | None = None,
        rounds: int = judging.ROUNDS,
        *,
        locate: bool = True,
    ) -> Judgement:
        """Judge an answer on hidden inputs, made from `seed` or by chance; see `lessons.engine.judging`.

        Raises `WorkerError` if it cannot be judged through no fault of the answer.
        """
        self._cancelled.clear()
        return judging.check(exercise, source, self._child, self._cancelled.is_set, seed, rounds, locate)

    def ask(self, lesson: Lesson, question: Question, answer: str) -> Judgement:
        """Judge the answer to a question about a run of the lesson. Raises `WorkerError`."""
        run = self.run(lesson, question.id)
        run.close()
        return questions.judge(question, run.result(question.id) or run.steps[-1], answer)

    def compare(self, exercise: ExerciseStep, source: str, seed: int | None = None) -> AnswerComparison:
        """An answer beside the model answer, result by result. Raises `WorkerError`."""
        self._cancelled.clear()
        return judging.compare(exercise, source, self._child, seed)

    def attempt(self, lesson: Lesson, exercise: ExerciseStep, source: str) -> tuple[Lesson, Run]:
        """Run an answer where the lesson has come to, to look at what it makes; see `lessons.engine.scratch_run`.

        Raises `WorkerError` if nothing can be run.
        """
        return scratch_run.run(self, lesson, exercise, source)

    def _launch(self, limits: Limits, later: float = 0) -> ChildProcess:
        if self._closed.is_set():
            # A request that was still waiting must not start the worker again.
            raise WorkerError("The worker has been closed.")
        try:
            job = self._launcher.launch(limits, later)
        except ForkUnsafe:
            self._launcher.close()
            self._launcher = SpareLauncher()
            job = self._launcher.launch(limits, later)
        if self._closed.is_set():
            job.close()
            self._launcher.close()
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
