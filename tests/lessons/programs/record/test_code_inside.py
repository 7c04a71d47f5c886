"""Operations that run functions of the program, and tensors of other kinds: the numbers are the same if recorded."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable

import pytest
import torch
from torch import nn

from attn_tutor.lessons.programs.record import Trace, record

V = torch.tensor([0.5, -1.0, 2.0, 3.0])


def cond() -> torch.Tensor:
    found: torch.Tensor = torch.cond(V.sum() > 0, lambda a: a + 1, lambda a: a * 2, (V,))
    return found


def cond_backward() -> torch.Tensor:
    w = V.clone().requires_grad_()
    torch.cond(w.sum() > 0, lambda a: a.sin(), lambda a: a * 2, (w,)).sum().backward()
    assert w.grad is not None
    return w.grad


def while_loop() -> torch.Tensor:
    from torch._higher_order_ops import while_loop as loop

    found: torch.Tensor = loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * 2), (torch.tensor(0), V))[1]
    return found


def scan() -> torch.Tensor:
    from torch._higher_order_ops.scan import scan as run

    found: torch.Tensor = run(lambda c, a: (c + a, (c * a).clone()), torch.zeros(4), torch.ones(3, 4))[1]
    return found


def associative_scan() -> torch.Tensor:
    from torch._higher_order_ops.associative_scan import associative_scan as run

    found: torch.Tensor = run(lambda a, b: a + b, V, 0, combine_mode="generic")
    return found


def flex_attention() -> torch.Tensor:
    from torch.nn.attention import flex_attention as flex

    x = torch.rand(1, 2, 8, 16, generator=torch.Generator().manual_seed(3))
    mask = flex.create_block_mask(lambda b, h, q, k: q >= k, 1, 2, 8, 8, device="cpu")
    found = flex.flex_attention(x, x, x, block_mask=mask, score_mod=lambda s, b, h, q, k: s * 2)
    assert isinstance(found, torch.Tensor)
    return found


def causal_lower_right() -> torch.Tensor:
    from torch.nn.attention import bias

    x = torch.rand(1, 2, 8, 16, generator=torch.Generator().manual_seed(3))
    mask = bias.causal_lower_right(4, 8)
    return torch.nn.functional.scaled_dot_product_attention(x[:, :, :4], x, x, attn_mask=mask)


def causal_upper_left() -> torch.Tensor:
    from torch.nn.attention import bias

    return bias.causal_upper_left(3, 5)._materialize().float()


def jagged() -> torch.Tensor:
    nested = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(4, 3)], layout=torch.jagged)
    return (nested * 2).values()


def traced_module() -> torch.Tensor:
    class Flat(nn.Module):
        def forward(self, a: torch.Tensor) -> torch.Tensor:
            return a.view(a.shape[0], -1).sum(1) / a.shape[1]

    found: torch.Tensor = torch.jit.trace(Flat(), torch.ones(2, 3, 2))(torch.ones(2, 3, 2))
    return found


def compiled_whole() -> torch.Tensor:
    found: torch.Tensor = torch.compile(lambda a: a.sin() + 1, backend="eager", fullgraph=True)(V)
    return found


def mapped() -> torch.Tensor:
    found: torch.Tensor = torch.vmap(lambda a: a.sum() * a)(torch.ones(3, 4))
    return found


def sparse() -> torch.Tensor:
    found: torch.Tensor = torch.sparse.mm(torch.eye(3).to_sparse(), torch.ones(3, 2))
    return found


def quantized() -> torch.Tensor:
    return torch.quantize_per_tensor(V, 0.1, 0, torch.qint8).dequantize()


OPAQUE = (cond, cond_backward, while_loop, scan, flex_attention)
OTHERS = (
    *(associative_scan, causal_lower_right, causal_upper_left, jagged, traced_module, compiled_whole),
    *(mapped, sparse, quantized),
)


def recorded(run: Callable[[], torch.Tensor]) -> tuple[torch.Tensor, Trace]:
    with record() as trace:
        found = run()
    return found, trace


def complaint(run: Callable[[], torch.Tensor]) -> str:
    """Return what is wrong with a run that is recorded; "" if it is as it should be."""
    # Some classes are imported where they are used first: in the block, and then again when they are there.
    first, trace = recorded(run)
    plain = run()
    again, _ = recorded(run)
    if trace.stopped or not torch.equal(first, plain) or not torch.equal(again, plain):
        return f"other numbers: {trace.stopped} {first} {plain} {again}"
    number = trace.explain(first, *[0] * first.dim())
    is_said = "as a single operation. What is computed inside it is not recorded" in " ".join(number.notes)
    return "" if "0x" not in str(number) and is_said == (run in OPAQUE) else str(number)


@pytest.fixture(scope="module")
def complaints() -> dict[str, str]:
    """Run all of them in a process that has PyTorch's compiler as it is, without stand-ins."""
    code = f"import json; from {__name__} import *; print(json.dumps(all_complaints()))"
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    found: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return found


def all_complaints() -> dict[str, str]:
    """Return what is wrong with each run."""
    found = {}
    for run in (*OPAQUE, *OTHERS):
        try:
            found[run.__name__] = complaint(run)
        except Exception as error:
            found[run.__name__] = f"{type(error).__name__}: {error}"
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", [run.__name__ for run in (*OPAQUE, *OTHERS)])
def test_the_numbers_are_the_same_and_what_is_hidden_says_so(complaints: dict[str, str], name: str) -> None:
    assert complaints[name] == ""


def test_importing_the_recorder_imports_no_compiler() -> None:
    door = "attn_tutor.lessons.programs.record"
    code = f"import sys, {door}; print([name for name in ('torch._dynamo', 'sympy') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
