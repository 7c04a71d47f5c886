"""What the tutor says: in English without looking anything up, and in other languages by ids."""

from __future__ import annotations

from pathlib import Path

import pytest

from attn_tutor.lessons.authoring.translation_files import header_of
from attn_tutor.lessons.engine.questions import answer_forms
from attn_tutor.lessons.texts import po_file
from attn_tutor.lessons.texts.po_file import Entry
from attn_tutor.lessons.texts.wording import Wording
from tests import pseudo_language

say = Wording("group/module")


def speak_russian(monkeypatch: pytest.MonkeyPatch, folder: Path, *entries: Entry) -> None:
    (folder / "ru").mkdir()
    (folder / "ru" / "group.po").write_text(po_file.write(header_of("ru"), entries), encoding="utf-8")
    monkeypatch.setenv("ATTN_TUTOR_LANGUAGE", "ru")
    monkeypatch.setenv("ATTN_TUTOR_TRANSLATIONS", str(folder))


def test_english_is_what_stands_in_the_code() -> None:
    assert say("a", "Stopped after {seconds:g} seconds, {{so}}.", seconds=2.0) == "Stopped after 2 seconds, {so}."
    assert [say.count("b", count, "{count} cell", "{count} cells") for count in (0, 1, 2)] == [
        "0 cells", "1 cell", "2 cells"
    ]  # fmt: skip


def test_values_are_never_read_as_fields() -> None:
    assert say("a", "`{name}` is {value}.", name="{x.__class__}", value="{") == "`{x.__class__}` is {."


def test_text_is_said_in_the_learners_language(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    speak_russian(
        monkeypatch,
        tmp_path,
        Entry("group/module/a", "After {seconds:g} s", translations=("Через {seconds:g} с",)),
        Entry("group/module/b", "One cell", "{count} cells", ("{count} ячейка", "{count} ячейки", "{count} ячеек")),
        Entry("group/module/c", "It is {x}.", translations=("Это {y}.",)),
        Entry("group/module/d", "It is {x}.", translations=("Это {x:.2f}.",)),
        Entry("group/module/e", "It was.", translations=("Было.",)),
        Entry("group/module/f", "It is.", translations=("{",)),
    )
    assert say("a", "After {seconds:g} s", seconds=2.5) == "Через 2.5 с"
    assert [say.count("b", count, "One cell", "{count} cells") for count in (1, 2, 5, 21)] == [
        "1 ячейка", "2 ячейки", "5 ячеек", "21 ячейка"
    ]  # fmt: skip
    # Other fields than in the code, or another text, or no format: English.
    assert say("c", "It is {x}.", x=1) == say("d", "It is {x}.", x=1) == "It is 1."
    assert say("e", "It is.") == say("f", "It is.") == say("g", "It is.") == "It is."


def test_words_that_are_not_said_are_found() -> None:
    said = pseudo_language.translated
    lines = [said(f"a word, {said('inside')}"), "left over"]
    assert pseudo_language.unsaid(lines, "over") == ["left"]


def test_whole_interface_can_be_translated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pseudo_language.write(tmp_path, pseudo_language.interface())
    pseudo_language.speak(monkeypatch, tmp_path)
    assert answer_forms.describe_number_error(3.0, 2.0, "3", 0.01) == "⟦Too large.⟧"
    assert answer_forms.describe_order_error((1, 3, 2), (1, 2, 3)) == "⟦1 of 3 is in the right place.⟧"
