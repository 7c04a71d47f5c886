"""What a child may write to its socket: a reply that breaks its bounds ends the child, and one that does not is small.

Nothing here depends on how long anything takes: what is counted is what a reply leaves behind.
"""

from __future__ import annotations

import contextlib
import json
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import asdict, fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attn_tutor.lessons.engine import scratch_run
from attn_tutor.lessons.engine.children import CodeRequest
from attn_tutor.lessons.engine.launching.launchers import ChildProcess
from attn_tutor.lessons.engine.run import Run
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import Lesson, Limits
from attn_tutor.lessons.programs.engine import running, tensor_file, traces
from attn_tutor.lessons.programs.engine.session import ProgramRun
from attn_tutor.lessons.programs.messages import TracePart
from attn_tutor.lessons.programs.results.program_result import Named, OwnProgram, ProgramResult
from attn_tutor.lessons.results import exact_formula
from attn_tutor.lessons.results.code_unit import PROGRAM, CodeUnit, learner_line
from attn_tutor.lessons.results.explanation import Explanation
from attn_tutor.lessons.results.flow import Flow, FlowBox, longest_path, nearest
from attn_tutor.lessons.results.formula import evaluate
from attn_tutor.lessons.results.result import Failure, Judgement, Suggestion, WorkerError
from attn_tutor.lessons.results.tensor_questions import (
    BlocksQuestion,
    BoxQuestion,
    ExplainQuestion,
    FlowQuestion,
    FollowQuestion,
    RowQuestion,
    ShowQuestion,
    WindowQuestion,
)
from attn_tutor.lessons.worker import channel, messages, wire
from attn_tutor.lessons.worker.judging_messages import AnswerLoaded, DifferenceReport, HiddenInputs
from attn_tutor.lessons.worker.messages import Exited, LessonDone, RunInput
from tests.lessons.engine.test_training import lesson_with, step_of
from tests.lessons.lesson_builders import DOUBLED, code_step, doubling_exercise, lesson_of
from tests.lessons.worker.message_strategies import bytes_on_the_way, forged, message_of

LARGEST = 48 << 20
"""Bytes that may be left of a reply: the longest lists of labels of a tensor are the largest part of them."""

LESSON = lesson_of(code_step("one", "x = 1", "x"))
TRAINING = lesson_with()
EXERCISE = doubling_exercise()
PROGRAM_HERE = OwnProgram("/tmp/program.py", "x = 1\n", (), "/", ())


class ForgedChild(ChildProcess):
    """A child that has written some frames before it was asked anything, and then hung up."""

    def __init__(self, frames: list[wire.Frame]) -> None:
        ours, theirs = socket.socketpair()
        out, err = (tempfile.TemporaryFile(buffering=0) for _ in range(2))  # noqa: SIM115 (`close` does)
        super().__init__(ours, out, err)
        self.has_ended = False
        self._writer = threading.Thread(target=self._write, args=(theirs, frames))
        self._writer.start()

    def _write(self, theirs: socket.socket, frames: list[wire.Frame]) -> None:
        with theirs, contextlib.suppress(wire.WireError, OSError):
            for frame in frames:
                wire.send(theirs, frame.header, frame.blob)
            theirs.shutdown(socket.SHUT_WR)
            # What is asked is taken, so that asking does not fail.
            while theirs.recv(1 << 16):
                pass

    def set_idle(self, idle: bool) -> None: ...

    def interrupt(self) -> None: ...

    def _end(self, ask_line: bool) -> Exited:
        self.has_ended = True
        self.talk.close()
        self._writer.join()
        return Exited(0, "", 0.0)


class ForgingLauncher:
    """A launcher whose children have written these frames, one list for each child."""

    limited = ready = True
    pid = None

    def __init__(self, *children: list[wire.Frame]) -> None:
        self._children, self.launched = list(children), list[ForgedChild]()

    def start(self) -> None: ...

    def wait_ready(self, timeout: float = 0) -> None: ...

    def close(self) -> None: ...

    def launch(self, limits: Limits, question_cpu: float = 0) -> ChildProcess:
        self.launched.append(ForgedChild(self._children.pop(0) if self._children else []))
        return self.launched[-1]


