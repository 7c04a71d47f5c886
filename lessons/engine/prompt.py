"""A Python prompt on a step of a lesson. It can use the step's variables, and has no effect on the lesson."""

from __future__ import annotations

import threading
from dataclasses import replace

from attn_tutor.lessons.engine.children import CodeRequest, CodeResult, Names, gone
from attn_tutor.lessons.engine.run import Run
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import Lesson
from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.results.result import Failure
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.what_if.changes import UNCHANGED, Changes, apply
from attn_tutor.lessons.worker.messages import RunInput

say = Wording("engine/prompt")

INPUT_LIMIT = 10.0
"""Seconds that one input may take. The limit on the child's processor time, `CPU`, is only the last resort."""

CPU = 600
LONGEST_INPUT = 64 * 1024


class Prompt:
    """A prompt, whose state is a function of the lesson, the step, the changes, and the inputs that its child survived.

    After an input that ends the child, the next input runs in a new child, in which the lesson and the earlier inputs
    have been replayed.
    """

    def __init__(
        self, session: Session, lesson: Lesson, step: str, changes: Changes = UNCHANGED, wall: float = INPUT_LIMIT
    ) -> None:
        limits = lesson.limits.model_copy(update={"cpu": CPU})
        self._session, self._lesson = session, lesson.model_copy(update={"limits": limits})
        self._step, self._changes, self._wall = step, changes, wall
        self._altered = apply(self._lesson, changes)
        self._history: list[tuple[int, str]] = []
        self._last = 0
        self._names: Names = ()
        self._closed = threading.Event()
        self.run: Run | None = None

    @property
    def inputs(self) -> list[str]:
        """The inputs that led to the present state, in order."""
        return [code for _, code in self._history]

    def start(self) -> Names:
        """Run the lesson up to the step. Returns the names that the first input can use. Raises `WorkerError`."""
        if self._rebuild() is not None or self.run is None:
            return ()
        self._names = self.run.names()
        return self._names

    def enter(self, code: str) -> CodeResult:
        """Run an input. Raises `WorkerError` if the worker cannot run anything."""
        self._last += 1
        if len(code) > LONGEST_INPUT:
            return _unrun(
                self._last,
                Failure("error", say("too-long", "That is more than {size} KB.", size=LONGEST_INPUT >> 10)),
            )
        problem = self._rebuild()
        if problem is not None:
            return replace(_unrun(self._last, problem), names=self._names)
        result, survived = self._enter(self._last, code)
        if not survived:
            # The next input finds the state from before this one.
            return replace(result, names=self._names)
        self._history.append((self._last, code))
        self._names = result.names
        return result

    def close(self) -> None:
        """End the child for good; may be called from another thread."""
        self._closed.set()
        self._drop()

    def _drop(self) -> None:
        run, self.run = self.run, None
        if run is not None:
            run.close()

    def _enter(self, number: int, code: str) -> tuple[CodeResult, bool]:
        run = self.run
        request = CodeRequest(RunInput(CodeUnit.input(number), code), self._altered, self._step, self._wall)
        reply = self._session.run_code(run, request) if run is not None else None
        return reply or (_unrun(number, _closed() if self._closed.is_set() else gone()), False)

    def _rebuild(self) -> Failure | None:
        """Make sure that a child has run the lesson and the inputs. Returns the failure if there can be none."""
        if self.run is not None and self.run.alive:
            return None
        self._drop()
        if self._closed.is_set():
            return _closed()
        run = self.run = self._session.run(self._lesson, self._step, self._changes)
        if self._closed.is_set():
            # `close` came in the meantime, and could not know about this run.
            run.close()
            return _closed()
        if not run.alive:
            return next((step.error for step in reversed(run.steps) if step.error), None) or gone()
        run.begin_prompt(self._step)
        for count, (number, code) in enumerate(self._history):
            result, survived = self._enter(number, code)
            if not survived:
                assert result.error is not None
                if result.error.kind == "stopped":
                    return result.error
                # The inputs depended on chance or the clock: this one and those after it cannot be replayed.
                self._history[count:] = []
                message = say(
                    "forgotten",
                    "What you had entered before did not go well again, and is forgotten: {message}",
                    message=result.error.message,
                )
                return Failure(result.error.kind, message)
        return None


def _closed() -> Failure:
    return Failure("stopped", say("closed", "The prompt has been closed."))


def _unrun(number: int, why: Failure) -> CodeResult:
    return CodeResult(str(CodeUnit.input(number)), error=why)
