"""Steps that an author has renamed: progress under their old ids counts for them, however it comes in."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from attn_tutor.lessons.format.lesson import Course
from attn_tutor.lessons.learner.exports import read_saved
from attn_tutor.lessons.learner.progress import Progress
from attn_tutor.lessons.learner.renames import UNCHANGED, Renames, renames_of
from attn_tutor.lessons.learner.reports import learner_report
from attn_tutor.lessons.reading import course_outline, loader
from attn_tutor.lessons.reading.findings import LessonError
from attn_tutor.lessons.reading.loader import load_course
from tests.course import COURSE
from tests.lessons.lesson_builders import doubling_exercise, lesson_of, text_step
from tests.small_course import EXERCISE, LESSON, write_course

RENAMED = Course(
    lessons=(
        lesson_of(text_step("look", "Look.") | {"aliases": ["see", "old-home/moved"]}, id="first", aliases=["one"]),
        lesson_of(
            doubling_exercise().model_dump(by_alias=True) | {"aliases": ["twice"]},
            text_step("see", "See."),
            id="second",
        ),
    )
)
"""A course whose ids were others: the lesson `one`, its step `see`, the exercise `twice`."""

RENAMES = renames_of(RENAMED)


def test_ids_before_are_those_of_lessons_steps_and_both() -> None:
    assert RENAMES.steps == {
        ("first", "see"): ("first", "look"),
        ("one", "look"): ("first", "look"),
        ("one", "see"): ("first", "look"),
        ("old-home", "moved"): ("first", "look"),
        ("second", "twice"): ("second", "doubling"),
    }
    assert RENAMES.exercises == {"twice": "doubling"}


def test_an_outline_knows_the_same() -> None:
    outline = loader.outline_of(RENAMED)
    assert renames_of(outline) == renames_of(course_outline.from_json(course_outline.to_json(outline))) == RENAMES
    assert renames_of(COURSE) is UNCHANGED


def test_what_an_id_means_today_it_means() -> None:
    """Two steps that have swapped their ids cannot be told apart: each keeps what stands under its id."""
    swapped = Course(
        lessons=(
            lesson_of(text_step("a", "A.") | {"aliases": ["b"]}, text_step("b", "B.") | {"aliases": ["c"]}, id="only"),
        )
    )
    assert renames_of(swapped).steps == {("only", "c"): ("only", "b")}


def learn(progress: Progress, exercise: str, lesson: str, step: str) -> None:
    """Do everything that leaves a trace."""
    progress.visit(lesson, step)
    progress.set_state(lesson, step, "done")
    progress.use_hint(exercise, 2)
    progress.add_attempt(exercise, "x = 1", "failed", "squared", "No.")
    progress.archive(exercise, "x = 0", "reset")
    progress.save_draft(exercise, "x = 2", progress.open_draft(exercise).version)


def traces(progress: Progress) -> tuple[object, ...]:
    """Return what the rows of an exercise say, and where the learner is."""
    return (
        progress.position(),
        progress.states(),
        progress.hints_used("doubling"),
        [attempt.code for attempt in progress.attempts("doubling")],
        [code.code for code in progress.archived("doubling")],
        progress.draft("doubling"),
    )


EXPECTED = (("second", "doubling"), {("second", "doubling"): "done"}, 2, ["x = 1"], ["x = 0"], "x = 2")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a file of progress under the old ids."""
    path = tmp_path / "progress.db"
    with closing(Progress.open(path)) as progress:
        learn(progress, "twice", "second", "twice")
    return path


@pytest.mark.parametrize("background", [False, True])
def test_an_older_file_is_opened_with_the_ids_of_today(path: Path, background: bool) -> None:
    with closing(Progress.open(path, renames=RENAMES, background=background)) as progress:
        assert traces(progress) == EXPECTED
        assert progress.attempts("twice") == []
    # From then on, it is the file that has them.
    with closing(Progress.open(path)) as progress:
        assert traces(progress) == EXPECTED


def test_what_is_saved_of_a_damaged_file_has_the_ids_of_today(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[:18] + b"\x09" + content[19:])
    with closing(Progress.open(path, renames=RENAMES)) as progress:
        assert "damaged" in (progress.problem or "")
        assert traces(progress) == EXPECTED


