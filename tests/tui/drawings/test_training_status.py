"""A training without a screen: the current snapshot, the clock, the status, and the layout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attn_tutor.lessons.format.lesson import Curve, Level
from attn_tutor.lessons.play.training_replay import TrainingReplay
from attn_tutor.lessons.results.result import Failure, Training, TrainingSnapshot
from attn_tutor.tui.drawings.training_drawing import (
    failure_note,
    lay_out,
    plots,
    progress_bar,
    seconds,
    shared,
    snapshot_line,
    training_status,
)
from attn_tutor.tui.render.step_layout import CODE, Needs

CURVES = (
    Curve(name="loss", label="loss", expr="0", level=Level(label="chance", expr="3")),
    Curve(name="score", label="score", expr="0"),
)


class Clock:
    """A clock whose time a test sets."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def snapshot(done: int, total: int = 40, **numbers: float) -> TrainingSnapshot:
    return TrainingSnapshot(done, total, numbers or {"loss": 4 - done / 10, "score": done / 40})


def replay(*done: int, clock: Clock | None = None, running: bool = False) -> TrainingReplay:
    training = (
        TrainingReplay(state="starting", clock=clock or Clock())
        if running
        else TrainingReplay([snapshot(each) for each in done])
    )
    training.reveal()
    for each in done if running else ():
        training.add(snapshot(each))
    return training


def test_the_newest_snapshot_is_current_until_the_learner_looks_back() -> None:
    training = replay(0, 10, 20, running=True)
    assert training.current == snapshot(20)
    training.look(-1)
    training.add(snapshot(30))
    assert training.current == snapshot(10)
    assert not training.following
    training.look(1)
    training.look(1)
    assert training.following
    training.add(snapshot(40))
    assert training.current == snapshot(40)


def test_looking_stops_at_the_ends() -> None:
    training = replay(0, 10, 20)
    training.look(-1000)
    assert training.current == snapshot(0)
    training.look(-1)
    assert training.current == snapshot(0)
    training.look(1000)
    training.look(1)
    assert training.current == snapshot(20)
    empty = TrainingReplay()
    empty.look(-1)
    assert empty.current is None
    assert empty.position == -1


def test_a_recorded_training_is_shown_as_far_as_the_learner_has_come() -> None:
    training = TrainingReplay([snapshot(done) for done in (0, 10, 20, 30)])
    assert training.untouched
    assert (training.current, len(training.unrolled)) == (snapshot(0), 1)
    training.look(2)
    training.look(-1)
    assert (training.current, len(training.unrolled)) == (snapshot(10), 3)
    assert not training.untouched
    assert [len(plot.points) for plot in plots(training, CURVES)] == [3, 3]
    training.look(1000)
    assert (training.current, len(training.unrolled)) == (snapshot(30), 4)
    training.look(-1000)
    assert len(training.unrolled) == 4
    known = TrainingReplay([snapshot(done) for done in (0, 10)])
    known.reveal()
    assert (known.current, len(known.unrolled)) == (snapshot(10), 2)
    known.look(-1)
    known.reveal()
    # What was revealed stays where the learner looks.
    assert known.current == snapshot(0)


def test_the_clock_runs_from_the_first_snapshot_and_not_in_pauses() -> None:
    clock = Clock()
    training = TrainingReplay(state="starting", clock=clock)
    clock.now += 5
    assert training.seconds == 0
    training.add(snapshot(0))
    assert training.left is None
    clock.now += 4
    training.add(snapshot(10))
    assert training.seconds == pytest.approx(4)
    assert training.left == pytest.approx(12)
    training.pause()
    clock.now += 100
    # This snapshot was on its way when the training was paused.
    training.add(snapshot(20))
    assert training.state == "paused"
    assert training.seconds == pytest.approx(4)
    assert training.left == pytest.approx(4)
    training.resume()
    clock.now += 4
    assert training.seconds == 8
    training.end(Training(tuple(training.snapshots), seconds=108.0))
    clock.now += 100
    assert (training.state, training.seconds) == ("trained", 8)


@pytest.mark.parametrize(
    ("outcome", "state"),
    [
        (Training((), seconds=3.0), "trained"),
        (Training((), stopped=True), "stopped"),
        (Training((), Failure("stopped", "Stopped by you.")), "stopped"),
        (Training((), Failure("timeout", "Too long.")), "failed"),
    ],
)
def test_how_a_training_ends(outcome: Training, state: str) -> None:
    training = replay(0, 10, running=True)
    training.stop()
    assert training.busy
    training.end(outcome)
    assert training.state == state
    assert not training.busy
    # No snapshot is lost.
    assert [each.done for each in training.snapshots] == [0, 10]
    assert (training.failure is not None) == (state == "failed")


