"""Journeys through an experiment and through searches, with live runs."""

from __future__ import annotations

from typing import Any

import pytest

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import Course
from tests.course import use_course
from tests.lessons.experiment_builders import STEP
from tests.lessons.lesson_builders import code_step, lesson_of
from tests.lessons.question_builders import DEFAULTS
from tests.tui.commands.command_line import WarmSession
from tests.tui.learner import Learner, tutor

CODE = "import torch\nsource = torch.tensor([3.0, 2.0])\npair = source * 10\ntotal = pair.sum()\n"
HOLDER = """\
holder = torch.nn.Linear(2, 1, bias=False)
weighted = (source * holder.weight)[0]
"""


def find(name: str, **fields: Any) -> dict[str, Any]:
    shown = [{"name": "pair", "kind": "vector"}, {"name": "source", "kind": "vector"}]
    return {"kind": "find", "show": shown} | DEFAULTS | {"id": name, "exercise": name, "title": f"Find {name}"} | fields


LESSON = lesson_of(
    code_step("make", CODE, "pair", prose="Look here."),
    STEP | {"show": [{"name": "source", "kind": "vector"}, {"name": "pair", "kind": "vector"}]},
    find("origin", target="cell", on="source", start="pair[1]", answer="source == 2"),
    find(
        "inside",
        show=[
            {"name": "weighted", "kind": "vector"},
            {"name": "weight", "expr": "holder.weight", "kind": "vector"},
        ],
        code=HOLDER,
        target="cell",
        on="weight",
        start="weighted[1]",
        answer="torch.tensor([[False, True]])",
    ),
    find("box", target="box", answer="['source']", wrong=[{"is": "['pair']", "why": "That comes later."}]),
)


@pytest.fixture(autouse=True)
def course(monkeypatch: pytest.MonkeyPatch) -> None:
    use_course(monkeypatch, Course(lessons=(LESSON,)))


async def _text_beside_the_panel(learner: Learner) -> None:
    await learner.press("enter")
    await learner.sees("step 1 of 5", "live", "Look here.", lambda: "w what if" in learner.keys)
    await learner.press("w")
    # The panel stands where the text was, and the text tells what to do with it.
    await learner.sees("What if", "> pair[0]", "Look here.")
    await learner.press("9", "enter")
    await learner.sees("What if …   (the text describes the code before your changes)", "Look here.")
    await learner.press("escape")
    await learner.sees("step 1 of 5", lambda: "What if" not in learner.text)


async def _experiment(learner: Learner) -> None:
    await learner.press("n")
    await learner.sees("step 2 of 5", "live", "Make it smaller", lambda: "f3 hint" in learner.keys)
    await learner.press("f3")
    await learner.sees("Hint 1 of 3: Ask.")
    await learner.press("w")
    await learner.sees("What if", "> source[0]", "Make it smaller")
    await learner.press("9", "enter")
    await learner.sees("Not yet. It is still 90.", "what if", lambda: "f3 hint" in learner.keys)
    # What is said here is about the changes.
    assert "before your changes" not in learner.text
    await learner.press("f3")
    await learner.sees("Hint 2 of 3: Point.")
    await learner.press("1", "enter")
    await learner.sees("Done. Now it is 10, and the total 30. Sources decide.")
    assert learner.progress.passed("swap")
    assert [attempt.code for attempt in learner.progress.attempts("swap")] == ["swap:source[0] = 1"]
    # What was written has no name of its own on the way of the numbers.
    assert "→  →" not in learner.text
    await learner.press("tab", "n")
    await learner.sees("step 3 of 5", lambda: "what if" not in learner.lines[0])
    await learner.press("b")
    await learner.sees("Done", "what if")
    await learner.press("w")
    await learner.sees("What if", "Done. Now it is 10")
    await learner.press("escape")
    await learner.sees("You have done this before", "Make it smaller", lambda: "what if" not in learner.lines[0])
    await learner.press("w")
    await learner.sees("What if", "You have done this before", "Make it smaller")


async def _find_a_cell(learner: Learner) -> None:
    await learner.press("n")
    await learner.sees("step 3 of 5", "live", "pair[1] = 20", lambda: "enter explain" in learner.keys)
    await learner.press("a")
    await learner.sees("The answer is in source")
    await learner.press("left", "enter")
    await learner.sees("pair[0] = source[0]", "What?", lambda: "a this is it" in learner.keys)
    await learner.press("a")
    # A wrong answer leaves the explanation open, and the task beside it.
    await learner.sees("✗ source[0]", "What?", "pair[0] = source[0]", lambda: "a this is it" in learner.keys)
    await learner.press("f3")
    await learner.sees("Hint 1 of 3: a", "✗ source[0]", "What?", "pair[0] = source[0]")
    await learner.press("escape")
    await learner.sees("Find origin", "✗ source[0]", lambda: "pair[0] = source[0]" not in learner.text)
    await learner.press("right", "enter")
    await learner.sees("pair[1] = source[1]", lambda: "a this is it" in learner.keys)
    await learner.press("a")
    await learner.sees("Right: source[1]", "So it is.")
    assert learner.progress.passed("origin")


async def _find_in_an_attribute(learner: Learner) -> None:
    """The tensor has one name in the explanation, `holder.weight`, and another one where it is shown."""
    await learner.press("n")
    await learner.sees("step 4 of 5", "live", "weighted[1] = ", lambda: "enter explain" in learner.keys)
    await learner.press("enter")
    await learner.sees("holder.weight[0,1]", lambda: "a this is it" in learner.keys)
    await learner.press("down", "a")
    await learner.sees("Right: weight[0")


async def _find_a_box(learner: Learner) -> None:
    await learner.press("n")
    await learner.sees("step 5 of 5", "live", lambda: "f flow" in learner.keys)
    await learner.press("f")
    await learner.sees("Flow: Find box", "╭ pair 2 ╮", "pair = source * 10", lambda: "a this is it" in learner.keys)
    await learner.press("a")
    await learner.sees("step 5 of 5", "✗ pair", "That comes later.")
    await learner.press("f")
    # The code alone also stands in the step.
    await learner.sees("╭ pair 2 ╮", lambda: "a this is it" in learner.keys)
    await learner.press("up", "a")
    await learner.sees("Right: source")


async def test_changes_are_judged_and_hold_in_the_experiment_and_what_is_found_is_pointed_at(session: Session) -> None:
    """One journey, because one step leads to the next."""
    async with tutor(WarmSession(session)) as learner:
        await _text_beside_the_panel(learner)
        await _experiment(learner)
        await _find_a_cell(learner)
        await _find_in_an_attribute(learner)
        await _find_a_box(learner)
