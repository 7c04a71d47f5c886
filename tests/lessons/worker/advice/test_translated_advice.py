"""Advice in another language: its sentences are translated, and what it suggests is the same."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from lessons.worker.advice import advice
from tests import pseudo_language

SOURCE = "keys = torch.ones(6, 2)\nscores = keys @ keys\n"


def explained(source: str) -> tuple[str, str, list[str]]:
    names = {"torch": torch}
    try:
        exec(compile(source, "answer.py", "exec"), names)
    except Exception as error:
        found = advice(error, "answer.py", source)
        assert found is not None
        return found.text, found.untried, [item.code for item in found.suggestions]
    raise AssertionError("no exception")


def test_suggestions_are_the_same_in_any_language(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    english, untried, codes = explained(SOURCE)
    assert codes
    pseudo_language.write(tmp_path, {"advice": pseudo_language.interface()["advice"]})
    pseudo_language.speak(monkeypatch, tmp_path)
    text, rest, same = explained(SOURCE)
    assert same == codes
    assert "⟦" in text
    assert pseudo_language.without_brackets([text]) == [english]
    assert codes[0] not in rest
    assert codes[0] not in untried
