"""Children import torch's compiler, and what it computes symbols with, only when their code uses it."""

from __future__ import annotations

import pytest

from attn_tutor.lessons.engine.session import Session
from tests.lessons.lesson_builders import code_step, lesson_of

TRAINING = """
layer = torch.nn.Linear(2, 2)
optimizer = torch.optim.AdamW(layer.parameters())
layer(torch.ones(3, 2)).sum().backward()
optimizer.step()
optimizer.zero_grad()
"""
META = """
x = torch.zeros(2, 3, 4, device="meta")
torch.softmax(x @ x.mT + 1, dim=-1)
layer = torch.nn.TransformerEncoderLayer(4, 2, batch_first=True, device="meta")
layer(x).sum().backward()
torch.nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True)
torch.baddbmm(torch.zeros(2, 3, 3, device="meta"), x, x.mT)
torch.nn.Conv1d(3, 3, 2, device="meta")(x)
"""
REST = """
import sys
print(any(name.startswith(("torch._dynamo.", "torch.utils._sympy", "mpmath")) for name in sys.modules))
"""


def printed(worker: Session, code: str) -> str:
    """Return what code prints in a child of its own."""
    limits = {"cpu": 60, "wall": 300}
    run = worker.run(lesson_of(code_step("one", f"import torch\n{code}"), limits=limits))
    run.close()
    assert run.steps[0].error is None
    return run.steps[0].stdout


@pytest.mark.parametrize("code", [TRAINING, META], ids=["optimizer", "meta"])
def test_what_only_asks_to_be_left_alone_does_not_import_the_compiler(worker: Session, code: str) -> None:
    assert printed(worker, f"{code}\n{REST}") == "False\n"


@pytest.mark.parametrize("decorator", ["torch.compiler.disable", "torch.compiler.disable()", "torch._dynamo.disable()"])
def test_a_learner_may_ask_to_be_left_alone_too(worker: Session, decorator: str) -> None:
    code = f"@{decorator}\ndef double(x):\n    return 2 * x\n\nprint(double(1))"
    assert printed(worker, f"{code}\n{REST}") == "2\nFalse\n"


def test_question_of_a_tool_does_not_import_the_compiler(worker: Session) -> None:
    assert printed(worker, f"print(hasattr(torch._dynamo, '__file__'))\n{REST}") == "False\nFalse\n"


@pytest.mark.parametrize(
    "use",
    [
        "from torch._dynamo import config\nprint(config.__name__)",
        "import torch._dynamo.config as config\nprint(config.__name__)",
    ],
)
def test_the_compiler_takes_the_place_of_its_stand_in(worker: Session, use: str) -> None:
    printing = "print(torch._dynamo.__file__ is not None)"
    assert printed(worker, f"{TRAINING}{use}\n{printing}\n{REST}") == "torch._dynamo.config\nTrue\nTrue\n"


def test_compiled_code_runs(worker: Session) -> None:
    code = "double = torch.compile(lambda x: 2 * x, backend='eager')\nprint(double(torch.ones(2)).tolist())"
    assert printed(worker, f"{TRAINING}{code}\n{REST}") == "[2.0, 2.0]\nTrue\n"


@pytest.mark.parametrize(
    ("use", "prints"),
    [
        ("import sympy\nprint(sympy.expand('(x + 1)**2'), sympy.__version__[0])", "x**2 + 2*x + 1 1"),
        ("from sympy import Basic, Symbol\nprint(isinstance(Symbol('x'), Basic))", "True"),
        ("import sympy.abc as letters\nprint(letters.x + letters.x)", "2*x"),
        ("import importlib.util\nprint(importlib.util.find_spec('sympy') is not None)", "True"),
        ("from torch.fx.experimental.symbolic_shapes import ShapeEnv\nprint(ShapeEnv.__name__)", "ShapeEnv"),
        (
            "from torch.fx.experimental.symbolic_shapes import free_symbols\nimport sympy\n"
            "print(free_symbols(sympy.Symbol('x')))",
            "{x}",
        ),
    ],
    ids=["attribute", "class", "module", "spec", "shapes", "expressions"],
)
def test_a_module_takes_the_place_of_its_stand_in(worker: Session, use: str, prints: str) -> None:
    assert printed(worker, f"{META}{use}") == f"{prints}\n"


def test_symbols_are_compared_as_the_module_for_shapes_compares_them(worker: Session) -> None:
    code = """
from torch.fx.experimental.symbolic_shapes import expect_true, sym_and, sym_eq, sym_or

print(sym_eq([1, 2], (1, 2)), sym_eq((1, 2), (1, 3)), sym_and(True, False), sym_or(True, False), expect_true(True))

def compare_ragged():
    size = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(4, 3)], layout=torch.jagged).shape[1]
    print(sym_eq(size, size), sym_eq(size, 5))

compare_ragged()
"""
    assert printed(worker, code) == "True False False True True\nTrue False\n"
