"""Whether steps fit on the smallest screen."""

from __future__ import annotations

from pathlib import Path

from attn_tutor.lessons.reading.findings import Finding
from attn_tutor.lessons.reading.loader import load_lesson
from attn_tutor.lessons.results.flow import Flow, FlowArrow, FlowBox
from attn_tutor.tui.commands import screen_fit


def lesson_with(folder: Path, prose: str, code: str) -> list[Finding]:
    lesson_folder = folder / "01-first"
    lesson_folder.mkdir(exist_ok=True)
    step = f"  - id: one\n    kind: run\n    title: One\n    prose: {prose}\n    code: |\n{code}"
    (lesson_folder / "lesson.yaml").write_text(f"title: T\ngoal: G\nsteps:\n{step}")
    return screen_fit.findings([load_lesson(lesson_folder)])


def test_a_text_that_is_too_long_is_found(tmp_path: Path) -> None:
    code = "      x = 1\n" * 14
    assert lesson_with(tmp_path, "word " * 60, code) == []
    (found,) = lesson_with(tmp_path, "word " * 240, code)
    assert (found.line, found.column) == (7, 12)
    assert "lines of text get a place of" in found.problem


def test_a_question_whose_matrices_do_not_fit(tmp_path: Path) -> None:
    folder = tmp_path / "01-first"
    (folder / "exercises").mkdir(parents=True)
    option = "word " * 30
    options = "".join(f"\n      - {{text: {option}{number}, why: W.}}" for number in range(7))
    (folder / "lesson.yaml").write_text(
        "title: T\ngoal: G\nsteps:\n"
        "  - id: one\n    kind: choice\n    exercise: one\n    title: One\n"
        f"    prose: {'word ' * 200}\n    code: x = [[1.0, 2.0], [3.0, 4.0]]\n"
        "    show:\n      - {name: x, kind: vector}\n"
        f"    options:\n      - {{text: yes it is, why: W., right: true}}{options}\n"
        "    why: W.\n    hints: [a., b., c.]\n"
    )
    (folder / "recorded.json").write_text(
        '{"steps": {"one": {"stdout": "", "text": {}, "shapes": [], "tensors": {"x": {"dtype": "float32", '
        '"shape": [2, 2], "low": 1.0, "high": 4.0, "values": [1.0, 2.0, 3.0, 4.0]}}}}}\n'
    )
    assert screen_fit.findings([load_lesson(folder)]) != []


def test_a_step_that_leaves_a_large_screen_blank_is_found(tmp_path: Path) -> None:
    assert lesson_with(tmp_path, "word", "      x = 1\n") == []
    lesson = load_lesson(tmp_path / "01-first")
    (found,) = screen_fit.blank([lesson], {})
    assert (found.line, found.column) == (7, 12)
    assert "of 48 rows are blank" in found.problem
    boxes = tuple(FlowBox(str(number), f"tensor {number}", shape=(2,)) for number in range(9))
    arrows = tuple(FlowArrow(str(number), str(number + 1)) for number in range(7))
    assert screen_fit.blank([lesson], {("first", "one"): Flow(boxes, arrows)}) == []
