"""All lines about numbers, lessons and trainings are said in the learner's language: no English word is left."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from pathlib import Path

import pytest

from attn_tutor.lessons.format.lesson import Course, ExperimentStep, TrainStep
from attn_tutor.lessons.learner import trained_models
from attn_tutor.lessons.learner.progress import Progress
from attn_tutor.lessons.play import step_document
from attn_tutor.lessons.render import explanation_lines, explanation_text, flow_text, linear_matrix, memory_text
from attn_tutor.lessons.results.explanation_tree import Node
from attn_tutor.lessons.results.flow import Flow, FlowArrow, FlowBox, OpenBox
from attn_tutor.lessons.results.result import (
    AnswerDifference,
    CheckResult,
    Failure,
    Judgement,
    MemoryLayout,
    NamedMistake,
    StepResult,
)
from attn_tutor.lessons.results.summaries import blocks_of, row_stats
from attn_tutor.tui.drawings import bars, before_after, grid, memory_strip, tensor_words, training_drawing, zoom
from attn_tutor.tui.drawings.drawing_scene import Face
from attn_tutor.tui.render import exercise_text, linear_text
from attn_tutor.tui.render.palette import palette
from attn_tutor.tui.tty.terminal import Terminal
from attn_tutor.tui.widgets import explanation_pane
from tests import pseudo_language
from tests.pseudo_language import unsaid
from tests.tui.drawings.test_training_status import CURVES, replay, snapshot
from tests.tui.explanations import VARIED, long
from tests.tui.render.test_linear_text import LESSON, RESULTS, tensor
from tests.tui.render.test_solution_text import COMPARED, EXERCISE

T = tensor((1.0, -2.0, 3.0, 4.0), (2, 2), name="t", axes=("q", "k"))
STORED = replace(T, draw="memory", layout=MemoryLayout((2, 1), 1, 6, True, "A"))


@pytest.fixture(autouse=True)
def language(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pseudo_language.write(tmp_path, pseudo_language.interface())
    pseudo_language.speak(monkeypatch, tmp_path)


def test_lesson_in_lines() -> None:
    names = "Made You will see Why Because of the first And more why one One It is printed task Write def return pass"
    assert unsaid(linear_text.lesson(LESSON, RESULTS), names, "A task") == []
    states = {("made", "why"): "done", ("made", "one"): "skipped"}
    assert unsaid(linear_text.course(Course(lessons=(LESSON,)), states), "Made made") == []
    experiment = ExperimentStep.model_construct(id="ex", title="", prose="", exercise="ex", show=())
    assert unsaid(linear_text.lesson_step(LESSON, experiment, StepResult("ex"), "1"), "ex") == []
    for origin in ("own", "course", "missing", None):
        assert unsaid([linear_text.trained_words(origin)]) == []
    assert unsaid(linear_text.changes(["x"])) == []
    assert unsaid([step_document.failure(Failure("error", "", line)) for line in (None, 3)]) == []


def test_verdict_in_lines() -> None:
    checks = (CheckResult("aa", True), CheckResult("bb", False, "cc"))
    value = Judgement(
        "ex", "failed", "mm", checks=checks, stdout="pp", seed=3,
        mistakes=(NamedMistake("id", "nn", "tt", 3),), difference=AnswerDifference("dd", 3, T, T, ("gg",)),
    )  # fmt: skip
    assert unsaid(linear_text.judgement(value), "ex mm aa bb cc pp nn tt dd gg") == []
    for verdict in ("passed", "failed", "error", "timeout", "memory", "crash"):
        assert unsaid([linear_text.verdict_word(verdict)]) == []


def test_numbers_in_lines() -> None:
    for shape, axes in (((), ()), ((4,), ("k",)), ((2, 2), ("q", "k")), ((1, 2, 2), ("h", "q", "k"))):
        example = tensor((1.0, 2.0, 3.0, 4.0)[: 4 if shape else 1], shape, axes=axes)
        assert unsaid(linear_matrix.matrix(example)) == []
        assert unsaid(linear_matrix.bars(example)) == []
    for shape, axes in (((90,), ("k",)), ((9, 90), ("q", "k")), ((2, 9, 90), ("h", "q", "k"))):
        assert unsaid(linear_matrix.matrix(tensor(None, shape, axes=axes))) == []
    assert unsaid(linear_matrix.storage_lines(STORED)) == []
    assert unsaid([memory_text.sum_text(MemoryLayout((2, 1), 1, 6, True, "A"), (1, 1))]) == []
    for kind, values in (("weight", (0.4, 0.6)), ("vector", (1.0, 2.0)), ("vector", (inf, inf))):
        example = tensor(values, (1, 2), kind=kind)
        for room in (20, 40, 60, 90):
            assert unsaid([tensor_words.row_text(example, row_stats((), 0, values, 5), room)], "inf") == []


def test_explanations_in_lines() -> None:
    code = "queries keys product scores weights flat exp float masked mask True False if else max min sqrt inf norm"
    code += " torch tensor inputs cumprod mean softmax sum of out proj without untold copy scaled div"
    # Notes are said by the worker.
    for each in (*VARIED, long()):
        found = replace(each, notes=(), details=())
        lines = [*explanation_text.report(found), *explanation_lines.lines(Node(found, is_too_much=True))]
        lines += [str(line) for line in explanation_pane.contribution_lines(found, 90, 8)]
        assert unsaid([*lines, explanation_lines.choose_operands(found).rest], code, "all", found.name) == []
    assert unsaid([explanation_text.leaf_word(op) for op in ("draw", "literal", "given", "constant", "set")]) == []
    assert unsaid([explanation_text.numbers(range(20))]) == []


def test_flow_in_lines() -> None:
    boxes = (FlowBox("a", "a"), FlowBox("b", "b", code="c", unit="setup", line=2, times=3, loops=True, parent="o"))
    flow = Flow(boxes, (FlowArrow("a", "b"),), opened=(OpenBox("o", "o"),), left_out=2)
    assert unsaid(flow_text.lines(flow, 200)) == []
    assert unsaid([flow_text.shape_text(()), flow_text.again_text(["a"])]) == []


def test_training_in_lines() -> None:
    for state in ("recorded", "starting", "running", "paused", "stopping", "trained", "stopped", "failed"):
        for training in (replay(), replay(0, 10)):
            training.state = state
            status = training_drawing.training_status(training, 3.0)
            more = [training_drawing.failure_note(training), training_drawing.about_number(training)]
            assert unsaid([status.message, status.current, status.short, *more], "g") == []
    assert unsaid([training_drawing.snapshot_line(replay(0, 10), snapshot(10), CURVES)], "loss score") == []
    assert unsaid(map(training_drawing.seconds, (3, 80, 4000))) == []


def test_solution_in_lines() -> None:
    found = exercise_text.solution(EXERCISE, "a = 1\n", COMPARED).plain.splitlines()
    assert unsaid(found, EXERCISE.why, "scores weights queries own") == []
    same = exercise_text.solution(EXERCISE, EXERCISE.solution, "", gave_up=True).plain.splitlines()
    assert unsaid(same, EXERCISE.why) == []


def test_drawings_in_words() -> None:
    face = Face.of(STORED, palette(Terminal()))
    for drawing in (grid, bars, memory_strip):
        assert unsaid([drawing.unit(), drawing.describe(face, (), 0, 0, 1.0)]) == []
    assert unsaid([tensor_words.hidden_lines(2, 3), *tensor_words.axes_text(T)]) == []
    division = zoom.BlockPlan(2, 1, 7)
    for how in ("max", "mean"):
        blocks = blocks_of((), [[1.0, 2.0], [3.0, 4.0]], 2, 1, how)
        words = [zoom.caption(division, how, "x", shape) for shape in ((2, 2), (1 << 14, 1 << 14))]
        words.append(zoom.how_word(how))
        assert unsaid([*words, zoom.describe_block(face, division, how, blocks, (), (0, 0))]) == []
    other = replace(T, shape=(4,), axes=("k",), labels=((),))
    for before in (T, other, replace(T, values=(0.0, 1.0, 2.0, 3.0))):
        for mode in before_after.MODES:
            shown = before_after.contents(StepResult("s", tensors=(before,)), StepResult("s", tensors=(T,)), mode)
            assert unsaid(each.caption for each in shown) == []
            assert before_after.comparable(shown)


def test_trouble_with_progress_and_models(tmp_path: Path) -> None:
    (tmp_path / "zz").touch()
    for path in (tmp_path / "zz" / "pp", tmp_path):
        progress = Progress.open(path)
        assert unsaid([progress.problem or "nothing is wrong"], str(path)) == []
        progress.close()
    step = TrainStep.model_construct(title="tt")
    for changed in (True, False):
        assert unsaid([trained_models.untrained_message(step, changed=changed)]) == []
