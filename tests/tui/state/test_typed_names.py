"""Names of tensors as learners type them."""

from __future__ import annotations

import pytest

from attn_tutor.tui.state.typed_names import listed, meant, typed

NAMES = [
    "scores",
    "Attention.forward.scores",
    "Attention.forward.hidden",
    "Attention.forward.hidden[0]",
    "Decoder.forward.hidden[0]",
    "layers.0.weight",
    "layers.1.weight",
]


@pytest.mark.parametrize(
    ("text", "names", "inner"),
    [
        ("scores", ["scores"], ""),
        ("scores[1, 0]", ["scores"], "1, 0"),
        (" forward.scores [1,0] ", ["Attention.forward.scores"], "1,0"),
        ("Attention.forward.scores", ["Attention.forward.scores"], ""),
        ("hidden", ["Attention.forward.hidden"], ""),
        # The whole name of a tensor, or of an item of a list, not a cell of another tensor.
        ("hidden[0]", ["Attention.forward.hidden[0]", "Decoder.forward.hidden[0]"], ""),
        ("hidden[0][2]", ["Attention.forward.hidden[0]", "Decoder.forward.hidden[0]"], "2"),
        ("hidden[1]", ["Attention.forward.hidden"], "1"),
        ("weight", ["layers.0.weight", "layers.1.weight"], ""),
        ("1.weight", ["layers.1.weight"], ""),
        ("score", [], ""),
        ("scores + 1", [], ""),
        ("", [], ""),
    ],
)
def test_a_text_means_the_tensors_that_it_is_the_end_of(text: str, names: list[str], inner: str) -> None:
    assert typed(text, NAMES) == (tuple(names), inner)


def test_what_is_at_hand_goes_before_what_is_elsewhere() -> None:
    near = ["layers.1.weight"]
    assert meant("weight[0]", near, NAMES) == (("layers.1.weight",), "0")
    assert meant("hidden[1]", near, NAMES) == (("Attention.forward.hidden",), "1")
    assert meant("nothing", near, NAMES) == ((), "")


def test_of_many_names_the_first_ones_are_listed() -> None:
    assert listed(["a", "b"]) == "a, b"
    assert listed([f"x{number}" for number in range(10)]) == "x0, x1, x2, x3, x4, x5, x6, x7 and 2 more"
