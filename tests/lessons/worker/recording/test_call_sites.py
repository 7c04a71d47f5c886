"""The call sites of operations: which code called them, whatever was remembered of the calls before."""

from __future__ import annotations

import os
import sys
import weakref
from pathlib import Path
from types import FrameType

import pytest
import torch

from attn_tutor.lessons.worker.recording.call_sites import SiteFinder
from attn_tutor.lessons.worker.recording.event import CallSites
from attn_tutor.lessons.worker.recording.recorder import Recorder
from attn_tutor.lessons.worker.recording.source_positions import SourcePositions
from tests.lessons.recorded_code import Traced

TWICE = """
def double(x):
    y = x * 2
    return y * 1

one = double(torch.ones(1))
two = [double(torch.ones(1)) for _ in range(2)]
layer = torch.nn.Linear(1, 1)
three = layer(one)
four = layer(three)
"""

RESUMED = """
def steps(x):
    while True:
        x = x * 2
        yield x
values = steps(torch.ones(1))
both = [
    next(values),
    next(values),
]
"""

PASSED_ON = """
def steps(x):
    while True:
        yield torch.nn.functional.linear(x, x)
values = steps(torch.ones(1, 1))
both = [
    next(values),
    next(values),
]
"""


@pytest.mark.parametrize(
    ("code", "op", "lines"),
    [
        (TWICE, "mul", [(3, 6), (4, 6), (3, 7), (4, 7), (3, 7), (4, 7)]),
        (TWICE, "addmm", [(9,), (10,)]),
        (RESUMED, "mul", [(4, 8), (4, 9)]),
        (PASSED_ON, "mm", [(4, 7), (4, 8)]),
    ],
)
def test_each_operation_is_at_the_lines_that_called_it(code: str, op: str, lines: list[tuple[int, ...]]) -> None:
    """A function that is called from several lines, a module, and a generator, which goes on from another line."""
    events = [event for event in Traced(code).recorder.record.events if event.op == op]
    spans = [
        [SourcePositions.span(site) for site in event.sites if site[0].co_name != "<listcomp>"] for event in events
    ]
    assert [tuple(span.line for span in found if span is not None) for found in spans] == lines


def test_the_variables_of_a_function_are_not_kept() -> None:
    """What a function computed and did not return is freed when the recorder is left."""
    freed = []

    def compute() -> None:
        x = torch.ones(3) * 2
        freed.append(weakref.ref(x))

    recorder = Recorder()
    recorder.watch(__file__, "")
    with recorder:
        compute()
    assert freed[0]() is None


def test_callers_of_the_frame_where_it_begins_are_no_sites() -> None:
    """A function that is recorded from within is the outermost code, whoever called it."""
    recorder = Recorder()
    source = Path(__file__).read_text(encoding="utf-8")

    def begin() -> None:
        recorder.watch(__file__, source)
        recorder.begin_at(sys._getframe())
        with recorder:
            torch.ones(1)
        recorder.begin_at(None)

    begin()
    assert [code.co_name for code, _ in recorder.record.events[0].sites] == ["begin"]


def test_the_code_of_the_tutor_itself_is_no_part_of_a_program_in_its_repository() -> None:
    finder = SiteFinder({})
    finder.watch_below(str(Path(__file__).parents[4]) + os.sep)
    assert finder.is_watched(test_the_code_of_the_tutor_itself_is_no_part_of_a_program_in_its_repository.__code__)
    assert not finder.is_watched(SiteFinder.watch_below.__code__)


@pytest.mark.parametrize("name", ["my_tensor_str.py", "site-packages-2/train.py", "attention.py"])
def test_a_file_of_the_user_that_is_only_called_like_one_of_torch_is_watched(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("y = 1\n")
    finder = SiteFinder({})
    finder.watch_below(str(tmp_path) + os.sep)
    assert finder.is_watched(compile("y = 1", str(tmp_path / name), "exec"))


CALLS = """
import contextlib, functools

def steps(x, depth):
    for _ in range(4):
        yield inner(x, depth) if depth else x * 2
        x = x + 1

def inner(x, depth):
    for item in steps(x, depth - 1):
        x = x + item
    return sum((item * 2 for item in (x, x)), x)

def deep(x, count):
    y = x * count
    return y if not count else deep(y, count - 1) + deep(y, count - 2 if count > 1 else 0)

@contextlib.contextmanager
def around(x):
    x * 2
    yield x * 3
    x * 4

class Both(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU(), torch.nn.Linear(2, 2))

    def forward(self, x):
        for layer in (self.layers, functools.partial(torch.nn.functional.softmax, dim=-1)):
            x = layer(x) + 1
        try:
            raise ValueError(x.sum())
        except ValueError as error:
            return x + error.args[0]

one = torch.ones(2)
later = steps(one, 1)
both = Both()
for _ in range(2):
    next(later) + inner(one, 2)
    with around(deep(one, 3)) as y:
        y = both(y)
    y.sum().backward()
    [both(one) for _ in range(2)], next(later)
"""


def test_what_is_remembered_of_the_stack_is_what_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions that call themselves, generators that go on elsewhere, modules, contexts, errors, and mixtures."""
    find, checked = SiteFinder.find, 0

    def compared(finder: SiteFinder, first: FrameType) -> CallSites | None:
        nonlocal checked
        frame: FrameType | None = first
        expected = []
        while frame is not None:
            if finder.is_watched(frame.f_code):
                expected.append((frame.f_code, frame.f_lasti))
                if frame.f_code.co_name == "<module>":
                    break
            frame = frame.f_back
        found = find(finder, first)
        assert found == (tuple(expected), finder.is_watched(first.f_code))
        assert found is find(finder, first)
        checked += 1
        return found

    monkeypatch.setattr(SiteFinder, "find", compared)
    assert not Traced(CALLS).recorder.record.stopped
    assert checked > 400
