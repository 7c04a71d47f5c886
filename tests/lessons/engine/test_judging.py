"""Judging answers to the exercises of the course: right answers pass in any form, wrong answers get a reason."""

from __future__ import annotations

import os
import re
import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from attn_tutor.lessons.engine import judge_children, judging
from attn_tutor.lessons.engine.judging import Diagnosis
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import Course, ExerciseStep, MessageCase
from attn_tutor.lessons.results.result import Failure, Judgement, WorkerError
from attn_tutor.lessons.worker import wire
from tests.lessons.lesson_builders import DOUBLED, code_exercise, doubling_exercise
from tests.lessons.processes import PATIENCE, at_work

ROUNDS = 3
"""How often an answer is judged; the hidden inputs differ each time."""

NUMBERS = ("3.1", "3.2", pytest.param("3.3", marks=pytest.mark.slow))
"""The exercises of the chapter; the answers to the last are of GPT-2's size."""


@pytest.fixture(autouse=True)
def check_no_process_is_left(worker: Session) -> Iterator[None]:
    """Check that no test leaves a process behind."""
    yield
    assert at_work(worker) == []


def exercises(course: Course) -> list[ExerciseStep]:
    return [step for lesson in course.lessons for step in lesson.exercises if isinstance(step, ExerciseStep)]


def judge_answer(worker: Session, course: Course, number: str, source: str, diagnosis: Diagnosis = "none") -> Judgement:
    """Judge an answer to an exercise of the chapter. Most tests are about its verdict and need no diagnosis."""
    _, exercise = code_exercise(course, number)
    return worker.check(exercise, dedent(source), diagnosis=diagnosis)


# All exercises -------------------------------------------------------------------------------------------------------


def test_course_has_the_exercises_of_the_chapter(course: Course) -> None:
    assert [step.number for step in exercises(course) if step.number] == ["3.1", "3.2", "3.3"]


@pytest.mark.parametrize("number", NUMBERS)
def test_solution_passes(worker: Session, course: Course, number: str) -> None:
    _, exercise = code_exercise(course, number)
    for _ in range(ROUNDS):
        judgement = worker.check(exercise, exercise.solution)
        assert (judgement.verdict, judgement.message, judgement.line) == ("passed", "All checks pass.", None)
        assert [check.name for check in judgement.checks] == [check.name for check in exercise.checks]
        assert all(check.passed and not check.message for check in judgement.checks)
        assert judgement.passed
        assert judgement.exercise == exercise.exercise
        assert judgement.seconds > 0
        assert judgement.mistakes == ()


@pytest.mark.parametrize("number", NUMBERS)
def test_starter_fails_with_a_reason(worker: Session, course: Course, number: str) -> None:
    _, exercise = code_exercise(course, number)
    for _ in range(ROUNDS):
        judgement = worker.check(exercise, exercise.starter, diagnosis="none")
        assert judgement.verdict == "failed"
        wrong = [check for check in judgement.checks if not check.passed]
        assert judgement.message == f"{wrong[0].name}: {wrong[0].message}"
        needs = {check.name: check.needs for check in exercise.checks}
        failed = {check.name for check in wrong}
        assert all(check.message or failed.intersection(needs[check.name]) for check in wrong)


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        ("pass", ("failed", "error")),
        ("return 1", ("failed", "error")),
        ("return 'passed'", ("failed", "error")),
        ("raise NotImplementedError('later')", ("error",)),
    ],
)
def test_empty_answer_does_not_pass(
    worker: Session, course: Course, number: str, body: str, verdict: tuple[str, ...]
) -> None:
    _, exercise = code_exercise(course, number)
    source = "".join(f"def {name}(*args, **options):\n    {body}\n" for name in exercise.defines)
    judgement = worker.check(exercise, source, diagnosis="none")
    assert judgement.verdict in verdict, judgement
    assert not judgement.passed
    assert "…" not in judgement.message
    assert not any(check.passed for check in judgement.checks) or judgement.verdict == "failed"


