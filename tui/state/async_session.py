"""The worker as the screen sees it: nothing blocks the event loop, and a new request replaces the previous one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from attn_tutor.lessons.engine import scratch_run
from attn_tutor.lessons.engine.children import CodeResult, Names
from attn_tutor.lessons.engine.launching.host_limits import JobThread
from attn_tutor.lessons.engine.prompt import Prompt
from attn_tutor.lessons.engine.run import Run
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.engine.training import Control
from attn_tutor.lessons.format.lesson import ExerciseStep, Lesson
from attn_tutor.lessons.play.step_results import Runs
from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.results.result import (
    AnswerComparison,
    Judgement,
    StepResult,
    Training,
    TrainingSnapshot,
    WorkerError,
)
from attn_tutor.lessons.results.tensor_questions import Refusal, TensorQuestion
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.what_if.changes import UNCHANGED, Changes

say = Wording("screen/session")

T = TypeVar("T")


class AsyncSession:
    """A session whose calls run in threads. At most one run of a lesson is kept alive, and one prompt."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._jobs = JobThread("jobs")
        self._questions = JobThread("questions")
        self._run: Run | None = None
        self._prompt: Prompt | None = None
        self._prompt_inputs: set[Future[Any]] = set()
        self._control: Control | None = None

    @property
    def ready(self) -> bool:
        """Whether PyTorch has been loaded."""
        return self._session.ready

    async def start(self) -> None:
        """Load PyTorch in the worker. Raises `WorkerError`."""
        await asyncio.wrap_future(self._jobs.submit(self._session.wait_ready))

    async def run(self, lesson: Lesson, upto: str, changes: Changes = UNCHANGED) -> Run:
        """Run a lesson with changes up to a step; stop the previous run. Raises `WorkerError`."""
        _, run = await self._start_run(lambda: (lesson, self._session.run(lesson, upto, changes)))
        return run

    async def finish(self, lesson: Lesson, upto: str, runs: Runs[T]) -> T:
        """Finish work that needs runs of a lesson up to a step. Raises as `run` does."""
        try:
            wanted = next(runs)
            while True:
                wanted = runs.send(await self.run(lesson, upto, wanted))
        except StopIteration as end:
            returned: T = end.value
            return returned

    async def work(self, work: Callable[[], T]) -> T:
        """Do something with the session in the thread that runs programs; stop what runs. Raises what it raises."""
        self._session.cancel()
        return await asyncio.wrap_future(self._jobs.submit(work))

    async def run_later(self, lesson: Lesson, upto: str) -> Run:
        """Run a lesson up to a step once nothing else is running, for something that is nice to have.

        Any other request stops it. Raises `WorkerError`.
        """
        _, run = await self._start_run(lambda: (lesson, self._session.run(lesson, upto)), stop=False)
        return run

    async def attempt(self, lesson: Lesson, exercise: ExerciseStep, source: str) -> tuple[Lesson, Run]:
        """Run the learner's code after the lesson without judging it; stop the previous run.

        Returns the lesson with their code as a step. Raises `WorkerError`.
        """
        return await self._start_run(lambda: scratch_run.run(self._session, lesson, exercise, source))

    async def _start_run(self, work: Callable[[], tuple[Lesson, Run]], *, stop: bool = True) -> tuple[Lesson, Run]:
        """Start a run and keep it; close it if a newer request has replaced it meanwhile.

        With `stop`, what is running ends at once; else the run waits for it.
        """
        if stop:
            self._session.cancel()
        future = self._jobs.submit(work)
        try:
            lesson, run = await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            future.add_done_callback(_close_result)
            if stop or future.running():
                self._session.cancel()
            raise
        self._keep(run)
        return lesson, run

    async def train(
        self, lesson: Lesson, step: str, on_snapshot: Callable[[TrainingSnapshot], None], changes: Changes = UNCHANGED
    ) -> Training:
        """Train the model of a step; stop the previous run. `pause`, `resume` and `stop` then control the training.

        `on_snapshot` is called from a different thread. A training that a newer request replaces is stopped. Raises
        `WorkerError`, or `ChangeError` for a change that cannot be made.
        """
        self._session.cancel()
        control = self._control = Control()
        future = self._jobs.submit(self._session.train, lesson, step, on_snapshot, control, changes)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            control.stop()
            self._session.cancel()
            raise
        finally:
            if self._control is control:
                self._control = None

    def pause(self) -> None:
        """Pause the training, if there is one."""
        if self._control is not None:
            self._control.pause()

    def resume(self) -> None:
        """Resume the training."""
        if self._control is not None:
            self._control.resume()

    async def compare(self, exercise: ExerciseStep, source: str) -> AnswerComparison:
        """Compare an answer with the model answer. Raises `WorkerError`."""
        self._session.cancel()
        return await asyncio.wrap_future(self._jobs.submit(self._session.compare, exercise, source))

    async def check(self, exercise: ExerciseStep, source: str) -> Judgement:
        """Judge an answer. Raises `WorkerError`."""
        self._session.cancel()
        return await asyncio.wrap_future(self._jobs.submit(self._session.check, exercise, source))

    async def open_prompt(self, lesson: Lesson, step: str, changes: Changes = UNCHANGED) -> Names:
        """Open a prompt on a step, replacing any other. Returns the names that its first input can use.

        Questions about tensors of its inputs then go to its run. Raises `WorkerError` or `ChangeError`.
        """
        self.close_prompt()
        self._prompt = Prompt(self._session, lesson, step, changes)
        return await self._run_in_prompt(self._prompt.start)

    async def enter(self, code: str) -> CodeResult:
        """Run an input of the prompt. Raises `WorkerError`."""
        if self._prompt is None:
            raise WorkerError(say("prompt-closed", "The prompt is closed."))
        return await self._run_in_prompt(self._prompt.enter, code)

    def close_prompt(self) -> None:
        """Close the prompt and stop what it runs. The run of the lesson stays."""
        prompt, self._prompt = self._prompt, None
        if prompt is None:
            return
        if any(future.running() for future in self._prompt_inputs):
            self._session.cancel()
        self._questions.submit(prompt.close)

    async def _run_in_prompt(self, work: Callable[..., T], *what: object) -> T:
        future = self._jobs.submit(work, *what)
        self._prompt_inputs.add(future)
        future.add_done_callback(self._prompt_inputs.discard)
        return await asyncio.wrap_future(future)

    async def ask(self, question: TensorQuestion[T]) -> T | Refusal | None:
        """Ask about a tensor of the last run, or of the prompt. Returns None if its process is gone."""
        run = self._run_of(question)
        return None if run is None else await asyncio.wrap_future(self._questions.submit(run.ask, question))

    def _run_of(self, question: TensorQuestion[object]) -> Run | None:
        """Return the run that shows the tensor."""
        unit = question.unit
        if unit is None:
            return None
        if unit.kind == "expression":
            # The tensor of a box belongs to the unit whose flow it is in.
            unit = CodeUnit.parse(unit.of)
        if unit.kind == "input":
            return self._prompt.run if self._prompt is not None else None
        # The step may have been opened just now, and the run that is there may not reach it.
        return self._run if self._run is not None and self._run.result(str(unit)) is not None else None

    def result(self, step: str) -> StepResult | None:
        """Return the result of a step in the last run of a lesson; None if it did not reach the step."""
        return self._run.result(step) if self._run is not None else None

    def stop(self) -> None:
        """Stop the program that is running."""
        if self._control is not None:
            self._control.stop()
        self._session.cancel()

    def close(self) -> None:
        """Stop the worker and everything that it has started."""
        if self._control is not None:
            self._control.stop()
        self._session.close()
        for held in (self._run, self._prompt):
            if held is not None:
                held.close()
        for pool in (self._jobs, self._questions):
            pool.shutdown(wait=False, cancel_futures=True)

    def _keep(self, run: Run) -> None:
        before, self._run = self._run, run
        if before is not None and before is not run:
            self._questions.submit(before.close)


def _close_result(future: Future[tuple[Lesson, Run]]) -> None:
    if not future.cancelled() and future.exception() is None:
        future.result()[1].close()
