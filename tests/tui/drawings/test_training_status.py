"""A training as it is looked at, without a screen: the current snapshot, the clock, the lines, the slots."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessons.format.lesson import Curve
from lessons.results.result import Failure, Training, TrainingSnapshot
from tui.drawings.training_layout import lay_out, plots, shared
from tui.drawings.training_status import bar, line, note, seconds, training_status
from tui.render.step_layout import CODE, Needs
from tui.state.training_replay import TrainingReplay

CURVES = (Curve(name="loss", label="loss", expr="0"), Curve(name="score", label="score", expr="0"))


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def snapshot(done: int, total: int = 40, **numbers: float) -> TrainingSnapshot:
    return TrainingSnapshot(done, total, numbers or {"loss": 4 - done / 10, "score": done / 40})


def replay(*done: int, clock: Clock | None = None, running: bool = False) -> TrainingReplay:
    made = (
        TrainingReplay(state="starting", clock=clock or Clock())
        if running
        else TrainingReplay([snapshot(each) for each in done])
    )
    for each in done if running else ():
        made.add(snapshot(each))
    return made


def test_the_newest_snapshot_is_in_view_until_the_learner_looks_back() -> None:
    made = replay(0, 10, 20, running=True)
    assert made.current == snapshot(20)
    made.look(-1)
    made.add(snapshot(30))
    assert made.current == snapshot(10)
    assert not made.following
    made.look(1)
    made.look(1)
    assert made.following
    made.add(snapshot(40))
    assert made.current == snapshot(40)


def test_nobody_looks_beyond_the_ends() -> None:
    made = replay(0, 10, 20)
    made.look(-1000)
    assert made.current == snapshot(0)
    made.look(-1)
    assert made.current == snapshot(0)
    made.look(1000)
    made.look(1)
    assert made.current == snapshot(20)
    empty = TrainingReplay()
    empty.look(-1)
    assert empty.current is None
    assert empty.position == -1


def test_the_clock_runs_from_the_first_snapshot_and_not_in_pauses() -> None:
    clock = Clock()
    made = TrainingReplay(state="starting", clock=clock)
    clock.now += 5
    assert made.seconds == 0
    made.add(snapshot(0))
    assert made.left is None
    clock.now += 4
    made.add(snapshot(10))
    assert made.seconds == pytest.approx(4)
    assert made.left == pytest.approx(12)
    made.pause()
    clock.now += 100
    # One that was on its way.
    made.add(snapshot(20))
    assert made.state == "paused"
    assert made.seconds == pytest.approx(4)
    assert made.left == pytest.approx(4)
    made.resume()
    clock.now += 4
    assert made.seconds == 8
    made.end(Training(tuple(made.snapshots), seconds=108.0))
    clock.now += 100
    assert (made.state, made.seconds) == ("trained", 8)


@pytest.mark.parametrize(
    ("training", "state"),
    [
        (Training((), seconds=3.0), "trained"),
        (Training((), stopped=True), "stopped"),
        (Training((), Failure("stopped", "Stopped by you.")), "stopped"),
        (Training((), Failure("timeout", "Too long.")), "failed"),
    ],
)
def test_how_it_ends(training: Training, state: str) -> None:
    made = replay(0, 10, running=True)
    made.stop()
    assert made.busy
    made.end(training)
    assert made.state == state
    assert not made.busy
    # Nothing that was seen is lost.
    assert [each.done for each in made.snapshots] == [0, 10]
    assert (made.failure is not None) == (state == "failed")


def test_what_has_ended_neither_waits_nor_stops() -> None:
    made = replay(0, 10)
    for act in (made.pause, made.resume, made.stop):
        act()
        assert made.state == "recorded"


def test_plots() -> None:
    made = replay(0, 10, 20)
    made.add(snapshot(30, loss=1.5))
    made.look(-1)
    loss, score = plots(made, CURVES)
    assert (loss.label, loss.total, loss.here) == ("loss", 40, 2)
    assert loss.points == ((0, 4.0), (10, 3.0), (20, 2.0), (30, 1.5))
    assert score.points == ((0, 0.0), (10, 0.25), (20, 0.5))
    made.look(1)
    # The snapshot in view does not have this number.
    assert plots(made, CURVES)[1].here is None
    assert plots(TrainingReplay(), CURVES)[0].points == ()


def test_the_status() -> None:
    clock = Clock()
    assert training_status(replay(0, 40)).message == "recorded   g: train it here"
    assert training_status(replay(0, 40), 38.4).message == "recorded   g: train it here, about 38 s"
    recorded = TrainingReplay(replay(0, 40).snapshots, seconds=19.8)
    assert training_status(recorded).message == "recorded in 20 s   g: train it here"
    assert training_status(recorded, 38.4).message == "recorded in 20 s   g: train it here, about 38 s"
    assert training_status(TrainingReplay()).message == "not trained yet   g: train it here"
    assert training_status(TrainingReplay()).current == ""
    made = TrainingReplay(state="starting", clock=clock)
    assert training_status(made).message == "starting: the steps before it run first"
    made.add(snapshot(0))
    clock.now += 5
    made.add(snapshot(10))
    assert (training_status(made).share, training_status(made).message) == (0.25, "10 of 40   5 s, about 15 s left")
    assert training_status(made).short == "10 of 40   5 s"
    assert training_status(made).current == "step 10"
    made.look(-1)
    assert training_status(made).current == "step 0   >: newest"
    made.pause()
    assert training_status(made).message == "10 of 40   paused after 5 s"
    assert training_status(made).short == "10 of 40   paused"
    made.stop()
    assert training_status(made).message == "10 of 40   stopping"
    made.end(Training(tuple(made.snapshots), stopped=True))
    assert training_status(made).message == "stopped after 10 of 40 steps, 5 s: not kept"
    assert training_status(made).current == "step 0   snapshot 1 of 2"


def test_what_the_matrix_says() -> None:
    assert note(replay(0, 10)) == "step 10, recorded"
    assert note(replay(0, 10, running=True)) == "step 10"
    assert note(TrainingReplay()) == ""


def test_a_line_of_the_command() -> None:
    clock = Clock()
    made = TrainingReplay(state="starting", clock=clock)
    made.add(snapshot(0))
    clock.now += 70
    made.add(snapshot(10))
    told = line(made, made.snapshots[-1], CURVES)
    assert told == "10 of 40   loss 3.0000   score 0.2500   1 min 10 s, about 3 min 30 s left"


@pytest.mark.parametrize(
    ("value", "text"), [(0.4, "0 s"), (59.4, "59 s"), (60, "1 min 00 s"), (3599, "59 min 59 s"), (7260, "2 h 01 min")]
)
def test_seconds(value: float, text: str) -> None:
    assert seconds(value) == text


def test_the_bar_is_neither_full_before_its_end_nor_empty_after_its_beginning() -> None:
    assert bar(0, 10) == ("", "─" * 10)
    assert bar(0.001, 10) == ("━", "─" * 9)
    assert bar(0.999, 10) == ("━" * 9, "─")
    assert bar(1, 10) == ("━" * 10, "")
    assert bar(0.5, 10, unicode=False) == ("#####", ".....")


HEADS = ((90, 27), (90, 27))
"""Two matrices that do not fit into any narrow screen."""


def test_at_first_there_is_prose_and_as_much_of_the_matrix_as_fits() -> None:
    needs = Needs(prose=5, code=20, output=0, matrices=HEADS)
    made = lay_out(80, 20, needs, 2, 0, 0, folded=False)
    assert (made.prose, made.curves, made.code, made.matrices) == (5, 6, 0, (8, 0))
    # Who looks at the snapshots has read it.
    made = lay_out(80, 20, needs, 2, 0, 0, folded=True)
    assert (made.prose, made.curves, made.matrices) == (0, 6, (13, 0))
    # And what fits beside them stays.
    made = lay_out(80, 20, Needs(5, 20, 0, ((30, 6),)), 2, 0, 0, folded=True)
    assert (made.prose, made.matrices) == (5, (6,))


def test_curves_are_lower_if_all_is_in_view_then() -> None:
    made = lay_out(80, 20, Needs(5, 20, 0, ((70, 10),)), 2, 0, 0, folded=False)
    assert (made.prose, made.curves, made.matrices) == (5, 4, (10,))
    made = lay_out(80, 20, Needs(5, 20, 0, ((70, 11),)), 2, 0, 0, folded=False)
    assert (made.prose, made.curves, made.matrices) == (5, 6, (8,))
    # Not when the prose gives way: then they need not be.
    made = lay_out(80, 20, Needs(5, 20, 0, ((70, 11),)), 2, 0, 0, folded=True)
    assert (made.prose, made.curves, made.matrices) == (0, 8, (11,))
    made = lay_out(80, 20, Needs(5, 20, 0, ((70, 8),)), 2, 0, 0, folded=True)
    assert (made.prose, made.curves, made.matrices) == (5, 6, (8,))


def test_the_code_comes_with_the_prose() -> None:
    made = lay_out(80, 20, Needs(5, 20, 0, HEADS), 2, 1, CODE, folded=False)
    assert (made.prose, made.word, made.curves, made.code, made.matrices) == (5, 1, 6, 6, (0, 0))


def test_wide_has_the_curves_left_and_the_matrices_right() -> None:
    made = lay_out(160, 48, Needs(8, 20, 0, HEADS, 70, 70), 2, 0, 1, folded=True)
    assert made.wide
    assert (made.prose, made.curves, made.code) == (8, 12, 20)
    assert made.matrices == (0, 48)


@given(
    st.integers(20, 200),
    st.integers(2, 60),
    st.integers(0, 12),
    st.integers(0, 40),
    st.lists(st.tuples(st.integers(1, 120), st.integers(1, 60)), max_size=4),
    st.integers(1, 3),
    st.integers(0, 4),
    st.integers(-1, 3),
    st.booleans(),
    st.booleans(),
)
def test_nothing_is_pushed_off_the_screen(
    width: int,
    height: int,
    prose: int,
    code: int,
    matrices: Sequence[tuple[int, int]],
    curves: int,
    word: int,
    active: int,
    panel: bool,
    folded: bool,
) -> None:
    active = min(active, len(matrices) - 1)
    needs = Needs(prose, code, 0, tuple(matrices), 40, 60, panel)
    made = lay_out(width, height, needs, curves, word, active, folded=folded)
    parts = (made.prose, made.word, made.curves, made.code, made.output, made.panel, *made.matrices)
    assert min(parts) >= 0
    text = made.prose + made.word + made.curves + made.code + made.output
    assert (text if made.wide else text + sum(made.matrices)) + made.panel <= max(height, 3)
    assert not made.wide or sum(made.matrices) + made.panel <= max(height, 3)
    if matrices and active >= 0 and height >= 16:
        assert made.matrices[active] > 0


def test_matrices_share() -> None:
    assert shared(20, [5, 6], 0) == (6, 6)
    assert shared(11, [5, 6], 0) == (5, 6)
    assert shared(8, [5, 6], 1) == (0, 8)
    assert shared(12, [30, 5, 2], 2) == (0, 5, 7)