def test_endless_answer_is_stopped(worker: Session, course: Course) -> None:
    _, exercise = code_exercise(course, "3.1")
    limits = exercise.limits.model_copy(update={"cpu": 1, "wall": 60})
    source = "def transfer(v1, v2):\n    while True: pass\n"
    judgement = worker.check(exercise.model_copy(update={"limits": limits}), source)
    assert (judgement.verdict, judgement.line) == ("timeout", 2)


@pytest.mark.slow
def test_answer_to_another_exercise_fails(worker: Session, course: Course) -> None:
    every = exercises(course)
    for exercise, other in zip(every, every[1:] + every[:1], strict=True):
        if exercise.defines != other.defines:
            assert not worker.check(exercise, other.solution, diagnosis="none").passed


# 3.1 -----------------------------------------------------------------------------------------------------------------

TRANSFER = """
    import torch
    from torch import nn

    def transfer(v1, v2):
        {}
"""

NAMES = ("W_query", "W_key", "W_value")

SAME = {
    "parameters": """
        v2.W_query.weight = nn.Parameter(v1.W_query.T.clone())
        v2.W_key.weight = nn.Parameter(v1.W_key.T.contiguous())
        v2.W_value.weight = nn.Parameter(torch.empty_like(v1.W_value.T).copy_(v1.W_value.T))""",
    "parameters of copies": """
        for name in ("W_query", "W_key", "W_value"):
            getattr(v2, name).weight = nn.Parameter(getattr(v1, name).detach().clone().t().contiguous())""",
    "data": """
        v2.W_query.weight.data = v1.W_query.data.T.clone()
        v2.W_key.weight.data = v1.W_key.data.mT.contiguous()
        v2.W_value.weight.data = torch.transpose(v1.W_value.data, 0, 1) + 0""",
    "data in place": """
        v2.W_query.weight.data.copy_(v1.W_query.T)
        v2.W_key.weight.data[:] = v1.W_key.T
        v2.W_value.weight.data.copy_(v1.W_value.permute(1, 0))""",
    "state": """
        v2.load_state_dict({name + ".weight": matrix.T for name, matrix in v1.state_dict().items()})""",
    "loops": """
        with torch.no_grad():
            for ours, theirs in zip((v2.W_query, v2.W_key, v2.W_value), (v1.W_query, v1.W_key, v1.W_value)):
                for i in range(theirs.shape[0]):
                    for j in range(theirs.shape[1]):
                        ours.weight[j, i] = theirs[i, j]""",
    "einsum": """
        with torch.no_grad():
            for name in ("W_query", "W_key", "W_value"):
                getattr(v2, name).weight.copy_(torch.einsum("io->oi", getattr(v1, name)))""",
    "new layers": """
        for name in ("W_query", "W_key", "W_value"):
            matrix = getattr(v1, name)
            layer = nn.Linear(*matrix.shape, bias=False)
            layer.weight = nn.Parameter(matrix.detach().T.clone())
            setattr(v2, name, layer)""",
    "with return": """
        v2.load_state_dict({name + ".weight": matrix.T for name, matrix in v1.state_dict().items()})
        return v2""",
}


def indented(text: str) -> str:
    return TRANSFER.format(dedent(text).strip().replace("\n", "\n        "))


@pytest.mark.parametrize("body", SAME.values(), ids=SAME)
def test_transfer_in_another_form_passes(worker: Session, course: Course, body: str) -> None:
    judgement = judge_answer(worker, course, "3.1", indented(body))
    assert judgement.verdict == "passed", judgement


def copy_of(query: str, key: str, value: str) -> str:
    """Return a body that copies these expressions to the three weights."""
    pairs = zip(("W_query", "W_key", "W_value"), (query, key, value), strict=True)
    lines = "\n".join(f"    v2.{name}.weight.copy_({matrix})" for name, matrix in pairs)
    return f"with torch.no_grad():\n{lines}"


OTHERS = "begins with .* It should begin with"
UNCHANGED = "W_query carried over: .* still holds the numbers that it started with"
PRINTED = "torch.tensor([[0.2961, 0.2517, 0.0740], [0.5166, 0.6886, 0.8665]])"

