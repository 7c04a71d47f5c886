"""All texts that learners read: those of the course, of the code, and of the tables of keys and help."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from attn_tutor.lessons.authoring import interface_texts
from attn_tutor.lessons.format.text_walk import CourseText
from attn_tutor.lessons.reading import glossary, loader, text_catalog
from attn_tutor.lessons.reading.folders import BUILT_IN
from attn_tutor.lessons.reading.text_catalog import Catalog
from attn_tutor.tui.actions import action_words, help_pages


def courses(folder: Path) -> Catalog:
    """Read the texts of the course in a folder, and of all that ship if it is one of them, in English.

    Raises `LessonError`.
    """
    ours = [course.path.resolve() for course in BUILT_IN]
    return text_catalog.merged(
        text_catalog.catalog(loader.load_course(path), loader.library_of(path), glossary.load(path))
        for path in (ours if folder.resolve() in ours else [folder])
    )


def interface() -> Catalog:
    """Return the texts of the tutor itself by their groups."""
    found = {group: list(texts) for group, texts in interface_texts.catalog().items()}
    tables: tuple[Mapping[str, str], ...] = (action_words.texts(), help_pages.texts())
    for table in tables:
        for text_id, text in table.items():
            found.setdefault(text_id.partition("/")[0], []).append(CourseText(text_id, text, True))
    return found
