"""What is wrong in translations: texts that changed since, fields that are not the same, texts that are no more.

A text without a translation is nothing wrong: learners read it in English.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from attn_tutor.lessons.format import template
from attn_tutor.lessons.format.text_walk import CourseText, names_of_fields
from attn_tutor.lessons.reading.findings import Finding, LessonError
from attn_tutor.lessons.reading.text_catalog import Catalog
from attn_tutor.lessons.reading.yaml_nodes import read
from attn_tutor.lessons.texts import po_file, translations
from attn_tutor.lessons.texts.language import CODE
from attn_tutor.lessons.texts.po_file import Entry, PoFile

UPDATE = "Run 'attn-tutor texts --update' with the folder."
COUNT = "count"
"""The field for the number of things."""

TOKEN = re.compile(r"[^/]+/tokens/\d+")


def findings(folder: Path, catalog: Catalog) -> Iterator[Finding]:
    """Find what is wrong in the translations below a folder, which has a folder for each language."""
    for language in sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else ():
        if not CODE.fullmatch(language.name):
            yield Finding(str(language), 1, 1, f"'{language.name}' is not the code of a language", "Name it like 'ru'.")
        for file in sorted(language.glob(f"*{translations.ENDING}")):
            if file.stem in catalog:
                yield from _findings_of_file(file, {text.id: text for text in catalog[file.stem]})
            else:
                remedy = f"There are: {', '.join(catalog)}."
                yield Finding(str(file), 1, 1, f"there are no texts of '{file.stem}'", remedy)


def _findings_of_file(file: Path, known: dict[str, CourseText]) -> Iterator[Finding]:
    try:
        contents = load(file)
    except LessonError as error:
        yield from error.findings
        return
    for entry in contents.entries.values():
        if not entry.is_translated:
            continue
        for problem, remedy in complaints(entry, known.get(entry.id)):
            yield Finding(str(file), entry.line, 1, f"'{entry.id}': {problem}", remedy)


def load(file: Path) -> PoFile:
    """Read a PO file. Raises `LessonError`."""
    try:
        contents = po_file.read(read(file))
        translations.form_of(contents.header.get(translations.PLURAL_FORMS, translations.ENGLISH_FORMS))
    except ValueError as error:
        raise LessonError([Finding(str(file), getattr(error, "line", 1), 1, str(error), "Mend the file.")]) from None
    return contents


def complaints(entry: Entry, text: CourseText | None) -> Iterator[tuple[str, str]]:
    """Yield what is wrong in the translation of a text, given the text as it is now, as problem and remedy."""
    if text is None:
        yield "there is no such text", UPDATE
        return
    if (entry.source, entry.plural) != (text.text, text.plural):
        yield "the English text is another one now", UPDATE
        return
    for translated in entry.translations:
        if text.is_template and not _has_fields(text, translated):
            yield "its fields are not those of the English text", "Copy what stands in braces as it is."
            return
        if TOKEN.fullmatch(entry.id) and len(translated.split()) != 1:
            yield "a token is one word", "Write no space."


def _has_fields(text: CourseText, translated: str) -> bool:
    """Return whether a translation has the fields of a text; a form for one thing may leave the number out."""
    left_out = {COUNT} if text.plural else set()
    try:
        found = names_of_fields(translated)
    except template.TemplateError:
        return False
    return found | left_out == names_of_fields(text.plural or text.text) | left_out
