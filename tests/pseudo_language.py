"""A language made for tests, in which every text is its English text in brackets: `⟦Look at the weights.⟧`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

from attn_tutor.lessons.authoring.translation_files import header_of
from attn_tutor.lessons.format.text_walk import CourseText
from attn_tutor.lessons.reading import course_texts, glossary, mistake_library
from attn_tutor.lessons.reading.course_texts import Catalog
from attn_tutor.lessons.texts import po_file
from attn_tutor.lessons.texts.po_file import Entry
from attn_tutor.tui.commands.verbs import list_texts
from tests.course import COURSE

CODE = "xx"
OPEN, CLOSE = "⟦⟧"
SAID = re.compile(rf"{OPEN}[^{OPEN}{CLOSE}]*{CLOSE}")
WORD = re.compile(r"[A-Za-z]{2,}")


@cache
def catalog() -> Catalog:
    """Return all texts of the course."""
    return course_texts.catalog(COURSE, mistake_library.load_library(), glossary.load())


@cache
def interface() -> Catalog:
    """Return all texts that stand in the code of the tutor."""
    return list_texts.own_texts()


def translated(text: str) -> str:
    """Return a text in the pseudo-language."""
    return f"{OPEN}{text}{CLOSE}"


def write(folder: Path, texts: Catalog | None = None) -> Path:
    """Write translations into the pseudo-language below a folder; return the folder of the language."""
    language = folder / CODE
    language.mkdir(parents=True)
    for group, found in (catalog() if texts is None else texts).items():
        (language / f"{group}.po").write_text(po_file.write(header_of(CODE), map(entry_of, found)), encoding="utf-8")
    return language


def entry_of(text: CourseText) -> Entry:
    """Return the entry for a text."""
    forms = (translated(text.text), translated(text.plural)) if text.plural else (translated(text.text),)
    return Entry(text.id, text.text, text.plural, forms)


def without_brackets(texts: Iterable[str]) -> list[str]:
    """Return texts as they are in English."""
    return [text.replace(OPEN, "").replace(CLOSE, "") for text in texts]


def unsaid(lines: Iterable[str], *data: str) -> list[str]:
    """Return the words of some lines that stand outside of brackets, so nobody translates them, but for the data."""
    text, known = "\n".join(lines), set(WORD.findall(" ".join(data)))
    while (rest := SAID.sub("", text)) != text:
        text = rest
    return [word for word in WORD.findall(text) if word not in known]


def speak(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Have the tutor, and the processes that it starts, use the translations below a folder."""
    monkeypatch.setenv("ATTN_TUTOR_LANGUAGE", CODE)
    monkeypatch.setenv("ATTN_TUTOR_TRANSLATIONS", str(folder))
