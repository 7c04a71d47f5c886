"""Which operation wrote an element last, before and after further writes."""

from __future__ import annotations

import pytest

from attn_tutor.lessons.worker.recording.element_history import Element
from attn_tutor.lessons.worker.recording.event import Event
from tests.lessons.recorded_code import Traced


def last_writer(traced: Traced, name: str, *index: int) -> Event:
    """Return the event that wrote an element of a variable last."""
    record = traced.recorder.record
    region = next(
        region
        for event in record.events
        for region in event.outs
        if region.memory.data_ptr() == traced.namespace[name].untyped_storage().data_ptr()
    )
    writer = traced.explainer.history.writer(Element.of(region, index, record.time))
    assert writer is not None
    return writer


def test_a_later_write_takes_the_place_of_the_one_that_was_found() -> None:
    traced = Traced("x = torch.zeros(3)")
    first = last_writer(traced, "x", 1)
    traced.run("x[1] = 2", "later")
    second = last_writer(traced, "x", 1)
    assert first.op == "zeros"
    assert second.time > first.time
    assert last_writer(traced, "x", 2) == first


def test_only_writes_in_place_overwrite() -> None:
    traced = Traced("x = torch.zeros(3)\ny = x + 1")
    history = traced.explainer.history
    start = last_writer(traced, "x", 0)
    storage = start.outs[0].storage
    assert not history.is_overwritten_since(storage, start.time)
    traced.run("x += 1", "later")
    assert history.is_overwritten_since(storage, start.time)
    assert not history.is_overwritten_since(storage, last_writer(traced, "x", 0).time + 1)


@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
def test_what_a_resized_tensor_held_before_is_kept() -> None:
    """An operation that gives a tensor in `out` another shape overwrites what it held."""
    traced = Traced(
        """
        a = torch.rand(2, 3)
        o = torch.empty(0)
        torch.add(a, a, out=o)
        before = o * 2
        torch.sum(a, 0, out=o)
        small = o + 0
        torch.cat([a, a], out=o)
        large = o.sum()
        """
    )
    traced.check_all("before", "small", "large", "o")
    assert traced.explain("before", 1, 2).operands[0].value == float(traced.namespace["a"][1, 2] * 2)
