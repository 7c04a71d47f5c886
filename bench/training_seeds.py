"""Measurements of the course's trainings with several seeds: `python -m bench.training_seeds [SEED ...]`.

It takes a few minutes. Each training runs as for a learner, in a child of the worker with one thread. The table
gives its seconds, the steps until a curve had gone four fifths of the way to its last value, and these last values.
The seconds depend on what else the machine does; the rest does not.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.knobs import SeedKnob
from attn_tutor.lessons.format.lesson import Lesson, TrainStep
from attn_tutor.lessons.reading.loader import load_course
from attn_tutor.lessons.results.result import TrainingSnapshot
from attn_tutor.lessons.what_if import knobs
from attn_tutor.lessons.what_if.changes import UNCHANGED

SEEDS = (0, 1, 2, 3, 4)
MOST_OF_THE_WAY = 0.8


def rows(session: Session, lesson: Lesson, step: TrainStep, seeds: Sequence[int]) -> Iterator[str]:
    """Yield a line for each seed that the training can have."""
    knob = next((knob for knob in knobs.reaching(lesson, step.id) if isinstance(knob, SeedKnob)), None)
    names = [curve.name for curve in step.curves]
    yield f"{lesson.id}/{step.id}"
    yield f"{'seed':>8}{'seconds':>9}" + "".join(f"{name:>12}{'at step':>9}" for name in names)
    for seed in seeds if knob else (None,):
        changes = UNCHANGED if knob is None or seed is None else UNCHANGED.with_knob(lesson, knob.name, seed)
        with tempfile.TemporaryDirectory() as folder:
            result = session.train_into(Path(folder), lesson, step.id, lambda snapshot: None, changes=changes)
        numbers = (
            f"  {result.error.message}"
            if result.error
            else "".join(
                f"{result.snapshots[-1].numbers[name]:12.4f}{changed_at(result.snapshots, name):9}" for name in names
            )
        )
        yield f"{'-' if seed is None else seed:>8}{result.seconds:9.1f}{numbers}"


def changed_at(snapshots: Sequence[TrainingSnapshot], name: str) -> int:
    """Return the step by which a curve had gone most of its way."""
    first, last = (snapshots[index].numbers[name] for index in (0, -1))
    progress = [(snapshot.numbers[name] - first) / ((last - first) or 1) for snapshot in snapshots]
    return next(
        snapshot.done for snapshot, fraction in zip(snapshots, progress, strict=True) if fraction >= MOST_OF_THE_WAY
    )


def main(seeds: Sequence[int]) -> int:
    """Measure all trainings and print the tables."""
    session = Session()
    try:
        session.wait_ready()
        for lesson in load_course().lessons:
            for step in lesson.steps:
                if isinstance(step, TrainStep):
                    for row in rows(session, lesson, step, seeds):
                        print(row, flush=True)
    finally:
        session.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(tuple(map(int, sys.argv[1:])) or SEEDS))
