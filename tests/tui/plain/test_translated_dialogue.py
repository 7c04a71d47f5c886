"""The dialogue in another language: the same commands do the same, and nothing but the words is different."""

from __future__ import annotations

import pytest

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import ChoiceStep, Course
from attn_tutor.lessons.learner.progress import Progress
from tests import pseudo_language
from tests.course import COURSE
from tests.tui.plain.conversation import Conversation

CHOICE = next((lesson, step) for lesson in COURSE.lessons for step in lesson.steps if isinstance(step, ChoiceStep))

JOURNEYS = {
    "the steps of a lesson": (
        "next",
        "next",
        "back",
        "next",
        "next",
        "next",
        "side",
        "next",
        "map",
        "steps",
        "progress",
    ),
    "help": ("help", "help train", "help show", "keys", "nxt", "zzzz", "re", ""),
    "where nothing is": ("train", "redo", "follow 1", "draft", "stop", "compare", "changes", "return", "review"),
    "numbers": (
        *(
            "show weights",
            "show weights[1:3,2]",
            "read weights[1]",
            "row weights[1]",
            "sentences",
            "again",
            "sentences",
        ),
        *("show wieghts", "read weights[9]", "overview weights", "shapes", "memory weights", "weights[1, 2]"),
    ),
    "explanations": ("explain weights[1, 2]", "2", "up", "3", "explain weights[1]", "explain nothing[0]"),
    "changes": (
        *("set weights[1,2] = 0.5", "changes", "undo", "redo", "compare weights", "reset", "set weights[1,2]"),
        *("set nothing[0] = 1", "set weights[1,2] = x", "knobs", "knob", "knob words a b a", "changes", "reset"),
    ),
    "the flow": ("flow", "open function", "open function", "box start", "open nothing"),
    "a jump": ("go 1 2", "go 99", "go 1 999", "go one-query similarity", "challenge", "return", "return"),
    "a question": (f"go {CHOICE[0].id} {CHOICE[1].id}", "hint", "answer z", "answer a", "answer b", "answer c", "0.1"),
    "an exercise": ("go 0 translate", "line 2", "line 2 english = 1", "line 9 x", "line", "hint", "hint", "draft"),
    "words of the field": ("glossary nothing", "references"),
}


def said_to(course: Course, lines: tuple[str, ...], session: Session | None = None) -> list[str]:
    """Return what a dialogue says to each of these lines, in which nothing has to be wrapped."""
    learner = Conversation(session, course, Progress(None), width=2000)
    said = [learner.begin(), *(learner.type(line) for line in lines)]
    learner.close()
    return said


@pytest.fixture(scope="module")
def english() -> dict[str, list[str]]:
    """Return what is said in English on each journey."""
    return {name: said_to(COURSE, lines) for name, lines in JOURNEYS.items()}


@pytest.mark.parametrize("name", JOURNEYS)
def test_nothing_but_the_words_is_different(name: str, english: dict[str, list[str]], translated: Course) -> None:
    lines = ("", *JOURNEYS[name])
    for line, before, after in zip(lines, english[name], said_to(translated, JOURNEYS[name]), strict=True):
        assert plain(after) == plain(before), line


def plain(text: str) -> str:
    """Return a text without brackets, on one line, as columns are wider where words are longer, and in small letters.

    A name at the beginning of a sentence has a large letter, but none behind a bracket. A word in brackets is not
    offered as the index of a cell.
    """
    line = " ".join(pseudo_language.without_brackets([text])[0].split())
    return line.replace(" or weights[Your,Your]", "").casefold()
