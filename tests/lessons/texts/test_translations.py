"""The learner's language, and what its translators have written."""

from __future__ import annotations

from pathlib import Path

import pytest

from attn_tutor.lessons.authoring.translation_files import FORMS
from attn_tutor.lessons.texts import po_file, translations
from attn_tutor.lessons.texts.po_file import Entry
from attn_tutor.lessons.texts.translations import Translations


@pytest.mark.parametrize(
    ("environ", "code"),
    [
        ({}, None),
        ({"LANG": "C.UTF-8"}, None),
        ({"LANG": "en_US.UTF-8"}, None),
        ({"LANG": "ru_RU.UTF-8"}, "ru"),
        ({"LANG": "zh_CN"}, "zh_CN"),
        ({"LANG": "zh_TW"}, None),
        ({"LANG": "fr"}, None),
        ({"LANG": "ru", "LC_MESSAGES": "en_GB"}, None),
        ({"LANG": "ru", "LC_ALL": "C"}, None),
        ({"LC_ALL": "C", "ATTN_TUTOR_LANGUAGE": "ru"}, "ru"),
        ({"LANG": "ru", "ATTN_TUTOR_LANGUAGE": "en"}, None),
        ({"ATTN_TUTOR_LANGUAGE": "zh-CN"}, "zh_CN"),
        ({"ATTN_TUTOR_LANGUAGE": ".."}, None),
        ({"ATTN_TUTOR_LANGUAGE": "../ru"}, None),
    ],
)
def test_language_is_the_one_that_is_asked_for_or_that_of_the_environment(
    environ: dict[str, str], code: str | None, tmp_path: Path
) -> None:
    for name in ("ru", "zh_CN", "en"):
        (tmp_path / name).mkdir()
    found = translations.chosen_folder({**environ, translations.FOLDER_SETTING: str(tmp_path)})
    assert found == (tmp_path / code if code else None)


def written(folder: Path, *entries: Entry, forms: str = FORMS["ru"]) -> Translations:
    text = po_file.write({translations.PLURAL_FORMS: forms}, entries)
    (folder / "group.po").write_text(text, encoding="utf-8")
    return Translations(folder)


def test_translation_counts_only_for_the_text_that_it_was_made_for(tmp_path: Path) -> None:
    found = written(
        tmp_path, Entry("a", "One", translations=("Раз",)), Entry("b", "Two", translations=("Два",), is_fuzzy=True)
    )
    assert found.find("group", "a", "One") == "Раз"
    assert found.find("group", "a", "Once") is None
    assert found.find("group", "b", "Two") is None
    assert found.find("group", "c", "Three") is None
    assert found.find("other", "a", "One") is None
    assert Translations(None).find("group", "a", "One") is None


@pytest.mark.parametrize(("count", "form"), [(1, "чек"), (2, "чека"), (5, "чеков"), (11, "чеков"), (21, "чек")])
def test_form_is_the_one_of_the_number(tmp_path: Path, count: int, form: str) -> None:
    found = written(tmp_path, Entry("a", "check", "checks", ("чек", "чека", "чеков")))
    assert found.find_form("group", "a", "check", count) == form


def test_form_that_is_missing_is_english(tmp_path: Path) -> None:
    found = written(tmp_path, Entry("a", "check", "checks", ("чек", "чека")))
    assert found.find_form("group", "a", "check", 5) is None


@pytest.mark.parametrize("content", [b"msgid", b"\xff", b'msgid ""\nmsgstr "Plural-Forms: plural=import os;\\n"'])
def test_file_that_cannot_be_read_is_as_if_it_were_not_there(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "group.po").write_bytes(content)
    assert Translations(tmp_path).find("group", "a", "One") is None
