"""What trainings have kept, and where that is found again.

It belongs to all that a training hangs on: the code up to it, its own, the seeds, the learner's changes. `key` is a
hash of these and the name of the file, so that nothing that was trained otherwise is ever taken for it. The learner's
own trainings lie in the state directory, those that ship with the course in a folder `trained` beside the lesson. The
files are PyTorch's, and are opened in the worker alone: here they are bytes.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lessons.format.lesson import SETUP, Lesson, RunningStep, TrainStep
from lessons.results.result import MOST_KEPT, Origin

FOLDER = "trained"
FORMAT = 1
"""Counted up when the tutor has changed so that the same code would keep something else."""

MISSING = "Nothing has been trained with these changes yet: train in the step '{}', or take the changes back."
NEVER = "Nothing has been trained yet: train in the step '{}'."

Cells = Sequence[dict[str, Any]]
"""The cells that the learner has changed, as they travel to the worker."""


@dataclass(frozen=True, slots=True)
class TrainedModel:
    """What a training has kept, as the bytes of a file of PyTorch's, and whose it is."""

    origin: Origin
    data: bytes = b""


def key(lesson: Lesson, step: TrainStep, cells: Cells = ()) -> str:
    """The name of all that the training hangs on. `lesson` is as the changes have made it, `cells` as they travel."""
    before: list[tuple[str, str, str, int]] = [(SETUP, lesson.setup, "", lesson.seed)]
    for other in lesson.steps[: lesson.index(step.id)]:
        if isinstance(other, RunningStep):
            own = other.training if isinstance(other, TrainStep) else ""
            before.append((other.id, other.code, own, lesson.seed_of(other)))
    parts = {part for part, *_ in before}
    changed = [cell for cell in cells if cell["part"] in parts]
    text = json.dumps([FORMAT, [each[1:] for each in before], changed, step.training, step.keep, lesson.seed_of(step)])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def find(lesson: Lesson, step: TrainStep, cells: Cells = ()) -> TrainedModel:
    """What was kept: by the learner's own training, else by the course's, else nothing (`missing`)."""
    name = f"{key(lesson, step, cells)}.pt"
    places: tuple[tuple[Origin, Path | None], ...] = (("own", own_folder()), ("course", course_folder(lesson)))
    for origin, folder in places:
        data = _read(folder / name) if folder is not None else b""
        if data:
            return TrainedModel(origin, data)
    return TrainedModel("missing")


def _read(file: Path) -> bytes:
    """A file that is not too large; nothing if there is none."""
    with contextlib.suppress(OSError), file.open("rb") as opened:
        data = opened.read(MOST_KEPT + 1)
        return data if len(data) <= MOST_KEPT else b""
    return b""


def keep(folder: Path | None, lesson: Lesson, step: TrainStep, cells: Cells, data: bytes) -> None:
    """Write what a training has kept where `find` looks. Raises `OSError`."""
    if folder is None:
        raise OSError(errno.ENOENT, "there is no home directory")
    if len(data) > MOST_KEPT:
        raise OSError(errno.EFBIG, "it is too large")
    folder.mkdir(parents=True, exist_ok=True)
    name = key(lesson, step, cells)
    # Whole or not at all: another screen may be looking for it.
    part = folder / f"{name}.{secrets.token_hex(4)}.part"
    try:
        part.write_bytes(data)
        part.replace(folder / f"{name}.pt")
    finally:
        part.unlink(missing_ok=True)


def own_folder() -> Path | None:
    """Where the learner's own trainings lie; None if there is no home directory."""
    # Imported here: only lessons that train need to know where the learner's files are.
    from lessons.learner import progress_file

    try:
        return progress_file.default_path().parent / FOLDER
    except RuntimeError:
        return None


def course_folder(lesson: Lesson) -> Path | None:
    """Where the trainings lie that ship with a lesson; None for a lesson that is no file."""
    return Path(lesson.folder) / FOLDER if lesson.folder else None


def untrained(step: TrainStep, *, changed: bool) -> str:
    """What is said where a step needs what nobody has trained."""
    return (MISSING if changed else NEVER).format(step.title)
