"""The learner's language: the one that they ask for, or else that of their environment, if there is a translation."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

TRANSLATIONS = Path(__file__).parent.parent / "translations"
"""The translations that ship: a folder for each language, named by its code."""

FOLDER = "ATTN_TUTOR_TRANSLATIONS"
"""The setting for another folder of translations, for whoever works on one."""

SETTINGS = ("ATTN_TUTOR_LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")
"""The settings that name a language, the one that decides first. `ru`, `ru_RU` and `ru_RU.UTF-8` all mean Russian."""

CODE = re.compile(r"[a-z]{2,3}(_[A-Za-z]+)*")


def chosen(environ: Mapping[str, str] | None = None) -> Path | None:
    """Return the folder with the translation for the learner; None for English, or if there is no translation."""
    environ = os.environ if environ is None else environ
    translations = environ.get(FOLDER, "")
    # This is asked for every text, mostly where there is nothing but English.
    if not translations and not _has_any(TRANSLATIONS):
        return None
    wanted = next(filter(None, map(environ.get, SETTINGS)), "")
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
    while CODE.fullmatch(code) and code != "en":
        if (root / code).is_dir():
            return root / code
        code = code.rpartition("_")[0]
    return None