@contextlib.contextmanager
def session_with(*children: list[wire.Frame]) -> Iterator[Session]:
    launcher = ForgingLauncher(*children)
    session = Session(launcher)
    try:
        yield session
    finally:
        session.close()
        for child in launcher.launched:
            child.close()


def frame(message: object) -> wire.Frame:
    return bytes_on_the_way(message)


def weight(*results: object) -> int:
    """Return the bytes of results with all that is in them; what is in them twice counts once."""
    found: dict[int, int] = {}
    left: list[Any] = list(results)
    while left:
        item = left.pop()
        if id(item) not in found:
            found[id(item)] = sys.getsizeof(item)
            if isinstance(item, tuple | list | frozenset):
                left += item
            elif isinstance(item, dict):
                left += [*item.keys(), *item.values()]
            elif is_dataclass(item):
                left += [getattr(item, field.name) for field in fields(item)]
    return sum(found.values())


@contextlib.contextmanager
def receiving() -> Iterator[set[type[Any]]]:
    """Collect the kinds of the messages that are received meanwhile."""
    kinds, receive = set[type[Any]](), channel.receive

    def collecting(*args: Any, **options: Any) -> Any:
        message = receive(*args, **options)
        kinds.add(type(message))
        return message

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(channel, "receive", collecting)
        yield kinds


# Reading each reply --------------------------------------------------------------------------------------------------


def lesson_run(lesson: Lesson, *frames: wire.Frame) -> object:
    with session_with([*frames, frame(LessonDone())]) as session:
        run = session.run(lesson)
        run.close()
        assert [step.id for step in run.steps] == [step.id for step in lesson.steps] or run.steps[-1].error
        return run.steps


def code_run(reply: wire.Frame) -> object:
    request = CodeRequest(RunInput(CodeUnit.input(1), "x"), LESSON, "one", 5.0)
    with session_with() as session:
        run = Run([], ForgedChild([reply]))
        result = session.run_code(run, request)
        run.close()
        return result


def answer_run(reply: wire.Frame) -> object:
    lesson = LESSON.model_copy(update={"steps": (EXERCISE,)})
    with session_with([frame(LessonDone()), reply]) as session:
        _, run = scratch_run.run(session, lesson, EXERCISE, DOUBLED)
        run.close()
        return run.steps


def asked(*questions: Any) -> Callable[[wire.Frame], object]:
    """Return what asks a run questions, each of which has this reply."""

    def read(reply: wire.Frame) -> object:
        run = Run([], ForgedChild([reply] * len(questions)))
        replies = [run.ask(question) for question in questions]
        run.close()
        for found in replies:
            if isinstance(found, Explanation):
                evaluate(found.formula, found.values)
        return replies

    return read


def flows_of(reply: object) -> object:
    return (reply, longest_path(reply), nearest(reply, 9)) if isinstance(reply, Flow) else reply


def program_run(*frames: wire.Frame) -> ProgramRun:
    named = Named("x", "x", "local", "f", "<program>", 1, 3, (2,), "float32", call=1)
    result = ProgramResult(PROGRAM.name, named=(named,))
    return ProgramRun(Run([result], ForgedChild(list(frames))), PROGRAM_HERE)


def asked_program(ask: Callable[[ProgramRun], object]) -> Callable[[wire.Frame], object]:
    def read(reply: wire.Frame) -> object:
        run = program_run(reply)
        found = ask(run)
        run.close()
        return found, run.whole, run.lesson.steps

    return read


def opened_program(reply: wire.Frame) -> object:
    with session_with([reply]) as session:
        run = running.run_program(session, PROGRAM_HERE)
        steps = run.steps
        opened = ProgramRun(run, PROGRAM_HERE)
        opened.close()
        return steps, opened.lesson.steps


def listed_file(*replies: wire.Frame) -> object:
    with (
        session_with(list(replies)) as session,
        contextlib.suppress(tensor_file.UnreadableTensors),
        tensor_file.opened_tensors(session, Path(__file__)) as file,
    ):
        return file.found, file.show("x", 0) if replies[1:] else None
    return None


def trained(*frames: wire.Frame) -> object:
    with session_with(list(frames)) as session:
        shown: list[object] = []
        ended = session.train_into(None, TRAINING, step_of(TRAINING).id, shown.append)
        return shown, ended


