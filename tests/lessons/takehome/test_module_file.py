"""The module that a learner takes home, judged, run and checked."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

import pytest

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import ExerciseStep, Lesson
from attn_tutor.lessons.reading import mistake_edits
from attn_tutor.lessons.results.result import Judgement
from attn_tutor.lessons.takehome import module_file
from tests.course import COURSE, EVERY_COURSE
from tests.lessons.takehome.learners import answers, solutions

PASSED = ("translate", "one-query", "all-queries", "causal-attention", "wrapper", "two-wide", "cached-step")


def run_file(file: Path) -> subprocess.CompletedProcess[str]:
    """Run a file far from the tutor, with PyTorch and nothing of ours."""
    code = (
        "import runpy, sys; sys.path[:] = [p for p in sys.path if p]; runpy.run_path(sys.argv[1], run_name='__main__')"
    )
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-I", "-c", code, str(file)],
        cwd=file.parent,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_the_module_runs_alone_and_checks_itself(session: Session, tmp_path: Path) -> None:
    built = module_file.build(session, COURSE, answers(solutions(*PASSED)))
    assert [answer.id for answer in built.answers] == list(PASSED) == list(built.checked)
    assert built.left_out == ()
    assert "import attention" not in built.text
    assert "from attention" not in built.text
    file = tmp_path / "my_attention.py"
    file.write_text(built.text, encoding="utf-8")
    done = run_file(file)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "7 of 7 pieces compute what the course's own code computes."


def test_the_check_finds_what_is_wrong(session: Session) -> None:
    built = module_file.build(session, COURSE, answers(solutions(*PASSED)))
    wrong = built.text.replace("context += weight * x", "context += x").replace("table[word] for", "table[0] for")
    assert module_file.run_check(session, wrong).different == ("translate", "one-query")
    stopping = module_file.run_check(session, built.text.replace("from torch import nn\n", "", 1))
    assert stopping.failure is not None
    assert "nn" in stopping.failure.message


def test_what_no_longer_passes_is_left_out_and_the_rest_is_not(session: Session) -> None:
    wrong = solutions("all-scores", "softmax-rows", "causal-attention", "wrapper")
    wrong["softmax-rows"] = wrong["softmax-rows"].replace("dim=-1", "dim=0")
    wrong["causal-attention"] = "import torch\nraise_here = torch.nothing\nclass CausalAttention:\n    x = raise_here\n"
    built = module_file.build(session, COURSE, answers(wrong))
    assert [answer.id for answer in built.answers] == ["all-scores", "wrapper"]
    assert [each.answer.id for each in built.left_out] == ["softmax-rows", "causal-attention"]
    assert "torch.nothing" in built.left_out[1].why or "nothing" in built.left_out[1].why
    # Without a class of the learner's own, the wrapper has that of the course.
    assert "check_sizes" in built.text


def test_what_passes_and_differs_elsewhere_stays_without_a_check(session: Session) -> None:
    passed = solutions("all-scores", "renormalize-rows")
    passed["renormalize-rows"] = passed["renormalize-rows"].replace(
        "    renormalized",
        "    if zeroed.shape == (4, 4) and zeroed[0, 0] > 2.84:\n        return zeroed\n    renormalized",
        1,
    )
    built = module_file.build(session, COURSE, answers(passed))
    assert [answer.id for answer in built.answers] == ["all-scores", "renormalize-rows"]
    assert built.checked == ("all-scores",)


def test_texts_of_a_course_cannot_leave_their_comments(session: Session) -> None:
    lesson, step = COURSE.exercise("all-scores")
    strange = step.model_copy(update={"title": 'a\nimport os """ \\'})
    assert COURSE.description is not None
    course = COURSE.model_copy(
        update={
            "lessons": (lesson.model_copy(update={"title": "b\r\nc", "steps": (strange,)}),),
            "description": COURSE.description.model_copy(update={"id": "at-sea", "title": 'At sea"""\nimport os\\'}),
        }
    )
    built = module_file.build(session, course, answers(solutions("all-scores"), course))
    assert "\nimport os" not in built.text
    compile(built.text, "module", "exec")
    assert built.text.startswith('"""At sea')
    assert "python my_at_sea.py" in built.text


EXERCISES = [
    (lesson, step) for lesson in EVERY_COURSE.lessons for step in lesson.exercises if isinstance(step, ExerciseStep)
]


def test_every_exercise_has_a_sample() -> None:
    assert [step.exercise for _, step in EXERCISES if not step.sample] == []


def test_accepted_answers_give_the_same_on_the_sample(session: Session) -> None:
    """Else the check of a module would reject what the judge accepts."""
    variants = [
        (f"{step.exercise}: {variant.name}", step, code)
        for _, step in EXERCISES
        for variant in step.accepted
        if (code := mistake_edits.variant_code(step, variant)) is not None
    ]
    cases = [(name, step.solution, code, step.defines, step.sample) for name, step, code in variants]
    program = f"""{module_file.TOOLS_CODE}
{module_file.COMPARE_CODE}
{module_file.EXPECTED_CODE}
different = []
for name, solution, code, defines, sample in {cases!r}:
    expected, given = dict(), dict()
    exec(solution, expected)
    exec(code, given)
    [wanted, got] = [results({{each: scope[each] for each in defines}}, sample) for scope in (expected, given)]
    if not same(got, rounded(wanted)):
        different.append(name)
"""
    fields = {
        "id": "samples", "number": 1, "folder": "", "title": "x", "goal": "x", "limits": module_file.CHECK_LIMITS,
        "steps": [{"kind": "run", "id": "only", "title": "x", "prose": "{different}", "code": program}],
    }  # fmt: skip
    run = session.run(Lesson.model_validate(fields))
    run.close()
    assert run.steps[0].error is None
    assert run.steps[0].text == {"different": "[]"}
    assert len(cases) > 100


class JudgesFew:
    """A session that judges every sixth answer, and takes the others for right: lint has proved model answers."""

    def __init__(self, session: Session, passed: Iterable[str]) -> None:
        self._session = session
        self._judged = set([*passed][::6])

    def check(self, exercise: ExerciseStep, source: str, **how: Any) -> Judgement:
        if exercise.exercise in self._judged:
            return self._session.check(exercise, source, **how)
        return Judgement(exercise.exercise, "passed", "")

    def __getattr__(self, name: str) -> Any:
        """Return what else the session can do."""
        return getattr(self._session, name)


@pytest.mark.slow
def test_all_model_answers_together_pass_and_are_checked(session: Session) -> None:
    """What each of them gives on its sample is compared; of the hidden inputs those of a few."""
    passed = solutions()
    built = module_file.build(cast(Session, JudgesFew(session, passed)), COURSE, answers(passed))
    assert built.left_out == ()
    assert {answer.id for answer in built.answers} == set(passed) == set(built.checked)
