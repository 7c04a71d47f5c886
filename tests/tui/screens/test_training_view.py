"""Journeys through a training: start, pause, stop, look back, leave and change it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import count
from typing import cast

import pytest

from attn_tutor.lessons.engine import training
from attn_tutor.lessons.format.lesson import Course, Lesson, TrainStep
from attn_tutor.lessons.play import step_results
from attn_tutor.lessons.play.training_replay import TrainingReplay
from attn_tutor.lessons.reading import glossary
from attn_tutor.lessons.results.result import Failure, Tensor, Training, TrainingSnapshot
from attn_tutor.tui.tty.terminal import Terminal
from tests.course import use_course
from tests.lessons.lesson_builders import Fields, code_step, lesson_of, text_step
from tests.tui.fake_session import FakeSession
from tests.tui.learner import Learner, tutor

SIZE = 4
LOOP = "for step in range(40):\n    loss = train(0.5)\n    frame(step, 40)\n"
STEP: Fields = {
    "kind": "train",
    "id": "train",
    "title": "Train it",
    "prose": "Prose about the training, which a learner reads first.",
    "training": LOOP,
    "code": "model.load(trained)",
    "curves": [
        {"name": "loss", "label": "loss", "expr": "loss"},
        {"name": "score", "label": "induction score", "expr": "score"},
    ],
    "watch": [
        {"name": "first", "kind": "weight", "axes": ["head", "query", "key"]},
        {"name": "second", "kind": "weight", "axes": ["head", "query", "key"]},
    ],
    "keep": "model.state()",
}
RATE: Fields = {"kind": "number", "name": "rate", "label": "Rate", "default": 0.5, "values": [0.1, 0.5]}
TRAIN = 1
"""Where the step stands."""


def lesson(**fields: object) -> Lesson:
    knobs = [RATE | {"find": "train(0.5)", "replace": "train({value})"}]
    steps = (text_step("why", "Read about it."), STEP | fields, code_step("after", "y = model(x)"))
    return lesson_of(*steps, setup="import torch", knobs=knobs)


def tensor(name: str, done: int, size: int = SIZE, heads: int = 2) -> Tensor:
    """Return weights whose first number follows from the step: 0.010 after ten."""
    labels = tuple(map(str, range(size)))
    values = [done / 1000, *(0.5 for _ in range(heads * size * size - 1))]
    return Tensor(
        name,
        "weight",
        "float32",
        (heads, size, size),
        ("head", "query", "key"),
        (tuple(map(str, range(heads))), labels, labels),
        0.0,
        1.0,
        tuple(values),
    )


def snapshot(done: int, total: int = 40, size: int = SIZE) -> TrainingSnapshot:
    numbers = {"loss": 4 - done / 10, "score": done / 40}
    return TrainingSnapshot(done, total, numbers, (tensor("first", done, size), tensor("second", done, size)))


RECORDED = tuple(snapshot(done) for done in (0, 10, 20, 30, 40))


@pytest.fixture(autouse=True)
def course(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Replace the course by one lesson with a training, and return a function that replaces it again."""

    def use(recorded: tuple[TrainingSnapshot, ...] = RECORDED, **fields: object) -> None:
        one_lesson = Course(lessons=(lesson(**fields),))
        use_course(monkeypatch, one_lesson)
        monkeypatch.setattr(training, "load_recorded", lambda *_: Training(recorded, seconds=19.8))

    use()
    return use