def judged(answer: list[wire.Frame], judge: list[wire.Frame], copies: list[wire.Frame] | None = None) -> object:
    """Judge an answer; the first child is the judge, and the last one runs copies of the answer."""
    with session_with(judge, answer, answer, copies or answer) as session:
        try:
            return session.check(EXERCISE, DOUBLED, seed=1)
        except WorkerError as error:
            return str(error)


def compared_answer(reply: wire.Frame) -> object:
    with session_with([HIDDEN, reply], [LOADED, ANSWERED]) as session, contextlib.suppress(WorkerError):
        return session.compare(EXERCISE, DOUBLED, seed=1)
    return None


def compared(reply: wire.Frame) -> object:
    with session_with([reply]) as session, contextlib.suppress(WorkerError):
        return traces.compare(session, (), ())
    return None


HIDDEN = frame(HiddenInputs([], (1, 2), (True, True), b""))
LOADED = frame(AnswerLoaded(None, ()))
ANSWERED = wire.Frame({"op": "answer_report", "error": None, "actual": []})
WRONG = wire.Frame({"op": "decision", "checks": [{"name": "twice", "passed": False, "message": "no"}]})
NOTHING = wire.Frame({"op": "diagnosis_report", "found": []})
SAME = frame(DifferenceReport(None, None, b""))
REPAIRED = wire.Frame({"op": "repair_report", "actual": [1]})
RECOGNIZED = wire.Frame({"op": "recognition", "found": [], "right": []})
UNIT = CodeUnit.step("one")
MATRIX = (3, 3)

READERS: dict[str, Callable[[wire.Frame], object]] = {
    "step_report": lambda reply: lesson_run(LESSON, reply),
    "lesson_done": lambda reply: lesson_run(LESSON, reply),
    "program_report": opened_program,
    "nonfinite_found": asked_program(running.first_nonfinite),
    "trace_part": asked_program(traces.of_run),
    "call_report": asked_program(lambda run: run.choose_call(("f", "<program>"), 1)),
    "digest_report": asked_program(lambda run: list(run.digests(5.0))),
    "run_comparison": compared,
    "tensor_list": listed_file,
    "stored_tensor_report": lambda reply: listed_file(
        wire.Frame(
            {"op": "tensor_list", "kind": "npy", "size": 1, "tensors": [], "others": []}
            | {"more_tensors": 0, "more_others": 0}
        ),
        reply,
    ),
    "window_report": asked(WindowQuestion("x", (), 0, 0, 3, 3, UNIT, MATRIX), WindowQuestion("x", (), 0, 0, 3, 3)),
    "blocks_report": asked(BlocksQuestion("x", (), 1, 1, "max", UNIT, MATRIX), BlocksQuestion("x", (), 1, 1, "max")),
    "row_stats": asked(RowQuestion("x", (), 0, 3, UNIT, MATRIX), RowQuestion("x", (), 0, 3)),
    "explanation_report": asked(ExplainQuestion("x", (0,), UNIT), FollowQuestion(1)),
    "flow": lambda reply: (
        asked(FlowQuestion())(reply),
        asked_program(lambda run: run.ask(FlowQuestion()))(reply),
    ),
    "show_report": asked(BoxQuestion("1", (), UNIT), ShowQuestion("x", UNIT)),
    "code_report": lambda reply: (code_run(reply), answer_run(reply)),
    "names_report": asked_program(lambda run: run.names()),
    "refusal": asked(ShowQuestion("x", UNIT)),
    "snapshot": trained,
    "trained": trained,
    "training_failed": trained,
    "paused": trained,
    "answer_loaded": lambda reply: judged([reply, ANSWERED], [HIDDEN, WRONG]),
    "answer_report": lambda reply: judged([LOADED, reply], [HIDDEN, WRONG, SAME, NOTHING]),
    "hidden_inputs": lambda reply: judged([LOADED, ANSWERED], [reply, WRONG]),
    "decision": lambda reply: judged([LOADED, ANSWERED], [HIDDEN, reply, SAME, NOTHING]),
    "diagnosis_report": lambda reply: judged([LOADED, ANSWERED], [HIDDEN, WRONG, SAME, reply]),
    "difference_report": lambda reply: judged([LOADED, ANSWERED], [HIDDEN, WRONG, reply, NOTHING]),
    "answer_comparison": compared_answer,
    "repair_report": lambda reply: judged(
        [LOADED, ANSWERED], [HIDDEN, WRONG, SAME, NOTHING, WRONG, RECOGNIZED], [reply]
    ),
    "recognition": lambda reply: judged([LOADED, ANSWERED], [HIDDEN, WRONG, SAME, NOTHING, WRONG, reply], [REPAIRED]),
}
"""What reads each reply of a child, as a session does."""

