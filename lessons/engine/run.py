"""Runs of a lesson: the results of the steps, and a child that still holds the tensors.

All calls block, so a screen makes them from a thread.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

from attn_tutor.lessons.engine import replies
from attn_tutor.lessons.engine.children import Names
from attn_tutor.lessons.engine.launching.launchers import ChildProcess
from attn_tutor.lessons.results.result import StepResult
from attn_tutor.lessons.results.tensor_questions import Refusal, TensorQuestion
from attn_tutor.lessons.worker import channel, messages, wire
from attn_tutor.lessons.worker.messages import ListNames, NamesReport

QUESTION_LIMIT = 10.0
"""Seconds that the child may take to answer a question."""

T = TypeVar("T")


class Run:
    """A lesson that has run up to a step: the results, and a child that still holds the tensors."""

    def __init__(self, steps: list[StepResult], job: ChildProcess | None) -> None:
        self.steps = steps
        self._job = job
        self._lock = threading.Lock()

    def result(self, step_id: str) -> StepResult | None:
        """Return the result of a step, None if the run did not reach it."""
        return next((step for step in self.steps if step.id == step_id), None)

    def ask(self, question: TensorQuestion[T]) -> T | Refusal | None:
        """Ask a question about a tensor of the run. Returns None if the child is gone."""
        return self.request(question, lambda reply: replies.result_of(question, reply))

    def names(self) -> Names:
        """List the names that code after the run can use, each with a summary of its value; empty without a child."""
        return self.request(ListNames(), lambda reply: reply.names if isinstance(reply, NamesReport) else ()) or ()

    def begin_prompt(self, step: str) -> None:
        """Let code after the run use what a step shows, under its names. In a lesson, these are variables already."""

    def use(self, ask: Callable[[ChildProcess], tuple[T, bool]]) -> tuple[T, bool] | None:
        """Call `ask` with the child, while no other thread can use it.

        `ask` returns a result, and whether the child survived; one that did not is closed. Returns None if the child is
        gone already.
        """
        with self._lock:
            if self._job is None:
                return None
            survived = False
            try:
                reply = ask(self._job)
                survived = reply[1]
                return reply
            finally:
                if not survived:
                    self._end()

    def hand_over(self) -> ChildProcess | None:
        """Return the child, which belongs to the caller from now on."""
        with self._lock:
            job, self._job = self._job, None
            return job

    @property
    def alive(self) -> bool:
        """Whether there is still a child that answers questions."""
        return self._job is not None

    def request(self, question: object, read: Callable[[object], T], limit: float = QUESTION_LIMIT) -> T | None:
        """Send a question to the child and read its reply. Returns None if the child is gone.

        A child that sends an unreadable reply is ended.
        """
        with self._lock:
            if self._job is None:
                return None
            try:
                channel.send(self._job.talk, question)
                kinds = messages.REPLIES[type(question)]
                return read(channel.receive(self._job.talk, *kinds, deadline=time.monotonic() + limit))
            except (wire.WireError, TimeoutError):
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
