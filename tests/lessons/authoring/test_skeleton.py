"""What `attn-tutor new` writes: it is right as it stands, and its comments speak of fields that there are."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft7Validator

from attn_tutor.lessons.authoring import claims, format_schema, proofs, skeleton
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import ExerciseStep, Question
from attn_tutor.tui.commands.verbs import lint_course


def write(files: skeleton.Files) -> None:
    for file, text in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a new course with two lessons, and an exercise of its own in the second."""
    folder = tmp_path_factory.mktemp("new") / "My Rows"
    write(skeleton.course_files(folder))
    write(skeleton.lesson_files(folder / "Columns, again"))
    write(skeleton.exercise_files(folder / "02-columns-again" / "exercises" / "more"))
    lesson = folder / "02-columns-again" / "lesson.yaml"
    text = lesson.read_text(encoding="utf-8")
    lesson.write_text(text.replace("  # The last step", "  - include: exercises/more.yaml\n\n  # The last step"))
    return folder


def test_the_files_read_without_findings(course: Path) -> None:
    report = lint_course.read(course)
    assert [str(finding) for finding in report.findings] == []
    assert [(lesson.number, lesson.id, lesson.title) for lesson in report.lessons] == [
        (1, "first-lesson", "First lesson"),
        (2, "columns-again", "Columns again"),
    ]
    described = yaml.safe_load((course / "course.yaml").read_text())
    assert (described["id"], described["title"]) == ("my-rows", "My rows")


def test_claims_hold_and_exercises_are_proved(course: Path, session: Session) -> None:
    lesson = lint_course.read(course).lessons[1]
    with closing(claims.run_with_claims(lesson, session)) as run:
        assert list(claims.findings(lesson, run)) == []
        [question] = (step for step in lesson.steps if isinstance(step, Question))
        assert proofs.prove_question(lesson, question, run).findings == []
    exercises = [step for step in lesson.steps if isinstance(step, ExerciseStep)]
    assert [step.id for step in exercises] == ["columns-again-total", "more"]
    # Both are made from one text.
    assert proofs.prove_exercise(lesson, exercises[0], session).findings == []


def test_schemas_are_found_where_the_files_say(course: Path) -> None:
    files = sorted(file for file in course.rglob("*.yaml"))
    assert len(files) == 6
    for file in files:
        named = re.match(r"# yaml-language-server: \$schema=(\S+)\n", file.read_text(encoding="utf-8"))
        assert named is not None
        schema = yaml.safe_load((file.parent / named[1]).read_text(encoding="utf-8"))
        assert list(Draft7Validator(schema).iter_errors(yaml.safe_load(file.read_text(encoding="utf-8")))) == []


def test_every_field_of_a_skeleton_is_explained() -> None:
    for kind in ("course", "lesson", "exercise"):
        text = (skeleton.SKELETONS / f"{kind}.yaml").read_text(encoding="utf-8")
        keys = re.findall(r"^(\w+):", text, re.MULTILINE)
        above = {key: text.partition(f"\n{key}:")[0].splitlines()[-1] for key in keys}
        unexplained = {key for key, line in above.items() if not line.lstrip().startswith("#")}
        # These say what they are.
        assert unexplained <= {"title", "license", "kind", "exercise", "steps"}, kind
        known = re.findall(r"`(\w+)`", "\n".join(re.findall("#.*", text)))
        schema = str(format_schema.schema_of(kind))
        words = {"dim", "ids", "got", "want"}
        assert [name for name in known if f"'{name}'" not in schema and name not in words] == []


def test_a_lesson_without_a_course_has_schemas_of_its_own(tmp_path: Path) -> None:
    files = skeleton.lesson_files(tmp_path / "07-alone")
    assert tmp_path / "07-alone" / ".schema" / "lesson.json" in files
    assert "$schema=.schema/lesson.json" in files[tmp_path / "07-alone" / "lesson.yaml"]
    write(skeleton.exercise_files(tmp_path / "free.yaml"))
    assert "$schema" not in (tmp_path / "free.yaml").read_text()


def test_a_name_without_letters_is_refused() -> None:
    assert skeleton.slug_of("Step 2: Über_all") == "step-2-uber-all"
    assert skeleton.slug_of("Größe") == "grosse"
    with pytest.raises(skeleton.NoName):
        skeleton.slug_of("??")
