"""What a record drops and forgets: what a question can still reach is told as if nothing had been dropped."""

from __future__ import annotations

import contextlib

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import Course
from attn_tutor.lessons.results import explanation as x
from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.results.explanation import Explanation
from attn_tutor.lessons.results.tensor_questions import ExplainQuestion, FollowQuestion
from attn_tutor.lessons.worker.recording import rematerialization
from attn_tutor.lessons.worker.recording.event import contents
from attn_tutor.lessons.worker.recording.record import CannotRestore
from tests.lessons.recorded_code import Traced, assert_true
from tests.lessons.worker.explaining.test_explain_programs import programs

TRAINING = """
class Attention(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.queries = torch.nn.Linear(width, width)
        self.keys = torch.nn.Linear(width, width)
        self.dropout = torch.nn.Dropout(0.1)
        self.width = width

    def forward(self, tokens):
        future = torch.ones(tokens.shape[0], tokens.shape[0]).triu(1).bool()
        scores = self.queries(tokens) @ self.keys(tokens).T / self.width ** 0.5
        return self.dropout(torch.softmax(scores.masked_fill(future, -torch.inf), dim=-1)) @ tokens


torch.manual_seed(1)
layer = Attention(4)
start = layer.queries.weight.detach().clone()
optimizer = torch.optim.AdamW(layer.parameters(), lr=1e-2)
tokens, wanted = torch.rand(5, 4), torch.rand(5, 4)
losses = []
for step in range(STEPS):
    optimizer.zero_grad()
    loss = ((layer(tokens) - wanted) ** 2).mean()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
weight = layer.queries.weight.detach()
"""


def train(steps: int, **limits: int) -> Traced:
    """Train a small attention under the recorder."""
    traced = Traced("", **limits)
    traced.namespace["STEPS"] = steps
    traced.run(TRAINING)
    assert not traced.recorder.record.stopped
    return traced


def tree(traced: Traced, count: int) -> list[x.Explanation]:
    """Explain a weight and what it was computed from, breadth first, up to a count of explanations."""
    pending = [traced.explain("weight", 1, 2)]
    told: list[x.Explanation] = []
    seen: set[tuple[str, float]] = set()
    while pending and len(told) < count:
        current = pending.pop(0)
        told.append(current)
        for operand in current.operands:
            if (operand.label, operand.value) not in seen:
                seen.add((operand.label, operand.value))
                pending.append(traced.follow(operand))
    return told


def facts(explanation: x.Explanation) -> tuple[object, ...]:
    """Return what an explanation says, without its references."""
    operands = [(operand.label, operand.value) for operand in explanation.operands]
    return explanation.label, explanation.value, explanation.op, explanation.formula, operands, explanation.notes


def test_what_was_dropped_is_told_as_if_it_were_there() -> None:
    """A training whose record drops its values several times explains the same as one that keeps them."""
    whole, dropping = train(5), train(5, segment=4_000)
    segments = dropping.recorder.values.segments
    assert len(segments) > 2
    assert sum(len(segment.empty) for segment in segments) > 50
    for one, other in zip(tree(whole, 250), tree(dropping, 250), strict=True):
        assert facts(one) == facts(other)
        assert_true(other)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(programs(), st.integers(0, 1000), st.sampled_from([300, 1500]), st.sampled_from([6, 20]))
def test_programs_that_drop_and_forget_explain_every_cell(code: str, seed: int, segment: int, few: int) -> None:
    """Random programs with so little room that every few operations something is dropped and forgotten."""
    traced = Traced(segment=segment, few=few)
    torch.manual_seed(seed)
    # Some lines do not fit the shapes or types that are there: what ran before them is explained.
    with contextlib.suppress(AssertionError):
        traced.run(code)
    assert not traced.recorder.record.stopped
    traced.check_all(*(name for name in "abcd" if isinstance(traced.namespace.get(name), torch.Tensor)))


def test_a_training_is_explained_to_its_first_step() -> None:
    """Two hundred steps back, a weight is what was drawn before the first one."""
    traced = train(200, segment=100_000)
    storage = traced.namespace["weight"].untyped_storage()._cdata
    current = traced.explain("weight", 0, 0)
    # One operand of each step is the weight before.
    for _ in range(200):
        assert_true(current)
        earlier = [item for item in current.operands if traced.explainer._asked[item.ref][0].storage == storage]
        current = traced.follow(earlier[0])
    assert current.op == "draw", current
    assert current.value == float(traced.namespace["start"][0, 0])


