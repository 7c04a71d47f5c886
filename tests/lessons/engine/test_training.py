"""Trainings: snapshots, pausing and stopping, the saved models, and loops that misbehave."""

from __future__ import annotations

import io
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from attn_tutor.lessons.engine import training
from attn_tutor.lessons.engine.replies import cells_of
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.engine.training import Control
from attn_tutor.lessons.format.lesson import Lesson, TrainStep
from attn_tutor.lessons.learner import trained_models
from attn_tutor.lessons.reading.findings import LessonError
from attn_tutor.lessons.reading.loader import parse_lesson
from attn_tutor.lessons.results.result import MOST_KEPT, Failure, StepResult, Training, TrainingSnapshot
from attn_tutor.lessons.what_if.changes import UNCHANGED, Changes, apply
from tests.course import COURSE
from tests.lessons.lesson_builders import Fields, code_step, lesson_of
from tests.lessons.processes import (
    PATIENCE,
    at_work,
    descendants,
    fork_server_pid,
    rests,
    wait_until,
    with_enough_time,
)

LOOP = """\
w = torch.randn(3)
for step in range(5):
    frame(step, 4)
    w = w * 0.5 + x
"""
ENDLESS = "while True:\n    frame(0, 1)\n"


def train_step(training: str = LOOP, **fields: Any) -> Fields:
    usual = {
        "kind": "train",
        "id": "learn",
        "title": "Let it learn",
        "prose": "See.",
        "training": training,
        "code": "w = trained['w']",
        "curves": [{"name": "size", "label": "Size of w", "expr": "w.sum()"}],
        "watch": [{"name": "w", "kind": "vector", "axes": ["dim"]}],
        "keep": "{'w': w}",
        "show": [{"name": "w", "kind": "vector", "axes": ["dim"]}],
    }
    return usual | fields


def lesson_with(training: str = LOOP, **fields: Any) -> Lesson:
    """Build a lesson of three steps, of which the second trains three numbers."""
    knob = {"kind": "number", "name": "rate", "label": "Rate", "find": "0.5", "replace": "{value}", "default": 0.5}
    return lesson_of(
        code_step("before", "x = torch.ones(3)", "x"),
        train_step(training, **fields),
        code_step("after", "twice = 2 * w", "twice"),
        setup="import torch, time, os\n",
        knobs=[knob | {"values": [0.5, 0.25, 1]}, {"kind": "seed", "name": "seed", "label": "Seed", "in": ["learn"]}],
    )


def step_of(lesson: Lesson) -> TrainStep:
    step = lesson.step("learn")
    assert isinstance(step, TrainStep)
    return step


def ignore_snapshot(snapshot: TrainingSnapshot) -> None:
    """Ignore a snapshot."""


def train(worker: Session, lesson: Lesson, changes: Changes = UNCHANGED) -> Training:
    ended = worker.train(lesson, "learn", ignore_snapshot, changes=changes)
    assert ended.error is None
    assert not ended.stopped
    return ended


def run_steps(worker: Session, lesson: Lesson, changes: Changes = UNCHANGED) -> list[StepResult]:
    run = worker.run(lesson, changes=changes)
    run.close()
    return run.steps


def saved_files() -> list[Path]:
    folder = trained_models.own_folder(lesson_with())
    assert folder is not None
    return sorted(folder.iterdir()) if folder.is_dir() else []


class InBackground:
    """A training in a thread; each snapshot is added to `snapshots` and sets `has_snapshot`."""

    def __init__(self, worker: Session, lesson: Lesson, control: Control | None = None) -> None:
        self.snapshots: list[TrainingSnapshot] = []
        self.has_snapshot = threading.Event()
        self.control = control or Control()
        self.ended: Training | None = None
        self.thread = threading.Thread(target=self._train, args=(worker, lesson))
        self.thread.start()

    def _train(self, worker: Session, lesson: Lesson) -> None:
        self.ended = worker.train(lesson, "learn", self._take, self.control)

    def _take(self, snapshot: TrainingSnapshot) -> None:
        self.snapshots.append(snapshot)
        self.has_snapshot.set()

    def result(self) -> Training:
        self.thread.join(PATIENCE)
        assert self.ended is not None
        return self.ended


def start_and_pause(worker: Session, lesson: Lesson) -> InBackground:
    """Start a training and pause it; return it once it waits."""
    running = InBackground(worker, lesson)
    wait_until(lambda: running.snapshots)
    running.control.pause()
    wait_until(lambda: running.control.waiting)
    return running


