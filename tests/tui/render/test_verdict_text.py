"""The verdict on an answer as styled text."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.style import Style

from attn_tutor.lessons.format.lesson import Lesson
from attn_tutor.lessons.reading.folders import IN_NO_COURSE
from attn_tutor.lessons.results.result import AnswerDifference, CheckResult, Judgement, NamedMistake, Tensor
from attn_tutor.tui.render import exercise_text

CHECKS = (CheckResult("shape", True), CheckResult("numbers", False, "they *differ*"), CheckResult("masks", True))


def tensor(name: str, *values: float) -> Tensor:
    return Tensor(name, "vector", "float32", (len(values),), ("dim",), (("a", "b"),), min(values), max(values), values)


def lines(judgement: Judgement, more: str = "") -> list[str]:
    return exercise_text.verdict(judgement, help="f3: hint", more=more).plain.split("\n")


def test_not_yet() -> None:
    assert lines(Judgement("e", "failed", "numbers: they differ", checks=CHECKS, seed=7)) == [
        "✗ Not yet.   f3: hint",
        "✗ numbers: they differ",
        "✓ shape   ✓ masks",
        "seed 7: attn-tutor check e FILE --seed 7 repeats this",
    ]


def test_the_command_names_the_course() -> None:
    failed = Judgement("e", "failed", "x", checks=CHECKS, seed=7)
    rows, no_course = (Lesson.model_construct(folder="", state_folder=each) for each in ("courses/rows", IN_NO_COURSE))
    text = exercise_text.verdict(failed, rows).plain
    assert text.endswith("seed 7: attn-tutor check e FILE --seed 7 --course rows repeats this")
    assert "seed" not in exercise_text.verdict(failed, no_course).plain


def test_passed() -> None:
    passed = Judgement("e", "passed", "All checks pass.", checks=(CheckResult("shape", True),), seed=7)
    assert lines(passed) == ["✓ Passed.   f3: hint   f8: go on", "✓ shape"]
    assert lines(passed, more="Tested out.")[1:] == ["Tested out.", "✓ shape"]


def test_mistakes_come_first_and_by_name() -> None:
    two = (NamedMistake("a", "scaled twice", "once is `enough`", 7), NamedMistake("b", "no mask", "the future leaks"))
    text = exercise_text.verdict(Judgement("e", "failed", "x", 7, two, checks=CHECKS, seed=3), help="f3: hint")
    assert text.plain.split("\n")[:4] == [
        "✗ Not yet.   f3: hint",
        "scaled twice (line 7): once is enough",
        "no mask: the future leaks",
        "✗ numbers: they differ",
    ]
    bold = [text.plain[span.start : span.end] for span in text.spans if span.style == Style(bold=True)]
    assert bold == ["scaled twice", "no mask"]


def test_an_error_that_is_a_known_mistake_says_both() -> None:
    found = lines(Judgement("e", "error", "ValueError: no", 4, (NamedMistake("a", "one head", "why", 3),)))
    assert found == ["✗ Error, line 4: ValueError: no", "one head (line 3): why"]


def test_where_the_answer_differs() -> None:
    difference = AnswerDifference("weights", 7, tensor("weights", 1, 2), tensor("weights", 1, 3), ("scores", "queries"))
    found = lines(Judgement("e", "failed", "x", 7, difference=difference, checks=CHECKS, seed=3, stdout="hello\n\n"))
    assert found[0] == "✗ Not yet.   d: see where it differs   f3: hint"
    assert found[3:] == [
        "The first result that differs: weights, line 7 (agreeing before: scores, queries).",
        "It printed:",
        "hello",
        "seed 3: attn-tutor check e FILE --seed 3 repeats this",
    ]
    alone = replace(difference, line=None, agreed=())
    assert exercise_text.departure_text(alone).plain == "The first result that differs: weights."


@pytest.mark.parametrize(
    ("verdict", "first"),
    [
        ("error", "Error"),
        ("timeout", "Too long"),
        ("memory", "Out of memory"),
        ("crash", "Crash"),
        ("failed", "Not yet"),
    ],
)
def test_checks_that_did_not_run(verdict: str, first: str) -> None:
    checks = (CheckResult("shape", False),)
    [line] = lines(Judgement("e", verdict, "it [b]is[/b] `so`", 2, checks=checks))  # type: ignore[arg-type]
    assert line == f"✗ {first}, line 2: it [b]is[/b] `so`"


def test_a_mistake_without_a_name_is_not_mentioned() -> None:
    judgement = Judgement("e", "error", "it fails", 2, (NamedMistake("expression", "", "", 2),))
    assert lines(judgement) == ["✗ Error, line 2: it fails"]


def test_a_stopped_check_has_no_verdict() -> None:
    assert lines(Judgement("e", "error", "Stopped by you.", stopped=True, seed=1)) == ["Stopped by you."]


def test_control_characters_of_a_program_are_removed() -> None:
    nasty = "\x1b[2J\u202e"
    mistakes = (NamedMistake("a", nasty, nasty),)
    difference = AnswerDifference(nasty, 1, tensor("x", 1, 2), tensor("x", 1, 3), (nasty,))
    checks = (CheckResult("shape", False, nasty),)
    for verdict in ("failed", "error"):
        text = exercise_text.verdict(Judgement("e", verdict, nasty, 1, mistakes, difference, checks, stdout=nasty))
        assert all(letter.isprintable() or letter == "\n" for letter in text.plain)


def test_ascii() -> None:
    text = exercise_text.verdict(Judgement("e", "failed", "m", checks=CHECKS, seed=1), help="f3: hint", unicode=False)
    assert text.plain.isascii()


def test_a_verdict_on_earlier_code_is_dimmed() -> None:
    text = exercise_text.dimmed(exercise_text.verdict(Judgement("e", "failed", "m", checks=CHECKS), help="f3: hint"))
    assert text.plain.split("\n")[0] == "✗ Not yet.   f3: hint   (of earlier code)"
    assert [span.style for span in text.spans] == [Style(dim=True)]
