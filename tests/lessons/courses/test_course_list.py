"""Which course a command line names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from attn_tutor.lessons.courses import course_list
from attn_tutor.lessons.reading import loader
from attn_tutor.lessons.reading.findings import LessonError
from attn_tutor.lessons.reading.folders import BUILT_IN, COURSE, FIRST
from attn_tutor.lessons.reading.loader import load_course
from tests.small_course import DESCRIPTION, write_course


def test_a_course_is_named_by_its_id() -> None:
    assert course_list.find("attention") == FIRST


def test_courses_that_ship_say_who_they_are() -> None:
    for course in BUILT_IN:
        assert loader.read_description(course.path).id == course.id
    assert len({course.id for course in BUILT_IN}) == len({course.state_folder for course in BUILT_IN}) == len(BUILT_IN)
    assert [course for course in BUILT_IN if not course.state_folder] == [FIRST]


def test_the_folder_of_a_course_that_is_known_is_that_course() -> None:
    assert course_list.find(os.path.relpath(COURSE)) == FIRST


def test_a_course_in_a_folder_has_progress_of_its_own(tmp_path: Path) -> None:
    one, other = (course_list.find(str(write_course(tmp_path / name))) for name in ("one", "other"))
    assert one.id == other.id == "rows"
    assert one.state_folder != other.state_folder
    assert one.state_folder == course_list.find(f"{tmp_path}/other/../one").state_folder
    assert one.state_folder.startswith("folders/rows-")


@pytest.mark.parametrize("name", ["nothing", "no/where", "", "\0", "~nobody/x"])
def test_what_is_neither_a_course_nor_a_folder_is_refused_in_a_sentence(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(course_list.NoCourse if name else LessonError) as refused:
        course_list.find(name)
    assert not name or "The courses are: attention" in str(refused.value)


@pytest.mark.parametrize(
    ("description", "finding"),
    [
        ("id: rows\n", "course.yaml:1:1: 'title' is missing."),
        (DESCRIPTION.replace("rows", "Rows"), "course.yaml:1:5: 'Rows' is not an id"),
        (DESCRIPTION + "id: rows\n", "course.yaml:7:1: 'id' is given twice."),
        (DESCRIPTION.replace("format: 1\n", ""), "'format' is missing."),
        (DESCRIPTION.replace("format: 1", "format: 0"), "course.yaml:4:9: 'format': input should be greater than"),
        (DESCRIPTION.replace("format: 1", "format: new"), "course.yaml:4:9: 'format' is 'new', and not a whole number"),
    ],
)
def test_a_description_that_cannot_be_read_is_a_finding(description: str, finding: str, tmp_path: Path) -> None:
    folder = write_course(tmp_path / "course", course=description)
    with pytest.raises(LessonError) as refused:
        course_list.find(str(folder))
    assert finding in str(refused.value)


def test_lessons_of_courses_that_ship_have_different_ids() -> None:
    """Their texts are translated in one folder."""
    ids = [lesson.id for course in BUILT_IN for lesson in load_course(course.path).lessons]
    assert len(set(ids)) == len(ids)