OTHERS = {"exited"}
"""The replies of the fork server, which runs no code of a learner."""

REPLIES = {op for op, kind in messages.MESSAGES.items() if any(kind in kinds for kinds in messages.REPLIES.values())}


def test_every_reply_has_a_reader() -> None:
    assert set(READERS) | OTHERS == REPLIES


@pytest.mark.parametrize("op", sorted(READERS))
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_a_reply_is_read(op: str, data: st.DataObject) -> None:
    """Replies within their bounds may be nonsense all the same. Each comes where it is waited for."""
    reply = frame(data.draw(message_of(messages.MESSAGES[op])))
    with receiving() as kinds:
        assert weight(READERS[op](reply)) < LARGEST
    assert messages.MESSAGES[op] in kinds


@pytest.mark.parametrize("op", sorted(READERS))
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_a_forged_reply_is_refused_or_small(op: str, data: st.DataObject) -> None:
    """It raises nothing, whatever its fields hold; the frame itself is refused or holds a message."""
    reply = data.draw(forged(messages.MESSAGES[op]))
    with contextlib.suppress(wire.WireError):
        # What cannot be sent is no reply.
        wire.packed(reply)
        assert weight(READERS[op](reply)) < LARGEST


# Forged by hand ------------------------------------------------------------------------------------------------------

TENSOR = {
    **{"name": "x", "dtype": "float32", "shape": [2], "low": 0.0, "high": 1.0, "whole": True, "rows": 1},
    **{"code": "f", "offset": 0, "size": 8, "layout": None},
}
LAYOUT = {"strides": [1], "offset": 0, "size": 9, "contiguous": True, "storage": "5"}
EMPTY = TENSOR | {"rows": 0, "size": 0}
STEP = {
    **{"op": "step_report", "id": "one", "error": None, "stdout": [0, 0], "tensors": [TENSOR], "text": {}},
    **{"shapes": [], "notes": [], "seconds": 0.5},
}
NUMBERS = bytes(8)
FAILURE = asdict(Failure("error", "it fails", 1)) | {"suggestions": []}
SUGGESTION = asdict(Suggestion("", "", (1, 0, 1, 1), semantic=False)) | {"place": [1, 0, 1, 1]}
SHAPE = {"name": "x", "sizes": [2], "base": "x", "dims": 1, "axes": [0]}