def test_a_training_that_has_ended_cannot_be_paused_or_stopped() -> None:
    training = replay(0, 10)
    for act in (training.pause, training.resume, training.stop):
        act()
        assert training.state == "recorded"


def test_plots() -> None:
    training = replay(0, 10, 20)
    training.add(snapshot(30, loss=1.5))
    training.look(-1)
    loss, score = plots(training, CURVES)
    assert (loss.label, loss.total, loss.here) == ("loss", 40, 2)
    assert loss.points == ((0, 4.0), (10, 3.0), (20, 2.0), (30, 1.5))
    assert score.points == ((0, 0.0), (10, 0.25), (20, 0.5))
    training.look(1)
    # A level comes with the numbers of the snapshots.
    assert (loss.level, loss.level_label) == (None, "chance")
    leveled = TrainingReplay([TrainingSnapshot(0, 40, {"loss": 4.0, "loss level": 3.0, "score": 0.5})])
    assert [plot.level for plot in plots(leveled, CURVES)] == [3.0, None]
    # The current snapshot lacks this number.
    assert plots(training, CURVES)[1].here is None
    assert plots(TrainingReplay(), CURVES)[0].points == ()


def test_the_status() -> None:
    clock = Clock()
    assert training_status(replay(0, 40)).message == "recorded   g: train it here"
    assert training_status(replay(0, 40), 38.4).message == "recorded   g: train it here, about 38 s"
    recorded = TrainingReplay(replay(0, 40).snapshots, seconds=19.8)
    recorded.reveal()
    assert training_status(recorded).message == "recorded in 20 s   g: train it here"
    assert training_status(recorded, 38.4).message == "recorded in 20 s   g: train it here, about 38 s"
    fresh = TrainingReplay([snapshot(0), snapshot(40)], seconds=19.8)
    assert training_status(fresh).message == "not trained yet   g: train it here, about 20 s"
    assert training_status(fresh).current == "step 0, before training"
    # A column of 57 beside the maps of a large screen has room for the key and the snapshot, and for nothing else.
    assert training_status(fresh).short == "g: train it here"
    assert training_status(TrainingReplay()).message == "not trained yet   g: train it here"
    assert training_status(TrainingReplay()).current == ""
    training = TrainingReplay(state="starting", clock=clock)
    assert training_status(training).message == "starting: the steps before it run first"
    training.add(snapshot(0))
    clock.now += 5
    training.add(snapshot(10))
    assert (training_status(training).share, training_status(training).message) == (
        0.25,
        "10 of 40   5 s, about 15 s left",
    )
    assert training_status(training).short == "10 of 40   5 s"
    assert training_status(training).current == "step 10"
    training.look(-1)
    assert training_status(training).current == "step 0   >: newest"
    training.pause()
    assert training_status(training).message == "10 of 40   paused after 5 s"
    assert training_status(training).short == "10 of 40   paused"
    training.stop()
    assert training_status(training).message == "10 of 40   stopping"
    training.end(Training(tuple(training.snapshots), stopped=True))
    assert training_status(training).message == "stopped after 10 of 40 steps, 5 s: not kept"
    assert training_status(training).current == "step 0   snapshot 1 of 2"


def test_the_note_of_a_matrix() -> None:
    assert failure_note(TrainingReplay([snapshot(0), snapshot(10)])) == "before training"
    assert failure_note(replay(0, 10)) == "step 10, recorded"
    assert failure_note(replay(0, 10, running=True)) == "step 10"
    assert failure_note(TrainingReplay()) == ""


def test_a_line_for_the_command_line() -> None:
    clock = Clock()
    training = TrainingReplay(state="starting", clock=clock)
    training.add(snapshot(0))
    clock.now += 70
    training.add(snapshot(10))
    text = snapshot_line(training, training.snapshots[-1], CURVES)
    assert text == "10 of 40   loss 3.0000   score 0.2500   1 min 10 s, about 3 min 30 s left"


@pytest.mark.parametrize(
    ("value", "text"), [(0.4, "0 s"), (59.4, "59 s"), (60, "1 min 00 s"), (3599, "59 min 59 s"), (7260, "2 h 01 min")]
)
def test_seconds(value: float, text: str) -> None:
    assert seconds(value) == text


def test_the_bar_is_neither_full_before_its_end_nor_empty_after_its_beginning() -> None:
    assert progress_bar(0, 10) == ("", "─" * 10)
    assert progress_bar(0.001, 10) == ("━", "─" * 9)
    assert progress_bar(0.999, 10) == ("━" * 9, "─")
    assert progress_bar(1, 10) == ("━" * 10, "")
    assert progress_bar(0.5, 10, unicode=False) == ("#####", ".....")


HEADS = ((90, 27), (90, 27))
"""Two matrices that do not fit into any narrow screen."""


