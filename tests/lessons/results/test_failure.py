"""A failure has a line, which is not named twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from lessons.results.result import Failure
from tests import pseudo_language

MESSAGES = {"A size does not fit.": 3, "It was at line 3.": None, "It was at line 31.": 3, "Line 2 calls it.": 3}


@pytest.mark.parametrize("message", MESSAGES)
def test_a_line_that_the_message_names_is_not_named_again(message: str) -> None:
    assert Failure("error", message, 3).unmentioned_line == MESSAGES[message]
    assert Failure("error", message).unmentioned_line is None


def test_a_line_is_found_in_the_words_of_the_language(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pseudo_language.write(tmp_path, pseudo_language.interface())
    pseudo_language.speak(monkeypatch, tmp_path)
    assert Failure("error", "It was at ⟦line 3⟧.", 3).unmentioned_line is None
    assert Failure("error", "It was at line 3.", 3).unmentioned_line == 3
