"""The source location of a recorded operation: file, line and code, and the line of the lesson that led there."""

from __future__ import annotations

from dataclasses import dataclass

from attn_tutor.lessons.results import code_unit
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.explaining import fused_definitions
from attn_tutor.lessons.worker.recording.call_sites import PACKAGE
from attn_tutor.lessons.worker.recording.event import Event, Site
from attn_tutor.lessons.worker.recording.source_positions import SourcePositions

say = Wording("explaining/source")


@dataclass(slots=True, frozen=True)
class SourceLocation:
    """The file, line and code of an operation.

    Attributes:
        line: the line in `file`; None in an expression that a step only shows, and in a definition: they are on no line
            of the learner's code.
        file: `setup`, the id of a step, a module of the `attention` package, a file of a program of one's own, or
            `definition` for the single steps of a fused operation.
        code: the expression or statement, on one line.
        lesson_line: the line of the lesson from which that was called.
    """

    line: int | None = None
    file: str = ""
    code: str = ""
    lesson_line: int | None = None


def locate(positions: SourcePositions, event: Event | None) -> SourceLocation:
    """Find where an operation was called; every field is empty if that is unknown."""
    if event is None or not event.sites:
        return SourceLocation()
    inner, outer = event.sites[0], event.sites[-1]
    file = inner[0].co_filename
    if file.startswith(PACKAGE):
        file = "attention/" + file[len(PACKAGE) :].replace("\\", "/")
    elif file == fused_definitions.__file__:
        file = "definition"
    file = positions.file_of(file)
    in_lesson = not outer[0].co_filename.startswith(PACKAGE)
    return SourceLocation(
        _line(positions, inner), file.strip("<>"), positions.code(inner), _line(positions, outer) if in_lesson else None
    )


def on_line(positions: SourcePositions, event: Event | None, reader: Event | None) -> str:
    """Return `on line 4` for where an operation was called, `on line 3 of the setup` or the like where that helps.

    `reader` is the operation beside whose line this is read. Nothing is said of a line of another step: a line without
    its step would be taken for one of the same.
    """
    location, here = locate(positions, event), locate(positions, reader)
    if location.line is None:
        return ""
    if location.file == here.file:
        return say("on-line", "on line {line}", line=location.line)
    if location.file == code_unit.SETUP_TEXT:
        return say("on-line-of-setup", "on line {line} of the setup", line=location.line)
    if code_unit.find(location.file) is None:
        return say("on-line-of-file", "on line {line} of {file}", line=location.line, file=location.file)
    return ""


def _line(positions: SourcePositions, site: Site) -> int | None:
    unit = code_unit.of_filename(site[0].co_filename)
    if (unit is not None and unit.kind == "expression") or site[0].co_filename == fused_definitions.__file__:
        return None
    return positions.line(site)
