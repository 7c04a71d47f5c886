"""The list of messages: each can be sent and received, both sides use it, and nonsense is refused."""

from __future__ import annotations

import ast
import itertools
import json
import socket
from dataclasses import asdict, is_dataclass, replace
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attn_tutor.lessons.process import child
from attn_tutor.lessons.programs.messages import CallReport, ProgramReport, ShowStoredTensor
from attn_tutor.lessons.programs.results.comparison import ComparedResult, Gaps, RunComparison, RunDifference
from attn_tutor.lessons.programs.results.program_result import FailedAt, Named
from attn_tutor.lessons.programs.results.tensor_file import TensorList
from attn_tutor.lessons.programs.worker import run
from attn_tutor.lessons.results.field_bounds import Plain, ReadBy
from attn_tutor.lessons.results.flow import Flow, FlowBox, OpenBox
from attn_tutor.lessons.results.result import Failure
from attn_tutor.lessons.results.tensor_questions import QUESTIONS
from attn_tutor.lessons.worker import channel, judging_messages, messages, wire
from attn_tutor.lessons.worker.jobs import judge, tensor_questions
from attn_tutor.lessons.worker.messages import (
    MESSAGES,
    REPLIES,
    UNASKED,
    ListNames,
    RunInput,
    StepReport,
    TrainingFailed,
)
from tests.lessons.worker.message_strategies import bytes_on_the_way, message_of

ROOT = Path(__file__).parents[3]
FAILURE = asdict(Failure("error", "it fails", 1)) | {"suggestions": []}
KINDS = pytest.mark.parametrize("kind", MESSAGES.values(), ids=MESSAGES)


