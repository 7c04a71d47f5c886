"""Earlier tensors beside a step: which there are, and how many are drawn."""

from __future__ import annotations

from textual.app import App, ComposeResult

from attn_tutor.lessons.format import main_path
from attn_tutor.lessons.play.recorded_results import RecordedResults
from attn_tutor.lessons.results.result import StepResult, Tensor
from attn_tutor.tui.state import shown_tensors
from attn_tutor.tui.state.shown_tensors import EarlierTensor
from attn_tutor.tui.tty.terminal import Terminal
from attn_tutor.tui.widgets.side_panel import EarlierMatrices
from tests.course import COURSE
from tests.tui.painted import painted_lines

LESSON = COURSE.lesson("causal-mask")


def recorded(step: str) -> StepResult | None:
    return RecordedResults().result(LESSON, step)


def test_the_latest_come_first_and_each_name_once() -> None:
    index = LESSON.index("context")
    found = shown_tensors.shown_before(LESSON, index, recorded)
    names = [each.tensor.name for each in found]
    assert len(names) == len(set(names))
    steps = [main_path.name_of(LESSON.steps, step.id) for step in LESSON.main_steps]
    assert [each.where for each in found if each.tensor.name == "weights"] == [
        main_path.name_of(LESSON.steps, "causal-weights")
    ]
    numbers = [steps.index(each.where) for each in found]
    assert numbers == sorted(numbers, reverse=True)
    own = recorded("context")
    assert own is not None
    assert not {tensor.name for tensor in own.tensors} & set(names)


def test_what_questions_hide_is_no_earlier_tensor() -> None:
    index = LESSON.index("certain-weight") + 1
    assert "divided" not in [each.tensor.name for each in shown_tensors.shown_before(LESSON, index, recorded)]


class Beside(App[None]):
    def compose(self) -> ComposeResult:
        self.earlier = EarlierMatrices(Terminal())
        yield self.earlier


def tensor(name: str, rows: int, columns: int) -> EarlierTensor:
    values = tuple(1.0 - index / 10_000 for index in range(rows * columns))
    shape, labels = (rows, columns), ((), ())
    return EarlierTensor(Tensor(name, "vector", "float32", shape, ("", ""), labels, 0.0, 1.0, values=values), "step 1")


async def test_as_many_as_fit_are_drawn_and_fill_the_room() -> None:
    app = Beside()
    async with app.run_test(size=(46, 30)) as pilot:
        app.earlier.show([tensor("first", 4, 3), tensor("second", 4, 3)])
        await pilot.pause()
        assert sum("step 1" in line for line in painted_lines(app)) == 2
        digits = [y for y, line in enumerate(painted_lines(app)) if "0.99" in line]
        assert digits[1] - digits[0] == 3, "rows grow"
        # A large one is drawn in part, and one that does not fit gives way to the next.
        app.earlier.show([tensor("large", 60, 60), tensor("tall", 28, 1), tensor("small", 2, 2)])
        await pilot.pause()
        text = "\n".join(painted_lines(app))
        assert "+" in text
        assert "small" in text
        assert app.earlier.lines_at(46) == 12
        app.earlier.show([])
        await pilot.pause()
        assert not "".join(painted_lines(app)).strip()
        assert app.earlier.lines_at(46) == 0