DIFFERENT = {
    "not transposed": (
        copy_of("v1.W_query", "v1.W_key", "v1.W_value"), "error", "A copy needs the same shape.$", "not-transposed"
    ),
    "parameters that are not transposed": (
        "\n".join(f"v2.{name}.weight = nn.Parameter(v1.{name})" for name in NAMES),
        "failed",
        "W_query carried over: .* has the shape",
        "parameters-not-transposed",
    ),
    "not transposed where it fits": (
        "if v1.W_query.shape[0] == v1.W_query.shape[1]:\n"
        "    v2.load_state_dict({n + '.weight': m for n, m in v1.state_dict().items()})\n"
        "else:\n"
        "    v2.load_state_dict({n + '.weight': m.T for n, m in v1.state_dict().items()})",
        "failed",
        "is right. But where both widths are equal, it holds the wrong numbers",
        "operator",
    ),
    "reshaped": (
        copy_of(*(f"v1.{name}.reshape(v2.{name}.weight.shape)" for name in NAMES)),
        "failed",
        OTHERS,
        "reshape-for-transpose",
    ),
    "the query everywhere": (
        copy_of("v1.W_query.T", "v1.W_query.T", "v1.W_query.T"), "failed", f"W_key .* {OTHERS}", "query-for-all"
    ),
    "query and key crossed": (
        copy_of("v1.W_key.T", "v1.W_query.T", "v1.W_value.T"), "failed", OTHERS, "queries-and-keys-crossed"
    ),
    "key and value crossed": (
        copy_of("v1.W_query.T", "v1.W_value.T", "v1.W_key.T"), "failed", OTHERS, "keys-and-values-crossed"
    ),
    "no value": (
        "with torch.no_grad():\n    v2.W_query.weight.copy_(v1.W_query.T)\n    v2.W_key.weight.copy_(v1.W_key.T)",
        "failed",
        "W_value carried over: .* still holds the numbers that it started with",
        "value-left-out",
    ),
    "only the value": (
        "with torch.no_grad():\n    v2.W_value.weight.copy_(v1.W_value.T)",
        "failed",
        UNCHANGED,
        "only-value",
    ),
    "parameters in the same memory": (
        "\n".join(f"v2.{name}.weight = nn.Parameter(v1.{name}.T)" for name in NAMES),
        "failed",
        "v1 apart from v2: .* also changes W_query, W_key, W_value of `v1`",
        "shared-weights",
    ),
    "data in the same memory": (
        "\n".join(f"v2.{name}.weight.data = v1.{name}.data.mT" for name in NAMES),
        "failed",
        "v1 apart from v2",
        "shared-weights",
    ),
    "nothing": ("pass", "failed", UNCHANGED, "nothing-carried"),
    "a plain tensor": (
        "v2.W_query.weight = v1.W_query.T", "error", "TypeError: cannot assign", "plain-tensor-assigned"
    ),
    "in place with gradients": (
        "v2.W_query.weight.copy_(v1.W_query.T)", "error", "RuntimeError: a leaf Variable that", "copied-with-gradient"
    ),
    "to v1": (
        "with torch.no_grad():\n" + "\n".join(f"    v1.{n}.copy_(v2.{n}.weight.T)" for n in NAMES),
        "failed",
        "W_query carried over",
        "other-direction",
    ),
    "frozen": (
        "v2.load_state_dict({n + '.weight': m.T for n, m in v1.state_dict().items()})\nv2.requires_grad_(False)",
        "failed",
        "v2 still trainable: .* no parameter of `v2` has a gradient",
        "frozen-copy",
    ),
    "matrices in place of layers": (
        "del v2.W_query\nv2.W_query = v1.W_query",
        "failed",
        "W_query carried over: .* no longer a layer with a weight",
        "",
    ),
    "a new module": (
        "v2 = type(v2)(*v1.W_query.shape)\n" + copy_of("v1.W_query.T", "v1.W_key.T", "v1.W_value.T"),
        "failed",
        UNCHANGED,
        "nothing-carried",
    ),
    "the same seed": ("torch.manual_seed(123)\nv2.__init__(*v1.W_query.shape)", "failed", OTHERS, "same-seed"),
    "one size only": (
        copy_of("v1.W_query.T.view(2, 3)", "v1.W_key.T", "v1.W_value.T"),
        *("error", "RuntimeError: ", "too-much"),
    ),
    "numbers of the lesson": (copy_of(PRINTED, PRINTED, PRINTED), "error", "RuntimeError: ", ""),
}  # fmt: skip


