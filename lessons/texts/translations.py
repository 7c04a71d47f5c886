"""The learner's language, and what its translators have written, read a file at a time.

The language is the one that the learner asks for, or else that of their environment, if there is a translation.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from attn_tutor.lessons.files import read_text

if TYPE_CHECKING:
    from attn_tutor.lessons.texts import po_file


TRANSLATIONS = Path(__file__).parent.parent / "translations"
"""The translations that ship: a folder for each language, named by its code."""

FOLDER_SETTING = "ATTN_TUTOR_TRANSLATIONS"
"""The setting for another folder of translations, for whoever works on one."""

LANGUAGE_SETTINGS = ("ATTN_TUTOR_LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")
"""The settings that name a language, the one that decides first. `ru`, `ru_RU` and `ru_RU.UTF-8` all mean Russian."""

LANGUAGE_CODE = re.compile(r"[a-z]{2,3}(_[A-Za-z]+)*")


def chosen_folder(environ: Mapping[str, str] | None = None) -> Path | None:
    """Return the folder with the translation for the learner; None for English, or if there is no translation."""
    environ = os.environ if environ is None else environ
    translations = environ.get(FOLDER_SETTING, "")
    # This is asked for every text, mostly where there is nothing but English.
    if not translations and not _has_any(TRANSLATIONS):
        return None
    wanted = next(filter(None, map(environ.get, LANGUAGE_SETTINGS)), "")
    return _folder(translations, wanted)


@lru_cache
def _has_any(translations: Path) -> bool:
    """Return whether there is a folder of a language."""
    return translations.is_dir() and any(path.is_dir() for path in translations.iterdir())


@lru_cache
def _folder(translations: str, wanted: str) -> Path | None:
    """Return the folder of the language that is wanted, or of its language without the country."""
    code = wanted.partition(".")[0].partition("@")[0].replace("-", "_")
    root = Path(translations) if translations else TRANSLATIONS
    while LANGUAGE_CODE.fullmatch(code) and code != "en":
        if (root / code).is_dir():
            return root / code
        code = code.rpartition("_")[0]
    return None


ENDING = ".po"
PLURAL_FORMS = "Plural-Forms"
ENGLISH_FORMS = "nplurals=2; plural=(n != 1);"

Form = Callable[[int], int]
"""Returns which form a number of things has in a language, from 0."""


class Translations:
    """The translations into one language. Of a text that has none for what it says now, there is only the English.

    Attributes:
        folder: the folder with the files, one for each group of texts; None for English.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._files: dict[str, tuple[dict[str, po_file.Entry], Form]] = {}

    def find(self, group: str, text_id: str, source: str) -> str | None:
        """Return the translation of a text of a group, made for this English source; None if there is none."""
        entry = self._entry(group, text_id, source)
        return entry.translations[0] if entry else None

    def find_form(self, group: str, text_id: str, source: str, count: int) -> str | None:
        """Return the translation of a text that says how many there are, None if there is none.

        `source` is the English text for a single thing.
        """
        entry = self._entry(group, text_id, source)
        if entry is None:
            return None
        form = self._file(group)[1](count)
        return entry.translations[form] if 0 <= form < len(entry.translations) else None

    def load(self, group: str) -> None:
        """Read the texts of a group now, rather than when one of them is said first."""
        self._file(group)

    def _entry(self, group: str, text_id: str, source: str) -> po_file.Entry | None:
        if self.folder is None:
            return None
        entry = self._file(group)[0].get(text_id)
        return entry if entry and entry.is_translated and entry.source == source else None

    def _file(self, group: str) -> tuple[dict[str, po_file.Entry], Form]:
        assert self.folder is not None
        if group not in self._files:
            from attn_tutor.lessons.texts import po_file  # English needs none

            try:
                read = po_file.read(read_text(self.folder / (group + ENDING)))
                self._files[group] = dict(read.entries), form_of(read.header.get(PLURAL_FORMS, ENGLISH_FORMS))
            except (OSError, ValueError):
                # What is wrong in a file, the linter says to translators; learners read the English text.
                self._files[group] = {}, form_of(ENGLISH_FORMS)
        return self._files[group]


def form_of(plural_forms: str) -> Form:
    """Return the function that a `Plural-Forms` field describes. Raises `ValueError` if it cannot be read."""
    from gettext import c2py  # only other languages than English need it

    _, found, formula = plural_forms.partition("plural=")
    if not found:
        raise ValueError(f"'{plural_forms}' has no 'plural='")
    form: Form = c2py(formula.partition(";")[0].strip())
    return form


@lru_cache
def _of(folder: Path | None) -> Translations:
    return Translations(folder)


_fixed: list[Translations] = []
"""What this process has been told to use from now on, the last one first; nothing if it asks its environment."""


def current() -> Translations:
    """Return the translations into the learner's language, which are none if it is English."""
    return _fixed[-1] if _fixed else _of(chosen_folder())


def fix(*groups: str) -> None:
    """Read these groups now, and keep to the language: code of a learner that runs later cannot change what is said."""
    found = current()
    if found.folder is not None:
        for group in groups:
            found.load(group)
    _fixed.append(found)