def processor_time(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


# A training ----------------------------------------------------------------------------------------------------------


def test_snapshots_arrive_in_order_during_the_training(worker: Session) -> None:
    seen: list[TrainingSnapshot] = []
    thread = threading.current_thread()
    threads: set[object] = set()

    def look(snapshot: TrainingSnapshot) -> None:
        seen.append(snapshot)
        threads.add(threading.current_thread())

    ended = worker.train(lesson_with(), "learn", look)
    assert (ended.error, ended.stopped) == (None, False)
    assert list(ended.snapshots) == seen
    assert [(snapshot.done, snapshot.total) for snapshot in seen] == [(step, 4) for step in range(5)]
    assert threads == {thread}
    torch.manual_seed(123)
    w = torch.randn(3)
    for snapshot in seen:
        (tensor,) = snapshot.tensors
        assert tensor.values == pytest.approx(w.tolist())
        assert (tensor.axes, tensor.labels) == (("dim",), (("d0", "d1", "d2"),))
        assert snapshot.numbers == {"size": pytest.approx(float(w.sum()), abs=1e-6)}
        w = w * 0.5 + 1


def test_snapshots_arrive_one_by_one(worker: Session, tmp_path: Path) -> None:
    """The first snapshot arrives before the second is taken: the loop waits for a file that its arrival creates."""
    gate = tmp_path / "gate"
    lesson = lesson_with(
        f"w = x\nframe(0, 1)\nwhile not os.path.exists({str(gate)!r}):\n    time.sleep(0.01)\nframe(1, 1)\n"
    )
    ended = worker.train(lesson, "learn", lambda snapshot: gate.touch())
    assert [snapshot.done for snapshot in ended.snapshots] == [0, 1]


def test_a_trained_model_is_found_again(worker: Session) -> None:
    lesson = lesson_with()
    before, learn = run_steps(worker, lesson)
    assert (before.trained, learn.trained) == (None, "missing")
    assert learn.error is not None
    assert learn.error.message == "No model has been trained yet. Train one in the step 'Let it learn'."
    ended = train(worker, lesson)
    before, learn, after = run_steps(worker, lesson)
    assert (before.trained, learn.trained, after.trained) == (None, "own", None)
    # one step more than the last snapshot
    expected = [value * 0.5 + 1 for value in ended.snapshots[-1].tensors[0].values or ()]
    assert learn.tensors[0].values == pytest.approx(expected)
    assert after.tensors[0].values == pytest.approx([2 * value for value in expected])
    (file,) = saved_files()
    assert file.name == f"{trained_models.key(lesson, step_of(lesson))}.pt"
    assert list(torch.load(file, weights_only=True)) == ["w"]


def test_two_trainings_give_the_same_model(worker: Session) -> None:
    assert train(worker, lesson_with()).snapshots == train(worker, lesson_with()).snapshots


def test_snapshots_do_not_change_random_numbers(worker: Session) -> None:
    random = (
        "import random\nw = x\nfor step in range(4):\n    frame(0, 1)\n    w = w + torch.randn(3) + random.random()\n"
    )
    curious = [{"name": "size", "label": "Size", "expr": "torch.rand(9).sum() + random.random() + 0 * w.sum()"}]
    plain, other = (train(worker, lesson_with(random, **more)) for more in ({}, {"curves": curious}))
    assert plain.snapshots[-1].tensors == other.snapshots[-1].tensors


def test_the_level_of_a_curve_comes_with_each_snapshot(worker: Session) -> None:
    curve = {"name": "size", "label": "Size", "expr": "w.sum()", "level": {"label": "chance", "expr": "x.sum() / 2"}}
    for snapshot in train(worker, lesson_with(curves=[curve])).snapshots:
        assert list(snapshot.numbers) == ["size", "size level"]
        assert snapshot.numbers["size level"] == 1.5


def test_curves_may_be_infinite_or_nan(worker: Session) -> None:
    loop = "w = x\nfor number in ('nan', 'inf', '-inf'):\n    w = torch.tensor([float(number)])\n    frame(0, 1)\n"
    numbers = [str(snapshot.numbers["size"]) for snapshot in train(worker, lesson_with(loop)).snapshots]
    assert numbers == ["nan", "inf", "-inf"]


# What the key depends on ---------------------------------------------------------------------------------------------


def keys(lesson: Lesson, changes: Changes) -> str:
    altered = apply(lesson, changes)
    return trained_models.key(altered, step_of(altered), cells_of(lesson, changes))


def test_different_code_has_a_different_key() -> None:
    lesson = lesson_with()
    step = step_of(lesson)
    key = trained_models.key(lesson, step)

    def other(**update: Any) -> str:
        steps = [item.model_copy(update=update) if item.id == "learn" else item for item in lesson.steps]
        changed = lesson.model_copy(update={"steps": tuple(steps)})
        return trained_models.key(changed, step_of(changed))

    assert other() == key
    assert other(title="Other", prose="Other.", show=(), watch=(), curves=(), code="w = 1") == key
    different = [other(training=LOOP + "#"), other(keep="{}"), other(seed=4)]
    different += [
        trained_models.key(lesson.model_copy(update=update), step)
        for update in ({"setup": "import torch"}, {"seed": 4})
    ]
    different += [keys(lesson_of(code_step("before", "x = 2"), train_step()), UNCHANGED)]
    assert len({key, *different}) == 7


def test_changes_have_a_different_key() -> None:
    lesson = lesson_with()
    knob = UNCHANGED.with_knob(lesson, "rate", 0.25)
    seed = UNCHANGED.with_knob(lesson, "seed", 5)
    from attn_tutor.lessons.what_if import cells

    before = UNCHANGED.with_cell(lesson, cells.parse(lesson, "before:x[0]=3"))
    after = UNCHANGED.with_cell(lesson, cells.parse(lesson, "after:twice[0]=3"))
    assert len({keys(lesson, changes) for changes in (UNCHANGED, knob, seed, before)}) == 4
    assert keys(lesson, after) == keys(lesson, UNCHANGED)


def test_knob_reaches_the_training(worker: Session) -> None:
    lesson = lesson_with()
    changes = UNCHANGED.with_knob(lesson, "rate", 1)
    assert lesson.knob("rate").changed_parts(lesson) == ("learn",)
    assert "w * 1 + x" in step_of(apply(lesson, changes)).training
    train(worker, lesson)
    *_, last = run_steps(worker, lesson, changes)
    assert last.id == "learn"
    assert last.trained == "missing"
    assert last.error is not None
    assert "with these changes" in last.error.message
    plain, changed = train(worker, lesson), train(worker, lesson, changes)
    assert plain.snapshots[-1] != changed.snapshots[-1]
    assert run_steps(worker, lesson, changes)[-1].id == "after"
    assert len(saved_files()) == 2


def test_changed_cell_reaches_the_training(worker: Session) -> None:
    from attn_tutor.lessons.what_if import cells

    lesson = lesson_with()
    changes = UNCHANGED.with_cell(lesson, cells.parse(lesson, "before:x[1]=100"))
    values = train(worker, lesson, changes).snapshots[-1].tensors[0].values
    assert values is not None
    assert values[1] > 100
    assert run_steps(worker, lesson, changes)[1].trained == "own"


def test_the_training_of_the_course_is_used_until_the_learner_trains(worker: Session, tmp_path: Path) -> None:
    lesson = lesson_with().model_copy(update={"folder": str(tmp_path)})
    data = io.BytesIO()
    torch.save({"w": torch.tensor([7.0])}, data)
    trained_models.save(trained_models.course_folder(lesson), lesson, step_of(lesson), (), data.getvalue())
    _, learn, after = run_steps(worker, lesson)
    assert (learn.trained, after.tensors[0].values) == ("course", (14.0,))
    train(worker, lesson)
    _, learn, after = run_steps(worker, lesson)
    assert learn.trained == "own"
    assert after.tensors[0].values != (14.0,)


@pytest.mark.parametrize("data", [b"nonsense", b"\x80\x04cos\nsystem\n(S'true'\ntR."])
def test_damaged_file_is_reported(worker: Session, data: bytes) -> None:
    lesson = lesson_with()
    trained_models.save(trained_models.own_folder(lesson), lesson, step_of(lesson), (), data)
    _, learn = run_steps(worker, lesson)
    assert learn.error is not None
    assert learn.error.message == "What was trained cannot be read any more. Train again."


def test_pickle_in_a_file_is_not_executed(worker: Session, tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> tuple[Callable[[str], object], tuple[str]]:
            return os.mkdir, (str(tmp_path / "evil"),)

    lesson = lesson_with()
    data = io.BytesIO()
    torch.save({"w": Evil()}, data)
    trained_models.save(trained_models.own_folder(lesson), lesson, step_of(lesson), (), data.getvalue())
    _, learn = run_steps(worker, lesson)
    assert learn.error is not None
    assert "cannot be read" in learn.error.message
    assert not (tmp_path / "evil").exists()


def test_file_that_is_too_large_is_ignored(worker: Session) -> None:
    lesson = lesson_with()
    with pytest.raises(OSError, match="too large"):
        trained_models.save(trained_models.own_folder(lesson), lesson, step_of(lesson), (), bytes(MOST_KEPT + 1))
    ended = worker.train(lesson_with(keep="{'w': torch.zeros(2**21)}"), "learn", ignore_snapshot)
    assert ended.error is not None
    assert ended.error.message == "What was trained is too large to be kept: 8 MiB, 4 are allowed."
    assert saved_files() == []


def test_failure_to_save_is_reported(worker: Session) -> None:
    folder = trained_models.own_folder(lesson_with())
    assert folder is not None
    folder.parent.mkdir(parents=True)
    folder.touch()
    ended = worker.train(lesson_with(), "learn", ignore_snapshot)
    assert len(ended.snapshots) == 5
    assert ended.error is not None
    assert ended.error.message.startswith("What was trained could not be kept: ")


# Pausing and stopping ------------------------------------------------------------------------------------------------


def test_paused_training_uses_no_processor_time_and_resumes(worker: Session) -> None:
    loop = "w = x\nfor step in range(901):\n    frame(step, 900)\n    time.sleep(0.001)\n"
    running = start_and_pause(worker, lesson_with(loop))
    seen, (child,) = len(running.snapshots), at_work(worker)
    # The server forks the next child once this one is at work.
    wait_until(lambda: len(descendants(fork_server_pid(worker))) == 2)
    wait_until(lambda: rests(fork_server_pid(worker)) and rests(child))
    used = processor_time(child), processor_time(fork_server_pid(worker))
    running.has_snapshot.clear()
    assert not running.has_snapshot.wait(0.5)
    assert len(running.snapshots) == seen < 900
    assert processor_time(child) == used[0]
    # Once a second, the server looks whether the child has done something.
    assert processor_time(fork_server_pid(worker)) - used[1] <= 2
    running.control.resume()
    ended = running.result()
    assert not running.control.waiting
    assert (ended.error, ended.stopped, len(ended.snapshots)) == (None, False, 901)


def test_pauses_may_be_taken_back_at_once(worker: Session) -> None:
    """Even before the training has heard of them."""
    running = InBackground(
        worker, lesson_with("w = x\nfor i in range(301):\n    frame(i, 300)\n    time.sleep(0.001)\n")
    )
    for _ in range(100):
        running.control.pause()
        running.control.resume()
    ended = running.result()
    assert (ended.error, len(ended.snapshots)) == (None, 301)
    assert not running.control.waiting


def test_pause_before_the_start_holds_after_the_first_snapshot(worker: Session) -> None:
    control = Control()
    control.pause()
    assert control.paused
    running = InBackground(worker, lesson_with(), control)
    wait_until(lambda: control.waiting)
    assert len(running.snapshots) == 1
    control.resume()
    assert len(running.result().snapshots) == 5


def test_pause_does_not_count_toward_the_time_limit(worker: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock of the test advances by an hour each time that it is read during the pause."""
    loop = "w = x\nfor step in range(6):\n    frame(step, 5)\n    time.sleep(0.1)\n"
    running = start_and_pause(worker, lesson_with(loop, limits={"cpu": 20, "wall": 30}))
    hours = 0

    def clock() -> float:
        nonlocal hours
        hours += running.control.waiting
        return time.monotonic() + 3600 * hours

    monkeypatch.setattr(training, "time", SimpleNamespace(monotonic=clock))
    running.control.resume()
    ended = running.result()
    assert (ended.error, len(ended.snapshots)) == (None, 6)


def test_stop(worker: Session) -> None:
    running = InBackground(worker, lesson_with("w = x\nframe(0, 1)\nwhile True: pass\n"))
    wait_until(lambda: running.snapshots)
    running.control.stop()
    ended = running.result()
    assert (ended.stopped, ended.error, len(ended.snapshots)) == (True, None, 1)
    assert saved_files() == []
    assert at_work(worker) == []


def test_stop_while_paused(worker: Session) -> None:
    running = start_and_pause(
        worker, lesson_with("w = x\nfor i in range(900):\n    frame(i, 900)\n    time.sleep(0.02)\n")
    )
    running.control.stop()
    assert running.result().stopped
    assert at_work(worker) == []


@pytest.mark.parametrize("pausing", [False, True])
def test_cancel(worker: Session, pausing: bool) -> None:
    lesson = lesson_with("w = x\nfor i in range(900):\n    frame(i, 900)\n    time.sleep(0.02)\n")
    running = start_and_pause(worker, lesson) if pausing else InBackground(worker, lesson)
    wait_until(lambda: running.snapshots)
    worker.cancel()
    ended = running.result()
    assert (ended.stopped, ended.error) == (True, None)
    assert saved_files() == []
    assert at_work(worker) == []
    train(worker, lesson_with())


@pytest.fixture(scope="module")
def spare() -> Iterator[Session]:
    """Return a session with the launcher for systems where fork is not safe."""
    session = Session(kind="spare_process")
    yield session
    session.close()


@pytest.mark.slow
def test_spare_process_trains_too(spare: Session) -> None:
    assert len(train(spare, lesson_with()).snapshots) == 5
    assert run_steps(spare, lesson_with())[1].trained == "own"


@pytest.mark.slow
@pytest.mark.parametrize("way", ["stop", "cancel", "cancel while paused"])
def test_spare_process_is_stopped(spare: Session, way: str) -> None:
    running = InBackground(spare, lesson_with("w = x\nfor i in range(900):\n    frame(i, 900)\n    time.sleep(0.05)\n"))
    wait_until(lambda: running.snapshots)
    if way == "cancel while paused":
        running.control.pause()
        wait_until(lambda: running.control.waiting)
    if way == "stop":
        running.control.stop()
    else:
        spare.cancel()
    ended = running.result()
    assert (ended.stopped, ended.error) == (True, None)
    assert saved_files() == []


# Trainings that go wrong ---------------------------------------------------------------------------------------------


def train_and_fail(worker: Session, loop: str, **fields: Any) -> tuple[str, int | None]:
    ended = worker.train(lesson_with(loop, **fields), "learn", ignore_snapshot)
    assert ended.error is not None
    assert not ended.stopped
    assert saved_files() == []
    assert at_work(worker) == []
    return ended.error.message, ended.error.line


def test_exception_is_reported_with_its_line(worker: Session) -> None:
    message, line = train_and_fail(worker, "w = x\nframe(0, 1)\n1 / 0\n")
    assert message.startswith("ZeroDivisionError")
    assert line == 3


def test_curve_without_a_value_is_reported(worker: Session) -> None:
    message, line = train_and_fail(worker, "frame(0, 1)\nw = x\n")
    assert "size has no value: NameError: name 'w' is not defined" in message
    assert line == 1


@pytest.mark.parametrize("numbers", ["-1, 3", "4, 3", "1, 10**400"])
def test_snapshot_of_an_impossible_step_is_reported(worker: Session, numbers: str) -> None:
    message, line = train_and_fail(worker, f"w = x\nframe(0, 3)\nframe({numbers})\n")
    assert "frame(done, total) wants 0 <= done <= total <= 1000000000" in message
    assert line == 3


def test_failing_keep_is_reported(worker: Session) -> None:
    message, _ = train_and_fail(worker, LOOP, keep="w")
    assert message.startswith("What was trained cannot be kept: ")


def test_failing_earlier_step_is_reported(worker: Session) -> None:
    lesson = lesson_of(code_step("before", "x = 1 / 0"), train_step(), setup="import torch")
    ended = worker.train(lesson, "learn", ignore_snapshot)
    assert ended.error is not None
    assert ended.error.message.startswith("The training was not started: ZeroDivisionError")


@pytest.mark.slow
def test_endless_training_is_ended(worker: Session) -> None:
    def result(wall: float) -> Training:
        lesson = lesson_with("w = x\nframe(0, 1)\nwhile True: pass\n", limits={"cpu": 200, "wall": wall})
        return worker.train(lesson, "learn", ignore_snapshot)

    ended, wall = with_enough_time(result, lambda ended: ended.snapshots, 0.7)
    assert ended.error == Failure("timeout", f"Stopped after {wall:g} seconds. It was at line 3.", 3, names_line=True)
    assert (saved_files(), at_work(worker)) == ([], [])
    message, _ = train_and_fail(worker, "w = x\nwhile True: pass\n", limits={"cpu": 1, "wall": 60})
    assert message == "Stopped after 1 seconds of computing at line 2."


def test_endless_snapshots_are_ended(worker: Session) -> None:
    message, _ = train_and_fail(worker, "w = x\n" + ENDLESS)
    assert "frame() was called more than 1000 times" in message


def test_killed_child_is_reported(worker: Session) -> None:
    ended = worker.train(
        lesson_with("w = x\nframe(0, 1)\ntime.sleep(60)\n"),
        "learn",
        lambda snapshot: os.kill(at_work(worker)[-1], signal.SIGKILL),
    )
    assert len(ended.snapshots) == 1
    assert ended.error is not None
    assert ended.error.message == "The program was killed from outside, perhaps for lack of memory."
    assert at_work(worker) == []


def test_failing_callback_leaves_no_child(worker: Session) -> None:
    def look(snapshot: TrainingSnapshot) -> None:
        raise RuntimeError("the screen is gone")

    with pytest.raises(RuntimeError, match="the screen is gone"):
        worker.train(lesson_with(), "learn", look)
    assert at_work(worker) == []


HOSTILE = {
    "noise": "talk.send(b'x' * 64)",
    "a frame cut short": "talk.send(b'atn1' + bytes(12))",
    "another message": "send({'op': 'lesson_done'})",
    "a snapshot of nothing": "send({'op': 'snapshot'})",
    "numbers that are none": "send({'op': 'snapshot', 'done': 0, 'total': 1, 'numbers': {'size': 'x'}, 'tensors': []})",
    "no tensors": "send({'op': 'snapshot', 'done': 0, 'total': 1, 'numbers': {'size': 1}, 'tensors': []})",
    "a snapshot too large": "send(snapshot, bytes(1 << 20))",
    "snapshots without end": "for n in range(2000): send(snapshot, bytes(12))",
    "a failure that is none": "send({'op': 'training_failed', 'error': 7})",
    "the end of the connection": "talk.close()",
}


@pytest.mark.parametrize("attack", HOSTILE.values(), ids=HOSTILE)
def test_hostile_program_only_ends_itself(worker: Session, attack: str) -> None:
    code = f"""\
import socket
from functools import partial
from attn_tutor.lessons.worker import wire
w = x
frame(0, 1)
talk = socket.socket(fileno=3)
send = partial(wire.send, talk)
tensor = dict(name='w', dtype='float32', shape=[3], low=0, high=0, whole=True, rows=1, code='f', offset=0, size=12)
tensor['layout'] = None
snapshot = {{'op': 'snapshot', 'done': 0, 'total': 1, 'numbers': {{'size': 1}}, 'tensors': [tensor]}}
{attack}
talk.close()
time.sleep(60)
"""
    message, _ = train_and_fail(worker, code)
    assert message.endswith(".")
    train(worker, lesson_with())


def test_forged_file_is_refused_by_the_worker(worker: Session) -> None:
    """A program may claim to have trained a model; the file that it sends is opened in the worker only."""
    code = "from attn_tutor.lessons.worker import wire\nwire.send(frame.__self__._talk, {'op': 'trained'}, b'no')\n"
    lesson = lesson_with(code)
    assert worker.train(lesson, "learn", ignore_snapshot).error is None
    _, learn = run_steps(worker, lesson)
    assert learn.error is not None
    assert "cannot be read" in learn.error.message


def test_step_that_trains_nothing(worker: Session) -> None:
    with pytest.raises(KeyError):
        worker.train(lesson_with(), "after", ignore_snapshot)


# Snapshots that ship with the course ---------------------------------------------------------------------------------


def test_recorded_snapshots_are_read_back(worker: Session, tmp_path: Path) -> None:
    lesson = lesson_with("w = x\nfor step in range(101):\n    w = w * 0.9\n    frame(step, 100)\n")
    lesson = lesson.model_copy(update={"folder": str(tmp_path)})
    step = step_of(lesson)
    assert training.load_recorded(lesson, step).snapshots == ()
    ended = train(worker, lesson)
    training.save_snapshots(lesson, [(step, ended)])
    assert training.load_recorded(lesson, step).seconds == pytest.approx(ended.seconds, abs=0.1)
    read = training.load_recorded(lesson, step).snapshots
    assert len(read) == training.MOST_SHIPPED
    assert (read[0].done, read[-1].done) == (0, 100)
    for snapshot in read:
        original = ended.snapshots[snapshot.done]
        assert snapshot.numbers == {"size": pytest.approx(original.numbers["size"], abs=1e-4)}
        (tensor,), (expected,) = snapshot.tensors, original.tensors
        assert tensor.values == pytest.approx(expected.values, abs=1e-4)
        assert (tensor.axes, tensor.labels, tensor.kind) == (expected.axes, expected.labels, expected.kind)
    # different code, then damage
    altered = apply(lesson, UNCHANGED.with_knob(lesson, "seed", 4))
    assert training.load_recorded(altered, step_of(altered)).snapshots == ()
    (tmp_path / training.SNAPSHOTS).write_text("[]")
    assert training.load_recorded(lesson, step).snapshots == ()


# The file ------------------------------------------------------------------------------------------------------------


def test_linter_checks_trainings() -> None:
    text = """\
title: T
goal: G
steps:
  - {id: a, kind: train, title: T, prose: P., training: "w = 1", code: "w = trained", keep: "{'w': w}",
     curves: [{name: s, label: S, expr: w}, {name: s, label: S, expr: w}],
     watch: [{name: w, kind: vector}, {name: w, kind: vector}, {name: w + 1, kind: vector}]}
"""
    with pytest.raises(LessonError) as caught:
        parse_lesson(text, "l.yaml", number=1, slug="l")
    problems = [finding.problem for finding in caught.value.findings]
    assert problems == [
        "the training takes no picture",
        "'s' is drawn twice in one step",
        "'w' is shown twice in one step",
        "'w + 1' is not a variable",
    ]


# The lesson ----------------------------------------------------------------------------------------------------------

TRAININGS = [
    pytest.param(lesson, step, id=f"{lesson.id}/{step.id}")
    for lesson in COURSE.lessons
    for step in lesson.steps
    if isinstance(step, TrainStep)
]


def check_that_it_learned(ended: Training) -> None:
    first, last = ended.snapshots[0], ended.snapshots[-1]
    assert (first.done, last.done) == (0, last.total)
    assert first.numbers["loss"] > 3
    assert first.numbers["score"] < 0.2
    assert last.numbers["loss"] < 0.2
    assert last.numbers["score"] > 0.85


@pytest.mark.parametrize(("lesson", "step"), TRAININGS)
def test_course_ships_what_it_needs(lesson: Lesson, step: TrainStep) -> None:
    """If this fails, the code up to a training has changed: run `make record ARGS="--train LESSON"`."""
    assert trained_models.find(lesson, step).origin == "course"
    recorded = training.load_recorded(lesson, step)
    assert 10 <= len(recorded.snapshots) <= training.MOST_SHIPPED
    assert recorded.seconds > 0
    # The one beside the main path shows what one layer cannot learn.
    if not step.side:
        check_that_it_learned(recorded)
    folder = trained_models.course_folder(lesson)
    assert folder is not None
    assert sum(file.stat().st_size for file in folder.iterdir()) < 300_000
    assert (Path(lesson.folder) / training.SNAPSHOTS).stat().st_size < 400_000
    assert len(step.training.splitlines()) <= 14
    assert max(map(len, step.training.splitlines())) <= 80


def test_one_layer_does_not_learn_it(worker: Session) -> None:
    """As the lesson says: the loss stays far from 0, and is worse than chance at some distances."""
    steps = {step.id: step for step in run_steps(worker, COURSE.lesson("induction"))}

    def losses(step: str) -> tuple[float, ...]:
        values = steps[step].tensors[0].values
        assert values is not None
        # The last bar is chance.
        return values[:-1]

    assert min(losses("one-layer-distances")) > 0.8
    assert max(losses("one-layer-distances")) > 3.2581
    assert max(losses("distances")) < 0.5


def test_training_of_the_course_finishes(worker: Session) -> None:
    """One training and one seed are enough here; `python -m bench.training_seeds` measures five."""
    lesson, step = COURSE.lesson("induction"), "fixed"
    ended = worker.train(lesson, step, ignore_snapshot)
    assert ended.error is None
    check_that_it_learned(ended)
    assert {each.id: each.trained for each in run_steps(worker, lesson)}[step] == "own"
