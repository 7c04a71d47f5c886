"""The worker as the screen sees it: nothing here blocks the event loop, and a newer request stops an older one."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future, ThreadPoolExecutor

from lessons.model import ExerciseStep, Lesson
from lessons.result import Judgement, Window
from lessons.session import Run, Session


class Engine:
    """One session, used from threads of its own. At most one lesson run is kept alive, for its tensors."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._jobs = ThreadPoolExecutor(1, thread_name_prefix="engine")
        self._questions = ThreadPoolExecutor(1, thread_name_prefix="windows")
        self._run: Run | None = None

    @property
    def ready(self) -> bool:
        """Whether PyTorch is loaded."""
        return self._session.ready

    async def start(self) -> None:
        """Load PyTorch in the worker. Raises `WorkerError`."""
        await asyncio.wrap_future(self._jobs.submit(self._session.wait_ready))

    async def run(self, lesson: Lesson, upto: str) -> Run:
        """Run a lesson up to a step, in place of what was running. Raises `WorkerError`."""
        self._session.cancel()
        future = self._jobs.submit(self._session.run, lesson, upto)
        try:
            run = await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            future.add_done_callback(_close_result)
            self._session.cancel()
            raise
        self._keep(run)
        return run

    async def check(self, exercise: ExerciseStep, source: str) -> Judgement:
        """Judge an answer. Raises `WorkerError`."""
        self._session.cancel()
        return await asyncio.wrap_future(self._jobs.submit(self._session.check, exercise, source))

    async def window(
        self, step: str, name: str, lead: tuple[int, ...], top: int, left: int, height: int, width: int
    ) -> Window | None:
        """A rectangle of a tensor of the last run; None if it is not to be had any more."""
        run = self._run
        if run is None:
            return None
        return await asyncio.wrap_future(self._questions.submit(run.window, step, name, lead, top, left, height, width))

    def stop(self) -> None:
        """Stop the program that is running now."""
        self._session.cancel()

    def close(self) -> None:
        """End the worker and everything it started."""
        self._session.close()
        if self._run is not None:
            self._run.close()
        for pool in (self._jobs, self._questions):
            pool.shutdown(wait=False, cancel_futures=True)

    def _keep(self, run: Run) -> None:
        before, self._run = self._run, run
        if before is not None:
            self._questions.submit(before.close)


def _close_result(future: Future[Run]) -> None:
    if not future.cancelled() and future.exception() is None:
        future.result().close()
