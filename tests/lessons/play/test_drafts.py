"""Drafts that a program has left in a file."""

from __future__ import annotations

import pytest

from attn_tutor.lessons.learner.progress import Progress
from attn_tutor.lessons.play.drafts import Drafts, is_cut_short


@pytest.mark.parametrize(
    ("before", "code", "cut"),
    [
        ("a = 1\nb = 2\n", "a = 1\nb", True),
        ("a = 1\nb = 2\n", "a = 1\n", True),
        ("a = 1\nb = 2\n", "a = 1\nb = 2", False),
        ("a = 1\nb = 2\n", "b = 2\n", False),
        ("a = 1\n", "a = 1\nb = 2\n", False),
        ("s = 'Ж'\n", "s = '\udcd0", True),
        ("", "", False),
    ],
)
def test_what_is_cut_short(before: str, code: str, cut: bool) -> None:
    assert is_cut_short(before, code) == cut


def test_what_an_editor_cuts_short_is_archived() -> None:
    progress = Progress.open()
    drafts = Drafts(progress)
    drafts.save("e", "a = 1\nb = 2\n")
    drafts.save_edited("e", "a = 1\nb = 2\n", "a = 1\nc = 3\n")
    assert progress.archived("e") == []
    drafts.save_edited("e", "a = 1\nc = 3\n", "a = 1\n")
    assert progress.draft("e") == "a = 1\n"
    assert [each.code for each in progress.archived("e")] == ["a = 1\nc = 3\n"]
    progress.close()
