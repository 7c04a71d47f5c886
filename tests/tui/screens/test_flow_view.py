"""The flow of what has run, from key to screen."""

from __future__ import annotations

import pytest

from attn_tutor.tui.widgets.flow_chart import FlowChart
from tests.course import COURSE
from tests.tui.learner import tutor


async def test_from_a_step_to_its_flow_and_back() -> None:
    async with tutor() as learner:
        await learner.goes_to("all-queries", "context")
        await learner.sees("live, 2 ms")
        await learner.press("f")
        await learner.sees("Flow: All context vectors", "╭ start 2 ╮", "╭ function + ╮", "╭ context 6×3 ╮")
        assert learner.keys.startswith("arrows choose   enter matrix   esc back")
        await learner.press("up")
        await learner.sees("o open")
        # It is no tensor, and says so.
        await learner.press("enter")
        await learner.sees("function is not a single tensor. Press o to open it.")
        await learner.press("o")
        await learner.sees("╭ inner 2 ╮", "o close")
        await learner.press("o", "down")
        await learner.sees("╭ function + ╮", lambda: learner.lines[-2].startswith(" context 6×3"))
        await learner.press("enter")
        await learner.sees("context  6×3   rows: token", "context[0,0] = 0.44")
        # Each number explains itself here too, and the path of the explanation is drawn.
        await learner.press("enter")
        await learner.sees("= context[0,0] + context[0,1]")
        await learner.press("escape", "escape")
        await learner.sees("╭ start 2 ╮")
        await learner.press("escape")
        await learner.sees(" All context vectors", "live, 2 ms", "context[0,0]")
        assert learner.focus == "matrix0"


async def test_the_cursor_moves_before_the_flow_without_a_closed_box_has_come() -> None:
    """It ended the tutor."""
    async with tutor() as learner:
        await learner.goes_to("all-queries", "context")
        await learner.sees("live, 2 ms")
        await learner.press("f")
        await learner.sees("╭ function + ╮")
        chart = learner.app.query_one("#chart", FlowChart)
        for moves, box in ((0, "function"), (1, "context")):
            chart.choose("function")
            chart.action_open_close()
            await learner.sees("╭ inner 2 ╮", lambda: chart.box is not None and chart.box.id == "inner")
            # Without a pause, so that the reply cannot have come.
            chart.action_open_close()
            for _ in range(moves):
                chart.action_move(1, 0)
            await learner.sees("╭ function + ╮")
            assert chart.box is not None
            assert chart.box.id == box


async def test_the_flow_key_works_both_ways_and_steps_go_on_from_there() -> None:
    async with tutor(size=(160, 50)) as learner:
        await learner.goes_to("all-queries", "weights")
        await learner.sees("live, 2 ms")
        await learner.press("f")
        # On a large screen the matrix is there already.
        await learner.sees("Flow: Softmax along the rows", "╭ start 2 ╮", "weights  6×6   rows: query")
        await learner.press("f")
        await learner.sees(" Softmax along the rows", "live, 2 ms")
        await learner.press("f", "f2")
        await learner.sees("lossary")
        await learner.press("f2")
        await learner.sees("Flow: Softmax along the rows")
        await learner.press("n")
        await learner.sees(" Softmax along the wrong axis")
        # The map has no flow.
        await learner.press("m", "f")
        await learner.sees("course map")


async def test_a_large_screen_shows_the_flow_beside_the_matrices() -> None:
    async with tutor(size=(160, 50)) as learner:
        await learner.goes_to("all-queries", "weights")
        await learner.sees("live, 2 ms", "╭ start 2 ╮", "╭ weights 6×6 ╮")
        plain = learner.text
        # The explanation stands below its matrix, and its path is drawn into the flow.
        await learner.press("enter")
        await learner.sees("= weights[0,0] + weights[0,1]", lambda: learner.text != plain)
        at = max(y for y, line in enumerate(learner.lines) if "step  " in line[52:110] and "0." in line)
        [below] = [y for y, line in enumerate(learner.lines) if "weights[0,0] = weights[0,0]" in line]
        assert 0 < below - at < 16
        await learner.press("escape", "n")
        await learner.sees("Softmax along the wrong axis", "╭ start 2 ╮")
        # Text without code has the flow of what was shown last.
        await learner.goes_to("all-queries", "remember")
        await learner.resizes(80, 24)
        assert "╭" not in learner.text


async def test_an_explanation_below_matrices_that_stand_beside_each_other() -> None:
    async with tutor(size=(200, 60)) as learner:
        await learner.goes_to("causal-mask", "context")
        await learner.sees("values  6×2", "context  6×2", "the flow of this step")
        await learner.press("enter")
        await learner.sees("context[0,0] = ")
        await learner.press("escape", "n")
        # Beside a question or an exercise stands the flow of a step before it.
        await learner.goes_to("causal-mask", "certain-weight")
        await learner.sees("the flow of step 6")


async def test_memory_with_leading_axes_on_a_large_screen() -> None:
    """It ended the tutor."""
    async with tutor(size=(160, 50)) as learner:
        await learner.goes_to("weight-split", "memory")
        await learner.sees("How a tensor lies in memory", "row")


async def test_a_flow_before_the_step_has_run() -> None:
    async with tutor() as learner:
        session = learner.app.state.async_session
        await learner.goes_to("all-queries", "weights")
        await learner.sees("live, 2 ms")
        assert session is not None
        before = session._run
        await learner.press("r")
        await learner.sees(lambda: session._run not in (None, before), "live, 2 ms")
        run = session._run
        assert run is not None
        session._run = None
        await learner.press("f")
        await learner.sees("The flow can be drawn once this step has run.")
        learner.app.parts.steps.run()
        await learner.sees("╭ weights 6×6 ╮")
        await learner.press("escape")
        await learner.sees(" Softmax along the rows")


@pytest.mark.parametrize("size", [(40, 15), (80, 24), (120, 40), (200, 60)])
async def test_every_key_at_every_size(size: tuple[int, int]) -> None:
    async with tutor(size=size) as learner:
        learner.opens("all-queries", COURSE.lesson("all-queries").index("context"))
        await learner.sees("All context vectors", lambda: learner.view_has_keys)
        await learner.press("f", "up", "o", "left", "right", "down", "down", "home", "end", "v", "v", "v", "tab", "tab")
        await learner.sees("Flow: ")
        await learner.press("enter", "down", "enter", "enter", "backspace", "escape", "escape", "escape", "escape")
        await learner.sees(lambda: learner.app.frame.view_id == "map")
