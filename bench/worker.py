"""Measurements of the worker from the side of the session."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

from attn_tutor.lessons.engine.run import Run
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import ExerciseStep
from attn_tutor.lessons.reading.loader import load_course

ENDLESS = "while True:\n    pass\n"


def times(runs: int) -> Iterator[tuple[str, str, list[float]]]:
    """Yield name, unit and values of each measurement."""
    course = load_course()
    lesson = course.lesson("all-queries")
    _, exercise = course.exercise("3.1")
    assert isinstance(exercise, ExerciseStep)

    def load() -> None:
        session = Session()
        session.wait_ready()
        session.close()

    yield "loaded", "s", [_seconds(load) for _ in range(max(2, runs // 3))]
    session = Session()

    def run() -> float:
        seconds = _seconds(lambda: runs_held.append(session.run(lesson, "product")))
        runs_held.pop().close()
        return 1000 * seconds

    def check() -> None:
        assert session.check(exercise, exercise.solution).passed

    runs_held: list[Run] = []
    try:
        run()
        yield "a step with six tokens", "ms", [run() for _ in range(2 * runs)]
        yield "check of a right answer", "ms", [1000 * _seconds(check) for _ in range(runs)]
        yield "stop of an endless loop", "ms", [1000 * _stop(session, exercise) for _ in range(runs)]
    finally:
        session.close()


def verdicts(runs: int) -> Iterator[tuple[str, str, list[float]]]:
    """Yield name, unit and values for each kind of verdict on a six-token exercise, with a warm worker."""
    _, exercise = load_course().exercise("scaled-attention")
    assert isinstance(exercise, ExerciseStep)
    answers = {
        "a right answer": exercise.solution,
        "a known mistake, named": exercise.solution.replace("dim=-1", "dim=0"),
        "an unknown mistake, shown": exercise.solution.replace("weights @ values", "weights @ values * 3"),
    }
    session = Session()
    try:
        session.wait_ready()
        for name, source in answers.items():
            yield name, "ms", [1000 * session.check(exercise, source).seconds for _ in range(runs)]
    finally:
        session.close()


def _stop(session: Session, exercise: ExerciseStep) -> float:
    """Return the seconds from a request to stop until the thread that waits for the verdict continues."""
    thread = threading.Thread(target=session.check, args=(exercise, ENDLESS))
    thread.start()
    # Long enough for the loop to run for sure.
    time.sleep(0.5)
    began = time.monotonic()
    session.cancel()
    thread.join()
    return time.monotonic() - began


def _seconds(action: Callable[[], object]) -> float:
    began = time.monotonic()
    action()
    return time.monotonic() - began
