"""The verb `explain`: how a number was made."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from attn_tutor.lessons.engine.run import Run
from attn_tutor.lessons.results import explanation_tree
from attn_tutor.lessons.results.tensor_questions import FollowQuestion, TensorQuestion
from tests.exam.explanations import reader
from tests.tui.commands.command_line import Command, document

SCORE = ("explain", "all-queries", "product", "scores", "1,2")


def test_explain_as_text(command: Command) -> None:
    status, out, err = command(*SCORE)
    assert (status, err) == (0, "")
    assert out.splitlines()[:5] == [
        "scores[1,2] = 1.4754   line 1: inputs @ inputs.T",
        "  = inputs[1,:]·inputs[2,:]",
        "  = 0.55·0.57 + 0.87·0.85 + 0.66·0.64 = 1.4754",
        "    inputs[1,0] = 0.55   line 4 of the setup: 0.55",
        "      Written in the code.",
    ]
    # The default depth, with each number explained once.
    assert out.count("      Written in the code.") == 6
    assert max(map(len, out.splitlines())) <= 80
    assert command(*SCORE, "--depth", "1")[1].splitlines() == out.splitlines()[:3]
    assert command("explain", "all-queries", "product", "scores", "[1, 2]")[1] == out
    deep = command("explain", "all-queries", "context", "context", "1,0", "--depth", "4")[1]
    assert "            inputs[1,0] = 0.55" in deep


def test_explain_as_json(command: Command) -> None:
    data = document(command(*SCORE, "--json"))
    assert {"tensor", "index", "value", "op", "formula", "line", "operands"} <= set(data)
    assert (data["tensor"], data["index"], data["op"], data["line"]) == ("scores", [1, 2], "matmul", 1)
    assert data["value"] == pytest.approx(1.4754)
    assert data["formula"] == " + ".join(f"inputs[1,{index}] * inputs[2,{index}]" for index in range(3))
    assert [(item["tensor"], item["index"], item["operands"], item["more"]) for item in data["operands"]] == [
        ("inputs", [row, index], [], False) for index in range(3) for row in (1, 2)
    ]
    # The full tree without --depth, and that many levels with it.
    flat = document(command(*SCORE, "--json", "--depth", "1"))["operands"]
    assert [item["value"] for item in flat] == [item["value"] for item in data["operands"]]
    deep = document(command("explain", "all-queries", "context", "context", "1,0", "--json"))
    names = []
    while deep["operands"]:
        names.append(deep["tensor"])
        deep = deep["operands"][0]
    assert [*names, deep["tensor"]] == ["context", "weights", "scores", "inputs"]


def test_explain_numbers_that_json_does_not_have(command: Command) -> None:
    data = document(command("explain", "causal-mask", "minus-inf", "masked", "0,1", "--json", "--depth", "1"))
    assert (data["value"], data["op"]) == ("-inf", "masked_fill")


def test_explain_any_expression(command: Command) -> None:
    data = document(command("explain", "all-queries", "product", "scores[1].sum()", "--json", "--depth", "1"))
    assert (data["tensor"], data["index"]) == ("scores[1].sum()", [])
    assert data["value"] == pytest.approx(6.5617, abs=1e-4)


def test_explain_a_learners_own_file(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("import torch\na = torch.tensor([1.0, 2.0])\nb = a.exp()\n")
    status, out, err = command("explain", file, "-", "b", "1")
    assert (status, err) == (0, "")
    assert out.splitlines()[:3] == [
        "b[1] = 7.3891   line 3: a.exp()",
        "  = exp(a[1])",
        "  = exp(2) ≈ 7.3891",
    ]
    file.write_text("import torch\nx = torch.zeros(1)\nraise ValueError('mine')\n")
    status, out, err = command("explain", file, "-", "x", "0")
    assert (status, out.splitlines()[0]) == (1, "x[0] = 0   line 2: torch.zeros(1)")
    assert "ValueError: mine" in err


def test_the_end_of_a_name_is_enough_where_only_one_tensor_has_it(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "ends.py"
    functions = "def f(x):\n    att = x * 2\n    y = att + 1\n    return -y\ndef g(x):\n    y = x + 1\n    return -y\n"
    file.write_text(f"import torch\n{functions}z = g(f(torch.tensor([3.0])))\n")
    status, out, err = command("explain", file, "-", "att", "0")
    assert (status, err) == (0, "")
    assert out.startswith("f.att[0] = 6   line 3: x * 2")
    status, _, err = command("explain", file, "-", "y", "0")
    assert status == 2
    assert "'y' may be each of these: f.y, g.y. Type more of it." in " ".join(err.split())


def test_a_name_with_several_values_is_told_for_each(command: Command, tmp_path: Path) -> None:
    """A loop gives one name several values, and each of them is followed to the literal."""
    file = tmp_path / "loop.py"
    file.write_text("import torch\nx = torch.tensor([0.5])\nfor _ in range(3):\n    x = torch.tanh(x * 2)\n")
    out = command("explain", file, "-", "x", "0", "--depth", "9")[1]
    heads = [line.split("   line")[0].strip() for line in out.splitlines() if "   line" in line]
    assert heads == [
        *("x[0] = 0.9487", "(x * 2)#3[0] = 1.8185", "x#3[0] = 0.9093", "(x * 2)#2[0] = 1.5232"),
        *("x#2[0] = 0.7616", "(x * 2)#1[0] = 1", "x#1[0] = 0.5"),
    ]
    assert "Written in the code." in out
    assert out.count("#1, #2, ... count the values") == 1


def test_a_number_is_told_once_with_all_that_is_known_of_it(command: Command, tmp_path: Path) -> None:
    """It is one number, wherever it stands: also where the tree would be cut off at one place and not at the other."""
    file = tmp_path / "again.py"
    file.write_text("import torch\na = torch.tensor(2.0)\nb = a.exp()\nc = b.log()\nd = c + b\n")
    out = command("explain", file, "-", "d", "--depth", "3")[1]
    assert out.count("= exp(a)") == 1
    assert "Written in the code." in out


def test_a_tree_of_too_many_numbers_says_that_it_is_cut_off(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(explanation_tree, "MOST_TOLD", 3)
    out = command(*SCORE, "--depth", "3")[1].splitlines()
    assert out[-1].startswith("  There are too many numbers")
    # It is no number: whoever reads the text takes it as a note.
    assert all(node.value for node in reader.read(out))
    assert "Not everything" not in command(*SCORE, "--depth", "3", "--all")[1]
    assert "Not everything" not in command(*SCORE, "--depth", "1")[1]


def test_formulas_in_json_come_out(command: Command, tmp_path: Path) -> None:
    """Operands have all their digits where the formula hangs on the last one."""
    file = tmp_path / "floor.py"
    file.write_text("import torch\na = torch.tensor([1.0])\nb = torch.tensor([0.1])\nc = a // b\nd = a * b\n")
    told = document(command("explain", file, "-", "c", "0", "--json"))
    assert (told["formula"], told["value"]) == ("a[0] // b[0]", 9.0)
    assert told["operands"][1]["value"] == float(told["operands"][1]["formula"]) == 0.10000000149011612
    assert document(command("explain", file, "-", "d", "0", "--json"))["operands"][1]["value"] == 0.1


def test_whole_numbers_beyond_those_of_a_float_as_text(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "whole.py"
    file.write_text("import torch\nx = torch.tensor([2**53 + 1])\ny = (x * 3 << 1) % 2**53 | 2**54\n")
    status, out, _ = command("explain", file, "-", "y", "0", "--depth", "3")
    assert status == 0
    assert [line.strip() for line in out.splitlines() if line.strip().startswith("= ")] == [
        "= bitor(((x * 3 << 1) % 2**53)[0], 2**54)",
        "= bitor(6, 18014398509481984) = 18014398509481990",
        "= (x * 3 << 1)[0] % 2**53",
        "= 54043195528445958 % 9007199254740992 = 6",
        "= (x * 3)[0]·2^1",
        "= 27021597764222979·2^1 = 54043195528445958",
    ]


def test_a_result_that_goes_into_an_empty_tensor(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "out.py"
    file.write_text("import torch\na = torch.ones(2, 3)\ns = torch.empty(0)\ntorch.matmul(a, a.T, out=s)\n")
    status, out, _ = command("explain", file, "-", "s", "0,1", "--depth", "1")
    assert (status, out.splitlines()[1]) == (0, "  = a[0,:]·a[1,:]")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("9999", "product", "scores", "0"), "There is no lesson '9999'"),
        (
            ("all-queries", "nowhere", "scores", "0"),
            "Lesson 'all-queries' has no step 'nowhere' that runs code. The steps that do are: why, loops",
        ),
        (("all-queries", "all-scores", "scores", "0"), "has no step 'all-scores' that runs code"),
        (("all-queries", "product", "scores", "one"), "'one' is not an index. Write it like 1,0."),
        (
            ("all-queries", "product", "scores", "9,9"),
            "scores has the shape (6, 6), so it has no number at [9,9]. Its last one is at [5,5].",
        ),
        (
            ("all-queries", "product", "scores"),
            "scores has the shape (6, 6). Say which of its numbers to explain, such as 0,0.",
        ),
        (("all-queries", "product", "scores", "[-1,0]"), "so it has no number at [-1,0]"),
        (("all-queries", "product", "x = 1", "0"), "'x = 1' is not a Python expression: invalid syntax."),
        (("all-queries", "product", "scores", "0,0", "--depth", "0"), "--depth must be 1 or more"),
        (("all-queries", "product", "scores", "0,0", "--depth", "x"), "invalid int value: 'x'"),
        (("all-queries", "product"), "the following arguments are required: TENSOR"),
        (("nowhere.py", "-", "x", "0"), "nowhere.py cannot be read: No such file or directory."),
    ],
)
def test_explain_a_step_or_tensor_that_does_not_exist(
    command: Command, arguments: Sequence[str], sentence: str
) -> None:
    status, out, err = command("explain", *arguments)
    assert (status, out) == (2, "")
    assert sentence in err
    assert "Traceback" not in err


@pytest.mark.parametrize("verb", [("explain",), ("flow",)], ids=" ".join)
@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (b"x = 1\ny = (\n", "is not Python: '(' was never closed (line 2)."),
        (b"x = 1\0\n", "is not Python: source code string cannot contain null bytes (line 1)."),
        (b"x = " + b"-" * 200_000 + b"1\n", "is nested too deeply for Python."),
        (b" \n", "is empty."),
        (b"x = 1\n" * 50_000, "has more than 256 KiB, too much for a program."),
        (b"x = '\xff'\n", "is not UTF-8 text."),
    ],
)
def test_program_that_cannot_be_run(
    command: Command, tmp_path: Path, verb: Sequence[str], code: bytes, sentence: str
) -> None:
    program = tmp_path / "mine.py"
    program.write_bytes(code)
    tensor = ("x", "0") if verb == ("explain",) else ()
    assert command(*verb, program, "-", *tensor) == (2, "", f"attn-tutor: {program} {sentence}\n")


def test_explain_a_name_that_the_code_does_not_define(command: Command) -> None:
    """This is not a usage error, because only the running code knows its names."""
    status, out, err = command("explain", "all-queries", "product", "nothing", "0")
    assert (status, out) == (1, "")
    assert "name 'nothing' is not defined" in err


def test_explain_without_a_worker_to_the_end(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    ask = Run.ask

    def ask_until_it_ends(run: Run, question: TensorQuestion[Any]) -> Any:
        return None if isinstance(question, FollowQuestion) else ask(run, question)

    monkeypatch.setattr(Run, "ask", ask_until_it_ends)
    status, out, err = command(*SCORE)
    assert (status, out, err) == (
        3,
        "",
        "attn-tutor: The process that runs PyTorch ended before everything was explained. Please try again.\n",
    )


def test_a_long_sum_is_told_by_its_largest_terms(command: Command, tmp_path: Path) -> None:
    """What is left out is summed up in a line; `--all` and JSON leave out nothing."""
    file = tmp_path / "long.py"
    file.write_text("import torch\ntorch.manual_seed(1)\nx = torch.randn(100)\nx[50:] = 0\ny = torch.dot(x, x)\n")
    cell = ("explain", str(file), "-", "y")
    out = command(*cell)[1]
    assert len(out.splitlines()) < 60
    values = [float(line.split(" = ")[1].split()[0]) for line in out.splitlines() if line.startswith("    x[")]
    assert len(values) == 8
    assert [abs(value) for value in values] == sorted(map(abs, values), reverse=True)
    rest = next(line.strip() for line in out.splitlines() if "more terms" in line)
    total = float(out.splitlines()[0].split(" = ")[1].split()[0])
    assert rest.startswith("92 more terms, 50 of them 0, together ")
    left_out = float(rest.split("together ")[1].split()[0])
    assert sum(value * value for value in values) + left_out == pytest.approx(total, abs=1e-2)
    everything = command(*cell, "--all")[1]
    assert "more terms" not in everything
    assert "more:" not in everything
    assert sum(line.startswith("    x[") for line in everything.splitlines()) == 100
    assert len(document(command(*cell, "--json", "--depth", "1"))["operands"]) == 100
