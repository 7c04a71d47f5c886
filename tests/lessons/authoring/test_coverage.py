"""The course teaches everything that the chapter teaches, as listed in `tests/data/inventory.md`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from attn_tutor.lessons.authoring import coverage
from attn_tutor.lessons.authoring.coverage import Coverage
from attn_tutor.lessons.reading.folders import COURSE
from tests.course import LESSONS
from tests.lessons.lesson_builders import lesson_of, text_step

INVENTORY = (Path(__file__).parents[2] / "data" / "inventory.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def course_coverage() -> Coverage:
    return coverage.load(COURSE)


def test_every_item_of_the_inventory_has_a_number_in_the_coverage(course_coverage: Coverage) -> None:
    items, gaps = INVENTORY.split("## What NO seed contains")
    numbers = [int(number) for number in re.findall(r"^(\d+)\. ", items, re.MULTILINE)]
    assert numbers == list(range(1, 170))
    assert sorted(course_coverage.items) == numbers
    assert (
        len(re.findall(r"^- ", gaps, re.MULTILINE)) == course_coverage.expected.gaps == len(course_coverage.gaps) == 8
    )


def test_the_coverage_of_the_course_has_no_findings() -> None:
    assert list(map(str, coverage.findings(COURSE, LESSONS))) == []


def test_subjects_have_different_descriptions(course_coverage: Coverage) -> None:
    said = [subject.teaches for subject in (*course_coverage.items.values(), *course_coverage.gaps.values())]
    assert len(set(said)) == len(said)


def problems(folder: Path, text: str) -> list[tuple[int, str]]:
    (folder / coverage.FILE).write_text(text)
    lesson = lesson_of(text_step("one", "A text."))
    return [(found.line, found.problem) for found in coverage.findings(folder, [lesson])]


def test_gaps_and_dangling_ids(tmp_path: Path) -> None:
    good = "expected: {items: 2}\nitems:\n  1: {teaches: it, steps: [made/one]}\n"
    assert problems(tmp_path, good + "  2: {teaches: that, steps: [made/one]}\n") == []
    assert problems(tmp_path, good) == [(2, "nothing teaches number 2 of the items")]
    assert problems(tmp_path, good + "  2: {teaches: that, steps: [made/two]}\n") == [
        (4, "number 2: there is no step 'made/two'")
    ]
    assert problems(
        tmp_path, good + "  2: {teaches: that, steps: [made/one]}\n  3: {teaches: x, steps: [made/one]}\n"
    ) == [(5, "there is no number 3 of the items")]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("items: {}\n", 1),
        ("expected: {items: 1}\nitems:\n  1: {teaches: it, steps: []}\n", 3),
        ("expected: {items: 1}\nitems:\n  one: {teaches: it, steps: [made/one]}\n", 3),
        ("expected: {items: 1}\nitems:\n" + "  1: {teaches: it, steps: [made/one]}\n" * 2, 4),
        ("expected: [\n", 1),
    ],
)
def test_an_unusable_file_is_a_finding(tmp_path: Path, text: str, line: int) -> None:
    found = problems(tmp_path, text)
    assert found
    assert found[0][0] == line


def test_a_course_may_have_no_coverage_file(tmp_path: Path) -> None:
    assert list(coverage.findings(tmp_path, [])) == []
