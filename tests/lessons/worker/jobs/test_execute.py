"""Where code was when an exception was raised in it, and what the generators begin with."""

from __future__ import annotations

import dis
import sys
import traceback
from types import CodeType, FrameType, TracebackType
from typing import NoReturn

import pytest
import torch

from attn_tutor.lessons.worker.jobs.execute import execute, line_of, seed_generators

LOOP = """\
def loop():
    for number in range(3):
        if number > 5:
            print(number)
loop()
"""


def code_of_loop() -> CodeType:
    """Return the code of the loop, which never prints."""
    return next(each for each in compile(LOOP, "loop.py", "exec").co_consts if isinstance(each, CodeType))


def frame_of(code: CodeType) -> FrameType:
    """Run code and return its frame."""
    frames: list[FrameType] = []
    sys.setprofile(lambda frame, event, arg: frames.append(frame) if frame.f_code is code else None)
    try:
        exec(code)
    finally:
        sys.setprofile(None)
    return frames[0]


def test_a_jump_without_a_line_has_that_of_where_it_jumps_to() -> None:
    code = code_of_loop()
    frame = frame_of(code)
    jumps = [each for each in dis.get_instructions(code) if each.opname.startswith("JUMP_BACKWARD")]
    lines = [line_of(TracebackType(None, frame, each.offset, -1)) for each in jumps]
    # One of them follows what is printed.
    assert lines
    assert {*lines} - {4} <= {2, 3}


def test_code_without_any_line_has_that_of_its_function() -> None:
    code = code_of_loop()
    units = len(code.co_code) // 2
    # Up to eight units of code without a line, again and again.
    table = bytes(0xF8 | min(7, units - at - 1) for at in range(0, units, 8))
    bare = code.replace(co_linetable=table)
    trace = TracebackType(None, frame_of(bare), 2, -1)
    assert trace.tb_lineno is None
    assert line_of(trace) == 1


def test_code_may_be_nested_as_deeply_as_in_python() -> None:
    branches = "".join(f"elif k == {number}:\n    y = {number}\n" for number in range(1100))
    namespace = {"k": 7}
    limit = sys.getrecursionlimit()
    assert execute(f"if k == 0:\n    y = 0\n{branches}", "<deep>", namespace, after=lambda statement: None) is None
    assert (namespace["y"], sys.getrecursionlimit()) == (7, limit)


def test_only_calls_inside_of_each_other_are_a_recursion() -> None:
    source = "a = []\nfor _ in range(100_000):\n    a = [a]\n"
    failures = [execute(source + last, "<deep>", {}) for last in ("repr(a)", "def f():\n    f()\nf()")]
    texts = [failure.message for failure in failures if failure is not None]
    assert ["recursion is too deep" in text for text in texts] == [False, True]
    assert texts[0].startswith("RecursionError: maximum recursion depth exceeded")


def test_seeding_formats_no_stack(monkeypatch: pytest.MonkeyPatch) -> None:
    """`torch.manual_seed` does, for each kind of accelerator, and that took longer than most steps."""
    torch.manual_seed(5)
    expected = torch.rand(3)

    def refuse() -> NoReturn:
        raise AssertionError

    monkeypatch.setattr(traceback, "format_stack", refuse)
    monkeypatch.setattr("attn_tutor.lessons.worker.jobs.execute.ACCELERATED", False)
    seed_generators(5)
    assert torch.equal(torch.rand(3), expected)