def test_prose_comes_first_and_the_matrix_gets_the_rest() -> None:
    needs = Needs(prose=5, code=20, output=0, matrices=HEADS)
    layout = lay_out(80, 20, needs, 2, 0, 0)
    assert (layout.prose, layout.curves, layout.code, layout.matrices) == (5, 6, 0, (8, 0))
    layout = lay_out(80, 20, Needs(5, 20, 0, ((30, 6),)), 2, 0, 0)
    assert (layout.prose, layout.matrices) == (5, (6,))


def test_curves_are_lower_if_everything_fits_then() -> None:
    layout = lay_out(80, 20, Needs(5, 20, 0, ((70, 10),)), 2, 0, 0)
    assert (layout.prose, layout.curves, layout.matrices) == (5, 4, (10,))
    layout = lay_out(80, 20, Needs(5, 20, 0, ((70, 11),)), 2, 0, 0)
    assert (layout.prose, layout.curves, layout.matrices) == (5, 6, (8,))


FORMS = ((76, 76, 51, 43, 35, 19), (76, 76, 51, 43, 35, 19))
"""The columns of two matrices of eight tokens in each of their forms."""

EIGHT = ((51, 10), (51, 10))


def test_curves_and_all_matrices_stand_beside_each_other_below_the_prose() -> None:
    needs = Needs(6, 20, 0, EIGHT, rows=(8, 8), forms=FORMS)
    layout = lay_out(80, 20, needs, 3, 0, 0)
    assert (layout.prose, layout.matrices, layout.figures.widths) == (6, (10, 10), (19, 19))
    assert (layout.beside, layout.curves) == (42, 13)
    # On a screen with more columns, matrices keep their digits.
    assert lay_out(104, 20, needs, 3, 0, 0).figures.widths == (35, 35)
    # Longer prose makes the curves lower, but the matrices stay complete.
    assert lay_out(80, 20, replace(needs, prose=12), 3, 0, 0).prose == 9
    assert lay_out(80, 20, replace(needs, prose=12), 3, 0, 0).matrices == (10, 10)
    # With no room for all of them beside each other, they stand below each other.
    assert lay_out(60, 20, needs, 3, 0, 0).beside == 0


def test_rows_of_matrices_grow_on_a_large_screen() -> None:
    needs = Needs(6, 20, 0, EIGHT, rows=(8, 8), forms=FORMS)
    layout = lay_out(160, 48, needs, 3, 0, 0)
    assert (layout.figures.tall, layout.matrices) == (2, (20, 19))


def test_the_code_comes_with_the_prose() -> None:
    layout = lay_out(80, 20, Needs(5, 20, 0, HEADS), 2, 1, CODE)
    assert (layout.prose, layout.word, layout.curves, layout.code, layout.matrices) == (5, 1, 6, 6, (0, 0))


def test_on_a_wide_screen_curves_are_left_and_matrices_right() -> None:
    layout = lay_out(160, 48, Needs(8, 20, 0, HEADS, 70, 70), 2, 0, 1)
    assert layout.wide
    assert (layout.prose, layout.curves, layout.code) == (8, 12, 20)
    assert layout.matrices == (0, 48)


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
)
def test_no_part_is_pushed_off_the_screen(
    width: int,
    height: int,
    prose: int,
    code: int,
    matrices: Sequence[tuple[int, int]],
    curves: int,
    word: int,
    active: int,
    panel: bool,
) -> None:
    active = min(active, len(matrices) - 1)
    forms = tuple((columns, columns // 2 + 1) for columns, _ in matrices)
    rows = tuple(max(0, lines - 2) for _, lines in matrices)
    needs = Needs(prose, code, 0, tuple(matrices), 40, 60, panel, rows=rows, forms=forms)
    layout = lay_out(width, height, needs, curves, word, active)
    parts = (layout.prose, layout.word, layout.curves, layout.code, layout.output, layout.panel, *layout.matrices)
    assert min(parts) >= 0
    text = layout.prose + layout.word + layout.curves + layout.code + layout.output
    if layout.beside:
        assert layout.beside + sum(layout.figures.widths) <= width
        assert max(layout.matrices) <= layout.curves
    below = 0 if layout.wide or layout.beside else sum(layout.matrices)
    assert text + below + layout.panel <= max(height, 3)
    assert not layout.wide or sum(layout.matrices) + layout.panel <= max(height, 3)
    if matrices and active >= 0 and height >= 16:
        assert layout.matrices[active] > 0


def test_stacked_matrices_share_the_lines() -> None:
    assert shared(20, [5, 6], 0) == (6, 6)
    assert shared(11, [5, 6], 0) == (5, 6)
    assert shared(8, [5, 6], 1) == (0, 8)
    assert shared(12, [30, 5, 2], 2) == (0, 5, 7)
