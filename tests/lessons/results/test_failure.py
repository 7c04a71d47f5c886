"""A failure has a line, which is not named twice."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from attn_tutor.lessons.engine import judge_children
from attn_tutor.lessons.results.result import Failure
from attn_tutor.lessons.worker.jobs.execute import YOUR_CODE, execute
from tests import pseudo_language
from tests.lessons.lesson_builders import doubling_exercise

PROGRAMS = {
    "x = 1\ny = 'abc": None,
    "x = 1\n1 / 0": 2,
    "\nraise ValueError('It was at line 2.')": None,
    "\nraise ValueError('It was at line 21.')": 2,
    "def f():\nreturn 1": 2,
}


@pytest.mark.parametrize("source", PROGRAMS)
@pytest.mark.parametrize("language", ["English", "pseudo"])
def test_a_line_that_the_message_names_is_not_named_again(
    source: str, language: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if language != "English":
        pseudo_language.write(tmp_path, pseudo_language.interface())
        pseudo_language.speak(monkeypatch, tmp_path)
    report = execute(source, YOUR_CODE, {})
    assert report is not None
    assert report.line
    assert (None if report.names_line else report.line) == PROGRAMS[source]


def test_a_verdict_does_not_name_a_line_again_that_the_failure_names() -> None:
    failure = Failure("error", "It was at line 3.", 3, names_line=True)
    assert failure.unmentioned_line is None
    assert judge_children.failed(doubling_exercise(), failure, "").unmentioned_line is None
    unnamed = replace(failure, names_line=False)
    assert judge_children.failed(doubling_exercise(), unnamed, "").unmentioned_line == 3