STEPS: dict[str, dict[str, Any]] = {
    "labels without end": {"tensors": [EMPTY | {"shape": [10**12, 0]}]},
    "labels of very many axes": {"tensors": [EMPTY | {"shape": [0] + [1 << 18] * 60}]},
    "labels of very many tensors": {"tensors": [EMPTY | {"shape": [1 << 18, 0]}] * 60},
    "seconds that are no number": {"seconds": float("nan")},
    "seconds without end": {"seconds": 1e308},
    "seconds before the beginning": {"seconds": -1.0},
    "a bound that is no number": {"tensors": [TENSOR | {"low": float("nan")}]},
    "a bound without end": {"tensors": [TENSOR | {"high": float("inf")}]},
    "numbers that were not sent": {"tensors": [TENSOR | {"offset": 1}]},
    "numbers before the first": {"tensors": [TENSOR | {"offset": -8}]},
    "fewer numbers than the shape has": {"tensors": [TENSOR | {"shape": [3]}]},
    "half a number": {"tensors": [TENSOR | {"size": 7}]},
    "numbers of another code": {"tensors": [TENSOR | {"code": "u"}]},
    "rows of no width": {"tensors": [TENSOR | {"shape": [1 << 17, 1], "whole": False, "rows": 10**15}]},
    "a truth value in place of a size": {"tensors": [TENSOR | {"shape": [True]}]},
    "more tensors than the step shows": {"tensors": [TENSOR, TENSOR]},
    "a layout of other axes": {"tensors": [TENSOR | {"layout": LAYOUT | {"strides": []}}]},
    "a storage that a terminal would obey": {"tensors": [TENSOR | {"layout": LAYOUT | {"storage": "\x1b[2J"}}]},
    "a storage before the first": {"tensors": [TENSOR | {"layout": LAYOUT | {"storage": "-1"}}]},
    "a storage beyond the last": {"tensors": [TENSOR | {"layout": LAYOUT | {"storage": str(1 << 64)}}]},
    "the report of another step": {"id": "two"},
    "output from its end to its beginning": {"stdout": [9, 3]},
    "output from a place that no file has": {"stdout": [1 << 63, 1 << 63]},
    "output before the first byte": {"stdout": [-1, 5]},
    "a line of very many digits": {"error": FAILURE | {"line": 10**4000}},
    "a message of a megabyte": {"error": FAILURE | {"message": "x" * 10**6}},
    "a failure that only the parent can tell": {"error": FAILURE | {"kind": "stopped"}},
    "more suggestions than an advice makes": {"error": FAILURE | {"suggestions": [SUGGESTION] * 65}},
    "shapes of an axis that is not there": {
        "shapes": [{"line": 1, "took": [], "joints": [], "made": [SHAPE | {"axes": [7]}]}]
    },
    "shapes of very many tensors": {"shapes": [{"line": 1, "took": [SHAPE] * 50, "joints": [], "made": []}]},
    "very many notes": {"notes": [""] * 200_000},
    "text that is none": {"text": {"x": 5}},
    "fields in fields in fields": {"text": json.loads('{"x":' * 800 + "{}" + "}" * 800)},
}


@pytest.mark.parametrize("changed", STEPS.values(), ids=STEPS)
def test_forged_report_of_a_step_fails_the_step(changed: dict[str, Any]) -> None:
    launcher = ForgingLauncher([wire.Frame(STEP | changed, NUMBERS), frame(LessonDone())])
    session = Session(launcher)
    run = session.run(LESSON)
    session.close()
    (child,) = launcher.launched
    child.close()
    (step,) = run.steps
    assert step.error is not None
    assert step.error.message == "The code sent something unreadable in place of its result."
    assert child.has_ended
    assert not run.alive


def test_report_that_is_not_forged_is_read() -> None:
    """The cases above fail for what they change alone."""
    run = lesson_run(LESSON, wire.Frame(STEP | {"tensors": [TENSOR | {"layout": LAYOUT}]}, NUMBERS))
    assert isinstance(run, list)
    assert run[0].error is None
    assert run[0].tensors[0].values == (0.0, 0.0)
    failed = lesson_run(LESSON, wire.Frame(STEP | {"error": FAILURE | {"suggestions": [SUGGESTION] * 64}}, NUMBERS))
    assert isinstance(failed, list)
    assert failed[0].error.message == "it fails"


def test_lesson_that_is_done_before_its_steps_has_failed() -> None:
    steps = lesson_run(LESSON)
    assert isinstance(steps, list)
    assert steps[0].error.message == "The code sent something unreadable in place of its result."


EXPLANATION = {
    **{"name": "x", "index": [0], "value": 1.0, "dtype": "float32", "op": "add", "code": "x + y", "file": "one"},
    **{"line": 1, "lesson_line": None, "names": ["y"], "dtypes": ["float32"], "notes": [], "details": [], "lit": {}},
    **{"operands": [[0, [0], 1.0, 1, 1]], "formula": ["+", 0, 0]},
}
POWER: list[Any] = ["n", "9" * 18, ""]
for _ in range(20):
    POWER = ["**", POWER, ["n", "64", ""]]