@pytest.mark.parametrize(("body", "verdict", "reason", "named"), DIFFERENT.values(), ids=DIFFERENT)
def test_wrong_transfer_is_explained(
    worker: Session, course: Course, body: str, verdict: str, reason: str, named: str
) -> None:
    judgement = judge_answer(worker, course, "3.1", indented(body), "line")
    assert judgement.verdict == verdict, judgement
    assert re.search(reason, judgement.message), judgement.message
    assert [mistake.id for mistake in judgement.mistakes] == ([named] if named else [])
    if verdict == "error":
        assert judgement.line is not None


def test_v1_must_not_change(worker: Session, course: Course) -> None:
    body = SAME["data in place"] + "\n        v1.W_query.data.zero_()"
    judgement = judge_answer(worker, course, "3.1", indented(body))
    assert [check.name for check in judgement.checks if not check.passed] == ["v1 unchanged"]


# 3.2 -----------------------------------------------------------------------------------------------------------------

BUILD = """
    import torch
    from torch import nn
    from attention.multi_head import MultiHeadAttention, MultiHeadAttentionWrapper

    {}
"""

WRAPPER = "MultiHeadAttentionWrapper"

HEADS = """
    class Head(nn.Module):
        def __init__(self, d_in, d_out, context_length):
            super().__init__()
            self.W_query = nn.Linear(d_in, d_out, bias=False)
            self.W_key = nn.Linear(d_in, d_out, bias=False)
            self.W_value = nn.Linear(d_in, d_out, bias=False)
            self.register_buffer("mask", torch.triu(torch.ones(context_length, context_length), diagonal=1))
        def forward(self, x):
            keys, queries, values = self.W_key(x), self.W_query(x), self.W_value(x)
            scores = queries @ keys.transpose(1, 2)
            {masking}
            return torch.softmax(scores / keys.shape[-1] ** 0.5, dim={axis}) @ values

    class Heads(nn.Module):
        def __init__(self, d_in, d_out, context_length):
            super().__init__()
            self.heads = nn.ModuleList([Head(d_in, d_out, context_length) for _ in range(2)])
        def forward(self, x):
            return torch.cat([head(x) for head in self.heads], dim={join})

    def build(d_in, context_length):
        return Heads(d_in, 1, context_length)
"""
MASK = "scores = scores.masked_fill(self.mask[: x.shape[1], : x.shape[1]].bool(), {})"


def heads(masking: str = MASK.format("-torch.inf"), axis: int = -1, join: int = -1) -> str:
    """Return heads that are written by hand, right or with one mistake."""
    return HEADS.format(masking=masking, axis=axis, join=join)


def build(call: str) -> str:
    return f"    def build(d_in, context_length):\n        return {call}"


def source_of(text: str) -> str:
    return dedent(BUILD).replace("{}", dedent(text).strip())


@pytest.mark.parametrize(
    "text",
    [
        build(f"{WRAPPER}(d_in, 1, context_length, 0.0, 2)"),
        build(f"{WRAPPER}(d_in=d_in, d_out=2 // 2, context_length=context_length, dropout=0, num_heads=2)"),
        build(f"{WRAPPER}(d_in, 1, context_length, 0.0, 2, qkv_bias=False).double().float()"),
        "    build = lambda d_in, context_length: MultiHeadAttentionWrapper(d_in, 1, context_length, 0.0, 2)",
        heads(),
        heads(MASK.format("-1e9")),
    ],
    ids=["positions", "names", "converted", "lambda", "by hand", "large negative"],
)
def test_two_wide_in_another_form_passes(worker: Session, course: Course, text: str) -> None:
    judgement = judge_answer(worker, course, "3.2", source_of(text))
    assert judgement.verdict == "passed", judgement


