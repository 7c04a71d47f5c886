"""Courses that a learner adds, those of packages, and what is remembered of what they allowed."""

from __future__ import annotations

import json
import os
import stat
import sys
import time
from pathlib import Path

import pytest

from attn_tutor.lessons.courses import added_courses, consent, course_code, course_list
from attn_tutor.lessons.courses.course_content import RefusedCourse
from attn_tutor.lessons.format.lesson import Limits
from attn_tutor.lessons.learner import progress_file
from attn_tutor.lessons.reading.findings import LessonError
from attn_tutor.lessons.reading.folders import FIRST, CourseFolder
from attn_tutor.lessons.reading.loader import load_course
from tests.small_course import DESCRIPTION, EXERCISE, LESSON, write_course


def add(source: Path) -> CourseFolder:
    """Add a course, and allow it to run."""
    with added_courses.staged(source) as course:
        found = added_courses.add(course)
    consent.allow(found, consent.digest_of(found))
    return found


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_course(tmp_path / "work")


# Adding --------------------------------------------------------------------------------------------------------------


def test_a_course_that_was_added_is_found_by_its_id(source: Path) -> None:
    found = add(source)
    assert course_list.find("rows") == found
    assert (found.source, found.state_folder) == ("added", "courses/rows")
    assert list(course_list.available())[-1] == found
    assert load_course(found.path).title == "Reading rows"


def test_its_copy_is_independent_of_the_source(source: Path) -> None:
    found = add(source)
    (source / "course.yaml").write_text("nothing")
    assert consent.is_allowed(found)
    assert load_course(found.path).title == "Reading rows"


def test_what_was_not_added_leaves_nothing(source: Path) -> None:
    with added_courses.staged(source) as course:
        assert course.id == "rows"
    root = added_courses.root()
    assert root is not None
    assert list(root.iterdir()) == []
    assert added_courses.added() == ()


def test_a_newer_version_replaces_the_older_one(source: Path) -> None:
    add(source)
    (source / "course.yaml").write_text(DESCRIPTION.replace("Reading", "Writing"))
    (source / "glossary.yaml").unlink()
    with added_courses.staged(source) as course:
        found = added_courses.add(course)
    assert load_course(found.path).title == "Writing rows"
    assert not (found.path / "glossary.yaml").exists()
    assert not consent.is_allowed(found)
    assert [path.name for path in found.path.parent.iterdir()] == ["rows"]


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        (
            {"course": DESCRIPTION.replace("id: rows", "id: attention")},
            "'attention' is the id of a course of",
        ),
        ({"course": DESCRIPTION.replace("id: rows", "id: ../rows")}, "course.yaml:1:5: '../rows' is not an id"),
        ({"course": DESCRIPTION.replace("format: 1", "format: 9")}, "course.yaml:4:9: this course is written in"),
        ({"lesson": LESSON.replace("prose:", "pros:")}, "01-first-row/lesson.yaml:8:5: 'pros' is not known here."),
        ({"lesson": LESSON.replace("exercises/d", "../../../d")}, "lesson.yaml:11:5: this is not something to include"),
        ({"doubling": EXERCISE.replace("[squared]", "[cubed]")}, "the mistake 'cubed' is not in the library."),
    ],
)
def test_a_course_that_cannot_be_read_is_not_added(changed: dict[str, str], sentence: str, tmp_path: Path) -> None:
    with pytest.raises((RefusedCourse, LessonError)) as refused:
        add(write_course(tmp_path / "work", **changed))
    assert sentence in str(refused.value)
    assert str(tmp_path) not in str(refused.value)
    assert added_courses.added() == ()


def test_what_is_no_course_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "notes.md").write_text("x")
    with pytest.raises(RefusedCourse, match=r"It has no course.yaml, neither at its top nor in its only folder."):
        add(tmp_path / "notes")


def test_a_folder_may_have_the_course_in_its_only_folder(tmp_path: Path) -> None:
    write_course(tmp_path / "download" / "rows-1.0")
    assert add(tmp_path / "download").id == "rows"


def test_without_a_home_nothing_is_added(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(added_courses, "root", lambda: None)
    with pytest.raises(RefusedCourse, match="There is no home directory to keep it in"):
        add(source)
    assert added_courses.added() == ()


def test_the_rest_of_one_that_was_interrupted_is_removed_later(source: Path) -> None:
    folder = add(source).path.parent
    for name, age in ((".new-old", 7200), (".new-now", 0)):
        (folder / name).mkdir()
        os.utime(folder / name, (time.time() - age, time.time() - age))
    add(source)
    assert sorted(path.name for path in folder.iterdir()) == [".new-now", "rows"]


def test_files_and_folders_are_the_learner_s_own(source: Path) -> None:
    for path in source.rglob("*"):
        path.chmod(0o777)
    found = add(source)
    assert not any(path.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH) for path in found.path.rglob("*"))


def test_a_removed_course_is_gone_and_its_progress_stays(source: Path) -> None:
    found = add(source)
    file = progress_file.default_path(found.state_folder)
    file.parent.mkdir(parents=True)
    file.touch()
    added_courses.remove(found)
    consent.forget(found)
    assert added_courses.added() == ()
    assert file.exists()
    assert not consent.was_allowed(found)


# What was allowed ----------------------------------------------------------------------------------------------------


def test_courses_that_ship_and_folders_of_the_command_line_need_no_consent(source: Path) -> None:
    assert consent.is_allowed(FIRST)
    assert consent.is_allowed(course_list.find(str(source)))


