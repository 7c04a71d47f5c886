"""The rules of writing for prose, code and the structure of a lesson, and findings where they are broken.

A text that is read beside matrices is short; its numbers come from the run, unless the lesson gives their source;
at least every third step runs or asks something; a lesson ends with what to remember.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from attn_tutor.lessons.authoring import english_in_code, rhythm, side_variables, voice
from attn_tutor.lessons.authoring.rewritten import is_rewritten
from attn_tutor.lessons.format import template
from attn_tutor.lessons.format.learner_texts import FIELDS, LearnerText, Path, count_words
from attn_tutor.lessons.format.lesson import (
    ExerciseStep,
    Lesson,
    Question,
    Step,
)
from attn_tutor.lessons.reading import loader
from attn_tutor.lessons.reading.findings import Finding
from attn_tutor.lessons.reading.yaml_nodes import locate, position_of

MOST_WORDS = 95
"""The largest number of words in a text that is read beside matrices. Whether it fits there, `screen_fit` measures."""

MOST_WORDS_OF_TASK = 125
"""The largest number of words in a task, which has to say exactly what is wanted."""

LONGEST_TITLE = 40
MOST_CODE_LINES, WIDEST_CODE = 14, 80

MOST_READING = 2
"""The largest number of consecutive steps with nothing but text."""

GOAL = "You will be able to "
LAST_STEP = "remember"
"""The id of the last step of a lesson, which says what to remember."""

CODE = re.compile(r"`[^`]*`")
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
NAMES_WITH_DIGITS = re.compile(r"GPT-2|float(?:16|32|64)")
"""Names that contain digits."""

ALLOWED_NUMBERS = frozenset({"0", "1"})
"""Numbers that may be typed, since they hardly ever come from a run."""


def findings(lesson: Lesson) -> Iterator[Finding]:
    """Find what breaks the rules of writing in a lesson that was loaded from a folder."""
    root = loader.read_nodes(lesson)
    for path, problem, remedy in complaints(lesson):
        yield Finding(*position_of(locate(root, path)[1].start_mark), problem, remedy)


def complaints(lesson: Lesson) -> Iterator[tuple[Path, str, str]]:
    """Yield what breaks the rules of writing in a lesson, as path, problem and remedy."""
    yield from _complaints_of_lesson(lesson)
    yield from side_variables.complaints(lesson)
    for position, step in enumerate(lesson.steps):
        at: Path = ("steps", position)
        if len(step.title) > LONGEST_TITLE:
            yield (*at, "title"), f"the title is longer than {LONGEST_TITLE} characters", "Shorten it."
        if step.title[-1] in ".!":
            yield (*at, "title"), "a title has no full stop", "Take it away."
        if is_rewritten(lesson):
            yield from (((*at, "title"), *found) for found in voice.complaints(CODE.sub(" ", step.title)))
            for inside, problem, remedy in english_in_code.complaints(step):
                yield (*at, *inside), problem, remedy
        for text in step.learner_texts:
            for problem, remedy in (*_complaints_of_text(text, lesson), *_complaints_of_keys(text.text, step, lesson)):
                yield (*at, *text.path), problem, remedy
        for field, code in step.programs:
            yield from (((*at, field), problem, remedy) for problem, remedy in _complaints_of_code(code))


def typed_numbers(text: str) -> set[str]:
    """Return the numbers in a text that the run does not fill in; numbers in code do not count."""
    return set(NUMBER.findall(NAMES_WITH_DIGITS.sub(" ", CODE.sub(" ", FIELDS.sub(" ", text))))) - ALLOWED_NUMBERS


def _complaints_of_lesson(lesson: Lesson) -> Iterator[tuple[Path, str, str]]:
    if not lesson.goal.startswith(GOAL):
        yield ("goal",), "the goal does not say what one will be able to do", f"Begin it with '{GOAL}'."
    last = lesson.steps[-1]
    if last.id != LAST_STEP or last.is_exercise:
        where: Path = ("steps", len(lesson.steps) - 1)
        yield where, "the lesson does not end with what to remember", f"End it with a step 'id: {LAST_STEP}'."
    reading = 0
    for step in lesson.main_steps:
        reading = reading + 1 if step.kind == "read" else 0
        if reading > MOST_READING:
            problem = f"{reading} steps in a row have nothing but text"
            yield ("steps", lesson.index(step.id)), problem, "Let something run, or ask something, in between."
    challenges = [step for step in lesson.exercises if step.challenge]
    if len(challenges) != 1 or not isinstance(challenges[0], ExerciseStep):
        problem = f"the lesson has {len(challenges)} challenges" if challenges else "the lesson has no challenge"
        if len(challenges) == 1:
            problem = "the challenge is a question"
        yield ("steps",), problem, "Give one exercise in code 'challenge: true': who passes it may skip the lesson."
    if is_rewritten(lesson):
        yield from rhythm.complaints(lesson)
    if not any(isinstance(step, Question) for step in lesson.main_steps):
        yield ("steps",), "the lesson asks nothing", "Add a question: 'kind: choice', 'predict' or 'point'."


def _complaints_of_text(learner_text: LearnerText, lesson: Lesson) -> Iterator[tuple[str, str]]:
    text, most = learner_text.text, MOST_WORDS_OF_TASK if learner_text.is_task else MOST_WORDS
    if (count := count_words(text)) > most:
        yield f"{count} words; at most {most} are read", "Leave something out, or make two steps of it."
    if unexplained := typed_numbers(text) - set(lesson.constants):
        numbers = ", ".join(sorted(unexplained))
        yield f"the number {numbers} is typed", "Let the run fill it in, or add it to 'constants' with its source."
    prose = CODE.sub(" ", FIELDS.sub("N", text))
    if text.count("`") % 2:
        yield "a backquote is left open", "Close it."
    # A star between spaces is a product, not emphasis.
    elif prose.replace("**", "").replace(" * ", "").count("*") % 2:
        yield "a star is left open", "Close it, or write a product in backquotes."
    if "\t" in text or re.search(r"\S {2,}\S", text):
        yield "spaces are left over", "Keep one."
    if is_rewritten(lesson):
        yield from voice.complaints(prose)
    # What is quoted may end the sentence, with its full stop before the closing mark.
    if learner_text.is_sentence and text.strip().rstrip('")*')[-1:] not in (".", "?", "!"):
        yield "the text does not end like a sentence", "End it with a full stop; if it contains ' #', put it in quotes."


def _complaints_of_keys(text: str, step: Step, lesson: Lesson) -> Iterator[tuple[str, str]]:
    """Yield the examples of keys that are neither in a tensor of the step nor a knob of the lesson."""
    shown = [tensor.name for tensor in step.tensors]
    there = {*shown, *(knob.name for knob in lesson.knobs)}
    for key in template.keys_of(text):
        if key.example and key.example.partition("[")[0] not in there:
            yield (
                f"'{{{key.key}}}' names nothing that the step shows",
                "Name a number, a tensor, or a knob, or nothing.",
            )


def _complaints_of_code(code: str) -> Iterator[tuple[str, str]]:
    lines = code.splitlines()
    if len(lines) > MOST_CODE_LINES:
        yield f"{len(lines)} lines of code do not fit on a screen", f"Keep to {MOST_CODE_LINES}, or make two steps."
    if max(map(len, lines), default=0) > WIDEST_CODE:
        yield "a line of the code is too wide", f"Keep to {WIDEST_CODE} columns."