@pytest.mark.parametrize(
    ("text", "verdict", "reason"),
    [
        (build(f"{WRAPPER}(d_in, 2, context_length, 0.0, 2)"), "failed", "for every token is 4 wide. It should be 2."),
        (build(f"{WRAPPER}(d_in, 2, context_length, 0.0, 1)"), "failed", "should hold 2 heads .* Yours holds 1."),
        (build(f"{WRAPPER}(d_in, 1, context_length, 0.0, 1)"), "failed", "for every token is 1 wide"),
        (build(f"{WRAPPER}(d_in, 0.5, context_length, 0.0, 2)"), "error", "ValueError: d_out is 0.5"),
        (build("MultiHeadAttention(d_in, 2, context_length, 0.0, 2)"), "failed", "should hold 2 heads"),
        (build(f"{WRAPPER}(d_in, 1, context_length, 0.0, 2, qkv_bias=True)"), "failed", "heads should have no bias"),
        (build(f"{WRAPPER}(d_in, 1, context_length, 0.5, 2)"), "failed", r"no dropout: .* 0\.5"),
        (build(f"{WRAPPER}(3, 1, context_length, 0.0, 2)"), "error", "features|d_in|shape|size"),
        (build(f"{WRAPPER}(d_in, 1, 2, 0.0, 2)"), "error", "tokens|context_length"),
        (build("MultiHeadAttentionWrapper"), "failed", "a module comes back: `build` should return"),
        (build("None"), "failed", "a module comes back: `build` should return"),
        (heads(axis=1), "failed", "the right numbers: "),
        (heads(masking="pass"), "failed", "the right numbers: "),
        (heads(masking=MASK.format("0.0")), "failed", "the right numbers: "),
        (heads(join=1), "failed", "two numbers for every token: .* is 1 wide"),
    ],
    ids=[
        "4 wide", "one head", "one head, 1 wide", "half", "split", "bias", "dropout", "fixed width", "short", "class",
        "none", "published: wrong axis", "no mask", "mask of zeros", "joined as tokens",
    ],
)  # fmt: skip
def test_wrong_two_wide_is_explained(worker: Session, course: Course, text: str, verdict: str, reason: str) -> None:
    judgement = judge_answer(worker, course, "3.2", source_of(text))
    assert judgement.verdict == verdict, judgement
    assert re.search(reason, judgement.message), judgement.message


def test_dropout_that_never_stops_is_no_leak(worker: Session, course: Course) -> None:
    _, found = course.exercise("causal-attention")
    assert isinstance(found, ExerciseStep)
    always = found.solution.replace("self.dropout(weights)", "nn.functional.dropout(weights, 0.5)")
    assert always != found.solution
    judgement = worker.check(found, always, diagnosis="none")
    said = next(check.message for check in judgement.checks if check.name == "no token sees a later one")
    assert "Two calls with the same inputs give different results" in said


def test_wrong_axis_of_the_published_solution_is_not_causal(worker: Session, course: Course) -> None:
    judgement = judge_answer(worker, course, "3.2", source_of(heads(axis=1)))
    assert [check.name for check in judgement.checks if check.passed] == [
        "a module comes back",
        "two numbers for every token",
        "two heads",
        "one number from each head",
        "no dropout",
    ]


def test_only_matrices_that_differ_are_named(worker: Session, course: Course) -> None:
    one_wider = """
    class Wider(Heads):
        def __init__(self, d_in, context_length):
            super().__init__(d_in, 1, context_length)
            self.heads[1].W_key = nn.Linear(d_in, 2, bias=False)
            self.heads[1].W_query = nn.Linear(d_in, 2, bias=False)

    def build(d_in, context_length):
        return Wider(d_in, context_length)
    """
    judgement = judge_answer(worker, course, "3.2", source_of(heads() + one_wider))
    (wrong,) = [check for check in judgement.checks if check.name == "one number from each head"]
    assert set(re.findall(r"heads\.\d\.W_\w+", wrong.message)) == {"heads.1.W_query", "heads.1.W_key"}