def test_what_was_overwritten_in_parts_and_as_a_whole_comes_back() -> None:
    """Copies of whole tensors, of parts of them, and of transposed ones are the same after they were dropped."""
    code = """
    x, y = torch.arange(12.0).reshape(3, 4), torch.zeros(4, 3).T
    for step in range(8):
        x.mul_(2)
        x[1:, ::2].add_(step)
        y.add_(x)
        y[0] = step
        x.T.sub_(1)
        sums = x @ torch.ones(4, 50)
    """
    whole, dropping = (Traced(code, segment=segment).recorder for segment in (1 << 20, 1000))
    assert not whole.values.segments
    assert len(dropping.values.segments) > 1
    for one, other in zip(whole.record.events, dropping.record.events, strict=True):
        before, again = (
            [contents(copy) for copy in run.record.before(event) if copy is not None]
            for run, event in ((whole, one), (dropping, other))
        )
        assert len(before) == len(again) == len(one.info.written)
        assert all(map(torch.equal, before, again))


def test_memory_does_not_grow_with_what_a_training_computes() -> None:
    """Twice as many steps keep little more: what begins each segment, and never what was computed in it."""
    kept = []
    for steps in (20, 40):
        traced = train(steps, segment=20_000)
        kept.append(traced.recorder.kept)
    computed = train(40).recorder.kept
    assert kept[1] < computed / 3, (kept, computed)
    assert kept[1] - kept[0] < computed / 6, (kept, computed)


def test_what_nothing_depends_on_is_forgotten() -> None:
    """A long loop whose results are thrown away leaves a short record, and its last result is explained."""
    traced = Traced("x = torch.rand(3, 3)\nfor _ in range(3000):\n    y = torch.tanh(x @ x)", few=100)
    assert not traced.recorder.record.stopped
    assert len(traced.recorder.record.events) < 210
    traced.check_all("y")


def test_what_a_result_depends_on_is_not_forgotten() -> None:
    """Overwritten, accumulated and viewed: what the last tensors were computed from stays, however long ago."""
    traced = Traced(
        """
        x = torch.rand(4)
        total = torch.zeros(4)
        filled = torch.empty(150)
        buffer = torch.zeros(4)
        for step in range(150):
            total = total * 0.5 + x
            filled[step] = total.view(2, 2)[1, 0] * step
            buffer.zero_()
            buffer += total
        """,
        few=100,
        segment=2000,
    )
    assert not traced.recorder.record.stopped
    traced.check_all("total", "filled", "buffer")


def test_what_overwrote_a_needed_number_is_not_forgotten() -> None:
    """Nothing depends on the tensor after it was overwritten, but a number that went to Python did before."""
    traced = Traced(
        """
        x = torch.arange(6.0)
        y = x.clamp(0, 4)
        total = torch.zeros(1) + y.sum().item()
        y[1] = 100.0
        y = torch.zeros(1)
        for _ in range(30):
            z = x * 2
        """,
        few=12,
    )
    assert not traced.recorder.record.stopped
    for event in traced.recorder.record.events:
        if event.op == "clamp":
            assert traced.explainer.history.tensor(event.outs[0], event.time + 1).tolist() == [0, 1, 2, 3, 4, 4]
            break
    else:
        raise AssertionError("the operation was forgotten")


def test_what_was_asked_about_is_not_forgotten() -> None:
    """An operand that somebody has seen can be followed after the program has let go of it."""
    traced = Traced("x = torch.rand(3)\ny = x * 2\ny = y + 1", few=20)
    told = traced.explain("y", 0)
    traced.run("y = x = 0\nfor _ in range(100):\n    z = torch.ones(2) + 1", "more")
    assert traced.follow(told.operands[0]).op == "multiply"


def test_a_tensor_that_is_filled_row_by_row_is_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    traced = Traced(
        """
        x = torch.zeros(40, 50)
        for row in range(40):
            x[row] = torch.rand(50)
        total = 0
        for step in range(8):
            total = total + (x * step).sum()
        """,
        segment=20000,
    )
    compared: list[int] = []
    equal = rematerialization._equal

    def counted(one: rematerialization.Memory, other: rematerialization.Memory) -> bool:
        compared.append(one.nbytes())
        return equal(one, other)

    monkeypatch.setattr(rematerialization, "_equal", counted)
    segments = traced.recorder.values.segments
    for segment in segments:
        traced.recorder.values.restore(segment.first)
    # What else has that size is compared too, and the rows would be 40.
    assert 0 < compared.count(40 * 50 * 4) < 10


