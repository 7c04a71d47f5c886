"""The verb `flow`: which tensors were made from which."""

from __future__ import annotations

import re
from pathlib import Path

from tests.tui.commands.command_line import Command, document

STEP = ("flow", "multi-head-class", "run")
ATTEND = ("--open", "context", "--open", "context")
"""Opens what the layer gives, and in it what its heads give, which has the same name."""


def test_flow_as_text(command: Command) -> None:
    status, out, err = command(*STEP)
    assert (status, err) == (0, "")
    assert out.splitlines()[2:] == [
        "batch   2×6×3   from inputs",
        "  line 13 of the setup: batch = torch.stack((inputs, inputs), dim=0)",
        "attention",
        "  line 1: attention = MultiHeadAttention(3, 2, 6, 0.0, num_heads=2)",
        "context   2×6×2   from attention, batch",
        "  line 2: context = attention(batch)",
    ]
    inside = command(*STEP, *ATTEND)[1]
    assert "inside context = attention(batch):" in inside
    assert "    inside context = self.attend(queries, keys, values, mask):" in inside
    assert "        weights   2×2×6×6   from masked" in inside
    assert max(map(len, inside.splitlines())) <= 80


def test_flow_through_several_steps(command: Command) -> None:
    """Steps have the numbers that learners see, and the ids that they type."""
    out = command("flow", "all-queries", "context")[1]
    assert re.search(r"^  line \d+ of step \d+ \[weights\]: weights = ", out, re.MULTILINE)


def test_flow_as_json(command: Command) -> None:
    data = document(command(*STEP, *ATTEND, "--json"))
    by_id = {box["id"]: box for box in data["boxes"]}
    weights = next(box for box in data["boxes"] if box["name"] == "weights")
    assert [by_id[id]["name"] for id in weights["from"]] == ["masked"]
    assert (weights["shape"], weights["dtype"], weights["high"]) == ([2, 2, 6, 6], "float32", 1.0)
    assert (weights["file"], weights["parent"]) == ("multi_head.py", data["opened"][1]["id"])
    assert [box["name"] for box in data["opened"]] == ["context", "context"]
    assert data["left_out"] == 0


def test_flow_for_graphviz(command: Command) -> None:
    out = command(*STEP, *ATTEND, "--dot")[1]
    assert out.startswith("digraph flow {\n")
    assert out.count("{") == out.count("}") == 3
    assert out.count(" -> ") == 13


def test_flow_of_a_program(command: Command, tmp_path: Path) -> None:
    program = tmp_path / "mine.py"
    program.write_text("import torch\nx = torch.ones(2, 3)\ny = x @ x.T\n")
    assert command("flow", str(program), "-")[1].splitlines() == [
        "x   2×3",
        "  line 2: x = torch.ones(2, 3)",
        "y   2×2   from x",
        "  line 3: y = x @ x.T",
    ]
    program.write_text("print(1)\n")
    assert command("flow", str(program), "-") == (
        3,
        "",
        "attn-tutor: There is no flow to show, because this code computes nothing with tensors.\n",
    )
    program.write_text("x = (\n")
    assert command("flow", str(program), "-")[0] == 2
    program.write_text("import torch\ntorch.ones(2) @ torch.ones(3)\n")
    status, _, err = command("flow", str(program), "-")
    assert status == 1
    assert "line 2" in err


def test_flow_of_what_is_not_there(command: Command) -> None:
    status, _, err = command("flow", "causal-mask", "nowhere")
    assert status == 2
    assert "The steps that do are: " in err
    status, _, err = command(*STEP, "--open", "weights")
    assert status == 2
    assert "There is no box 'weights' to open. These can be opened: attention, context" in err
    assert command(*STEP, "--dot", "--json")[0] == 2
