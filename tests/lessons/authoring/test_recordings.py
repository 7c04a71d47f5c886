"""Recorded outputs replace a live run until it is there, so they have to agree with it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from attn_tutor.lessons.authoring import recordings
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format import template
from attn_tutor.lessons.format.lesson import Course, Lesson, RunningStep
from attn_tutor.lessons.reading import recorded_outputs
from attn_tutor.lessons.results.result import Tensor
from tests.course import EVERY_COURSE
from tests.lessons.course_runs import CourseRuns, Results
from tests.lessons.lesson_builders import Fields, code_step, lesson_of

NUMBER = re.compile(r"-?\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?")
Recorded = dict[str, Results]


@pytest.fixture(scope="module")
def recorded() -> Recorded:
    return {lesson.id: recorded_outputs.load(lesson) for lesson in EVERY_COURSE.lessons}


LESSONS = [pytest.param(lesson, id=lesson.id) for lesson in EVERY_COURSE.lessons]


def steps(lesson: Lesson, *, runs: bool = False) -> Iterator[tuple[str, bool]]:
    """List the steps of a lesson: the id, and whether the numbers of the step differ between processors."""
    for step in lesson.steps:
        if isinstance(step, RunningStep) or (step.kind == "read" and not runs):
            yield step.id, isinstance(step, RunningStep) and step.varies


ROUNDING = 1e-6
"""How far two results of a calculation may be apart on different processors, for numbers of the size of 1."""


def close(left: float | None, right: float | None, scale: float = 1.0) -> bool:
    """Return whether two numbers are the same apart from the last bits, which differ between processors.

    `scale` is the size of the numbers that the calculation may have added up: where large ones cancel each other out,
    the last bits of a small sum are theirs.
    """
    if left is None or right is None or not (math.isfinite(left) and math.isfinite(right)):
        return str(left) == str(right)
    return math.isclose(left, right, rel_tol=ROUNDING, abs_tol=ROUNDING * scale)


def is_nearly_equal(left: object, right: object) -> bool:
    """Return whether two facts are the same apart from the last bits of their numbers."""
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(is_nearly_equal, left, right))
    if isinstance(left, float) and isinstance(right, float):
        return close(left, right)
    return left == right


def numbers(tensor: Tensor) -> list[float]:
    """Return all numbers that came with a tensor."""
    if tensor.values is not None:
        return list(tensor.values)
    assert tensor.window is not None
    return [value for row in tensor.window.rows for value in row]


@pytest.mark.parametrize("lesson", LESSONS)
def test_every_step_is_recorded(
    recorded: Recorded, results: CourseRuns, subtests: pytest.Subtests, lesson: Lesson
) -> None:
    for step, _ in steps(lesson):
        with subtests.test(step):
            assert results[lesson.id][step].error is None
            assert recorded[lesson.id][step].error is None
            assert recorded[lesson.id][step].id == step


@pytest.mark.parametrize("lesson", LESSONS)
def test_text_agrees_with_a_live_run(
    recorded: Recorded, results: CourseRuns, subtests: pytest.Subtests, lesson: Lesson
) -> None:
    for step, varies in steps(lesson):
        with subtests.test(step):
            then, now = recorded[lesson.id][step], results[lesson.id][step]
            assert then.text.keys() == now.text.keys()
            if varies:
                return
            assert then.stdout == now.stdout
            for key, text in now.text.items():
                if key.endswith(f"!{template.FACT}"):
                    assert is_nearly_equal(json.loads(then.text[key]), json.loads(text)), key
                    continue
                # A difference that is nearly zero may be a different number on a different processor.
                assert NUMBER.sub("#", then.text[key]) == NUMBER.sub("#", text), key
                for left, right in zip(NUMBER.findall(then.text[key]), NUMBER.findall(text), strict=True):
                    digits = len(right.partition(".")[2])
                    unit = 10**-digits if digits else 0
                    apart = abs(float(left.replace(",", "")) - float(right.replace(",", "")))
                    assert apart <= max(1.01 * unit, ROUNDING), (key, left, right)


@pytest.mark.parametrize("lesson", LESSONS)
def test_tensors_agree_with_a_live_run(
    recorded: Recorded, results: CourseRuns, subtests: pytest.Subtests, lesson: Lesson
) -> None:
    for step, varies in steps(lesson, runs=True):
        with subtests.test(step):
            then, now = recorded[lesson.id][step], results[lesson.id][step]
            assert [one.name for one in then.tensors] == [one.name for one in now.tensors]
            for left, right in zip(then.tensors, now.tensors, strict=True):
                for attribute in ("kind", "dtype", "shape", "axes", "labels"):
                    assert getattr(left, attribute) == getattr(right, attribute), (left.name, attribute)
                assert (left.values is None) == (right.values is None)
                if left.window is not None and right.window is not None:
                    for attribute in ("lead", "top", "left"):
                        assert getattr(left.window, attribute) == getattr(right.window, attribute)
                    assert [len(row) for row in left.window.rows] == [len(row) for row in right.window.rows]
                if varies:
                    continue
                assert close(left.low, right.low), left.name
                assert close(left.high, right.high), left.name
                pairs = list(zip(numbers(left), numbers(right), strict=True))
                if left.dtype.startswith(("float", "bfloat")):
                    scale = max((abs(one) for one, _ in pairs if math.isfinite(one)), default=1.0)
                    assert all(close(*pair, max(scale, 1.0)) for pair in pairs), left.name
                else:
                    assert all(one == other and type(one) is type(other) for one, other in pairs), left.name


@pytest.mark.parametrize("source", ["recorded", "live"])
def test_dropout_drops_or_scales(recorded: Recorded, results: CourseRuns, source: str) -> None:
    """Processors drop different cells, but each cell is either 0 or scaled by the same factor."""
    steps = {"recorded": recorded["dropout"], "live": results["dropout"]}[source]
    ones = steps["ones"].tensors[0]
    assert set(numbers(ones)) == {0.0, 2.0}
    weights = steps["weights"].tensors[0]
    dropped = steps["dropped-weights"].tensors[0]
    for before, after in zip(numbers(weights), numbers(dropped), strict=True):
        assert after == 0 or close(after, 2 * before)
    assert any(numbers(dropped))
    (average,) = steps["scale"].tensors
    assert all(0.85 < value < 1.15 for value in numbers(average))


def test_facts_that_differ_in_the_last_bits_are_nearly_equal() -> None:
    assert is_nearly_equal([1, [0.5, math.nan]], [1, [0.5 + 1e-9, math.nan]])
    assert not is_nearly_equal([1, [0.5]], [1, [0.6]])
    assert not is_nearly_equal([1], [1, 2])


# Saving and loading --------------------------------------------------------------------------------------------------


def write_varied_lesson(folder: Path) -> Lesson:
    """Write a lesson with all sorts of numbers to a folder and load it."""
    return lesson_of(
        code_step("one", "import torch\nprint('Ω \\x1b[2J')\nx = torch.rand(3, 3)", "x", prose="{x.sum()}"),
        code_step("two", "y = torch.tensor([torch.nan, torch.inf, -torch.inf, -0.0, 1e-40])", "y"),
        code_step("three", "z = torch.rand(3).double()\nb = z > 0.5\ni = torch.tensor([2**62, -1])", "z", "b", "i"),
        code_step("four", "x = torch.rand(2, 100, 50)\ny = torch.tensor(0.1)\nz = torch.empty(0, 2)", "x", "y", "z"),
        code_step("five", "h = torch.rand(4).half()\nw = torch.rand(4).bfloat16()", "h", "w"),
    ).model_copy(update={"folder": str(folder)})  # fmt: skip


def test_round_trip(worker: Session, tmp_path: Path) -> None:
    lesson = write_varied_lesson(tmp_path)
    run = worker.run(lesson)
    run.close()
    assert [step.error for step in run.steps] == [None] * 5
    recordings.save(lesson, run.steps)
    loaded = recorded_outputs.load(lesson)
    assert list(loaded) == [step.id for step in lesson.steps]
    for then, now in zip(loaded.values(), run.steps, strict=True):
        assert (then.stdout, then.text) == (now.stdout, now.text)
        # repr distinguishes -0.0 from 0.0 and 1 from 1.0, and makes nan equal to itself
        assert repr(then.tensors) == repr(now.tensors)


def test_facts_of_a_question_are_recorded(worker: Session, tmp_path: Path) -> None:
    """So are the tensors that the question reveals once it is answered."""
    step: Fields = {"kind": "predict", "id": "one", "exercise": "one", "title": "A", "prose": "B"}
    step |= {"hints": ["c", "d", "e"]}
    step |= {"code": "import torch\nx = torch.tensor([1, torch.inf])", "show": [{"name": "x", "kind": "vector"}]}
    step |= {"asks": "number", "answer": "x[1]", "why": "{x[0]:.0f}", "wrong": [{"is": "x", "why": "{x.sum()}"}]}
    step |= {"reveal": [{"name": "y", "expr": "x * 2", "kind": "vector"}]}
    lesson = lesson_of(step).model_copy(update={"folder": str(tmp_path)})
    run = worker.run(lesson)
    run.close()
    recordings.save(lesson, run.steps)
    (loaded,) = recorded_outputs.load(lesson).values()
    assert loaded.text == {"x[0]:.0f": "1", "x.sum()": "inf", "x[1]!j": "Infinity", "x!j": "[1.0, Infinity]"}
    assert [(tensor.name, tensor.values) for tensor in loaded.tensors] == [("x", (1, math.inf)), ("y", (2, math.inf))]
    assert loaded.tensors == run.steps[0].tensors


def test_file_is_json_with_one_line_per_step(worker: Session, tmp_path: Path) -> None:
    lesson = write_varied_lesson(tmp_path)
    run = worker.run(lesson)
    run.close()
    recordings.save(lesson, run.steps)
    text = (tmp_path / recorded_outputs.FILE).read_text(encoding="utf-8")
    assert list(json.loads(text)) == ["steps"]
    assert text.count("\n") == len(lesson.steps) + 2
    assert "NaN" not in text
    assert "Infinity" not in text


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b"{}",
        b'{"steps": []}',
        b'{"steps": {"one": {}}}',
        b'{"steps": {"one": null}}',
        b'{"steps": {"removed": {"stdout": "", "text": {}, "tensors": {}}}}',
        b'{"steps": {"one": {"stdout": "", "text": {}, "tensors": {"x": {}}}}}',
        b'{"steps": {"one": {"stdout": "", "text": {}, "tensors": {"x": {"shape": 3}}}}}',
        b'{"steps": {"one": {"stdout": "", "text": {}, "tensors": {"x": {"dtype": "float32", "shape": [1], "low": 0,'
        b' "high": 0, "values": ["many"]}}}}}',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
)
def test_damaged_file_counts_as_no_recording(tmp_path: Path, data: bytes) -> None:
    lesson = write_varied_lesson(tmp_path)
    (tmp_path / recorded_outputs.FILE).write_bytes(data)
    assert recorded_outputs.load(lesson) == {}


def test_missing_file_counts_as_no_recording(tmp_path: Path) -> None:
    lesson = write_varied_lesson(tmp_path / "nowhere")
    assert recorded_outputs.load(lesson) == {}
    (tmp_path / "nowhere" / recorded_outputs.FILE).mkdir(parents=True)
    assert recorded_outputs.load(lesson) == {}


def test_tensor_that_is_no_longer_shown_is_left_out(worker: Session, tmp_path: Path) -> None:
    lesson = write_varied_lesson(tmp_path)
    run = worker.run(lesson)
    run.close()
    recordings.save(lesson, run.steps)
    shorter = lesson_of(code_step("one", "pass"), *(step.model_dump() for step in lesson.steps[1:]))
    loaded = recorded_outputs.load(shorter.model_copy(update={"folder": str(tmp_path)}))
    assert loaded["one"].tensors == ()
    assert loaded["two"].tensors != ()


def test_main_records_the_course(
    worker: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lesson = write_varied_lesson(tmp_path)
    monkeypatch.setattr(recordings, "load_course", lambda folder: Course(lessons=(lesson,)))
    monkeypatch.setattr(recordings, "Session", lambda: worker)
    monkeypatch.setattr(worker, "close", lambda: None)
    assert recordings.main() == 0
    assert capsys.readouterr().out == "made: 5 steps recorded\n"
    assert list(recorded_outputs.load(lesson)) == ["one", "two", "three", "four", "five"]


def test_main_does_not_record_a_failed_run(
    worker: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lesson = lesson_of(code_step("one", "1 / 0")).model_copy(update={"folder": str(tmp_path)})
    monkeypatch.setattr(recordings, "load_course", lambda folder: Course(lessons=(lesson,)))
    monkeypatch.setattr(recordings, "Session", lambda: worker)
    monkeypatch.setattr(worker, "close", lambda: None)
    assert recordings.main() == 1
    assert "made/one: " in capsys.readouterr().err
    assert not (tmp_path / recorded_outputs.FILE).exists()
