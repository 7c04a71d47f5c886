"""What novices at YAML write, and the sentence that they get: field, what is wrong, what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from attn_tutor.lessons.authoring import skeleton
from attn_tutor.lessons.format.lesson import LessonFile
from attn_tutor.lessons.reading.findings import Finding, LessonError
from attn_tutor.lessons.reading.loader import parse_lesson
from attn_tutor.lessons.reading.model_findings import known_keys

LESSON = skeleton.lesson_files(Path("01-rows"))[Path("01-rows/lesson.yaml")].replace(
    "include: exercises/rows-total.yaml", "{kind: read, id: a, title: A, prose: A.}"
)
AXES = "axes: [town, day]\n"
AS_LIST = "Write it as [one, two], or each item on a line of its own after '- '."
AS_FIELDS = "Write each of them on a line of its own, as 'name: value'."
AS_TEXT = "Put it in quotes, or write it as a block after '|'."


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        ("title: A table of numbers", "title:", "'title' is empty. Write something after its colon."),
        ("title: A table of numbers", "title: yes", "'title' is not a text: YAML takes 'true' for true or false."),
        ("title: A table of numbers", "title: 2024-05-01", "YAML takes '2024-05-01' for a number or a date."),
        ("title: A table of numbers", "title: {rain} today", "while parsing a block mapping"),
        ("title: A table of numbers", "title: [rain]", f"'title' is not a text. {AS_TEXT}"),
        ("title: A table of numbers", "title: `rain`", "cannot start any token. Put the text in quotes, or write"),
        (AXES, "axes: town\n", f"'axes' is not a list. {AS_LIST}"),
        (AXES, AXES + "        labels: [a, b]\n", f"'labels' has no fields. {AS_FIELDS}"),
        ("- {name: rain, kind: vector, axes: [town, day]}", "- rain", "this item of 'show' has no fields. Write"),
        ("asks: number\n", "asks: number\n    within: near\n", "'within' is 'near', and not a number."),
        ("asks: number\n", "asks: number\n    side: maybe\n", "'side' is 'maybe', and neither true nor false."),
        ("asks: number\n", "asks: number\n    seed: 1.5\n", "'seed' is '1.5', and not a whole number."),
        ("      - Towns are rows, and they are counted from 0.\n", "", "'hints' has 2 items and needs at least 3."),
        ("why: That is column", "whi: That is column", "'whi' is not known here. Did you mean 'why'?"),
        ("id: predict-sum", "id: Predict", "'Predict' is not an id. Use small letters, digits and single hyphens"),
    ],
)  # fmt: skip
def test_a_mistake_gets_its_sentence(before: str, after: str, sentence: str) -> None:
    assert before in LESSON
    with pytest.raises(LessonError) as caught:
        parse_lesson(LESSON.replace(before, after, 1), "lesson.yaml", number=1, slug="rows")
    found = [str(finding) for finding in caught.value.findings]
    assert any(sentence in each for each in found), found


@pytest.mark.parametrize(
    ("path", "key"),
    [
        (("steps", 0, "run", "show", 0, "x"), "axes"),
        (("steps", 0, "choice", "options", 0, "x"), "right"),
        (("steps", 0, "exercise", "mistakes", 0, "edits", 0, 1, "x"), "replace"),
        (("steps", 0, "exercise", "checks", 0, "fail", 0, "x"), "if"),
        (("steps", 0, "train", "curves", 0, "level", "x"), "expr"),
        (("knobs", 0, "number", "x"), "refused"),
        (("limits", "x"), "memory"),
    ],
)
def test_known_keys_are_those_of_the_place(path: tuple[int | str, ...], key: str) -> None:
    assert key in known_keys(LessonFile, path)


@pytest.mark.parametrize(
    ("problem", "sentence"),
    [
        ("the step does not run", "the step does not run. Mend it."),
        ("Did you mean `lengths`?", "Did you mean `lengths`? Mend it."),
        ("it should be 4.", "it should be 4. Mend it."),
    ],
)
def test_a_finding_has_one_mark_between_its_sentences(problem: str, sentence: str) -> None:
    assert str(Finding("lesson.yaml", 3, 5, problem, "Mend it.")) == f"lesson.yaml:3:5: {sentence}"
