"""Versions of the lesson format: what an older one wrote is brought up to date as it is read, a newer one is refused.

A change of the format that older courses do not keep raises `FORMAT` and adds an `Upgrade` here. So only this module
knows how the format once was, and the models know the newest version alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import yaml

from attn_tutor.lessons.format import lesson
from attn_tutor.lessons.reading.findings import Finding, LessonError
from attn_tutor.lessons.reading.yaml_nodes import locate, position_of

Rewrite = Callable[[dict[str, Any]], None]
"""Changes the data of a file, which may be anything that YAML can say. What it does not know, it leaves alone."""


def _leave(data: dict[str, Any]) -> None:
    """Leave the data of a file as it is."""


class NewerFormat(LessonError):
    """A course is written in a version of the format that this tutor does not know."""


class Upgrade(NamedTuple):
    """What makes the data of the next version of that of a version.

    Attributes:
        course: changes that of a `course.yaml`.
        lesson: changes that of a `lesson.yaml`, with the steps that it includes.
        mistake: changes that of an entry in a library of mistakes.
    """

    course: Rewrite = _leave
    lesson: Rewrite = _leave
    mistake: Rewrite = _leave


UPGRADES: dict[int, Upgrade] = {}
"""The upgrades by the version that they begin with; every version before `FORMAT` has one."""


def upgrade_course(data: object, root: yaml.Node) -> None:
    """Bring the data of a `course.yaml` up to date. Raises `NewerFormat`."""
    if not isinstance(data, dict):
        return
    found, newest = data.get("format"), lesson.FORMAT
    if isinstance(found, bool) or not isinstance(found, int):
        return  # the model says what is wrong with it
    if found > newest:
        where = position_of(locate(root, ("format",))[1].start_mark)
        problem = f"this course is written in version {found} of the format, and this attn-tutor reads up to {newest}"
        raise NewerFormat([Finding(*where, problem, "Update attn-tutor.")])
    for upgrade in _since(found):
        upgrade.course(data)


def upgrade_lesson(data: dict[str, Any], version: int) -> None:
    """Bring the data of a lesson up to date that is written in a version of the format."""
    for upgrade in _since(version):
        upgrade.lesson(data)


def upgrade_mistake(data: object, version: int) -> None:
    """Bring the data of a mistake up to date that is written in a version of the format."""
    for upgrade in _since(version):
        if isinstance(data, dict):
            upgrade.mistake(data)


def _since(version: int) -> list[Upgrade]:
    return [UPGRADES[each] for each in range(max(version, 1), lesson.FORMAT)]