def test_a_course_runs_as_long_as_it_is_as_it_was_allowed(source: Path) -> None:
    found = add(source)
    assert consent.is_allowed(found)
    file = found.path / "01-first-row" / "lesson.yaml"
    before = file.read_text()
    file.write_text(before.replace("1.0", "9.0"))
    assert not consent.is_allowed(found)
    assert consent.was_allowed(found)
    file.write_text(before)
    assert consent.is_allowed(found)


def test_files_are_read_only_if_something_was_written(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = add(source)
    os.utime(found.path / "course.yaml")
    assert consent.is_allowed(found)
    monkeypatch.setattr("attn_tutor.lessons.courses.course_content.digest_of", lambda _: pytest.fail("read"))
    assert consent.is_allowed(found)


def test_what_is_written_while_it_is_asked_is_not_allowed(source: Path) -> None:
    with added_courses.staged(source) as course:
        found = added_courses.add(course)
    digest = consent.digest_of(found)
    (found.path / "more.yaml").touch()
    with pytest.raises(RefusedCourse, match="has changed meanwhile"):
        consent.allow(found, digest)
    assert not consent.is_allowed(found)


def test_a_link_in_a_course_that_was_allowed_is_refused(source: Path, tmp_path: Path) -> None:
    found = add(source)
    (found.path / "glossary.yaml").unlink()
    (found.path / "glossary.yaml").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RefusedCourse, match=r"glossary.yaml is a link"):
        consent.is_allowed(found)


@pytest.mark.parametrize("content", ["", "[]", "{", '{"version": 2, "courses": {}}', '{"version": 1, "courses": [1]}'])
def test_a_damaged_memory_is_none(content: str, source: Path) -> None:
    found = add(source)
    (progress_file.state_root() / consent.FILE).write_text(content)
    assert not consent.is_allowed(found)
    assert consent.allow(found, consent.digest_of(found))
    assert consent.is_allowed(found)


def test_what_cannot_be_kept_is_said(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = add(source)
    monkeypatch.setenv("XDG_STATE_HOME", "/dev/null")
    assert not consent.allow(found, consent.digest_of(found))
    assert not consent.is_allowed(found)


def test_the_memory_names_courses_hashes_and_nothing_else(source: Path) -> None:
    found = add(source)
    data = json.loads((progress_file.state_root() / consent.FILE).read_text())
    assert data["courses"]["rows"][0] == consent.digest_of(found)
    assert list(data) == ["version", "courses"]


# What runs -----------------------------------------------------------------------------------------------------------


def test_what_of_a_course_runs_is_counted(source: Path) -> None:
    found = course_code.what_runs(load_course(source))
    assert (found.lessons, found.steps, found.running, found.exercises, found.trainings) == (1, 3, 1, 1, 0)
    assert found.lines == 6
    assert found.limits == Limits()
    assert not found.asks_for_more


def test_limits_beyond_the_usual_are_found_wherever_they_stand(tmp_path: Path) -> None:
    changed = {
        "lesson": LESSON.replace("steps:", "limits: {cpu: 60, wall: 90}\nsteps:", 1),
        "doubling": EXERCISE + "limits: {memory: 4096}\n",
    }
    found = course_code.what_runs(load_course(write_course(tmp_path / "work", **changed)))
    assert found.limits == Limits(cpu=60, wall=90, memory=4096)
    assert found.asks_for_more


# Packages ------------------------------------------------------------------------------------------------------------


def install(site: Path, package: str, entry_points: str, **changed: str) -> Path:
    """Install a package with a course, whose own code nobody may run; return the folder of the course."""
    top = site / package.split(".")[0]
    top.mkdir(parents=True)
    (top / "__init__.py").write_text("raise SystemExit('imported')")
    info = site / f"{top.name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {top.name.replace('_', '-')}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{course_list.ENTRY_POINTS}]\n{entry_points}\n")
    return write_course(site.joinpath(*package.split(".")), **changed)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    return tmp_path / "site"


@pytest.mark.parametrize("package", ["rows_course", "rows_course.data.rows"])
def test_a_course_of_a_package_is_found_without_running_it(package: str, site: Path) -> None:
    folder = install(site, package, f"rows = {package}")
    found = course_list.find_installed("rows")
    assert found is not None
    assert found.distribution == "rows-course"
    assert found.course == CourseFolder("rows", folder, "courses/rows", "installed") == course_list.find("rows")
    assert "rows_course" not in sys.modules
    assert not consent.is_allowed(found.course)
    assert consent.allow(found.course, consent.digest_of(found.course))
    assert consent.is_allowed(found.course)
    (folder / "course.yaml").write_text(DESCRIPTION + "# 1.1")
    assert not consent.is_allowed(found.course)


@pytest.mark.parametrize(
    "entry_points",
    [
        "rows = not_there",
        "rows = rows_course.nowhere",
        "rows = rows_course:rows",
        "rows = ..rows_course",
        "rows = os",
        "rows = sys",
        "../rows = rows_course",
        "Rows = rows_course",
        "",
    ],
)
def test_a_package_without_a_course_is_passed(entry_points: str, site: Path) -> None:
    install(site, "rows_course", entry_points)
    assert list(course_list.installed_courses()) == []


def test_a_course_that_was_added_hides_the_one_of_a_package(site: Path, source: Path) -> None:
    install(site, "rows_course", "rows = rows_course\nattention = rows_course")
    assert add(source) == course_list.find("rows")
    assert course_list.find("attention") == FIRST
    assert [course.id for course in course_list.available()].count("rows") == 1