def round_trip(message: object) -> object:
    """Send a message over a socket and receive it."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        channel.send(ours, message)
        return channel.receive(theirs, type(message))


@KINDS
@settings(max_examples=10)
@given(data=st.data())
def test_every_message_goes_there_and_back(kind: type[Any], data: st.DataObject) -> None:
    message = data.draw(message_of(kind))
    assert comparable_form(round_trip(message), kind) == comparable_form(message, kind)


def comparable_form(value: Any, hint: Any) -> object:
    """Convert a value to a form that can be compared: NaN is not equal to itself, and most messages have no `__eq__`.

    Of plain data, the receiver makes something else.
    """
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated and any(isinstance(mark, ReadBy) for mark in args[1:]):
        return "read"
    if is_dataclass(value):
        hints = get_type_hints(type(value), include_extras=True)
        return type(value), [comparable_form(getattr(value, name), hints[name]) for name in hints]
    if isinstance(value, tuple):
        inner = get_args(args[0] if origin is Annotated else hint)
        each = itertools.repeat(inner[0]) if inner[1:] == (Ellipsis,) else inner or itertools.repeat(None)
        return [comparable_form(part, hint) for part, hint in zip(value, each, strict=False)]
    return repr(value)


@KINDS
@settings(max_examples=3)
@given(data=st.data())
def test_extra_missing_and_mistyped_fields_are_refused(kind: type[Any], data: st.DataObject) -> None:
    frame = bytes_on_the_way(data.draw(message_of(kind)))
    header = frame.header
    wrong = [header | {"more": 1}]
    wrong += [{key: value for key, value in header.items() if key != name} for name in header]
    hints = get_type_hints(kind, include_extras=True)
    wrong += [header | {name: object()} for name in header if name != "op" and hints[name] is not Plain]
    for other in wrong:
        with pytest.raises(wire.WireError):
            channel.message_of(wire.Frame(other, frame.blob))
    if "blob" not in hints:
        with pytest.raises(wire.WireError):
            channel.message_of(wire.Frame(header, b"data"))


@pytest.mark.parametrize("op", [None, 7, "", "lesson", "Message", [], {}])
def test_an_unknown_op_is_refused(op: object) -> None:
    with pytest.raises(wire.WireError):
        channel.message_of(wire.Frame({"op": op}))


def test_a_failure_that_a_child_may_report_is_read() -> None:
    """The cases below are refused for what they change alone."""
    for kind in ("error", "memory"):
        message = channel.message_of(wire.Frame({"op": "training_failed", "error": FAILURE | {"kind": kind}}))
        assert isinstance(message, TrainingFailed)
        assert message.error == replace(Failure("error", "it fails", 1), kind=kind)


@pytest.mark.parametrize(
    "header",
    [
        {"op": "training_failed", "error": FAILURE | {"kind": "stopped"}},
        {"op": "training_failed", "error": FAILURE | {"kind": "timeout"}},
        {"op": "training_failed", "error": FAILURE | {"kind": "crash"}},
        {"op": "training_failed", "error": FAILURE | {"kind": "no kind"}},
        {"op": "training_failed", "error": FAILURE | {"message": 1}},
        {"op": "training_failed", "error": FAILURE | {"line": True}},
        {"op": "run_input", "unit": "../x", "code": ""},
        {"op": "exited", "code": 0, "reason": "", "cpu": 10**400},
        {"op": "names_report", "names": [["a", "b", "c"]]},
        {"op": "names_report", "names": {"a": "b"}},
    ],
)
def test_nonsense_is_refused(header: dict[str, Any]) -> None:
    with pytest.raises(wire.WireError):
        channel.message_of(wire.Frame(header))


def with_commands(value: Any) -> Any:
    """Return plain data with an escape sequence in each text that is printed."""
    if isinstance(value, dict):
        return {key: item if key in UNPRINTED else with_commands(item) for key, item in value.items()}
    if isinstance(value, list):
        return [with_commands(item) for item in value]
    return f"{value}\x1b[2J" if isinstance(value, str) else value


UNPRINTED = {"op", "id", "parent", "kind", "dtype", "imported"}
"""Fields whose texts are keys, or are compared."""

NAMED = Named("x", "x", "local", "f", "a.py", 1, 1, (2,), "float32", module="m")
COMPARED = ComparedResult("x", True, "a.py", 1, "x = y", "add", (2,), "float32", (("b.py", 1),))
GAPS = Gaps(stopped="why")


@pytest.mark.parametrize(
    "message",
    [
        CallReport((NAMED,), (("a.py", 1, "x", (2,)),), 1, 1, 0),
        Flow((FlowBox("1", "x", "y", "z", shown=("a",)),), (), (OpenBox("2", "x", "y"),)),
        RunComparison((), 1, 1, 1, RunDifference(COMPARED, None), GAPS),
        TensorList("npz", 1, (), (("a", "b"),)),
        ProgramReport(
            *(None, (0, 0), (), (), (), "why", 1.0, b"{}", ("a.py",)),
            failed_at=FailedAt("a.py", 1, "f"),
            written=("w",),
            unlisted=("u",),
            missing="m",
        ),
    ],
    ids=lambda message: type(message).__name__,
)
def test_what_a_terminal_would_obey_is_taken_from_texts(message: object) -> None:
    frame = bytes_on_the_way(message)
    sent = with_commands(frame.header)
    arrived = bytes_on_the_way(channel.message_of(wire.Frame(sent, frame.blob))).header
    assert arrived == json.loads(json.dumps(sent).replace("\\u001b", "\\ufffd"))
    assert arrived != frame.header


def test_an_unexpected_message_is_refused() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        channel.send(ours, ListNames())
        with pytest.raises(wire.WireError):
            channel.receive(theirs, RunInput, StepReport)


# Both sides ----------------------------------------------------------------------------------------------------------


def names_in(rooms: tuple[str, ...]) -> set[str]:
    """Return the names that the code of rooms uses, apart from the list itself."""
    found: set[str] = set()
    for path in (path for room in rooms for path in (ROOT / "lessons" / room).rglob("*.py")):
        if not path.name.endswith("messages.py"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            found |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
            found |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return found


SIDES = ("engine", "programs/engine"), ("worker", "process", "programs/worker")


@pytest.mark.parametrize("side", SIDES, ids=" ".join)
def test_each_side_uses_every_message(side: tuple[str, ...]) -> None:
    known = names_in(side)
    assert [kind.__name__ for kind in MESSAGES.values() if kind.__name__ not in known] == []


def test_every_request_is_handled() -> None:
    """A request to a child is in one of its tables of handlers; it waits for all other messages by name."""
    handled = {*child.JOBS, *tensor_questions.HANDLERS, *run.HANDLERS, *judge.HANDLERS}
    waited_for = {messages.Launch, messages.Pause, judging_messages.HiddenInputs, ShowStoredTensor}
    assert handled | waited_for == set(REPLIES)
    assert set(QUESTIONS) <= set(tensor_questions.HANDLERS)
    assert not set(UNASKED) & {*REPLIES, *(kind for kinds in REPLIES.values() for kind in kinds)}


def test_every_message_is_in_the_list() -> None:
    """Each dataclass of the module is a message or part of one."""
    parts: set[Any] = set()

    def visit(hint: Any) -> None:
        for arg in get_args(hint):
            visit(arg)
        if is_dataclass(hint) and hint not in parts:
            parts.add(hint)
            for inner in get_type_hints(hint).values():
                visit(inner)

    for kind in MESSAGES.values():
        visit(kind)
    own = {item for item in vars(messages).values() if isinstance(item, type) and item.__module__ == messages.__name__}
    assert {kind for kind in own if is_dataclass(kind)} <= parts
    assert TrainingFailed in parts