# 3.3 -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        "MultiHeadAttention(768, 768, 1024, 0.0, 12)",
        "MultiHeadAttention(768, 768, 1024, 0.1, 12)",
        "MultiHeadAttention(768, 768, 1024, 0.0, 12, qkv_bias=True)",
        "MultiHeadAttention(d_in=768, d_out=12 * 64, context_length=2**10, dropout=0.0, num_heads=12)",
    ],
)
def test_gpt2_in_another_form_passes(worker: Session, course: Course, call: str) -> None:
    judgement = judge_answer(worker, course, "3.3", source_of(f"    def build():\n        return {call}"))
    assert judgement.verdict == "passed", judgement


@pytest.mark.slow
@pytest.mark.parametrize(
    ("call", "verdict", "reason"),
    [
        ("MultiHeadAttention(768, 768, 1024, 0.0, 1)", "failed", "12 heads, the right numbers: .* `num_heads` is 1\\."),
        ("MultiHeadAttention(768, 768, 1024, 0.0, 6)", "failed", "12 heads, the right numbers: .* `num_heads` is 6\\."),
        (
            "MultiHeadAttention(768, 768, 1024, 0.0, 64)",
            "failed",
            "12 heads, the right numbers: .* `num_heads` is 64\\.",
        ),
        ("MultiHeadAttention(768, 768, 256, 0.0, 12)", "failed", "made for 256 tokens. It should be made for 1024."),
        ("MultiHeadAttention(1024, 768, 768, 0.0, 12)", "failed", "768 wide at both ends"),
        ("MultiHeadAttention(768, 64, 1024, 0.0, 12)", "error", "d_out|num_heads|divi"),
        ("MultiHeadAttention(768, 60, 1024, 0.0, 12)", "failed", r"768 wide at both ends: .* shape \(\d, \d, 60\)"),
        ("MultiHeadAttentionWrapper(768, 64, 1024, 0.0, 12)", "failed", "1,769,472 parameters"),
        ("MultiHeadAttentionWrapper(768, 768, 1024, 0.0, 12)", "failed", r"shape \(\d, \d, 9216\)"),
        ("MultiHeadAttention", "failed", "768 wide at both ends: `build\\(\\)` returns a `type"),
    ],
)
def test_wrong_gpt2_is_explained(worker: Session, course: Course, call: str, verdict: str, reason: str) -> None:
    judgement = judge_answer(worker, course, "3.3", source_of(f"    def build():\n        return {call}"))
    assert judgement.verdict == verdict, judgement
    assert re.search(reason, judgement.message), judgement.message


# The judge itself ----------------------------------------------------------------------------------------------------


def test_judgement_contains_the_output_of_the_program(worker: Session) -> None:
    source = "print('loaded')\ndef double(x):\n    print('called')\n    return {} * x\n"
    for factor, verdict in ((2, "passed"), (3, "failed")):
        judgement = worker.check(doubling_exercise(), source.format(factor))
        assert (judgement.verdict, judgement.stdout) == (verdict, "loaded\n" + 3 * "called\n")
    judgement = worker.check(doubling_exercise(), source.replace("return {} * x", "raise ValueError"))
    assert (judgement.verdict, judgement.line, judgement.stdout) == ("error", 4, "loaded\ncalled\n")


def test_hidden_inputs_come_after_the_program_has_run(worker: Session) -> None:
    """Nothing can be read ahead from the connection."""
    source = """
        import os
        os.set_blocking(3, False)
        try:
            print(os.read(3, 10))
        except BlockingIOError:
            print('nothing')
        os.set_blocking(3, True)
    """
    judgement = worker.check(doubling_exercise(), dedent(source) + DOUBLED)
    assert (judgement.verdict, judgement.stdout) == ("passed", "nothing\n")