def test_values_that_do_not_come_out_again_are_not_told() -> None:
    """If memory was changed behind the recorder's back, what was dropped cannot be computed again, and this is said."""
    traced = Traced(
        """
        x = torch.rand(50)
        w = torch.zeros(50)
        for step in range(40):
            y = x * step
            w += y
            if step == 20:
                w.apply_(lambda number: number + 7)
        """,
        segment=1500,
    )
    assert len(traced.recorder.values.segments) > 2
    current, ops = traced.explain("w", 0), []
    for _ in range(10):
        ops.append(current.op)
        if not current.operands:
            break
        current = traced.follow(current.operands[0])
    assert "unrecorded" in ops


@pytest.mark.parametrize("code", ["x.resize_(4)", "x = x.to_sparse().to_dense()", "x.set_(torch.rand(9))"])
def test_what_cannot_be_repeated_stays(code: str) -> None:
    """Operations that give a tensor other memory or none end no record and lose no value."""
    traced = Traced(
        f"x = torch.rand(9)\nfor step in range(30):\n    y = x * step\n    {code}\nz = y + x.sum()", segment=300
    )
    assert not traced.recorder.record.stopped
    assert traced.explain("z", 0).operands


def test_tensors_without_numbers_do_not_end_the_record() -> None:
    """A program may make tensors on the meta device between others."""
    traced = Traced(
        """
        x = torch.rand(50)
        w = torch.zeros(50)
        for step in range(40):
            shape = torch.empty(4, device="meta")
            y = x * step
            w += y
        """,
        segment=1500,
    )
    assert traced.recorder.values.segments
    assert not traced.recorder.record.stopped
    assert traced.explain("w", 0).op == "sum"


LOOP = "w = torch.rand(50, 50)\nfor step in range(30):\n    y = w * step\n    z = y.sum(0)\n    total = z + step"


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (RuntimeError("DefaultCPUAllocator: can't allocate memory"), "there is not enough memory to compute it again"),
        (RuntimeError("no such operation"), "it could not be computed again"),
        (ValueError("too few results"), "it could not be computed again"),
        (CannotRestore(rematerialization._changed()), "computing it again gave other numbers"),
    ],
)
def test_why_a_value_does_not_come_back_is_what_happened(
    error: Exception, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    traced = Traced(LOOP, segment=20000)
    assert traced.recorder.values.segments

    def fail(*given: object) -> None:
        raise error

    monkeypatch.setattr(rematerialization.Rematerializer, "_repeat", staticmethod(fail))
    with pytest.raises(CannotRestore, match=sentence):
        traced.recorder.values.restore(traced.recorder.values.segments[0].first)


def test_what_is_still_there_is_not_copied_to_compute_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run whose tensors fill half of its memory has no room for a second copy of them."""
    traced = Traced(LOOP, segment=20000)
    copied: list[int] = []
    clone = rematerialization._clone

    def counted(memory: rematerialization.Memory) -> rematerialization.Memory:
        copied.append(memory.nbytes())
        return clone(memory)

    monkeypatch.setattr(rematerialization, "_clone", counted)
    segment = traced.recorder.values.segments[0]
    traced.recorder.values.restore(segment.first)
    assert all(memory.nbytes() for memory, _ in segment.empty.values())
    assert copied == []


@pytest.mark.slow
def test_what_a_large_lesson_has_dropped_comes_back(worker: Session, course: Course) -> None:
    """One attention layer of GPT-2 fills half of the memory that a lesson may use."""
    lesson = next(lesson for lesson in course.lessons if lesson.id == "gpt2-size")
    run = worker.run(lesson)
    try:
        for step, name, index in (("weights", "weights", (0, 3, 700, 20)), ("sizes", "sizes", (0, 2))):
            found = run.ask(ExplainQuestion(name, index, CodeUnit.step(step)))
            assert isinstance(found, Explanation), found
            assert found.operands
            for _ in range(3):
                assert isinstance(found, Explanation), found
                assert "dropped" not in " ".join(found.notes)
                if not found.operands:
                    break
                found = run.ask(FollowQuestion(found.operands[0].ref, CodeUnit.step(step)))
    finally:
        run.close()
