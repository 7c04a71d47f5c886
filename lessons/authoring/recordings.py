"""The recorded outputs of the courses that ship: the results of every step, shown until live results arrive.

`python -m attn_tutor.lessons.authoring.recordings [LESSON ...]` runs these courses, or some of their lessons, and
writes `recorded.json` beside each; a test proves that live runs still give the same. With `--train` it first repeats
the trainings that ship with these lessons.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from attn_tutor.lessons.engine import training
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.files import read_text, rewrite
from attn_tutor.lessons.format.lesson import Lesson, TrainStep
from attn_tutor.lessons.learner import trained_models
from attn_tutor.lessons.reading.findings import LessonError
from attn_tutor.lessons.reading.folders import BUILT_IN
from attn_tutor.lessons.reading.loader import load_course
from attn_tutor.lessons.reading.recorded_outputs import FILE, SINGLE_PRECISION
from attn_tutor.lessons.results import line_shapes
from attn_tutor.lessons.results.clean_text import clean_json
from attn_tutor.lessons.results.floats import json_number
from attn_tutor.lessons.results.result import StepResult, Tensor, Training
from attn_tutor.lessons.what_if import knobs
from attn_tutor.lessons.what_if.changes import UNCHANGED, Changes, apply, describe

TRAIN = "--train"


def save(lesson: Lesson, results: list[StepResult]) -> None:
    """Write the results of a run of a lesson, except where they differ from the old ones by rounding only."""
    try:
        before = json.loads(read_text(Path(lesson.folder) / FILE))["steps"]
    except (OSError, ValueError, KeyError, TypeError):
        before = {}
    steps = {item.id: json.loads(json.dumps(_step_to_json(item))) for item in results}
    # Processors differ in the last bits: an entry with the same numbers stays as it was. One line per step keeps a
    # diff readable.
    entries = {key: before[key] if _is_nearly_equal(before.get(key), new) else new for key, new in steps.items()}
    lines = [f"{json.dumps(key)}: {json.dumps(item, ensure_ascii=False)}" for key, item in entries.items()]
    text = '{"steps": {\n' + ",\n".join(lines) + "\n}}\n"
    rewrite(Path(lesson.folder) / FILE, clean_json(text).encode())


def _is_nearly_equal(old: Any, new: Any) -> bool:
    """Return whether two entries are the same apart from the last bits of their numbers."""
    if isinstance(old, dict) and isinstance(new, dict):
        return list(old) == list(new) and all(_is_nearly_equal(old[key], new[key]) for key in old)
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(_is_nearly_equal, old, new))
    if isinstance(old, float) and isinstance(new, float):
        return math.isclose(old, new, rel_tol=1e-6, abs_tol=1e-6)
    return bool(old == new)


def _step_to_json(result: StepResult) -> dict[str, Any]:
    return {
        "stdout": result.stdout,
        "text": result.text,
        "shapes": line_shapes.to_json(result.shapes),
        "tensors": {tensor.name: _tensor_to_json(tensor) for tensor in result.tensors},
    }


def _tensor_to_json(tensor: Tensor) -> dict[str, Any]:
    def rounded(value: float) -> float | str:
        return json_number(float(f"{value:.9g}") if tensor.dtype in SINGLE_PRECISION else value)

    entry: dict[str, Any] = {"dtype": tensor.dtype, "shape": list(tensor.shape)}
    entry |= {"low": tensor.low, "high": tensor.high}
    if tensor.layout is not None:
        entry["layout"] = asdict(tensor.layout)
    if tensor.values is not None:
        return entry | {"values": [rounded(value) for value in tensor.values]}
    assert tensor.window is not None
    return entry | {"window": [[rounded(value) for value in row] for row in tensor.window.rows]}


def train(session: Session, lesson: Lesson) -> Iterator[str]:
    """Train what ships with a lesson, unchanged and with each setting of a knob; yield a line about each training.

    Raises `RuntimeError` for a training that fails.
    """
    folder = trained_models.course_folder(lesson)
    assert folder is not None
    current: set[str] = set()
    shown: list[tuple[TrainStep, Training]] = []
    for step in lesson.trainings.values():
        for changes in (UNCHANGED, *_settings(lesson, step)):
            altered = apply(lesson, changes)
            name = f"{trained_models.key(altered, altered.trainings[step.id])}.pt"
            if name in current:
                continue
            outcome = session.train_into(folder, lesson, step.id, lambda snapshot: None, changes=changes)
            if outcome.error:
                raise RuntimeError(f"{lesson.id}/{step.id}: {outcome.error.message}")
            current.add(name)
            shown += [] if changes else [(step, outcome)]
            yield f"{lesson.id}/{step.id}: {', '.join(describe(lesson, changes)) or 'trained'}, {outcome.seconds:.0f} s"
    for file in folder.iterdir() if folder.is_dir() else ():
        if file.name not in current:
            file.unlink()
    if shown:
        training.save_snapshots(lesson, shown)


def _settings(lesson: Lesson, step: TrainStep) -> Iterator[Changes]:
    """Yield every setting of every knob that reaches a training, but of no knob with too many to try them all."""
    for knob in knobs.reaching(lesson, step.id):
        for setting in () if knob.is_endless else knob.samples:
            if changes := UNCHANGED.with_knob(lesson, knob.name, setting):
                yield changes


def _lessons(names: Sequence[str]) -> list[Lesson]:
    """Return all lessons that ship, or those with these ids. Raises `LessonError`, and `KeyError` for an unknown id."""
    lessons = {lesson.id: lesson for course in BUILT_IN for lesson in load_course(course.path).lessons}
    return [lessons[name] for name in names] or list(lessons.values())


def main(arguments: Sequence[str] = ()) -> int:
    """Record some lessons, or all that ship. Returns an exit status."""
    names = [name for name in arguments if name != TRAIN]
    try:
        lessons = _lessons(names)
    except (LessonError, KeyError) as error:
        print(error, file=sys.stderr)
        return 1
    session = Session()
    try:
        for lesson in lessons:
            if TRAIN in arguments:
                for line in train(session, lesson):
                    print(line, flush=True)
            run = session.run(lesson)
            run.close()
            failed = [step for step in run.steps if step.error]
            for step in failed:
                print(f"{lesson.id}/{step.id}: {step.error}", file=sys.stderr)
            if failed:
                return 1
            save(lesson, run.steps)
            print(f"{lesson.id}: {len(run.steps)} steps recorded")
    finally:
        session.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