@pytest.fixture(autouse=True)
def time_hardly_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have trainings last microseconds, however busy the machine is; none at all, and nothing could be foretold."""
    monkeypatch.setattr(step_results, "TrainingReplay", partial(TrainingReplay, clock=partial(next, count(0.0, 1e-6))))


async def opened(learner: Learner, index: int = TRAIN) -> None:
    """Open the step, and wait until its results are shown."""
    learner.opens("made", index)
    await learner.sees(f"step {index + 1} of 3", lambda: learner.view_has_keys)
    await learner.sees(lambda: any(each.startswith("run made/") for each in session_of(learner).asked))
    await learner.pilot.pause()


async def at_its_end(learner: Learner, index: int = TRAIN) -> None:
    """Open the step, and go to the last snapshot of the recorded training."""
    await opened(learner, index)
    await learner.press("greater_than_sign")
    await learner.sees("snapshot 5 of 5")


def session_of(learner: Learner) -> FakeSession:
    return cast(FakeSession, learner.app.source.open_session())


def replay_of(learner: Learner) -> TrainingReplay:
    return learner.training_view.replay


def has_notified(learner: Learner, what: str) -> Callable[[], bool]:
    """Return a condition: a notification contains this text."""
    return lambda: any(what in each.message for each in learner.app._notifications)


async def started(learner: Learner, *done: int) -> FakeSession:
    """Start a training and let it take these snapshots."""
    await learner.press("g")
    session = session_of(learner)
    await learner.sees(lambda: any(each.startswith("train") for each in session.asked))
    for each in done:
        session.events.put(snapshot(each))
    await learner.sees(lambda: [each.done for each in replay_of(learner).snapshots] == list(done))
    if done:
        await learner.sees(f"step {done[-1]}")
    return session


# What was recorded --------------------------------------------------------------------------------------------------


async def test_before_it_starts_nothing_tells_what_the_training_leads_to() -> None:
    async with tutor(FakeSession()) as learner:
        await opened(learner)
        await learner.sees("Prose about the training", "not trained yet   g: train it here", "step 0, before training")
        await learner.sees("loss  4.0000", "induction score  0", "first", "second")
        await learner.sees("first[0,0,0] = 0.0 ", lambda: "0.04" not in learner.text)
        # The recorded training unrolls as far as the learner goes.
        await learner.press("full_stop")
        await learner.sees("g: train it here", "step 10   snapshot 2 of 5", "loss  3.0000", "step 10, recorded")
        await learner.press("greater_than_sign")
        await learner.sees("step 40   snapshot 5 of 5", "loss  0", "induction score  1.0000", "first[0,0,0] = 0.04")
        assert learner.keys.startswith("g train   , . snapshots   tab ")
        # Tab leads to the code of the loop and to the code that replaces it.
        await learner.press("shift+tab")
        await learner.sees("for step in range(40):", "Prose about the training")


async def test_two_keys_go_through_the_snapshots() -> None:
    async with tutor(FakeSession()) as learner:
        await at_its_end(learner)
        await learner.press("comma")
        await learner.sees("step 30   snapshot 4 of 5", "loss  1.0000", "first[0,0,0] = 0.03", "30▲")
        await learner.press("less_than_sign", "comma")
        await learner.sees("step 0   snapshot 1 of 5", "loss  4.0000", "first[0,0,0] = 0.0 ")
        await learner.press("full_stop")
        await learner.sees("step 10   snapshot 2 of 5")
        await learner.press("greater_than_sign", "full_stop")
        await learner.sees("step 40   snapshot 5 of 5", "first[0,0,0] = 0.04")


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_each_training_has_its_own_curves(size: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    again = STEP | {"id": "again", "curves": [{"name": "score", "label": "something else", "expr": "score"}]}
    steps = (text_step("why", "Read."), STEP, again)
    one_lesson = Course(lessons=(lesson_of(*steps, setup="import torch"),))
    use_course(monkeypatch, one_lesson)
    async with tutor(FakeSession(), size) as learner:
        await opened(learner)
        for _ in range(2):
            await learner.press("greater_than_sign")
            await learner.sees("induction score  1.0000", lambda: "something else" not in learner.text)
            await learner.press("comma", "n", "greater_than_sign")
            await learner.sees("something else  1.0000", lambda: "induction score" not in learner.text)
            await learner.press("b")


async def test_a_matrix_that_fits_a_wide_screen_is_shown_in_full(course: Callable[..., None]) -> None:
    course(tuple(snapshot(done, size=8) for done in (0, 40)), watch=[STEP["watch"][0]])
    async with tutor(FakeSession(), (120, 40)) as learner:
        await opened(learner)
        await learner.sees("first  2×8×8")
        assert "max of" not in learner.text
        assert "right" not in learner.text


async def test_curves_that_changed_while_hidden() -> None:
    async with tutor(FakeSession()) as learner:
        await at_its_end(learner)
        await learner.sees("loss  0")
        await learner.press("n")
        await learner.sees("step 3 of 3")
        replay_of(learner).look(-2)
        await learner.press("b")
        await learner.sees("step 20   snapshot 3 of 5", "loss  2.0000", "▲20")


async def test_cursor_and_head_stay_from_snapshot_to_snapshot() -> None:
    async with tutor(FakeSession()) as learner:
        await at_its_end(learner)
        await learner.press("down", "right", "right_square_bracket")
        await learner.sees("first[1,1,1]")
        await learner.press("comma")
        await learner.sees("step 30   snapshot 4 of 5", "first[1,1,1]")


async def test_a_number_of_a_snapshot_says_which_step_it_is_from() -> None:
    session = FakeSession()
    async with tutor(session) as learner:
        await at_its_end(learner)
        await learner.press("comma", "enter")
        await learner.sees(has_notified(learner, "This number is from step 30 of the training"))
        assert not session.runs[-1].explained


async def test_without_anything_recorded(course: Callable[..., None]) -> None:
    course(())
    async with tutor(FakeSession()) as learner:
        await opened(learner)
        await learner.sees("not trained yet   g: train it here", "for step in range(40):")
        await learner.press("comma")
        await learner.sees(has_notified(learner, "There are no snapshots yet. Press g to start training."))
        await learner.press("enter", "right_square_bracket", "tab", "o")
        await started(learner, 0)
        # The first snapshot is what the learner waits for.
        await learner.sees("head 0 of 2", "first[0,0,0] = 0.0 ")


# While it trains ----------------------------------------------------------------------------------------------------


async def test_a_training_from_its_start_to_its_end() -> None:
    async with tutor(FakeSession()) as learner:
        await at_its_end(learner)
        await learner.press("g")
        await learner.sees("starting", lambda: learner.keys.startswith("g pause   s stop"))
        # The earlier tensors stay until there is a snapshot.
        assert "step 40, recorded" in learner.text
        session = session_of(learner)
        session.events.put(snapshot(0))
        await learner.sees("0 of 40   0 s", "loss  4.0000", lambda: learner.keys.startswith("g pause   s stop"))
        session.events.put(snapshot(10))
        await learner.sees("10 of 40", "left", "━", "loss  3.0000", "first[0,0,0] = 0.01")
        session.events.put(snapshot(40))
        session.events.put(None)
        await learner.sees("trained here in", "step 40   snapshot 3 of 3")
        # The step runs again with the trained model.
        await learner.sees(lambda: session.asked[-2:] == ["train made/train", "run made/train"])
        assert learner.keys.startswith("g train   , . snapshots")
        await learner.press("n")
        await learner.sees("step 3 of 3", lambda: session.asked[-1] == "run made/after")
        await learner.press("b")
        await learner.sees("trained here in", "step 40   snapshot 3 of 3")


async def test_prose_curves_and_both_matrices_stay_in_sight_on_the_smallest_screen(
    course: Callable[..., None],
) -> None:
    level = {"label": "chance", "expr": "3.0"}
    curves = [STEP["curves"][0] | {"level": level}, STEP["curves"][1]]
    course((), curves=curves, watch=[each | {"axes": ["query", "key"]} for each in STEP["watch"]])
    async with tutor(FakeSession()) as learner:
        await opened(learner)
        session = await started(learner)
        for done in (0, 10):
            one = snapshot(done, size=8)
            tensors = tuple(
                replace(each, shape=(8, 8), axes=each.axes[1:], labels=each.labels[1:], values=(each.values or ())[:64])
                for each in one.tensors
            )
            session.events.put(replace(one, numbers=one.numbers | {"loss level": 3.0}, tensors=tensors))
        await learner.sees(
            "10 of 40", "loss  3.0000", "chance 3", "induction score  0.2500", "Prose about the training"
        )
        [row] = [row for row in learner.lines if "first" in row and "second" in row]
        # Every row of both, and the curves beside them.
        top = learner.lines.index(row)
        assert all(line.count(str(number)) >= 2 for number, line in enumerate(learner.lines[top + 2 : top + 10]))
        assert "loss" in row
        session.events.put(None)
        await learner.sees("trained here in", "Prose about the training", "first", "second")


async def test_a_new_snapshot_does_not_move_a_learner_who_looks_back() -> None:
    async with tutor(FakeSession()) as learner:
        await opened(learner)
        session = await started(learner, 0, 10, 20)
        await learner.press("comma")
        await learner.sees("step 10   >: newest", "first[0,0,0] = 0.01")
        session.events.put(snapshot(30))
        await learner.sees("30 of 40")
        assert "first[0,0,0] = 0.01" in learner.text
        await learner.press("greater_than_sign")
        await learner.sees("first[0,0,0] = 0.03")
        session.events.put(snapshot(40))
        await learner.sees("first[0,0,0] = 0.04")


async def test_a_training_is_paused_and_resumed() -> None:
    async with tutor(FakeSession()) as learner:
        await opened(learner)
        session = await started(learner, 0, 10)
        await learner.press("g")
        await learner.sees("10 of 40   paused after 0 s", lambda: learner.keys.startswith("g go on   s stop"))
        assert session.controls[-1].paused
        await learner.press("comma")
        await learner.sees("first[0,0,0] = 0.0 ")
        session.events.put(snapshot(20))
        await learner.press("g", "greater_than_sign")
        await learner.sees("20 of 40", "first[0,0,0] = 0.02")
        assert not session.controls[-1].paused


async def test_a_starting_training_is_not_offered_to_start() -> None:
    async with tutor(FakeSession()) as learner:
        await opened(learner)
        await started(learner)
        await learner.sees("starting: the steps before it run first")
        await learner.press("comma")
        await learner.sees(has_notified(learner, "The first one comes when the steps before this one have run"))
        assert not has_notified(learner, "g starts the training")()


async def test_the_status_is_shortened_by_whole_words() -> None:
    async with tutor(FakeSession(), (156, 30)) as learner:
        await opened(learner)
        await started(learner, 0, 10)
        await learner.press("comma")
        await learner.sees("step 0   >: newest")
        [line] = [each for each in learner.lines if ">: newest" in each]
        assert "10 of 40   0 s " in line
        assert "…" not in line.split("step 0")[0]
        await learner.press("g")
        await learner.sees("10 of 40   paused", ">: newest")
        [line] = [each for each in learner.lines if ">: newest" in each]
        assert "…" not in line.split("step 0")[0]


async def test_a_training_is_paused_before_its_first_snapshot() -> None:
    async with tutor(FakeSession()) as learner:
        await opened(learner)
        session = await started(learner)
        await learner.press("g")
        await learner.sees("paused", lambda: session.controls[-1].paused)
        session.events.put(snapshot(0))
        await learner.press("g")
        await learner.sees("0 of 40   0 s", lambda: not session.controls[-1].paused)


@pytest.mark.parametrize("paused", [False, True])
async def test_a_stopped_training_keeps_its_snapshots(paused: bool) -> None:
    async with tutor(FakeSession()) as learner:
        await opened(learner)
        session = await started(learner, 0, 10)
        await learner.press(*("g" if paused else ""), "s")
        await learner.sees("stopped after 10 of 40 steps", "step 10   snapshot 2 of 2")
        assert session.asked[-1] == "train made/train"
        await learner.press("comma")
        await learner.sees("step 0   snapshot 1 of 2")
        await learner.press("g")
        await learner.sees(lambda: session.asked.count("train made/train") == 2)
        session.events.put(snapshot(0))
        await learner.sees("0 of 40")


async def test_a_burst_of_snapshots_is_kept_but_drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async with tutor(FakeSession()) as learner:
        await opened(learner)
        session = await started(learner, 0)
        drawn: list[int] = []
        show = learner.training_view._show_replay

        def counted() -> None:
            drawn.append(1)
            show()

        monkeypatch.setattr(learner.training_view, "_show_replay", counted)
        for done in range(1, 301):
            session.events.put(snapshot(done, 300))
        await learner.sees("300 of 300", lambda: len(replay_of(learner).snapshots) == 301)
        await learner.sees("first[0,0,0] = 0.3 ")
        assert len(drawn) < 60


# Elsewhere ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "goes"), [("n", "step 3 of 3"), ("b", "step 1 of 3"), ("m", "course map"), ("f8", "step 3 of 3")]
)
async def test_leaving_a_running_training_takes_two_presses(key: str, goes: str) -> None:
    async with tutor(FakeSession()) as learner:
        await opened(learner)
        session = await started(learner, 0, 10)
        await learner.press(key)
        await learner.sees(has_notified(learner, "Press the key again to leave"))
        assert "step 2 of 3" in learner.text
        assert not session.controls[-1].stopped
        await learner.press(key)
        await learner.sees(goes, lambda: session.controls[-1].stopped)
        await opened(learner)
        await learner.sees("stopped after 10 of 40 steps", "step 10   snapshot 2 of 2")


async def test_opening_the_prompt_or_rerunning_stops_a_training() -> None:
    async with tutor(FakeSession()) as learner:
        await opened(learner)
        session = await started(learner, 0)
        await learner.press("p")
        await learner.sees(has_notified(learner, "Press the key again to leave"))
        await learner.press("p")
        await learner.sees("Python: Train it", lambda: session.controls[-1].stopped)
        await learner.press("escape")
        await learner.sees("stopped after 0 of 40 steps", lambda: learner.focus == "matrix0")


async def test_a_training_continues_behind_the_glossary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(glossary, "load", lambda: glossary.Glossary())
    async with tutor(FakeSession()) as learner:
        await opened(learner)
        session = await started(learner, 0)
        await learner.press("f2")
        await learner.sees(lambda: learner.app.frame.view_id == "glossary")
        session.events.put(snapshot(10))
        await learner.sees(lambda: len(replay_of(learner).snapshots) == 2)
        await learner.press("f2")
        await learner.sees("10 of 40", "first[0,0,0] = 0.01", "loss  3.0000")
        assert not session.controls[-1].stopped


async def test_quitting_ends_a_training() -> None:
    session = FakeSession()
    async with tutor(session) as learner:
        await opened(learner)
        await started(learner, 0)
        await learner.press("g", "q")
    assert session.closed
    assert session.controls[-1].stopped


async def test_late_snapshots_are_ignored() -> None:
    async with tutor(FakeSession()) as learner:
        await opened(learner)
        await started(learner, 0)
        await learner.press("n", "n")
        await learner.sees("step 3 of 3")
        replay = replay_of(learner)
        learner.app.parts.trainings.add(learner.training_view, replay, snapshot(10))
        await learner.pilot.pause()
        assert "step 3 of 3" in learner.text
        assert not replay.busy


# Changes ------------------------------------------------------------------------------------------------------------


async def test_a_change_applies_to_the_next_training() -> None:
    async with tutor(FakeSession()) as learner:
        await at_its_end(learner)
        await learner.press("w")
        await learner.sees("Rate")
        await learner.press("left")
        await learner.sees("before the change   g: train with it")
        await learner.press("g")
        session = session_of(learner)
        await learner.sees(lambda: session.asked[-1] == "train made/train with Rate: 0.1")
        session.events.put(snapshot(0))
        await learner.sees("0 of 40")
        # Changes take effect when the lesson runs again, not during a training.
        await learner.press("w")
        await learner.sees(
            has_notified(learner, "The training is still running. Press s to stop it, or g to pause it.")
        )
        await learner.press("escape")
        assert learner.app.parts.steps.changes
        session.events.put(None)
        await learner.sees("trained here in")
        await learner.press("escape")
        await learner.sees("recorded in 20 s   g: train it here", "step 40   snapshot 5 of 5")


async def test_the_changed_line_of_the_loop_is_marked() -> None:
    async with tutor(FakeSession()) as learner:
        await opened(learner)
        await learner.press("shift+tab", "w", "left")
        await learner.sees("train(0.1)")


# Failures -----------------------------------------------------------------------------------------------------------


async def test_a_failure_is_reported_with_its_line_and_snapshots_stay() -> None:
    async with tutor(FakeSession()) as learner:
        await opened(learner)
        session = await started(learner, 0, 10)
        session.events.put(Failure("error", "ZeroDivisionError: division by zero.", 2))
        await learner.sees("failed after 10 of 40 steps", "Line 2: ZeroDivisionError: division by zero.")
        await learner.sees("step 10   snapshot 2 of 2", "first[0,0,0] = 0.01")
        assert learner.training_view.replay.state == "failed"
        await learner.press("n")
        await learner.sees("step 3 of 3")


async def test_a_failure_before_the_first_snapshot_leaves_its_reason() -> None:
    async with tutor(FakeSession()) as learner:
        await at_its_end(learner)
        session = await started(learner)
        session.events.put(Failure("timeout", "It took too long."))
        await learner.sees("recorded in 20 s   g: train it here", "It took too long.", "step 40   snapshot 5 of 5")


async def test_no_worker() -> None:
    session = FakeSession()
    async with tutor(session) as learner:
        await at_its_end(learner)
        session.problem = "The worker did not start."
        await learner.press("g")
        await learner.sees("The worker did not start.", "cannot run code", "recorded in 20 s   g: train it here")


# Every screen, every key --------------------------------------------------------------------------------------------

KEYS = (
    *("up", "down", "left", "right", "home", "end", "pageup", "pagedown", "o", "v", "minus", "plus", "t", "enter"),
    *("right_square_bracket", "right_curly_bracket", "comma", "full_stop", "less_than_sign", "tab", "shift+tab"),
    *("d", "w", "escape", "r", "f1", "f1", "backspace", "greater_than_sign"),
)


@pytest.mark.parametrize(
    ("size", "terminal"),
    [
        ((80, 24), Terminal(depth="16", remote=True)),
        ((160, 50), Terminal(depth="truecolor")),
        ((40, 10), Terminal(depth="none", unicode=False)),
        ((24, 6), Terminal(depth="256")),
    ],
)
async def test_no_key_fails_on_any_screen(size: tuple[int, int], terminal: Terminal) -> None:
    async with tutor(FakeSession(), size, terminal) as learner:
        learner.opens("made", TRAIN)
        await learner.sees(lambda: learner.view_has_keys)
        await learner.press(*KEYS)
        assert learner.training_view.display
        await learner.press("greater_than_sign")
        await learner.press("g")
        session = session_of(learner)
        await learner.sees(lambda: any(each.startswith("train") for each in session.asked))
        for done in (0, 10):
            session.events.put(snapshot(done, size=24))
        await learner.sees(lambda: len(replay_of(learner).snapshots) == 2)
        await learner.press(*(key for key in KEYS if key != "r"))
        await learner.sees(lambda: replay_of(learner).busy)
        session.events.put(None)
        await learner.sees(lambda: replay_of(learner).state == "trained")
        if not terminal.unicode:
            learner.app.clear_notifications()
            await learner.pilot.pause()
            assert learner.text.isascii()


async def test_on_a_wide_screen_matrices_are_beside_the_curves() -> None:
    async with tutor(FakeSession(), (160, 40)) as learner:
        await opened(learner)
        await learner.sees("first  2×4×4", "second  2×4×4", "for step in range(40):", "Prose about the training")
        [row] = [row for row in learner.lines if "first  2×4×4" in row]
        assert row.index("first  2×4×4") >= 52


async def test_heads_that_do_not_fit_are_shown_as_thumbnails() -> None:
    async with tutor(FakeSession()) as learner:
        await opened(learner)
        session = await started(learner)
        session.events.put(snapshot(0, size=24))
        await learner.sees("head 0", "head 1", "max of", "step 0")
        # The other matrix is zoomed out too when it is shown.
        await learner.press("tab")
        await learner.sees("second, head 0 of 2", "head 1")
        await learner.press("shift+tab")
        await learner.sees("first, head 0 of 2")
        # Zoom into the head, then into the block.
        await learner.press("enter")
        await learner.sees("max of first[0,0:3,0:3]")
        await learner.press("enter")
        await learner.sees("first[0,0,1] = 0.5")


async def test_values_missing_from_a_snapshot_are_not_requested_from_the_run(course: Callable[..., None]) -> None:
    large = replace(tensor("first", 0, 80), values=None)
    course((TrainingSnapshot(0, 40, {"loss": 1.0}, (large,)),))
    session = FakeSession()
    async with tutor(session) as learner:
        await opened(learner)
        await learner.sees("first  2×80×80")
        await learner.press("o", "o", "o", "down", "t", "enter")
        await learner.sees(has_notified(learner, "This number is from step 0 of the training"))
        assert not session.runs[-1].asked


async def test_a_step_without_watched_tensors(course: Callable[..., None]) -> None:
    course(tuple(TrainingSnapshot(done, 40, {"loss": 1.0}) for done in (0, 40)), watch=[])
    async with tutor(FakeSession()) as learner:
        await opened(learner)
        await learner.sees("loss  1.0000", "step 0, before training")
        await learner.press("full_stop")
        await learner.sees("loss  1.0000", "snapshot 2 of 2")
        await learner.press("comma", "enter", "tab")
        await learner.sees("snapshot 1 of 2")


async def test_the_step_counts_as_done_when_it_is_left() -> None:
    async with tutor(FakeSession()) as learner:
        await opened(learner)
        await learner.press("n")
        await learner.sees("step 3 of 3")
        step = learner.app.state.learning.course.lessons[0].steps[TRAIN]
        assert isinstance(step, TrainStep)
        assert learner.progress.state("made", "train") == "done"
