"""The trace of a program: which line computed which tensor."""

from __future__ import annotations

from dataclasses import replace

import torch

from attn_tutor.lessons.reading.code_differences import statements_of
from attn_tutor.lessons.worker.jobs import intermediates
from attn_tutor.lessons.worker.jobs.intermediates import AnswerTrace, IntermediateResult, Tracer

A, B = (torch.randn(3, 4, generator=torch.Generator().manual_seed(seed)) for seed in range(2))


def run(source: str) -> list[IntermediateResult]:
    tracer = Tracer("<program>", source)
    with tracer.running():
        exec(compile(source, "<program>", "exec"), {"torch": torch, "a": A, "b": B})
    return tracer.results()


# Tracing -------------------------------------------------------------------------------------------------------------


def test_every_line_has_a_result() -> None:
    found = run("c = a + b\nd = c * 2\n")
    assert [(item.name, item.line, item.parents) for item in found] == [("c", 1, frozenset()), ("d", 2, frozenset({0}))]
    assert torch.equal(found[1].value, (A + B) * 2)


def test_values_are_those_at_the_time_of_the_line() -> None:
    found = run("c = a + b\nd = c.clone()\nc.mul_(0)\n")
    assert torch.equal(found[0].value, A + B)


def test_a_tensor_that_a_loop_fills_is_whole_at_the_end() -> None:
    found = run("c = torch.empty(3, 4)\nfor row in range(3):\n    c[row] = a[row] * 2\n")
    assert found[-1].name == "c"
    assert found[-1].line == 3
    assert torch.equal(found[-1].value, A * 2)


def test_a_module_is_one_result() -> None:
    found = run("layer = torch.nn.Linear(4, 2)\nd = layer(a)\n")
    assert [(item.name, item.line) for item in found][-1] == ("d", 2)


def test_plain_form_round_trip() -> None:
    found = run("c = a + b\nd = c * 2\n")
    trace = AnswerTrace(statements_of("c = a + b\nd = c * 2\n"), tuple(found))
    again = intermediates.of_plain(intermediates.plain(trace))
    assert again.statements == trace.statements
    assert [replace(item, value=A) for item in again.results] == [replace(item, value=A) for item in found]


def test_what_comes_from_outside_is_told_from_constants() -> None:
    found = run(
        "c = torch.ones(3, 4).triu(1)\nd = torch.randn(3, 4)\ne = a + c\nf = torch.empty(3, 4).uniform_() * c\n"
    )
    assert {item.name: item.fixed for item in found if item.named} == {"c": True, "d": True, "e": False, "f": True}


def test_memory_that_nothing_has_written_is_no_result() -> None:
    """It holds whatever was there before, perhaps the right numbers of an earlier run."""
    found = run(
        "x = torch.empty(3, 4)\ny = torch.empty_like(a)\nz = a.new_empty(3, 4)\nfor i in range(3):\n    x[i] = a[i]"
    )
    assert {item.line for item in found} == {5}
    assert torch.equal(found[-1].value, A)


def test_who_reads_the_same_parameter_does_not_depend_on_the_one_before() -> None:
    linear = "torch.nn.functional.linear"
    for made, parameter in (("", set()), ("b = b.clone()\n", {"b"})):
        found = run(f"{made}first = {linear}(a, b)\nother = a + 1\nsecond = {linear}(other, b)\nthird = second.T * 2")
        names = [item.name for item in found]
        parents = {item.name: {names[parent] for parent in item.parents} - parameter for item in found}
        assert {name: parents[name] for name in ("first", "other", "second")} == {
            "first": set(),
            "other": set(),
            "second": {"other"},
        }
        assert parents["third"] == {"second.T"}
        assert parents["second.T"] == {"second"}
