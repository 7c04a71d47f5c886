"""How the course is written: the rules for prose, code and the shape of a lesson, as findings.

A text that is read beside matrices is short; its numbers come from the run, or the lesson says where else they come
from; something is seen or done at least every third step; a lesson ends with what to remember.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lessons.format.learner_texts import LearnerText, Path
from lessons.format.lesson import (
    ExerciseStep,
    Lesson,
    Question,
    RunningStep,
)
from lessons.reading import loader
from lessons.reading.yaml_nodes import Finding, locate, place

MOST_WORDS = 60
"""Of a text that is read beside matrices, and of all that is said of an answer."""

MOST_WORDS_OF_TASK = 100
"""Of a task, which has to say exactly what is wanted."""

LONGEST_TITLE = 40
MOST_CODE_LINES, WIDEST_CODE = 14, 80

MOST_READING = 2
"""Steps in a row with nothing but text."""

GOAL = "You will be able to "
LAST = "remember"
"""The id of the last step of a lesson, which says what to remember."""

CODE = re.compile(r"`[^`]*`")
FIELDS = re.compile(r"\{[^{}]*\}")
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
NAMES = re.compile(r"GPT-2|float(?:16|32|64)")
"""Names that hold digits."""

FREE = frozenset({"0", "1"})
"""Numbers that are about the form of a thing, not about what a run gave."""


def findings(lesson: Lesson) -> Iterator[Finding]:
    """What is to be mended in the writing of a lesson that was loaded from a folder."""
    root = loader.nodes(lesson)
    for path, problem, remedy in complaints(lesson):
        yield Finding(*place(locate(root, path)[1].start_mark), problem, remedy)


def complaints(lesson: Lesson) -> Iterator[tuple[Path, str, str]]:
    """The same as path in the lesson, problem and remedy."""
    yield from _of_lesson(lesson)
    for position, step in enumerate(lesson.steps):
        at: Path = ("steps", position)
        if len(step.title) > LONGEST_TITLE:
            yield (*at, "title"), f"the title is longer than {LONGEST_TITLE} characters", "Shorten it."
        if step.title[-1] in ".!":
            yield (*at, "title"), "a title has no full stop", "Take it away."
        for text in step.learner_texts:
            for problem, remedy in _of_text(text, lesson):
                yield (*at, *text.path), problem, remedy
        if isinstance(step, RunningStep):
            for field, code in step.programs:
                yield from (((*at, field), problem, remedy) for problem, remedy in _of_code(code))


def words(text: str) -> int:
    """Words of a text; a field counts as one."""
    return len(FIELDS.sub("N", text).split())


def typed(text: str) -> set[str]:
    """Numbers in a text that are not filled in by the run. Those in code are code."""
    return set(NUMBER.findall(NAMES.sub(" ", CODE.sub(" ", FIELDS.sub(" ", text))))) - FREE


def _of_lesson(lesson: Lesson) -> Iterator[tuple[Path, str, str]]:
    if not lesson.goal.startswith(GOAL):
        yield ("goal",), "the goal does not say what one will be able to do", f"Begin it with '{GOAL}'."
    last = lesson.steps[-1]
    if last.id != LAST or last.kind != "read":
        where: Path = ("steps", len(lesson.steps) - 1)
        yield where, "the lesson does not end with what to remember", f"End it with 'kind: read', 'id: {LAST}'."
    reading = 0
    for position, step in enumerate(lesson.steps):
        reading = reading + 1 if step.kind == "read" else 0
        if reading > MOST_READING:
            problem = f"{reading} steps in a row have nothing but text"
            yield ("steps", position), problem, "Let something run, or ask something, in between."
    challenges = [step for step in lesson.exercises if step.challenge]
    if len(challenges) != 1 or not isinstance(challenges[0], ExerciseStep):
        problem = f"the lesson has {len(challenges)} challenges" if challenges else "the lesson has no challenge"
        if len(challenges) == 1:
            problem = "the challenge is a question"
        yield ("steps",), problem, "Give one exercise in code 'challenge: true': who passes it may skip the lesson."
    if not any(isinstance(step, Question) for step in lesson.exercises):
        yield ("steps",), "the lesson asks nothing", "Add a question: 'kind: choice', 'predict' or 'point'."


def _of_text(learner_text: LearnerText, lesson: Lesson) -> Iterator[tuple[str, str]]:
    text, most = learner_text.text, MOST_WORDS_OF_TASK if learner_text.is_task else MOST_WORDS
    if (count := words(text)) > most:
        yield f"{count} words; at most {most} are read", "Leave something out, or make two steps of it."
    if loose := typed(text) - set(lesson.constants):
        numbers = ", ".join(sorted(loose))
        yield f"the number {numbers} is typed", "Let the run fill it in, or add it to 'constants' with its source."
    bare = CODE.sub(" ", FIELDS.sub("N", text))
    if text.count("`") % 2:
        yield "a backquote is left open", "Close it."
    # A star between spaces is a product.
    elif bare.replace("**", "").replace(" * ", "").count("*") % 2:
        yield "a star is left open", "Close it, or write a product in backquotes."
    if "\t" in text or re.search(r"\S {2,}\S", text):
        yield "spaces are left over", "Keep one."
    if learner_text.is_sentence and text.strip()[-1] not in ".?!":
        yield "the text does not end like a sentence", "End it with a full stop."


def _of_code(code: str) -> Iterator[tuple[str, str]]:
    lines = code.splitlines()
    if len(lines) > MOST_CODE_LINES:
        yield f"{len(lines)} lines of code do not fit on a screen", f"Keep to {MOST_CODE_LINES}, or make two steps."
    if max(map(len, lines), default=0) > WIDEST_CODE:
        yield "a line of the code is too wide", f"Keep to {WIDEST_CODE} columns."
