"""Advice in another language: its sentences are translated, and what it suggests is the same."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

import pytest
import torch

from lessons.worker.advice import Advice, advice
from tests import pseudo_language
from tests.lessons.worker.advice.test_advice import BODIES, HEAD, LINES, PROGRAMS, START

SOURCE = "keys = torch.ones(6, 2)\nscores = keys @ keys\n"


def advice_on(source: str) -> Advice | None:
    """Run a program that fails, and return the advice on its exception."""
    names = {"torch": torch}
    try:
        exec(compile(source, "answer.py", "exec", dont_inherit=True), names)
    except Exception as error:
        return advice(error, "answer.py", source)
    raise AssertionError("no exception")


def explained(source: str) -> tuple[str, str, list[str]]:
    found = advice_on(source)
    assert found is not None
    return found.text, found.untried, [item.code for item in found.suggestions]


@pytest.mark.filterwarnings("ignore")
def test_no_word_of_advice_is_out_of_reach(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pseudo_language.write(tmp_path, {"advice": pseudo_language.interface()["advice"]})
    pseudo_language.speak(monkeypatch, tmp_path)
    programs = [START + line for line in LINES] + [dedent(program) for program, _ in PROGRAMS.values()]
    programs += [HEAD.format(body=indent(body, " " * 8)) for body in BODIES]
    said = [found.text for found in map(advice_on, programs) if found is not None]
    assert len(said) > 200
    assert [text for text in said if pseudo_language.unsaid([text])] == []


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
