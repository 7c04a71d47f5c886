"""All texts that learners read: those of the course, of the code, and of the tables of keys and help."""

from __future__ import annotations

from collections.abc import Mapping

from lessons.authoring import interface_texts
from lessons.format.text_walk import CourseText
from lessons.reading.text_catalog import Catalog
from tui.actions import action_words, help_pages


def interface() -> Catalog:
    """Return the texts of the tutor itself by their groups."""
    found = {group: list(texts) for group, texts in interface_texts.catalog().items()}
    tables: tuple[Mapping[str, str], ...] = (action_words.texts(), help_pages.texts())
    for table in tables:
        for text_id, text in table.items():
            found.setdefault(text_id.partition("/")[0], []).append(CourseText(text_id, text, True))
    return found
