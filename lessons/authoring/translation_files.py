"""The files of a translation: brought up to date with the texts of the course, and what is wrong in them.

Texts may have changed since, fields may not be the same, texts may be no more. A text without a translation is nothing
wrong: learners read it in English.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from attn_tutor.lessons.files import rewrite
from attn_tutor.lessons.format import template
from attn_tutor.lessons.format.text_walk import CourseText, names_of_fields
from attn_tutor.lessons.reading.course_texts import Catalog
from attn_tutor.lessons.reading.findings import Finding, LessonError
from attn_tutor.lessons.reading.yaml_nodes import read
from attn_tutor.lessons.texts import po_file, translations
from attn_tutor.lessons.texts.po_file import Entry, PoFile
from attn_tutor.lessons.texts.translations import LANGUAGE_CODE

UPDATE_REMEDY = "Run 'attn-tutor texts --update' with the folder."
COUNT = "count"
"""The field for the number of things."""

TOKEN = re.compile(r"[^/]+/tokens/\d+")


def findings(folder: Path, catalog: Catalog) -> Iterator[Finding]:
    """Find what is wrong in the translations below a folder, which has a folder for each language."""
    for language in sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else ():
        if not LANGUAGE_CODE.fullmatch(language.name):
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
        yield "there is no such text", UPDATE_REMEDY
        return
    if (entry.source, entry.plural) != (text.text, text.plural):
        yield "the English text is another one now", UPDATE_REMEDY
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


FORMS = {
    "id": "nplurals=1; plural=0;",
    "ru": "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2);",
    "zh": "nplurals=1; plural=0;",
}
"""The plural forms of languages that we expect; another language begins with those of English."""


def update(folder: Path, catalog: Catalog) -> dict[str, tuple[int, int]]:
    """Write the files of a language with all texts as they are now; `folder` is named by the code of the language.

    A translation stays with its text, also under a new id. Where the English text has changed, the old translation
    stands there as a proposal, marked as fuzzy. Returns for each group how many texts are translated, of how many.
    Raises `LessonError` if a file that is there cannot be read, and `OSError` if one cannot be written.
    """
    before = {path.stem: load(path) for path in folder.glob(f"*{translations.ENDING}")}
    folder.mkdir(parents=True, exist_ok=True)
    amounts = {}
    for group, texts in catalog.items():
        old = before.get(group, PoFile({}, {}))
        merged = merge(texts, old.entries)
        header = {**header_of(folder.name), **old.header}
        rewrite(folder / (group + translations.ENDING), po_file.write(header, merged).encode())
        amounts[group] = sum(entry.is_translated for entry in merged), len(merged)
    return amounts


def merge(texts: Sequence[CourseText], old: Mapping[str, Entry]) -> list[Entry]:
    """Return an entry for each text, with the translations of the old entries that fit."""
    by_source = {(entry.source, entry.plural): entry for entry in old.values() if entry.is_translated}
    return [_merged(text, old.get(text.id), by_source) for text in texts]


def _merged(text: CourseText, same: Entry | None, by_source: Mapping[tuple[str, str], Entry]) -> Entry:
    source = (text.text, text.plural)
    if same is not None and (same.source, same.plural) == source:
        found, is_fuzzy = same.translations, same.is_fuzzy
    elif moved := by_source.get(source):
        found, is_fuzzy = moved.translations, False
    elif same is not None and any(same.translations):
        found, is_fuzzy = same.translations, True
    else:
        found, is_fuzzy = ("",), False
    if text.plural and len(found) < 2:
        # A tool for translators makes as many forms of it as the language has.
        found = (*found, "")
    return Entry(text.id, text.text, text.plural, found, is_fuzzy)


def header_of(code: str) -> dict[str, str]:
    """Return the header of a new file for a language."""
    forms = FORMS.get(code) or FORMS.get(code.partition("_")[0]) or translations.ENGLISH_FORMS
    return {
        "Language": code,
        "MIME-Version": "1.0",
        "Content-Type": "text/plain; charset=UTF-8",
        "Content-Transfer-Encoding": "8bit",
        translations.PLURAL_FORMS: forms,
    }
