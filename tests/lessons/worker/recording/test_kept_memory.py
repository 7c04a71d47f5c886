"""What a record keeps alive is counted, wherever it came from, and stays below its limit."""

from __future__ import annotations

import pytest
import torch

from attn_tutor.lessons.worker.recording.recorder import Recorder
from tests.lessons.recorded_code import Traced

KEEP = 1 << 20
PART = KEEP // 16

SOURCES = {
    "bytes": "torch.frombuffer(bytearray({part}), dtype=torch.uint8)",
    "views of bytes": "torch.frombuffer(bytearray({part}), dtype=torch.uint8)[:10]",
    "lists of bytes": "torch.cat([torch.frombuffer(bytearray({part}), dtype=torch.uint8)] * 2)",
    "data": "setattr(x, 'data', torch.frombuffer(bytearray({part}), dtype=torch.uint8)) or x",
    "storages": "torch.ByteTensor(torch.UntypedStorage({part}))",
    "set": "torch.empty(0, dtype=torch.uint8).set_(torch.UntypedStorage({part}))",
    "resized": "torch.empty(0, dtype=torch.uint8).resize_({part}).zero_()",
    "random numbers": "torch.rand({part} // 4)",
}


def _bytes_alone(recorder: Recorder) -> int:
    """Return how many bytes of tensors nobody but the record has, and of copies."""
    memories = recorder.record.events.memories()
    count = torch._C._storage_Use_Count
    alone = sum(memory.nbytes() for memory in memories if count(memory._cdata) == 1 and memory.device.type == "cpu")
    return alone + recorder.record.events.copied_bytes()


@pytest.mark.parametrize("source", SOURCES)
def test_what_the_program_has_let_go_of_is_bounded(source: str) -> None:
    made = SOURCES[source].format(part=PART)
    # The sum depends on all of it, so nothing of it can be forgotten.
    code = (
        f"x, total = torch.zeros(4, dtype=torch.uint8), 0\nfor step in range(64):\n    total = total + ({made}).sum()"
    )
    recorder = Traced(code, keep=KEEP).recorder
    assert recorder.record.stopped
    assert KEEP // 2 < _bytes_alone(recorder) <= KEEP + 2 * PART


@pytest.mark.parametrize("source", SOURCES)
def test_what_nothing_depends_on_makes_room(source: str) -> None:
    made = SOURCES[source].format(part=PART)
    code = f"x = torch.zeros(4, dtype=torch.uint8)\nfor step in range(64):\n    total = ({made}).sum()"
    recorder = Traced(code, keep=KEEP).recorder
    assert not recorder.record.stopped
    assert _bytes_alone(recorder) <= KEEP + 2 * PART


def test_what_the_program_has_itself_costs_nothing() -> None:
    recorder = Recorder(keep=KEEP)
    Traced.under(recorder, f"x = torch.frombuffer(bytearray({4 * KEEP}), dtype=torch.uint8)\ny = x[:10] + 1")
    assert not recorder.record.stopped
    assert recorder.kept < PART


def test_states_of_generators_are_counted() -> None:
    recorder = Traced("for step in range(600):\n    x = torch.rand(2)", keep=KEEP).recorder
    assert not recorder.record.stopped
    assert _bytes_alone(recorder) <= KEEP + PART