EXPLANATIONS: dict[str, dict[str, Any]] = {
    "a formula of an operand that is not there": {"formula": ["+", 0, 1]},
    "a number of very many digits": {"formula": ["n", "9" * 4000, ""]},
    "an operand with a number of very many digits": {"operands": [[0, [0], 10**4000, 1, 1]]},
    "a name that is not there": {"operands": [[-2, [0], 1.0, 1, 1]]},
    "a label a million times": {"names": ["y" * 60_000], "formula": ["+", *[0] * 100_000]},
    "an index of very many axes": {"index": [0] * 100_000},
    "a formula of very many levels": {"formula": json.loads('["neg",' * 500 + "0" + "]" * 500)},
    "a line that is a text": {"line": "9" * 5000},
    "cells that are no list": {"lit": {"x": 5}},
    "cells of nothing": {"lit": None},
    "no object": {"details": [1]},
}


@pytest.mark.parametrize("changed", EXPLANATIONS.values(), ids=EXPLANATIONS)
def test_forged_explanation_ends_the_child(changed: dict[str, Any]) -> None:
    child = ForgedChild([wire.Frame({"op": "explanation_report", "explanation": EXPLANATION | changed})])
    assert Run([], child).ask(ExplainQuestion("x", (0,), UNIT)) is None
    assert child.has_ended
    child.close()


@pytest.mark.parametrize(
    "formula", [POWER, ["**", ["n", "10", ""], ["n", "1000000000", ""]], ["*", *[["n", "9" * 300, ""]] * 2000]]
)
def test_formula_of_numbers_that_grow_is_computed_with_rounding(formula: list[Any]) -> None:
    reply = wire.Frame({"op": "explanation_report", "explanation": EXPLANATION | {"formula": formula}})
    replies = asked(ExplainQuestion("x", (0,), UNIT))(reply)
    assert isinstance(replies, list)
    (found,) = replies
    assert isinstance(found, Explanation)
    assert evaluate(found.formula, found.values) == float("inf")
    assert exact_formula.evaluate(found.formula, found.values) is None


BOX = asdict(FlowBox("1", "x"))
FLOW = {"boxes": [BOX, BOX | {"id": "2"}], "arrows": [], "opened": [], "path": [], "left_out": 0}
FLOWS: dict[str, dict[str, Any]] = {
    "an arrow from nowhere": {"arrows": [{"source": "7", "target": "1", "back": False}]},
    "a circle": {
        "arrows": [{"source": "1", "target": "2", "back": False}, {"source": "2", "target": "1", "back": False}]
    },
    "two boxes of one id": {"boxes": [BOX, BOX]},
    "a box in itself": {"boxes": [BOX | {"parent": "1"}]},
    "boxes in each other": {
        "opened": [{"id": one, "name": "", "code": "", "parent": other} for one, other in ("ab", "ba")]
    },
    "a path through nowhere": {"path": ["9"]},
    "rows of different lengths": {"boxes": [BOX | {"thumbnail": [[1.0], [1.0, 2.0]]}]},
    "a thumbnail larger than a box": {"boxes": [BOX | {"thumbnail": [[1.0] * 500]}]},
    "a meaning that no color has": {"boxes": [BOX | {"kind": "sound"}]},
}


@pytest.mark.parametrize("changed", FLOWS.values(), ids=FLOWS)
def test_forged_flow_ends_the_child(changed: dict[str, Any]) -> None:
    child = ForgedChild([wire.Frame({"op": "flow"} | FLOW | changed)])
    assert Run([], child).ask(FlowQuestion()) is None
    assert child.has_ended
    child.close()


def test_flow_of_a_program_that_opens_again_and_again_is_asked_for_a_few_times() -> None:
    """There are more replies than are asked for, each with one box that opens."""
    reply = wire.Frame({"op": "flow"} | FLOW | {"boxes": [BOX | {"opens": True}]})
    run = program_run(*[reply] * 50)
    assert isinstance(run.ask(FlowQuestion()), Flow)
    assert run.alive
    run.close()


def row_stats(**changed: Any) -> wire.Frame:
    stats = {"lead": [], "row": 0, "total": 1.0, "low": 0.0, "high": 1.0, "support": 1, "bits": None, "top": [[0, 1.0]]}
    return wire.Frame({"op": "row_stats"} | stats | changed)


