"""What lesson 0 says about recurrent encoders and attention holds for other random weights than the ones it shows."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from attn_tutor.lessons.format.lesson import SETUP
from attn_tutor.lessons.reading.folders import COURSE
from attn_tutor.lessons.reading.loader import load_lesson

LESSON = load_lesson(COURSE / "00-why-attention")
SEEDS = (*range(20), 123, 2**32 - 1)


def run_to(last: str, seed: int) -> dict[str, Any]:
    """Return the variables of the lesson after the step `last`, with one seed for all steps, like the seed knob."""
    namespace: dict[str, Any] = {}
    for name, code in LESSON.parts:
        torch.manual_seed(seed)
        exec(code, namespace)
        if name == last:
            break
    return namespace


@pytest.fixture(scope="module", params=SEEDS, ids=lambda seed: f"seed-{seed}")
def variables(request: pytest.FixtureRequest) -> dict[str, Any]:
    return run_to("compared", request.param)


def test_the_lesson_has_the_steps_that_are_tested() -> None:
    names = [name for name, _ in LESSON.parts]
    assert names[0] == SETUP
    assert "compared" in names


def test_first_words_fade_from_the_last_state(variables: dict[str, Any]) -> None:
    faded, half = variables["faded"], variables["half"]
    assert faded[:half].sum() < faded[half:].sum() / 2
    assert faded[0] < faded[-1] / 4
    assert (variables["reach"].diff() > 0).all()


def test_attention_reaches_the_first_words(variables: dict[str, Any]) -> None:
    faded, back, half = variables["faded"], variables["shares_back"], variables["half"]
    assert back[:half].sum() > 1.5 * faded[:half].sum()
    assert back[0] > 2 * faded[0]


def test_decoder_knows_the_last_state_only(variables: dict[str, Any]) -> None:
    assert torch.equal(variables["again"], variables["own_states"])
    assert not torch.allclose(variables["decode"](variables["states"][0]), variables["own_states"])


def test_every_round_of_the_training_lowers_the_loss() -> None:
    variables = run_to("trained", 123)
    predict, wanted, rounds = variables["predict"], variables["wanted"], variables["rounds"]
    embeddings, losses = variables["inputs"].clone(), []
    for _ in range(rounds + 1):
        embeddings.requires_grad_()
        loss = ((predict(embeddings) - wanted) ** 2).mean()
        losses.append(loss.item())
        embeddings = (embeddings - torch.autograd.grad(loss, embeddings)[0]).detach()
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < losses[0] / 50


def test_equal_words_have_equal_rows_and_other_words_have_not() -> None:
    """What the experiment of this lesson says about a word that comes twice, wherever it stands."""
    variables = run_to("why", 123)
    inputs = variables["inputs"][[0, 1, 2, 0, 3]]
    weights = torch.softmax(inputs @ inputs.T, dim=-1)
    assert torch.equal(weights[0], weights[3])
    assert torch.equal(weights[:, 0], weights[:, 3])
    assert not torch.allclose(weights[0], weights[1], atol=0.01)
