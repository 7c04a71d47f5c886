"""The page for authors: its lesson is built from its own blocks and proved, and every command on it is typed."""

from __future__ import annotations

import re
import shlex
from contextlib import closing
from pathlib import Path

import pytest

from attn_tutor.lessons.authoring import claims, field_tables, proofs, skeleton, writing
from attn_tutor.lessons.authoring.proofs import Proof
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format import template
from attn_tutor.lessons.format.lesson import ExerciseStep, ExperimentStep, Lesson, Question
from attn_tutor.lessons.reading import loader
from attn_tutor.tui import cli
from attn_tutor.tui.commands.verbs import lint_course

PAGE = field_tables.PAGE.read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
LESSON = "votes/02-shares/lesson.yaml"
WRITTEN_FROM_IT = Path(__file__).parents[2] / "data" / "cosine"


def blocks(language: str) -> list[str]:
    return [text for found, text in BLOCKS if found == language]


def written() -> tuple[dict[str, str], list[str]]:
    """Return the files that a reader writes, by their paths, and the blocks that belong to none of them."""
    files: dict[str, str] = {}
    others = []
    for text in blocks("yaml"):
        if named := re.match(r"# (\S+)\n", text):
            files[named[1]] = text
        elif text.startswith(" "):
            # It goes on where the lesson ended.
            files[LESSON] += text
        else:
            others.append(text)
    return files, others


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the course as it is after all that the page says."""
    folder = tmp_path_factory.mktemp("page")
    texts = skeleton.course_files(folder / "votes") | {folder / name: text for name, text in written()[0].items()}
    for file, text in texts.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return folder / "votes"


def test_the_lesson_of_the_page_has_no_findings(course: Path) -> None:
    report = lint_course.read(course)
    assert [str(finding) for finding in report.findings] == []
    assert [lesson.id for lesson in report.lessons] == ["first-lesson", "shares"]


def test_every_stage_of_the_lesson_can_be_previewed() -> None:
    texts = [text for text in blocks("yaml") if text.startswith((" ", f"# {LESSON}"))]
    assert len(texts) == 6
    for count in range(1, len(texts) + 1):
        text = "".join(texts[:count]).replace("include: ", "{kind: read, id: a, title: A, prose: A.}  # ")
        lesson = loader.parse_lesson(text, "lesson.yaml", number=2, slug="shares")
        assert len(lesson.steps) == text.count("\n  - ")


def test_the_course_that_was_written_from_the_page_alone_is_proved(session: Session) -> None:
    report = lint_course.read(WRITTEN_FROM_IT)
    assert [str(finding) for finding in report.findings] == []
    [lesson] = report.lessons
    assert report.summary().startswith("1 lesson, 4 steps, 1 exercise, 1 question, 0 experiments, ")
    assert [(proof.solution, set(proof.mistakes.values())) for proof in prove(lesson, session)] == [
        (1, set()),
        (10, {True}),
    ]


def prove(lesson: Lesson, session: Session) -> list[Proof]:
    found = []
    with closing(claims.run_with_claims(lesson, session)) as run:
        assert [str(finding) for finding in claims.findings(lesson, run)] == []
        for step in lesson.exercises:
            if isinstance(step, Question):
                found.append(proofs.prove_question(lesson, step, run))
            elif isinstance(step, ExperimentStep):
                found.append(proofs.prove_experiment(lesson, step, session))
            elif isinstance(step, ExerciseStep):
                found.append(proofs.prove_exercise(lesson, step, session))
    assert [str(finding) for proof in found for finding in proof.findings] == []
    return found


def test_the_lesson_of_the_page_is_proved_and_lint_prints_what_the_page_shows(course: Path, session: Session) -> None:
    lines = [lint_course.line(proof) for proof in prove(loader.load_lesson(course / "02-shares"), session)]
    [shown] = [text.splitlines() for text in blocks("text") if text.startswith("exercise ")]
    assert shown[0] == lint_course.HEAD
    assert shown[3:] == lines
    # Those of the skeleton are proved in the tests of skeletons.
    assert [line.split()[0] for line in shown[1:3]] == ["first-lesson-sum", "first-lesson-total"]


def test_the_other_kinds_of_steps_are_proved(course: Path, session: Session) -> None:
    knobs, *steps = sorted(written()[1], key=lambda text: not text.startswith("knobs:"))
    assert [text.split()[1] for text in steps] == ["choice", "point", "experiment"]
    folder = course.parent / "others" / "03-others"
    folder.mkdir(parents=True)
    first = written()[0][LESSON].partition("    claims:")[0].replace("# votes/02-shares/lesson.yaml\n", "")
    includes = ""
    for number, text in enumerate(steps):
        (folder / f"{number}.yaml").write_text(text)
        includes += f"  - include: {number}.yaml\n"
    (folder / "lesson.yaml").write_text(knobs + first + includes)
    prove(loader.load_lesson(folder), session)


def test_what_new_prints_is_what_the_page_shows(course: Path) -> None:
    [shown] = [text for text in blocks("text") if text.startswith("Written:")]
    names = [path.relative_to(course.parent).as_posix() for path in skeleton.course_files(course.parent / "votes")]
    assert [line.split()[0] for line in shown.splitlines()[1:]] == [*names, "votes/.schema/"]


def test_commands_within_sentences_are_ones_that_there_are() -> None:
    commands = re.findall(r"`attn-tutor ([^`]*)`", PAGE)
    assert len(commands) >= 3
    for command in commands:
        options = cli._parser().parse_args(shlex.split(command))
        assert callable(options.run)


def test_the_tables_are_those_of_the_models() -> None:
    assert field_tables.with_tables(PAGE) == PAGE, "python -m attn_tutor.lessons.authoring.field_tables writes them"


def test_the_numbers_of_the_rules_are_those_of_the_code() -> None:
    for rule in (
        f"at most {writing.MOST_WORDS} words, {writing.MOST_WORDS_OF_TASK} if",
        f"at most {writing.LONGEST_TITLE} characters",
        f"at most {writing.MOST_CODE_LINES} lines of at most {writing.WIDEST_CODE} columns",
        f"at most {writing.MOST_READING} steps in a row",
        f'begins with "{writing.GOAL.strip()}"',
        f"the step `{writing.LAST_STEP}`",
    ):
        assert rule in PAGE
    assert {"0", "1"} == writing.ALLOWED_NUMBERS


def test_page_says_what_each_key_of_a_text_does() -> None:
    section = PAGE.partition("## Keys in texts\n")[2].partition("\n## ")[0]
    rows = [line.partition(" | ")[0] for line in section.splitlines() if line.startswith("| `{key:")]
    assert sorted(key.action for row in rows for key in template.keys_of(row)) == sorted(template.KEY_OF_ACTION)
