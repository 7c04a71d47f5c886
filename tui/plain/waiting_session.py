"""The worker as the dialogue uses it, which waits for each reply; and the state that all parts of it share."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import contextmanager
from typing import NamedTuple, TypeVar

from attn_tutor.lessons.engine import scratch_run
from attn_tutor.lessons.engine.launching.host_limits import JobThread
from attn_tutor.lessons.engine.prompt import Prompt
from attn_tutor.lessons.engine.run import Run
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.engine.training import Control
from attn_tutor.lessons.format.lesson import ExerciseStep, Lesson
from attn_tutor.lessons.play.step import Learning
from attn_tutor.lessons.play.step_results import Runs, finish
from attn_tutor.lessons.results.result import AnswerComparison, Judgement, Training, TrainingSnapshot
from attn_tutor.lessons.results.tensor_questions import Refusal, TensorQuestion
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.what_if.changes import UNCHANGED, Changes
from attn_tutor.tui.plain.console import Console
from attn_tutor.tui.plain.refused import Refused
from attn_tutor.tui.sources.source import Source

say = Wording("plain/session")

T = TypeVar("T")

PATIENCE = 1.5
"""Seconds after which a learner is told that something is running."""

SLICE = 0.1
"""Seconds of one wait, after which Ctrl+C is looked for: raised inside it, it may leave a lock of Python undone."""


class HeldTraining(NamedTuple):
    """A training that runs, or that is paused: how it is controlled, and what is to be done if it is stopped."""

    control: Control
    future: Future[Training]
    on_stopped: Callable[[], None]


class WaitingSession:
    """A session whose calls return when they are done. At most one run of a lesson is kept alive."""

    def __init__(self, session: Session, console: Console) -> None:
        self._session, self._console = session, console
        # A thread of its own, so that Ctrl+C never interrupts a message to the worker half way.
        self._jobs = JobThread("jobs")
        self.kept_run: Run | None = None
        """The last run of a lesson or of the learner's code."""
        self._held: HeldTraining | None = None

    @property
    def ready(self) -> bool:
        """Whether PyTorch has been loaded."""
        return self._session.ready

    def start(self) -> None:
        """Begin to load PyTorch in the worker; returns at once."""
        self._session.start()
        # The worker is known to be ready only once somebody has heard it say so.
        self._jobs.submit(self._session.wait_ready)

    def run(self, lesson: Lesson, upto: str, changes: Changes = UNCHANGED) -> Run:
        """Run a lesson with changes up to a step; the run replaces the one before.

        Raises `WorkerError`, or `ChangeError` for a change that cannot be made.
        """
        return self._keep(self._wait(lambda: self._session.run(lesson, upto, changes)))

    def finish(self, lesson: Lesson, upto: str, runs: Runs[T]) -> T:
        """Finish work that needs runs of a lesson up to a step. Raises as `run` does."""
        return finish(runs, lambda changes: self.run(lesson, upto, changes))

    def attempt(self, lesson: Lesson, exercise: ExerciseStep, source: str) -> tuple[Lesson, Run]:
        """Run the learner's code after the lesson, and return the lesson with it. Raises `WorkerError`."""
        with_code, run = self._wait(lambda: scratch_run.run(self._session, lesson, exercise, source))
        return with_code, self._keep(run)

    def check(self, exercise: ExerciseStep, source: str) -> Judgement:
        """Judge an answer. Raises `WorkerError`."""

        def judged() -> Judgement:
            # Wait first, so that the duration in the verdict is that of the judging alone.
            self._session.wait_ready()
            return self._session.check(exercise, source)

        return self._wait(judged)

    def compare(self, exercise: ExerciseStep, source: str) -> AnswerComparison:
        """Compare an answer with the model answer. Raises `WorkerError`."""
        return self._wait(lambda: self._session.compare(exercise, source))

    def train(
        self,
        lesson: Lesson,
        step: str,
        on_snapshot: Callable[[TrainingSnapshot], None],
        changes: Changes = UNCHANGED,
        on_stopped: Callable[[], None] = lambda: None,
    ) -> Training | None:
        """Train the model of a step; return None if Ctrl+C has paused the training, which `resume` continues.

        `on_snapshot` is called from another thread, and `on_stopped` if a paused training ends because something else
        is to run. Raises `WorkerError`, or `ChangeError` for a change that cannot be made.
        """
        self.stop_training()
        control = Control()
        future = self._jobs.submit(self._session.train, lesson, step, on_snapshot, control, changes)
        return self._watch(HeldTraining(control, future, on_stopped))

    def resume(self) -> Training | None:
        """Continue the paused training; return None if it is paused again, or if there is none."""
        held = self._held
        if held is None:
            return None
        held.control.resume()
        return self._watch(held)

    def stop_training(self) -> None:
        """End the paused training, if there is one, without keeping anything."""
        held, self._held = self._held, None
        if held is not None:
            held.control.stop()
            held.on_stopped()

    def _watch(self, held: HeldTraining) -> Training | None:
        """Wait until a training ends; Ctrl+C pauses it."""
        self._held = held
        until = time.monotonic() + PATIENCE
        try:
            while True:
                try:
                    trained = held.future.result(SLICE)
                except FutureTimeout:
                    if held.future.done():
                        raise
                else:
                    self._held = None
                    return trained
                if self._console.interrupts.take_missed():
                    held.control.pause()
                    return None
                if time.monotonic() > until and not self._session.ready:
                    until = math.inf
                    self._console.write_line(self._meanwhile())
        except BaseException:
            self._held = None
            raise

    def open_prompt(self, lesson: Lesson, step: str, changes: Changes = UNCHANGED) -> Prompt:
        """Open a prompt on a step, in a run of its own. Raises `WorkerError` or `ChangeError`."""
        prompt = Prompt(self._session, lesson, step, changes)
        self._wait(prompt.start)
        return prompt

    def call(self, work: Callable[[], T]) -> T:
        """Return what some other work with the worker gives, such as an input of a prompt."""
        return self._wait(work)

    def call_with_session(self, work: Callable[[Session], T], stop: Callable[[], None]) -> T:
        """Return what some work with the session gives; Ctrl+C calls `stop` and stops what runs."""
        return self._wait(lambda: work(self._session), stop)

    def ask(self, question: TensorQuestion[T], run: Run | None = None) -> T:
        """Ask about a tensor of a run, by default the last one. Raises `Refused` if there is no reply."""
        asked = run or self.kept_run
        reply = None if asked is None else self._wait(lambda: asked.ask(question))
        if reply is None:
            raise Refused(say("gone", "The numbers are no longer there. Type run to compute them again."))
        if isinstance(reply, Refusal):
            raise Refused(reply.reason)
        return reply

    @contextmanager
    def about(self, run: Run | None) -> Iterator[None]:
        """Have questions be about another run inside the block, such as that of a prompt."""
        before, self.kept_run = self.kept_run, run
        try:
            yield
        finally:
            self.kept_run = before

    def close(self) -> None:
        """Stop the worker and everything that it has started."""
        self.stop_training()
        self._session.close()
        if self.kept_run is not None:
            self.kept_run.close()
        self._jobs.shutdown(wait=False, cancel_futures=True)

    def _keep(self, run: Run) -> Run:
        before, self.kept_run = self.kept_run, run
        if before is not None and before is not run:
            before.close()
        return run

    def _wait(self, work: Callable[[], T], stop: Callable[[], None] = lambda: None) -> T:
        """Wait for work in the thread. Ctrl+C stops it: then it returns what it has, or raises `WorkerError`."""
        self.stop_training()
        future: Future[T] = self._jobs.submit(work)
        until = time.monotonic() + PATIENCE
        while True:
            try:
                return future.result(SLICE)
            except FutureTimeout:
                if future.done():  # the work itself has raised it
                    raise
            if self._console.interrupts.take_missed():
                stop()
                self._session.cancel()
            elif time.monotonic() > until:
                until = math.inf
                self._console.write_line(self._meanwhile())

    def _meanwhile(self) -> str:
        if self._session.ready:
            return say("running", "Running. Ctrl+C stops it.")
        return say("loading", "PyTorch is still loading.")


class PlainState(NamedTuple):
    """What the learner works with, where it is printed, and the session that runs code."""

    source: Source
    learning: Learning
    console: Console
    session: WaitingSession
