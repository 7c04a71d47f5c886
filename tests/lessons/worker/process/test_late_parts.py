"""Parts of torch that lessons hardly ever use are imported when code asks for one, and work as if they had been."""

from __future__ import annotations

import importlib.metadata

import pytest

from lessons.engine.session import Session
from lessons.worker.process.late_parts import LATE, TRIED
from tests.lessons.lesson_builders import code_step, lesson_of

IMPORTED = """
def imported(name):
    return type(sys.modules[name]).__name__ != "LatePart"
"""


def printed(worker: Session, code: str) -> str:
    """Return what code prints in a child of its own."""
    run = worker.run(lesson_of(code_step("one", f"import sys\nimport torch\n{IMPORTED}\n{code}")))
    run.close()
    assert run.steps[0].error is None
    return run.steps[0].stdout


def test_the_version_of_torch_that_is_tested_has_late_parts() -> None:
    assert importlib.metadata.version("torch").startswith(TRIED)


def test_attention_on_tensors_with_and_without_data_imports_no_late_part(worker: Session) -> None:
    code = f"""
torch.randn(2, generator=torch.Generator().manual_seed(1))
for device in ("cpu", "meta"):
    x = torch.zeros(3, 4, device=device)
    layer = torch.nn.MultiheadAttention(4, 2).to(device)
    layer(x, x, x)[0].sum().backward()
    torch.softmax((x @ x.mT).masked_fill(torch.ones(3, 3, device=device).triu(1) > 0, -torch.inf), dim=-1)
print([name for name in {LATE} if imported(name)])
"""
    assert printed(worker, code) == "[]\n"


@pytest.mark.parametrize(
    ("use", "name", "shown"),
    [
        ("torch.distributions.Normal(0.0, 1.0).sample().shape", "torch.distributions", "torch.Size([])"),
        ("__import__('torch.ao.nn.quantized').ao.nn.quantized.Linear.__name__", "torch.ao", "Linear"),
        ("'DataLoader' in dir(torch.utils.data)", "torch.utils.data", "True"),
        ("[exec('from torch.utils.data import *'), list(DataLoader([1]))][1]", "torch.utils.data", "[tensor([1])]"),
    ],
)
def test_part_that_is_asked_for_takes_its_place(worker: Session, use: str, name: str, shown: str) -> None:
    before = f"print(hasattr(sys.modules['{name}'], '__file__'), imported('{name}'))"
    code = f"{before}\nprint({use})\nprint(imported('{name}'))"
    assert printed(worker, code) == f"False False\n{shown}\nTrue\n"


def test_operations_on_tensors_without_data_have_the_kernels_of_python(worker: Session) -> None:
    """Those in C++ would let this mix of devices pass."""
    code = """
try:
    torch.zeros(2).masked_fill(torch.ones(2, device="meta") > 0, torch.tensor(1.0))
except RuntimeError as error:
    print(error)
"""
    assert printed(worker, code) == "Tensor on device cpu is not on the expected device meta!\n"
