"""The glossary and the references of the course, and findings in faulty ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from attn_tutor.lessons.reading import glossary
from attn_tutor.lessons.reading.findings import LessonError
from attn_tutor.lessons.reading.folders import COURSE
from attn_tutor.lessons.reading.glossary import Glossary, Reference, Term
from tests.course import LESSONS
from tests.lessons.lesson_builders import code_step, lesson_of, text_step

SCORE = Term(term="attention score", also=("score", "omega"), means="How well it matches.", step="made/one")
WEIGHT = Term(term="attention weight", also=("weight",), means="A share, after softmax.", step="made/one")
SOFTMAX = Term(term="softmax", means="Turns scores into shares.", step="made/one")
WORDS = Glossary(terms=(SCORE, WEIGHT, SOFTMAX))


@pytest.fixture(scope="module")
def course_glossary() -> Glossary:
    return glossary.load()


def test_the_glossary_of_the_course_has_no_findings() -> None:
    assert list(map(str, glossary.findings(COURSE, LESSONS))) == []


def test_the_course_has_terms_and_references(course_glossary: Glossary) -> None:
    assert len(course_glossary.terms) >= 60
    assert [term.term.casefold() for term in course_glossary.terms] == sorted(
        term.term.casefold() for term in course_glossary.terms
    )
    assert len(course_glossary.references) >= 10
    years = [reference.year for reference in course_glossary.references]
    assert years == sorted(years)


def test_terms_of_a_step_come_from_its_text_and_its_tensors() -> None:
    lesson = lesson_of(
        text_step("one", "Softmax comes after the *attention scores*."),
        code_step("two", "attention_weights = [1.0]\n", "attention_weights", prose="Look at these."),
        text_step("three", "A scorecard, weightless; `x.weight`."),
    )
    assert [WORDS.terms_in(step) for step in lesson.steps] == [(SOFTMAX, SCORE), (WEIGHT,), ()]


def test_search_sorts_by_relevance() -> None:
    assert WORDS.search("attention") == (SCORE, WEIGHT)
    assert WORDS.search("we") == (WEIGHT, SCORE)
    assert WORDS.search("SOFT") == (SOFTMAX, WEIGHT)
    assert WORDS.search("omeg") == (SCORE,)
    assert WORDS.search("no such thing") == ()


@pytest.mark.parametrize(
    ("authors", "short"),
    [
        ("Ada Lovelace", "Lovelace, 1843"),
        ("Ada Lovelace, Luigi Menabrea", "Lovelace and Menabrea, 1843"),
        ("Ada Lovelace, Luigi Menabrea and others", "Lovelace et al., 1843"),
        ("Ada Lovelace, Luigi Menabrea, Charles Babbage", "Lovelace et al., 1843"),
    ],
)
def test_short_form_of_a_reference(authors: str, short: str) -> None:
    assert Reference(title="Notes", authors=authors, year=1843, where="Memoirs", about="Notes.").short == short


def problems(folder: Path, text: str) -> list[tuple[int, str]]:
    (folder / glossary.TERMS).write_text("terms:\n" + text)
    lesson = lesson_of(text_step("one", "A score and a weight."))
    return [(found.line, found.problem) for found in glossary.findings(folder, [lesson])]


def test_problems_of_a_glossary(tmp_path: Path) -> None:
    score = "  - {term: score, means: It matches., step: made/one}\n"
    assert problems(tmp_path, score) == []
    assert problems(tmp_path, score + "  - {term: weight, also: [Score], means: A share., step: made/one}\n") == [
        (3, "'Score' is defined by 'score' too")
    ]
    assert problems(tmp_path, "  - {term: mask, means: It hides., step: made/one}\n") == [
        (2, "'mask' does not stand in 'made/one'")
    ]
    assert problems(tmp_path, "  - {term: score, means: It matches., step: made/two}\n") == [
        (2, "there is no step 'made/two'")
    ]
    assert problems(tmp_path, "  - {term: score, means: It matches., step: made/one, see: [mask]}\n") == [
        (2, "there is no term 'mask'")
    ]
    assert problems(tmp_path, "  - {term: score, means: It matches, step: made/one}\n") == [
        (2, "the definition does not end like a sentence")
    ]
    long = "word " * 45
    assert problems(tmp_path, f"  - {{term: score, means: {long}end., step: made/one}}\n") == [
        (2, "46 words; at most 45 define")
    ]


def test_a_step_of_a_lesson_that_cannot_be_read_is_not_missed(tmp_path: Path) -> None:
    term = "  - {term: score, means: It matches., step: other/one}\n"
    assert problems(tmp_path, term) == [(2, "there is no step 'other/one'")]
    (tmp_path / "02-other").mkdir()
    assert problems(tmp_path, term) == []


def test_an_unusable_file_is_a_finding(tmp_path: Path) -> None:
    (tmp_path / glossary.TERMS).write_text("terms:\n  - {term: score, meaning: It matches., step: a/b}\n")
    with pytest.raises(LessonError) as caught:
        glossary.load(tmp_path)
    assert {found.line for found in caught.value.findings} == {2}


def test_a_course_may_have_no_glossary(tmp_path: Path) -> None:
    assert glossary.load(tmp_path) == Glossary()
    assert list(glossary.findings(tmp_path, [])) == []
