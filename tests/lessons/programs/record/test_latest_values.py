"""The variables of a trace: each as it was in the end, however it came to its value, or not at all."""

from __future__ import annotations

import asyncio
import importlib.util
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

import pytest
import torch

from attn_tutor.lessons.programs.record import record


def norm(t: Any) -> Any:
    inner = t * 2
    return inner


class Scale(torch.nn.Module):
    def forward(self, t: torch.Tensor) -> tuple[torch.Tensor, None]:
        return norm(t), None


SCALE = Scale()


@contextmanager
def given(t: Any) -> Iterator[Any]:
    yield norm(t)


def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def called(*args: Any) -> Any:
        result = function(*args)
        result = norm(result)
        return result

    return called


def failing(t: Any) -> Any:
    raise ValueError


@decorated
def doubled(t: Any) -> Any:
    return t * 3


FORMS = (
    *("w = norm(w)", "w, _ = SCALE(w)", "w = SCALE(w)[0]", "w = norm(w) if x.sum() > -99 else w", "w += norm(w)"),
    *("(w := norm(w))", "w, u = norm(w), w * 3", "*_, w = w * 2, norm(w)", "[w, u] = norm(w), w", "w @= norm(x)"),
    "for f in (norm, norm):\n        w = f(w)",
    "for w in norm(torch.stack([w, w * 2])):\n        pass",
    "with given(w) as w:\n        pass",
    "try:\n        w = failing(w)\n    except ValueError:\n        w = norm(w)",
    "try:\n        w = norm(w)\n        failing(w)\n    except ValueError:\n        pass",
    "[w := norm(w) for _ in range(3)]",
    "w = [norm(item) for item in (w, w * 2)][1]",
    "w = next(norm(item) for item in (w,))",
    "w = (lambda t: (u := t * 2) + 1)(w)",
    "def inner():\n        nonlocal w\n        w = norm(w)\n    inner()",
    "w = doubled(w)",
    "match norm(w):\n        case w:\n            pass",
    "global G\n    G = norm(w)\n    w = G",
    "w = torch.cat([norm(w), w]).to(x.device)[:3]",
    "del w\n    w = norm(x)",
    "w.add_(1)\n    w = norm(w)\n    w.mul_(2)",
    "w[0] = norm(x)[0]",
    "w.data = norm(w)",
)


def run(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Import code from a file of its own."""
    name = f"latest_{abs(hash(code))}"
    path = tmp_path / f"{name}.py"
    path.write_text(f"import torch\nfrom {__name__} import *\nfrom {__name__} import SCALE\n{code}\n")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("form", FORMS)
def test_a_variable_of_a_function_has_its_last_value(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = run(f"def fn(x):\n    w = x + 1\n    {form}\n    out = w + 1\n    return w.clone()", tmp_path, monkeypatch)
    with record(watch=module) as trace:
        true = module.fn(torch.rand(3, 3))
    found = [label for label in trace.tensors if label.rpartition(".")[2] == "w" and label.startswith("fn.")]
    assert found
    for label in found:
        assert torch.equal(trace.tensors[label].value, true), label


def test_generators_and_coroutines_have_the_values_of_when_they_waited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = run(
        "def steps(x):\n    w = x\n    while True:\n        w = norm(w)\n        yield w\n"
        "async def later(x):\n    w = x + 1\n    w = norm(w)\n    return w\n",
        tmp_path,
        monkeypatch,
    )
    with record(watch=module) as trace:
        running = module.steps(torch.ones(2))
        first, second = next(running), next(running)
        third = asyncio.run(module.later(torch.ones(2)))
    assert not torch.equal(first, second)
    assert torch.equal(trace.tensors["steps.w"].value, second)
    assert torch.equal(trace.tensors["later.w"].value, third)


@pytest.mark.parametrize("change", ["del w", "w = 3.0", "w = [w]", "w = w.to_sparse()", "w = None"])
def test_what_is_no_tensor_any_more_is_not_shown_as_it_was(
    change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = f"    w = x + 1\n    u = w * 2\n    {change}\n"
    module = run(f"def fn(x):\n{code}    return u", tmp_path, monkeypatch)
    with record(watch=module) as trace:
        module.fn(torch.rand(3, 3))
    assert "fn.u" in trace.tensors
    assert "fn.w" not in trace.tensors
    block = f"from attn_tutor import record\ndef fn(x):\n  with record() as trace:\n{code}  return trace"
    module = run(block, tmp_path, monkeypatch)
    trace = module.fn(torch.rand(3, 3))
    assert "u" in trace.tensors
    assert "w" not in trace.tensors


def test_a_profiler_of_somebody_else_goes_on_after_the_block() -> None:
    seen: list[str] = []

    def profiler(frame: Any, event: str, arg: object) -> None:
        seen.append(event)

    sys.setprofile(profiler)
    try:
        with record() as trace:
            w = norm(torch.ones(2))
        assert sys.getprofile() is profiler
    finally:
        sys.setprofile(None)
    assert torch.equal(trace.tensors["w"].value, w)
    assert seen


def test_the_variables_of_an_imported_file_are_those_of_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "table_of_latest.py").write_text(
        f"import torch\nfrom {__name__} import norm\ntable = torch.ones(2)\ntable = norm(table)\n"
        "def change():\n    global table\n    table = norm(table)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    with record(watch=[tmp_path]) as trace:
        import table_of_latest  # type: ignore[import-not-found]

        table_of_latest.change()
    assert trace.tensors["table_of_latest.table"].value.tolist() == [4.0, 4.0]


def test_after_the_end_of_a_record_no_variable_has_an_earlier_value() -> None:
    def inside(t: torch.Tensor) -> torch.Tensor:
        w = t
        w = norm(w)
        return w  # type: ignore[no-any-return]

    with record(keep=1 << 20) as trace:
        w = torch.ones(2)
        inside(w)
        large = [torch.zeros(1 << 15) + count for count in range(9)]
        w = w + 1
        inside(w)
    assert trace.stopped
    assert large
    assert torch.equal(trace.tensors["w"].value, w)
    assert "Recording had stopped" in str(trace.explain("w", 0))
    assert not [label for label in trace.tensors if label.endswith("inside.w")]
