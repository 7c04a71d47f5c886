"""Advice in another language: its sentences are translated, and what it suggests is the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from textwrap import dedent, indent

import pytest
import torch

from attn_tutor.lessons.worker.advice import Advice, advice
from tests import pseudo_language
from tests.lessons.worker.advice.test_advice import BODIES, HEAD, LINES, PROGRAMS, START

SOURCES = [
    *(START + line for line in LINES),
    *(dedent(program) for program, _ in PROGRAMS.values()),
    *(HEAD.format(body=indent(body, " " * 8)) for body in BODIES),
]


def advice_on(source: str) -> Advice | None:
    """Run a program that fails, and return the advice on its exception."""
    names = {"torch": torch}
    try:
        exec(compile(source, "answer.py", "exec", dont_inherit=True), names)
    except Exception as error:
        return advice(error, "answer.py", source)
    raise AssertionError("no exception")


@pytest.mark.filterwarnings("ignore")
def test_advice_and_its_offers_are_the_same_in_any_language(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    english = [found for found in map(advice_on, SOURCES) if found is not None]
    assert len(english) > 200
    assert sum(bool(found.suggestions) for found in english) > 80
    pseudo_language.write(tmp_path, {"advice": pseudo_language.interface()["advice"]})
    pseudo_language.speak(monkeypatch, tmp_path)
    others = [found for found in map(advice_on, SOURCES) if found is not None]
    assert [found.text for found in others if pseudo_language.unsaid([found.text])] == []
    assert list(map(in_english, others)) == english


def in_english(found: Advice) -> Advice:
    text, untried, *told = pseudo_language.without_brackets(
        [found.text, found.untried, *(item.text for item in found.suggestions)]
    )
    same = (replace(item, text=said) for item, said in zip(found.suggestions, told, strict=True))
    return Advice(text, untried, tuple(same))