def test_seeds_of_the_hidden_inputs_come_after_the_program_has_run(
    worker: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that had the seeds could make the hidden inputs itself."""
    sent: list[dict[str, Any]] = []
    send = wire.send

    def keep(connection: socket.socket, header: dict[str, Any], *rest: Any, **named: Any) -> None:
        sent.append(header)
        send(connection, header, *rest, **named)

    monkeypatch.setattr(wire, "send", keep)
    assert worker.check(doubling_exercise(), DOUBLED).passed
    (judge,) = [header for header in sent if header["op"] == "judge"]
    first, second = [header for header in sent if header["op"] in ("run_answer", "hidden_inputs")]
    assert len(set(judge["seeds"])) == judging.ROUNDS
    assert set(first) == {"op", "probe", "seed", "defines", "without", "trace"}
    assert first["seed"] not in judge["seeds"]
    assert list(second["seeds"]) == [*judge["seeds"], judge["seeds"][0]]
    assert list(second["recorded"]) == [True, True, False]


def test_hidden_inputs_differ(worker: Session) -> None:
    source = "def double(x):\n    print(list(x.shape), float(x.sum()))\n    return 2 * x\n"
    lines = [line for _ in range(3) for line in worker.check(doubling_exercise(), source).stdout.splitlines()]
    # Each time, the third call is the first once more.
    assert lines[2::3] == lines[::3]
    assert len(set(lines)) == 6


def test_an_answer_that_differs_without_gradients_is_refused_for_that(worker: Session) -> None:
    source = "import torch\ndef double(x):\n    return 2 * x if torch.is_grad_enabled() else 3 * x\n"
    judgement = worker.check(doubling_exercise(), source)
    assert judgement.verdict == "failed"
    assert "Called again with the first inputs, inside `torch.inference_mode()`" in judgement.message
    wrong = worker.check(doubling_exercise(), "def double(x):\n    return 3 * x\n")
    assert "inference_mode" not in wrong.message


def test_seed_in_the_program_does_not_fix_the_inputs(worker: Session) -> None:
    source = "import torch\ntorch.manual_seed(1)\ndef double(x):\n    print(float(x.sum()))\n    return 2 * x\n"
    first, second = (worker.check(doubling_exercise(), source).stdout for _ in range(2))
    assert first != second


@pytest.mark.parametrize(
    "names",
    [
        "sum = list = isinstance = len = all = any = str = getattr = zip = 3",
        "from torch import *",
        "got = context = seed = pick = close = told = attempt = 3",
    ],
    ids=["numbers", "torch", "tools"],
)
def test_names_of_the_program_do_not_shadow_those_of_the_probe(worker: Session, names: str) -> None:
    probe = "assert isinstance(context.x.sum(), torch.Tensor) and all([str(sum(list((1, 2)))) == '3'])\n"
    exercise = doubling_exercise()
    exercise = exercise.model_copy(update={"probe": probe + exercise.probe})
    judgement = worker.check(exercise, f"{names}\n{DOUBLED}")
    assert judgement.passed, judgement


def test_python_finds_the_module_of_the_program(worker: Session) -> None:
    source = """
        from __future__ import annotations
        import copy, dataclasses, enum, pickle
        from typing import ClassVar

        @dataclasses.dataclass
        class Config:
            factor: int = 2
            known: ClassVar[int] = 0

        class Kind(enum.Enum):
            DOUBLE = Config()

        assert pickle.loads(pickle.dumps(Kind.DOUBLE)) is Kind.DOUBLE
        assert pickle.loads(pickle.dumps(Config(3))) == copy.deepcopy(Config(3))

        def double(x):
            return Kind.DOUBLE.value.factor * x
    """
    judgement = worker.check(doubling_exercise(), dedent(source))
    assert judgement.passed, judgement


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (DOUBLED, ["the shape", "twice", "again"]),
        ("def double(x):\n    return x\n", ["the shape", "twice: The sum"]),
        ("def double(x):\n    return 2 * x.T\n", ["the shape: It is turned."]),
    ],
)
def test_a_check_says_nothing_if_one_that_it_rests_on_fails(worker: Session, answer: str, told: list[str]) -> None:
    (twice,) = doubling_exercise().checks
    turned = (MessageCase(say="It is turned."),)
    shape = twice.model_copy(update={"name": "the shape", "test": "got.out.shape == want.out.shape", "fail": turned})
    # The last one could not be made on a wrong answer.
    again = twice.model_copy(update={"name": "again", "needs": ("twice",), "test": f"{twice.test} or got.missing"})
    checks = (shape, twice.model_copy(update={"needs": ("the shape",)}), again)
    judgement = worker.check(doubling_exercise().model_copy(update={"checks": checks}), answer, diagnosis="none")
    spoken = [check for check in judgement.checks if check.passed or check.message]
    assert len(spoken) == len(told)
    for check, start in zip(spoken, told, strict=True):
        assert (check.name if check.passed else f"{check.name}: {check.message}").startswith(start)


def test_check_that_raises_does_not_pass(worker: Session) -> None:
    (check,) = doubling_exercise().checks
    broken = check.model_copy(update={"test": "got.out.shape == want.missing"})
    judgement = worker.check(doubling_exercise().model_copy(update={"checks": (broken,)}), DOUBLED)
    assert judgement.verdict == "failed"
    assert "this could not be checked on what your code gave (AttributeError:" in judgement.message


def test_message_that_cannot_be_filled_is_still_given(worker: Session) -> None:
    (check,) = doubling_exercise().checks
    broken = check.model_copy(update={"test": "False", "fail": (MessageCase(say="Missing: {got.missing}."),)})
    judgement = worker.check(doubling_exercise().model_copy(update={"checks": (broken,)}), DOUBLED)
    assert judgement.message == "twice: Missing: …."


@pytest.mark.parametrize(
    ("update", "reason"),
    [
        ({"solution": "raise ValueError('no')"}, "the solution of this exercise fails"),
        ({"solution": "def other():\n    pass"}, "the solution of this exercise fails"),
        ({"context": "context = 1 / 0"}, "ZeroDivisionError: division by zero"),
        ({"context": "pass"}, "KeyError: 'context'"),
    ],
)
def test_broken_exercise_is_not_blamed_on_the_answer(worker: Session, update: dict[str, str], reason: str) -> None:
    with pytest.raises(WorkerError, match="The judge of this exercise failed") as caught:
        worker.check(doubling_exercise().model_copy(update=update), DOUBLED)
    assert reason in str(caught.value)


@pytest.mark.parametrize("crashes", [1, 2])
def test_a_crash_is_said_only_if_a_fresh_child_crashes_too(
    worker: Session, monkeypatch: pytest.MonkeyPatch, crashes: int
) -> None:
    run, told = judge_children.run, "The program was killed from outside, perhaps for lack of memory."
    left = [Failure("crash", told)] * crashes

    def crash_first(*arguments: Any, **named: Any) -> Any:
        answer = run(*arguments, **named)
        return replace(answer, failure=left.pop()) if left else answer

    monkeypatch.setattr(judge_children, "run", crash_first)
    judgement = worker.check(doubling_exercise(), DOUBLED)
    if crashes == 1:
        assert (judgement.verdict, judgement.crash) == ("passed", told)
    else:
        assert (judgement.verdict, judgement.message, judgement.crash) == ("crash", told, "")


def test_cancelled_check_is_stopped(worker: Session, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    source = f"open({str(pipe)!r}).close()\nwhile True: pass"
    given: list[Judgement] = []
    thread = threading.Thread(target=lambda: given.append(worker.check(doubling_exercise(), source)))
    thread.start()
    with pipe.open("w"):
        worker.cancel()
    thread.join(PATIENCE)
    assert not thread.is_alive()
    (judgement,) = given
    assert judgement.verdict == "error"
    assert judgement.message.startswith("Stopped by you")


def test_check_that_is_cancelled_before_the_program_starts(worker: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    ask = judge_children.ask

    def cancelled(*arguments: Any) -> object:
        worker.cancel()
        return ask(*arguments)

    monkeypatch.setattr(judge_children, "ask", cancelled)
    judgement = worker.check(doubling_exercise(), DOUBLED)
    assert (judgement.verdict, judgement.message) == ("error", "Stopped by you.")
