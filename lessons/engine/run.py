"""A lesson that has run: the results of its steps, and a child that still holds the tensors.

Everything here blocks, so a screen calls it from a thread.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from lessons.engine import replies
from lessons.engine.child_code import Names, names_of
from lessons.engine.launchers import ChildProcess
from lessons.results.explanation import Explanation
from lessons.results.result import StepResult, Window
from lessons.results.summaries import Blocks, How, RowStats
from lessons.worker import wire

ANSWER_LIMIT = 10.0
"""Seconds that the child may take to answer a question."""

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
        return self._ask({"op": "names"}, lambda reply: names_of(reply.header["names"])) or ()

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
