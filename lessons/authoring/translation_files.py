"""The files of a translation, brought up to date with the texts of the course."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from attn_tutor.lessons.authoring import translation_findings
from attn_tutor.lessons.files.whole_file import rewrite
from attn_tutor.lessons.format.text_walk import CourseText
from attn_tutor.lessons.reading.text_catalog import Catalog
from attn_tutor.lessons.texts import po_file, translations
from attn_tutor.lessons.texts.po_file import Entry, PoFile

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
    before = {path.stem: translation_findings.load(path) for path in folder.glob(f"*{translations.ENDING}")}
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
