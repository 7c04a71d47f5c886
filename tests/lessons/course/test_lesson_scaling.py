"""What the lessons on trainable weights and on classes say about random numbers holds for other seeds too."""

from __future__ import annotations

import contextlib
import io
import warnings
from typing import Any

import pytest
import torch

from attn_tutor.lessons.format.lesson import Lesson, RunningStep
from tests.course import COURSE

TRAINABLE, CLASSES = COURSE.lesson("trainable-weights"), COURSE.lesson("attention-classes")
OF_ANY_SEED = {
    "trainable-weights": ("draw-order", "parameter", "how-far", "spread", "saturation", "lost-gradient", "which-width"),
    "attention-classes": (
        "v1",
        "which-way",
        "downhill",
        "one-seed",
        "bound",
        "first-weights",
        "first-gradient",
        "bias",
        "key-bias",
        "carried",
        "silent",
    ),
}
"""Steps whose claims are about random numbers in general, not about the numbers of one seed."""


def false_claims(lesson: Lesson, seed: int | None = None) -> list[str]:
    """Return the claims that are false in a run of the lesson, with one seed in place of all seeds, or with its own."""
    namespace: dict[str, Any] = {"__name__": "__lesson__"}
    found = []
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.filterwarnings("ignore", "Failed to initialize NumPy")
        exec(lesson.setup, namespace)
        for step in lesson.steps:
            if not isinstance(step, RunningStep):
                continue
            own = lesson.seed if step.seed is None else step.seed
            torch.manual_seed(own if seed is None else seed)
            exec(step.code, namespace)
            if seed is None or step.id in OF_ANY_SEED[lesson.id]:
                found += [f"{step.id}: {claim}" for claim in step.claims if not eval(claim, namespace)]
    return found


@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("lesson", [TRAINABLE, CLASSES], ids=lambda lesson: lesson.id)
def test_claims_hold_for_other_seeds(lesson: Lesson, seed: int) -> None:
    for step in OF_ANY_SEED[lesson.id]:
        running = lesson.step(step)
        assert isinstance(running, RunningStep)
        assert running.claims
    assert false_claims(lesson, seed) == []


def test_a_false_claim_is_found() -> None:
    places = {step.id: place for place, step in enumerate(TRAINABLE.steps)}
    step = TRAINABLE.steps[places["saturation"]].model_copy(update={"claims": ("largest[0] < largest[1]",)})
    steps = list(TRAINABLE.steps)
    steps[places["saturation"]] = step
    assert false_claims(TRAINABLE.model_copy(update={"steps": tuple(steps)})) == ["saturation: largest[0] < largest[1]"]


def test_claims_hold_for_square_matrices() -> None:
    """They concern contexts as wide as the embeddings, and a copy of weights without a transpose."""
    spaces: dict[str, dict[str, Any]] = {}
    for lesson, last in ((TRAINABLE, "all-six"), (CLASSES, "silent")):
        space = spaces[lesson.id] = {"__name__": "__lesson__"}
        with contextlib.redirect_stdout(io.StringIO()):
            exec(lesson.setup, space)
            for step in lesson.steps[: lesson.index(last) + 1]:
                if isinstance(step, RunningStep):
                    torch.manual_seed(lesson.seed if step.seed is None else step.seed)
                    exec(step.code, space)
    known = torch.tensor([0.6692, 1.0276, 1.1106])
    careless = torch.tensor([1.0385, 1.1884, 0.6697])
    for found, numbers in (
        (spaces["trainable-weights"]["all_context"], known),
        (spaces["attention-classes"]["from_square"], known),
        (spaces["attention-classes"]["from_careless"], careless),
    ):
        assert torch.allclose(found[0], numbers, atol=1.01e-4)
