"""Translations: what is wrong in them, and how they are brought up to date."""

from __future__ import annotations

from pathlib import Path

import pytest

from attn_tutor.lessons.authoring import translation_files
from attn_tutor.lessons.format.text_walk import CourseText
from attn_tutor.lessons.reading.course_texts import Catalog
from attn_tutor.lessons.reading.findings import LessonError
from attn_tutor.lessons.texts import po_file
from attn_tutor.lessons.texts.po_file import Entry
from tests import pseudo_language

TITLE, PROSE = CourseText("made/title", "Made"), CourseText("made/only/prose", "It is {x[0]:.1f}.", True)
CHECKS = CourseText("made/checks", "One {n}", True, "{count} of {n}")
TOKEN = CourseText("made/tokens/0", "Your")
TEXTS: Catalog = {"made": [TITLE, PROSE, CHECKS, TOKEN]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder for translations."""
    (tmp_path / "translations").mkdir()
    return tmp_path / "translations"


def problems(folder: Path) -> list[str]:
    return [f"{found.line} {found.problem}" for found in translation_files.findings(folder, TEXTS)]


def write(folder: Path, *entries: Entry, name: str = "made") -> None:
    (folder / "ru").mkdir(exist_ok=True)
    header = translation_files.header_of("ru")
    (folder / "ru" / f"{name}.po").write_text(po_file.write(header, entries), encoding="utf-8")


def test_whole_translation_has_no_findings(folder: Path) -> None:
    pseudo_language.write(folder, TEXTS)
    assert problems(folder) == []
    assert problems(folder / "nothing") == []


def test_form_for_one_thing_may_have_the_number_or_not(folder: Path) -> None:
    write(folder, Entry(CHECKS.id, CHECKS.text, CHECKS.plural, ("{count} {n}", "один {n}", "{n}: {count}")))
    assert problems(folder) == []


def test_text_without_a_translation_is_no_finding(folder: Path) -> None:
    write(folder, Entry(TITLE.id, TITLE.text), Entry(PROSE.id, "Old.", translations=("Старый.",), is_fuzzy=True))
    assert problems(folder) == []


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        (Entry(TITLE.id, "Mad", translations=("Сделано",)), "the English text is another one now"),
        (Entry("made/gone", "Made", translations=("Сделано",)), "there is no such text"),
        (Entry(PROSE.id, PROSE.text, translations=("Это {x[0]:.2f}.",)), "its fields are not those"),
        (Entry(PROSE.id, PROSE.text, translations=("Это {x[0]:.1f",)), "its fields are not those"),
        (Entry(PROSE.id, PROSE.text, translations=("Это 0.5.",)), "its fields are not those"),
        (Entry(CHECKS.id, CHECKS.text, "{n} tests", ("{n}", "{n}", "{n}")), "the English text is another one now"),
        (Entry(CHECKS.id, CHECKS.text, CHECKS.plural, ("{n}", "{n}", "много")), "its fields are not those"),
        (Entry(TOKEN.id, TOKEN.text, translations=("Твоё путешествие",)), "a token is one word"),
    ],
)
def test_what_is_wrong_is_found_with_its_line(folder: Path, entry: Entry, problem: str) -> None:
    write(folder, entry)
    [found] = problems(folder)
    assert found.startswith(f"9 '{entry.id}': {problem}")


def test_files_that_do_not_belong_there_are_found(folder: Path) -> None:
    write(folder, name="gone")
    (folder / "Russian").mkdir()
    (folder / "ru" / "made.po").write_text("msgid\n")
    assert problems(folder) == [
        "1 'Russian' is not the code of a language",
        "1 there are no texts of 'gone'",
        "1 this is not a line of a PO file",
    ]


def test_update_keeps_what_fits_and_proposes_the_rest(folder: Path) -> None:
    write(
        folder,
        Entry(TITLE.id, TITLE.text, translations=("Сделано",)),
        Entry(PROSE.id, "It was {x[0]:.1f}.", translations=("Это было {x[0]:.1f}.",)),
        Entry("made/tokens/7", "Your", translations=("Твоё",)),
        Entry("made/gone", "Gone", translations=("Ушло",)),
    )
    assert translation_files.update(folder / "ru", TEXTS) == {"made": (2, 4)}
    found = translation_files.load(folder / "ru" / "made.po")
    assert list(found.entries.values()) == [
        Entry(TITLE.id, TITLE.text, translations=("Сделано",)),
        Entry(PROSE.id, PROSE.text, translations=("Это было {x[0]:.1f}.",), is_fuzzy=True),
        Entry(CHECKS.id, CHECKS.text, CHECKS.plural, ("", "")),
        Entry(TOKEN.id, TOKEN.text, translations=("Твоё",)),
    ]
    assert found.header["Plural-Forms"].startswith("nplurals=3")
    assert problems(folder) == []
    before = (folder / "ru" / "made.po").read_bytes()
    translation_files.update(folder / "ru", TEXTS)
    assert (folder / "ru" / "made.po").read_bytes() == before


def test_update_never_writes_over_a_file_that_it_cannot_read(folder: Path) -> None:
    write(folder)
    (folder / "ru" / "made.po").write_text("msgid\n")
    with pytest.raises(LessonError):
        translation_files.update(folder / "ru", TEXTS)
    assert (folder / "ru" / "made.po").read_text() == "msgid\n"
