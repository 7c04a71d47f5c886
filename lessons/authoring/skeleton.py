"""New courses, lessons and exercises: files with comments, which are right as they stand, to be written over."""

from __future__ import annotations

import json
import os
import re
import unicodedata
from collections.abc import Mapping
from pathlib import Path

from attn_tutor.lessons.authoring import format_schema
from attn_tutor.lessons.format.lesson import FORMAT
from attn_tutor.lessons.reading import loader
from attn_tutor.lessons.reading.loader import FOLDER

SKELETONS = Path(__file__).parent / "skeletons"

SCHEMAS = ".schema"
"""The folder of a course with the schemas for editors. It is hidden, so it is no part of the course."""

LESSON = "lesson.yaml"
FIRST_LESSON = "01-first-lesson"

Files = dict[Path, str]
"""Texts of new files by their paths."""


class NoName(ValueError):
    """No id can be made of the name of a file."""


def course_files(folder: Path) -> Files:
    """Return the files of a new course with one lesson. Raises `NoName`."""
    name = slug_of(os.path.basename(os.path.realpath(folder)))
    about = {"id": name, "title": title_of(name), "format": str(FORMAT), "schema": SCHEMAS}
    return {
        folder / loader.COURSE_FILE: _filled("course", about),
        **_lesson_files(folder / FIRST_LESSON, f"../{SCHEMAS}"),
        **_schema_files(folder),
    }


def lesson_files(folder: Path) -> Files:
    """Return the files of a new lesson, with the schemas if they are not there yet. Raises `NoName`.

    In the folder of a course, a lesson without a number gets the next one.
    """
    if not FOLDER.match(folder.name):
        folder = folder.parent / f"{_next_number(folder.parent):02}-{slug_of(folder.name)}"
    in_course = (folder.parent / loader.COURSE_FILE).exists()
    files = _lesson_files(folder, f"../{SCHEMAS}" if in_course else SCHEMAS)
    return files | _schema_files(folder.parent if in_course else folder)


def exercise_files(file: Path) -> Files:
    """Return the file of a new exercise. Raises `NoName`."""
    slug = slug_of(file.stem)
    return {file.with_name(f"{slug}.yaml"): _exercise(slug, _way_to_schemas(file.parent), challenge=False)}


def folder_with(name: str, file: Path) -> Path | None:
    """Return the nearest folder around a file that has a file of this name, None if there is none."""
    return next((folder for folder in file.resolve().parents if (folder / name).exists()), None)


def slug_of(name: str) -> str:
    """Return the id that a name makes: small letters, digits and single hyphens. Raises `NoName`."""
    plain = unicodedata.normalize("NFKD", name.casefold()).encode("ascii", "ignore").decode()
    slug = re.sub("[^a-z0-9]+", "-", plain).strip("-")
    if not slug:
        raise NoName(name)
    return slug


def title_of(slug: str) -> str:
    """Return the heading that an id makes."""
    return slug.replace("-", " ").capitalize()


def _lesson_files(folder: Path, schemas: str) -> Files:
    match = FOLDER.match(folder.name)
    assert match is not None
    slug = match[2]
    exercise = f"{slug}-total"
    return {
        folder / LESSON: _filled("lesson", {"slug": slug, "title": title_of(slug), "schema": schemas}),
        folder / "exercises" / f"{exercise}.yaml": _exercise(exercise, f"../{schemas}", challenge=True),
    }


def _exercise(slug: str, schemas: str, *, challenge: bool) -> str:
    return _filled("exercise", {"slug": slug, "schema": schemas, "challenge": str(challenge).lower()})


def _schema_files(folder: Path) -> Files:
    """Return the schemas that a folder does not have yet."""
    files = {folder / SCHEMAS / f"{kind}.json": kind for kind in format_schema.FILES}
    return {file: schema_text(kind) for file, kind in files.items() if not file.exists()}


def schema_text(kind: str) -> str:
    """Return the JSON Schema of a kind of file as text."""
    return json.dumps(format_schema.schema_of(kind), indent=1) + "\n"


def _way_to_schemas(folder: Path) -> str:
    """Return the path to the nearest folder with schemas, as seen from a folder; "" if there is none."""
    here = Path(os.path.realpath(folder))
    for up, above in enumerate((here, *here.parents)):
        if (above / SCHEMAS).is_dir():
            return "/".join([*[".."] * up, SCHEMAS])
    return ""


def _next_number(folder: Path) -> int:
    found = [int(match[1]) for path in folder.glob("*-*") if (match := FOLDER.match(path.name))]
    return max(found, default=0) + 1


def _filled(kind: str, values: Mapping[str, str]) -> str:
    text = (SKELETONS / f"{kind}.yaml").read_text(encoding="utf-8")
    if not values["schema"]:
        _, _, text = text.partition("\n")
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    return text
