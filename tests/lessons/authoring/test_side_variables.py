"""The main path uses nothing of what side steps make."""

from __future__ import annotations

from typing import Any

import pytest

from attn_tutor.lessons.authoring import writing
from tests.lessons.lesson_builders import Fields, code_step, doubling_exercise, lesson_of, text_step

SETUP = "import torch\n\nx = torch.ones(2)\n"
TRAINING: Fields = {
    "kind": "train", "id": "train", "title": "Train", "prose": "Look.", "code": "m = trained",
    "training": "for step in range(2):\n    loss = step\n    frame(step, 2)\n", "keep": "m",
    "curves": [{"name": "loss", "label": "loss", "expr": "loss"}],
}  # fmt: skip


def problems(*steps: Fields, **fields: Any) -> list[tuple[tuple[int | str, ...], str]]:
    lesson = lesson_of(code_step("first", "y = x + 1"), *steps, setup=SETUP, **fields)
    return [(path, problem) for path, problem, _ in writing.side_variable_complaints(lesson)]


def aside(code: str, name: str = "aside") -> Fields:
    return code_step(name, code, side=True)


ALONE = "'z' is what the side step 'aside' alone has made"
USES: dict[str, tuple[Fields, tuple[int | str, ...]]] = {
    "code": (code_step("later", "w = z"), ("code",)),
    "function": (code_step("later", "def f():\n    return z"), ("code",)),
    "shown": (code_step("later", "w = 1", "w", "z"), ("show", 1)),
    "shown expression": (code_step("later", "w = 1", {"name": "w", "kind": "vector", "expr": "w + z"}), ("show", 0)),
    "prose": (code_step("later", "w = 1", prose="It is {w} or {z.sum():.2f}."), ("prose",)),
    "text": (text_step("later", "It is {z}."), ("prose",)),
    "claim": (code_step("later", "w = 1", claims=["w == 1", "z.sum() == 2"]), ("claims", 1)),
    "attempt": (doubling_exercise().model_dump(by_alias=True) | {"attempt": "doubled = double(z)"}, ("attempt",)),
    "curve": (TRAINING | {"curves": [{"name": "z", "label": "z", "expr": "z"}]}, ("curves", 0, "expr")),
    "level": (
        TRAINING | {"curves": [{"name": "w", "label": "w", "expr": "1", "level": {"label": "z", "expr": "z"}}]},
        ("curves", 0, "level", "expr"),
    ),
    "training": (TRAINING | {"training": "frame(z, 2)"}, ("training",)),
    "answer": (
        {
            "kind": "predict", "id": "later", "exercise": "later", "title": "How", "prose": "How?", "asks": "number",
            "answer": "z[0]", "why": "So.", "hints": ["One.", "Two.", "Three."], "code": "w = 1",
        },
        (),
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", USES)
def test_a_main_step_uses_what_a_side_step_alone_has_made(what: str) -> None:
    step, path = USES[what]
    assert problems(aside("z = x * 2"), step) == [(("steps", 2, *path), ALONE)]
    # Beside the main path it may.
    assert problems(aside("z = x * 2"), step | {"side": True}) == []
    assert problems(code_step("before", "z = x * 2"), aside("w = z"), step) == []


@pytest.mark.parametrize("code", ["y = x * 2", "y += 1", "y[0] = 5", "y.add_(1)"])
def test_a_main_step_uses_what_a_side_step_has_changed(code: str) -> None:
    assert problems(aside(code), code_step("later", "w = y")) == [
        (("steps", 2, "code"), "'y' is what the side step 'aside' has changed")
    ]


def test_a_name_of_its_own_may_be_used_again() -> None:
    assert problems(aside("z = x * 2"), code_step("later", "z = x * 3\nw = z", "z"), code_step("last", "w = z")) == []
    assert problems(aside("import torch\nfor i in x:\n    pass"), code_step("later", "z = torch")) == []
    assert problems(aside("import math"), code_step("later", "w = math.e"))[0][1] == ALONE.replace("'z'", "'math'")
    # Said once for each step.
    assert len(problems(aside("z = x"), code_step("later", "w = z", "z", prose="{z}"))) == 1


def test_a_side_step_may_stand_for_the_lesson() -> None:
    assert problems(aside("z = x"), code_step("later", "w = x"), flow="aside", thumbnail="aside/z") == []
