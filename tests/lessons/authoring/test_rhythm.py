"""The rhythm of a lesson, and the words that the course does not use."""

from __future__ import annotations

from typing import Any

import pytest

from attn_tutor.lessons.authoring import writing
from attn_tutor.lessons.format.lesson import Lesson
from tests.lessons.experiment_builders import STEP
from tests.lessons.lesson_builders import code_step, doubling_exercise, lesson_of, text_step
from tests.lessons.question_builders import DEFAULTS

FIND = {"id": "find", "kind": "find", "target": "box", "answer": "['x']"} | DEFAULTS | {"code": "x = 1"}


def lesson(order: str) -> Lesson:
    """Build a lesson of runs (r), exercises (e), experiments (x), finds (f), texts (t), and side steps (s)."""
    steps: list[dict[str, Any]] = []
    for number, kind in enumerate(order):
        name = {"id": f"s{number}", "exercise": f"s{number}"}
        match kind:
            case "e":
                steps.append(doubling_exercise().model_dump(by_alias=True) | name)
            case "x":
                steps.append(STEP | name)
            case "f":
                steps.append(FIND | name)
            case "t":
                steps.append(text_step(f"s{number}", "Look."))
            case _:
                steps.append(code_step(f"s{number}", "x = 1", side=kind == "s"))
    return lesson_of(*steps)


@pytest.mark.parametrize(
    ("order", "problems"),
    [
        ("rrrrexrrrefrrrer", []),
        ("rrrrexrsssssrrefrrrer", []),
        ("rrrrrexrrefrrrer", ["5 steps of the main path without code by the learner"]),
        ("rrrrexrrrefrre", ["the main path has 14 steps, not 15 to 20"]),
        ("rrrrerrrrefrrrer", ["the main path has no step of the kind 'experiment'"]),
        ("rrrrexrrrerrrrer", ["the main path has no step of the kind 'find'"]),
        ("rrrtexrrrefrrrer", ["the step is text alone"]),
    ],
)
def test_rhythm(order: str, problems: list[str]) -> None:
    assert [found[1] for found in writing.rhythm_complaints(lesson(order))] == problems


def test_a_short_lesson_has_fewer_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "is_short", lambda lesson: True)
    assert not list(writing.rhythm_complaints(lesson("rrexrrefr")))
    problems = [found[1] for found in writing.rhythm_complaints(lesson("rrexrrefrrr"))]
    assert problems == ["the main path has 11 steps, not 8 to 10"]


def test_first_code_is_counted_on_the_main_path() -> None:
    assert writing.first_code(lesson("rssre")) == 3
    assert writing.first_code(lesson("rr")) is None


@pytest.mark.parametrize(
    ("prose", "problem"),
    [
        ("It is simply so.", "the course does not say 'simply'"),
        ("Just look.", "the course does not say 'Just'"),
        ("Some say that it helps.", "the course does not say 'Some say'"),
        ("Whoever forgets it sees it.", "the course does not say 'Whoever'"),
        ("The scores are normalised.", "'normalised' is not American spelling"),
        ("Its neighbour has another colour.", "'neighbour' is not American spelling"),
        ("Look at that!", "an exclamation mark"),
    ],
)
def test_words_that_the_course_does_not_use(prose: str, problem: str) -> None:
    assert [found[0] for found in writing.voice_complaints(prose)] == [problem]


@pytest.mark.parametrize("prose", ["An unjust rule.", "The colored cells are normalized.", "It adjusts 3! ways."])
def test_words_that_it_uses(prose: str) -> None:
    assert [found[0] for found in writing.voice_complaints(prose) if "exclamation" not in found[0]] == []
