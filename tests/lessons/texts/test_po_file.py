"""Files in the format of translators."""

from __future__ import annotations

import pytest

from attn_tutor.lessons.texts import po_file
from attn_tutor.lessons.texts.po_file import Entry, PoError, PoFile

WRITTEN = r"""msgid ""
msgstr "Language: ru\n"
"Plural-Forms: nplurals=1; plural=0;\n"

#. A lesson.
#: lesson.yaml:3
#, fuzzy
#| msgid "Old \"text\""
msgctxt "a/title"
msgid "New \"text\""
msgstr "Text\\"

msgctxt "a/prose"
msgid ""
"One.\n"
"\n"
"Two."
msgstr ""
msgctxt "a/count"
msgid "{count} check"
msgid_plural "{count} checks"
msgstr[0] "{count}"
msgstr[1] "{count}s"

#~ msgctxt "old"
#~ msgid "x"
#~ msgstr "y"
"""


def test_what_translators_write_is_read() -> None:
    found = po_file.read(WRITTEN)
    assert found.header == {"Language": "ru", "Plural-Forms": "nplurals=1; plural=0;"}
    assert list(found.entries.values()) == [
        Entry("a/title", 'New "text"', translations=("Text\\",), is_fuzzy=True, comments=("A lesson.",)),
        Entry("a/prose", "One.\n\nTwo."),
        Entry("a/count", "{count} check", "{count} checks", ("{count}", "{count}s")),
    ]
    assert [entry.is_translated for entry in found.entries.values()] == [False, False, True]
    assert [entry.line for entry in found.entries.values()] == [9, 13, 19]


def test_what_is_written_is_read_again() -> None:
    found = po_file.read(WRITTEN)
    assert po_file.read(po_file.write(found.header, found.entries.values())) == found


@pytest.mark.parametrize("text", ["", "a", "a\n", "\n\na\n\nb", '"', '\\"', "\\n", "a\tb\r", "[⟦é]", "{a:.2f}\n"])
def test_any_text_survives(text: str) -> None:
    entry = Entry("id", text, translations=(text,))
    assert po_file.read(po_file.write({}, [entry])) == PoFile({}, {"id": entry})


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ('msgid "a"\nmsgstr "b"\n', 1, "no msgctxt"),
        ('msgctxt "a"\nmsgid "a\nmsgstr "b"\n', 2, "not a line"),
        ('msgctxt "a"\nmsgid "a"b"\nmsgstr "b"\n', 2, "quotes"),
        ('msgctxt "a"\nmsgstr "b"\n', 1, "no msgid"),
        ('msgctxt "a"\nmsgid "b"\n', 1, "no msgstr"),
        ('msgctxt "a"\nmsgid "b"\nmsgid "c"\nmsgstr ""', 3, "twice"),
        ('msgctxt "a"\nmsgid "b"\nmsgstr ""\n\nmsgctxt "a"\nmsgid "c"\nmsgstr ""\n', 5, "twice"),
        ("<<<<<<< HEAD\n", 1, "not a line"),
    ],
)
def test_what_is_no_po_file_is_refused_with_its_line(text: str, line: int, problem: str) -> None:
    with pytest.raises(PoError, match=problem) as caught:
        po_file.read(text)
    assert caught.value.line == line