def test_an_import_has_the_ids_of_today(path: Path, tmp_path: Path) -> None:
    with closing(Progress.open(path)) as progress:
        saved = json.loads(json.dumps(progress.export()))
    with closing(Progress.open(tmp_path / "new.db", renames=RENAMES)) as progress:
        progress.restore(saved)
        assert traces(progress) == EXPECTED


def test_a_report_counts_what_was_done_under_old_ids(path: Path) -> None:
    report = learner_report("", RENAMED, read_saved(path.read_bytes()))
    assert [(lesson.id, lesson.done) for lesson in report.lessons] == [("first", 0), ("second", 1)]
    assert [(each.exercise, each.tries) for each in report.exercises] == [("doubling", 1)]
    assert (report.lesson, report.step, report.elsewhere) == ("second", "doubling", 0)


def test_progress_under_both_ids_is_merged_and_no_code_is_lost(path: Path) -> None:
    with closing(Progress.open(path)) as progress:
        progress.add_attempt("doubling", "y = 1", "passed")
        progress.save_draft("doubling", "y = 2")
        progress.set_state("second", "doubling", "seen")
    with closing(Progress.open(path, renames=RENAMES)) as progress:
        assert [attempt.code for attempt in progress.attempts("doubling")] == ["x = 1", "y = 1"]
        assert progress.state("second", "doubling") == "done"
        kept = {progress.draft("doubling"), *(code.code for code in progress.archived("doubling"))}
        assert {"x = 2", "y = 2"} <= kept


def test_opening_again_and_again_changes_nothing_more(path: Path) -> None:
    def rows() -> Mapping[str, Any]:
        with closing(Progress.open(path, renames=RENAMES)) as progress:
            return progress.export()

    assert rows() == rows()
    with closing(Progress.open(path, renames=RENAMES)) as progress:
        version = progress.save_draft("doubling", "x = 3", progress.open_draft("doubling").version)
    with closing(Progress.open(path, renames=RENAMES)) as progress:
        assert progress.open_draft("doubling").version == version
        assert [code.code for code in progress.archived("doubling")] == ["x = 0"]


def test_no_renames_are_none() -> None:
    assert not UNCHANGED
    assert RENAMES
    assert Renames().apply({"exercise": "twice"}) == {"exercise": "twice"}


# What authors may write -----------------------------------------------------------------------------------------------


def lesson_alias(aliases: str) -> dict[str, str]:
    return {"lesson": LESSON.replace("steps:", f"aliases: {aliases}\nsteps:", 1)}


def step_alias(aliases: str) -> dict[str, str]:
    return {"doubling": EXERCISE + f"aliases: {aliases}\n"}


def test_a_course_says_which_ids_it_had(tmp_path: Path) -> None:
    course = load_course(
        write_course(tmp_path / "course", **lesson_alias("[row-one]"), **step_alias("[twice, z/double]"))
    )
    assert renames_of(course).exercises == {"twice": "doubling", "double": "doubling"}
    assert renames_of(course).steps["row-one", "twice"] == ("first-row", "doubling")
    assert renames_of(course).steps["z", "double"] == ("first-row", "doubling")


@pytest.mark.parametrize(
    ("where", "aliases", "finding"),
    [
        (step_alias, "[table]", "doubling.yaml:20:11: 'table' also names the step 'table'"),
        (step_alias, "[doubling]", "doubling.yaml:20:11: 'doubling' also names the step 'doubling'"),
        (step_alias, "[a, a]", "doubling.yaml:20:14: 'a' also names the step 'doubling'"),
        (step_alias, "[a/b/c]", "doubling.yaml:20:11: 'a/b/c' is not an id"),
        (step_alias, "[A]", "doubling.yaml:20:11: 'A' is not an id"),
        (step_alias, "a", "'aliases' is not a list"),
        (lesson_alias, "[first-row]", "the alias 'first-row' also names the lesson 'first-row'"),
        (lesson_alias, "['1']", "the alias '1' also names the lesson 'first-row'"),
    ],
)
def test_an_alias_that_means_something_else_is_a_finding(
    where: Callable[[str], dict[str, str]], aliases: str, finding: str, tmp_path: Path
) -> None:
    with pytest.raises(LessonError) as refused:
        load_course(write_course(tmp_path / "course", **where(aliases)))
    assert finding in str(refused.value)
