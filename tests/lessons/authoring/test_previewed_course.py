"""What an author is writing: what a path stands for, and what stays when a file cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from attn_tutor.lessons.authoring import skeleton
from attn_tutor.lessons.authoring.previewed_course import NoPreview, PreviewedCourse
from tests import small_course


@pytest.fixture
def course(tmp_path: Path) -> Path:
    return small_course.write_course(tmp_path / "rows")


def steps_at(path: Path) -> tuple[list[str], int | None]:
    version = PreviewedCourse.at(path).read()
    assert version.findings == ()
    return [step.id for step in version.lesson.steps], version.step


def test_a_path_stands_for_a_lesson_and_maybe_a_step(course: Path) -> None:
    lesson = course / "01-first-row"
    steps = ["table", "doubling", "remember"]
    for path in (course, course / "course.yaml", lesson, lesson / "lesson.yaml"):
        assert steps_at(path) == (steps, None)
    assert steps_at(lesson / "exercises" / "doubling.yaml") == (steps, 1)
    # One that the lesson does not include yet stands alone, with the mistakes of its file.
    [(file, text)] = skeleton.exercise_files(lesson / "exercises" / "more.yaml").items()
    file.write_text(text)
    assert steps_at(file) == (["more"], None)


def test_a_lesson_or_an_exercise_without_a_course(tmp_path: Path) -> None:
    for file, text in skeleton.lesson_files(tmp_path / "07-alone").items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    version = PreviewedCourse.at(tmp_path / "07-alone").read()
    assert (version.lesson.number, version.lesson.id) == (7, "alone")
    renamed = (tmp_path / "07-alone").rename(tmp_path / "My draft")
    version = PreviewedCourse.at(renamed / "lesson.yaml").read()
    assert (version.lesson.number, version.lesson.id) == (1, "my-draft")
    [(file, text)] = skeleton.exercise_files(tmp_path / "free.yaml").items()
    file.write_text(text)
    assert steps_at(file) == (["free"], None)


def test_what_is_no_lesson_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("")
    for path, sentence in (
        (tmp_path, f"There is no lesson in {tmp_path.name}. Begin one with attn-tutor new lesson."),
        (tmp_path / "nowhere.yaml", "There is no file nowhere.yaml."),
        (tmp_path / "notes.txt", "notes.txt is not a YAML file."),
    ):
        with pytest.raises(NoPreview) as refused:
            PreviewedCourse.at(path)
        assert str(refused.value) == sentence


def test_a_broken_file_leaves_the_lesson_as_it_was(course: Path) -> None:
    file = course / "01-first-row" / "lesson.yaml"
    previewed = PreviewedCourse.at(file)
    before = previewed.read()
    seen = previewed.fingerprint()
    file.write_text(small_course.LESSON.replace("title: The first row", "titel: [The first row"))
    assert previewed.fingerprint() != seen
    version = previewed.read()
    assert (version.is_new, version.lesson) == (False, before.lesson)
    assert version.course.lessons == before.course.lessons
    assert [previewed.shown_position(found) for found in version.findings] == ["01-first-row/lesson.yaml:2:5"]
    file.write_text(small_course.LESSON.replace("Look at the table.", "Look at 7 rows."))
    version = previewed.read()
    assert (version.is_new, version.findings) == (True, ())
    assert version.lesson != before.lesson
    assert [found.problem for found in version.remarks_on(0)] == ["the number 7 is typed"] + [
        found.problem for found in before.remarks_on(0)
    ]


def test_other_files_of_the_course_leave_the_lesson_new(course: Path) -> None:
    previewed = PreviewedCourse.at(course / "01-first-row")
    (course / "02-more").mkdir()
    (course / "02-more" / "lesson.yaml").write_text("title: More\n")
    version = previewed.read()
    assert version.is_new
    assert len(version.findings) == 2
    (course / "mistakes" / "rows.yaml").write_text("[]")
    assert next(found.file for found in previewed.read().findings).endswith("doubling.yaml")


def test_a_lesson_that_could_never_be_read_has_a_stand_in(course: Path) -> None:
    file = course / "01-first-row" / "lesson.yaml"
    file.write_text("title: {\n")
    previewed = PreviewedCourse.at(file)
    version = previewed.read()
    assert (version.is_new, version.lesson.steps[0].title) == (False, "Nothing to show yet")
    file.write_text(small_course.LESSON)
    again = previewed.read()
    assert again.is_new
    assert again.place_of(version.lesson, "waiting") == (again.lesson, 0)
    assert version.lesson not in again.course.lessons


def test_the_place_is_kept_by_the_id_of_the_step_or_else_by_its_position(course: Path) -> None:
    file = course / "01-first-row" / "lesson.yaml"
    previewed = PreviewedCourse.at(file)
    before = previewed.read().lesson
    step = "  - {kind: read, id: new, title: New, prose: New.}\n"
    file.write_text(small_course.LESSON.replace("steps:\n", "steps:\n" + step))
    assert previewed.read().place_of(before, "table")[1] == 1
    file.write_text(small_course.LESSON.replace("id: table", "id: rows"))
    assert previewed.read().place_of(before, "table")[1] == 0
    file.write_text(small_course.LESSON.replace("id: remember", "id: end"))
    assert previewed.read().place_of(before, "remember")[1] == 2
