"""The page on courses by others against the code: its examples are read, and its numbers are the limits."""

from __future__ import annotations

import re
import tomllib

import yaml
from pydantic import TypeAdapter

from attn_tutor.lessons.courses import course_content, course_list
from attn_tutor.lessons.format import lesson, template
from attn_tutor.lessons.format.lesson import CourseFile, Step
from attn_tutor.lessons.reading import yaml_nodes
from tests.course import ROOT
from tests.tui.commands.test_manage_courses import SHOWN

PAGE = (ROOT / "docs" / "courses.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_examples_are_what_the_format_says() -> None:
    description, step = map(yaml.safe_load, blocks("yaml"))
    assert CourseFile.model_validate(description).format == lesson.FORMAT
    assert TypeAdapter(Step).validate_python(step).aliases == ("second-column", "first-row/columns")


def test_a_package_has_the_entry_point_that_is_looked_for() -> None:
    [project] = map(tomllib.loads, blocks("toml"))
    points = project["project"]["entry-points"][course_list.ENTRY_POINTS]
    assert points == {"rows": "rows_course"}
    assert project["tool"]["setuptools"]["packages"] == ["rows_course"]


def test_what_is_shown_before_the_question_is_what_is_shown() -> None:
    assert blocks("text")[0].startswith(SHOWN)


def test_limits_are_those_of_the_code() -> None:
    _, _, refused = PAGE.partition("## What is refused")
    for number in (
        f"{course_content.MOST_ENTRIES} files and folders",
        f"{course_content.MOST_BYTES // 1024**2} MiB",
        f"{course_content.MOST_LEVELS} folders deep",
        f"more than {course_content.LONGEST_NAME} characters",
        f"more than {yaml_nodes.MOST_LEVELS} levels",
        f"{yaml_nodes.MOST_VALUES} values",
        f"numbers of more than {yaml_nodes.LONGEST_NUMBER} characters",
        f"code of more than {template.MOST_CODE_LEVELS} levels",
        *(f"`{ending}`" for ending in course_content.ENDINGS),
    ):
        assert number in refused
