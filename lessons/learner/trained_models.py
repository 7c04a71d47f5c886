"""Trained models: what trainings saved, and where it is found again.

A saved state depends on everything that the training depends on: the code before it, its own code, the seeds, and
the learner's changes. `key` is a hash of these and the name of the file, so that a state is never used for anything
else. The learner's own trainings are in the state directory, those that ship with the course in a folder `trained`
beside the lesson. The files are PyTorch's, and only the worker opens them: here they are bytes.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attn_tutor.lessons.files import read_regular, write_whole
from attn_tutor.lessons.format.lesson import SETUP, Lesson, TrainStep
from attn_tutor.lessons.results.result import MOST_KEPT, Origin
from attn_tutor.lessons.texts.wording import Wording

say = Wording("training/models")

FOLDER = "trained"
FORMAT = 1
"""Increased when the tutor changes so that the same code would save something else."""

Cells = Sequence[dict[str, Any]]
"""The cells that the learner has changed, as they are sent to the worker."""


@dataclass(frozen=True, slots=True)
class TrainedModel:
    """The state that a training saved, as the bytes of a file of PyTorch's, and who trained it."""

    origin: Origin
    data: bytes = b""


def key(lesson: Lesson, step: TrainStep, cells: Cells = ()) -> str:
    """Return the name for the saved state of a training.

    Args:
        lesson: the lesson with the learner's changes of knobs applied.
        step: the training.
        cells: the cells that the learner has changed.
    """
    code_before: list[tuple[str, str, str, int]] = [(SETUP, lesson.setup, "", lesson.seed)]
    for other in lesson.running_before(step.id):
        training = dict(other.programs).get("training", "")
        code_before.append((other.id, other.code, training, lesson.seed_of(other)))
    parts = {part for part, *_ in code_before}
    changed = [cell for cell in cells if cell["part"] in parts]
    text = json.dumps(
        [FORMAT, [each[1:] for each in code_before], changed, step.training, step.keep, lesson.seed_of(step)]
    )
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def find(lesson: Lesson, step: TrainStep, cells: Cells = ()) -> TrainedModel:
    """Find a saved state: from the learner's own training, else from the course's, else none (`missing`)."""
    name = f"{key(lesson, step, cells)}.pt"
    folders: tuple[tuple[Origin, Path | None], ...] = (("own", own_folder(lesson)), ("course", course_folder(lesson)))
    for origin, folder in folders:
        data = _read(folder / name) if folder is not None else b""
        if data:
            return TrainedModel(origin, data)
    return TrainedModel("missing")


def _read(file: Path) -> bytes:
    """Read a file that is not too large; return b"" if there is none."""
    with contextlib.suppress(OSError):
        return read_regular(file, MOST_KEPT)
    return b""


def save(folder: Path | None, lesson: Lesson, step: TrainStep, cells: Cells, data: bytes) -> None:
    """Write a saved state where `find` looks. Raises `OSError`."""
    if folder is None:
        raise OSError(errno.ENOENT, say("no-home", "there is no home directory"))
    if len(data) > MOST_KEPT:
        raise OSError(errno.EFBIG, say("too-large", "it is too large"))
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / f"{key(lesson, step, cells)}.pt", data)


def own_folder(lesson: Lesson) -> Path | None:
    """Return the folder of the learner's own trainings of a lesson's course; None if there is no home directory."""
    # Imported here: only lessons that train need to know where the learner's files are.
    from attn_tutor.lessons.learner import progress_file

    try:
        return progress_file.state_root() / lesson.state_folder / FOLDER
    except RuntimeError:
        return None


def course_folder(lesson: Lesson) -> Path | None:
    """Return the folder of the trainings that ship with a lesson; None for a lesson without a folder."""
    return Path(lesson.folder) / FOLDER if lesson.folder else None


def untrained_message(step: TrainStep, *, changed: bool) -> str:
    """Return the message for a step that needs a training which nobody has done."""
    if changed:
        return say(
            "missing-with-changes",
            "No model has been trained with these changes yet. Train one in the step '{step}', or undo the changes.",
            step=step.title,
        )
    return say("missing", "No model has been trained yet. Train one in the step '{step}'.", step=step.title)