PARTS: dict[str, tuple[Any, wire.Frame]] = {
    "more rows than were asked for": (
        WindowQuestion("x", (), 0, 0, 2, 2, UNIT, MATRIX),
        wire.Frame({"op": "window_report", "rows": 3, "code": "B"}, bytes(6)),
    ),
    "fewer columns than there are": (
        WindowQuestion("x", (), 0, 0, 2, 2, UNIT, MATRIX),
        wire.Frame({"op": "window_report", "rows": 2, "code": "B"}, bytes(2)),
    ),
    "a window of megabytes": (
        WindowQuestion("x", (), 0, 0, 2, 2, UNIT, MATRIX),
        wire.Frame({"op": "window_report", "rows": 1, "code": "B"}, bytes(1 << 20)),
    ),
    "blocks that are not there": (
        BlocksQuestion("x", (), 3, 3, "max", UNIT, (6, 3)),
        wire.Frame({"op": "blocks_report", "rows": 1, "width": 3}, bytes(16)),
    ),
    "blocks of a matrix without columns": (
        BlocksQuestion("x", (), 3, 3, "max", UNIT, MATRIX),
        wire.Frame({"op": "blocks_report", "rows": 1, "width": 0}, bytes(16)),
    ),
    "a greatest cell outside of the matrix": (
        BlocksQuestion("x", (), 3, 3, "max", UNIT, MATRIX),
        wire.Frame({"op": "blocks_report", "rows": 1, "width": 3}, bytes(8) + (9).to_bytes(8, "little")),
    ),
    "bits of a number that cannot be counted": (
        RowQuestion("x", (), 0, 1, UNIT, MATRIX),
        row_stats(bits=1e308),
    ),
    "a column that is not there": (
        RowQuestion("x", (), 0, 1, UNIT, MATRIX),
        row_stats(top=[[3, 1.0]]),
    ),
    "more values than were asked for": (
        RowQuestion("x", (), 0, 1, UNIT, MATRIX),
        row_stats(top=[[0, 1.0], [1, 0.0]]),
    ),
    "more values above 0 than there are": (RowQuestion("x", (), 0, 1, UNIT, MATRIX), row_stats(support=4)),
    "the sums of another row": (RowQuestion("x", (), 0, 1, UNIT, MATRIX), row_stats(row=1)),
    "the sums of another matrix": (RowQuestion("x", (), 0, 1, UNIT, MATRIX), row_stats(lead=[0])),
    "a tensor that is not whole and has nothing": (
        ShowQuestion("x", UNIT),
        wire.Frame(
            {"op": "show_report", "tensor": TENSOR | {"shape": [1 << 18] * 8, "whole": False, "rows": 0, "size": 0}}
        ),
    ),
}


@pytest.mark.parametrize(("question", "reply"), PARTS.values(), ids=PARTS)
def test_forged_part_of_a_matrix_ends_the_child(question: Any, reply: wire.Frame) -> None:
    child = ForgedChild([reply])
    assert Run([], child).ask(question) is None
    assert child.has_ended
    child.close()


def test_mistake_that_the_exercise_does_not_have_is_not_named() -> None:
    found = [{"id": name, "name": "", "text": "", "line": 1} for name in ("of another exercise", "squared")]
    reply = wire.Frame({"op": "diagnosis_report", "found": found})
    judgement = judged([LOADED, ANSWERED], [HIDDEN, WRONG, SAME, reply])
    assert isinstance(judgement, Judgement)
    assert [(item.id, item.name) for item in judgement.mistakes] == [("squared", "squared")]


def test_row_that_is_not_forged_is_read() -> None:
    found = asked(RowQuestion("x", (), 0, 1, UNIT, MATRIX))(row_stats(total=float("nan")))
    assert isinstance(found, list)
    assert repr(found[0].total) == "nan"


def test_trace_without_end_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attn_tutor.lessons.programs.engine.traces.LARGEST_TRACE", 3 << 20)
    part, last = (frame(TracePart([], last=is_last, blob=b"")) for is_last in (False, True))
    short, endless = (Run([], ForgedChild([*[part] * count, last])) for count in (1, 50))
    assert len(traces.of_run(short) or ()) == 2
    assert short.alive
    short.close()
    assert traces.of_run(endless) is None
    assert not endless.alive


def test_line_of_very_many_digits_in_a_traceback_is_no_line() -> None:
    assert learner_line(f'File "<your code>", line {"9" * 5000} in f') is None
    assert learner_line('File "<your code>", line 12 in f') == 12
