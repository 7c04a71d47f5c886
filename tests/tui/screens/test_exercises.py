"""Journeys through exercises: verdicts, help, scratch runs, editing, skipping and coming back."""

from __future__ import annotations

import asyncio
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest
from textual.widgets import TextArea

from attn_tutor.lessons.engine.scratch_run import STEP
from attn_tutor.lessons.format.lesson import ChoiceStep
from attn_tutor.lessons.learner.progress import Progress
from attn_tutor.lessons.learner.records import DAMAGED
from attn_tutor.lessons.play.course_path import Purpose
from attn_tutor.lessons.results.result import AnswerDifference, Failure, Judgement, NamedMistake, StepResult, Tensor
from attn_tutor.tui.render import exercise_text
from attn_tutor.tui.screens.workbench import Workbench
from attn_tutor.tui.tty import external_editor
from attn_tutor.tui.tty.terminal import Terminal
from attn_tutor.tui.widgets.text import TextPane
from tests.course import COURSE
from tests.tui.fake_session import FakeSession
from tests.tui.learner import SSH, Learner, position_text, position_text_near, task, tutor, with_typed

LESSON, STEP_ID = "attention-classes", "same-numbers"
EXERCISE = task(STEP_ID)
NAME = EXERCISE.exercise
ALL = ["f3"] * len(EXERCISE.hints)


def tensor(name: str, values: tuple[float, ...], rows: int = 2) -> Tensor:
    cols = len(values) // rows
    labels = (tuple(map(str, range(rows))), tuple(map(str, range(cols))))
    return Tensor(name, "vector", "float32", (rows, cols), ("index", "index"), labels, min(values), max(values), values)


YOURS, EXPECTED = tensor("weights", (1.0, 2.0, 3.0, 4.0)), tensor("weights", (1.0, 2.5, 3.0, 4.0000001))
PARTING = Judgement(
    NAME, "failed", "no", 5, difference=AnswerDifference("weights", 5, YOURS, EXPECTED, ("scores",)), seed=7
)


def solved(learner: Learner) -> str:
    """Return the text of the solution view."""
    return learner.app.query_one("#solved", TextPane).text


def view(learner: Learner) -> str:
    """Return the id of the current view of the exercise."""
    return learner.app.query_one(Workbench).topic


def editor(learner: Learner) -> TextArea:
    return learner.app.query_one("#editor", TextArea)


# The judge's word ---------------------------------------------------------------------------------------------------


async def test_a_known_mistake_is_named_and_its_line_marked() -> None:
    session = FakeSession()
    session.wrong_judgement = Judgement(
        NAME, "failed", "no", 5, (NamedMistake("not-transposed", "not transposed", "Use `.T`.", 5),), seed=7
    )
    async with tutor(session) as learner:
        await learner.goes_to(LESSON, STEP_ID)
        await learner.press("f5")
        await learner.sees("✗ Not yet.", "not transposed (line 5): Use .T.", "5✗ def transfer(v1, v2):")
        assert learner.verdict.endswith(f"seed 7: attn-tutor check {NAME} FILE --seed 7 repeats this")
        # With different code, the line is a different one.
        await learner.press("enter", "x")
        await learner.sees("(of earlier code)", "5  def transfer", lambda: "5✗" not in learner.text)
    progress = Progress.open()
    [attempt] = progress.attempts(NAME)
    assert (attempt.mistake, attempt.message, attempt.verdict) == ("not-transposed", "no", "failed")
    progress.close()


async def test_a_verdict_with_more_lines_is_one_key_away_from_the_editor() -> None:
    session = FakeSession()
    session.wrong_judgement = Judgement(NAME, "failed", "This is a sentence of the verdict. " * 30 + "The end", 0)
    async with tutor(session) as learner:
        await learner.goes_to(LESSON, STEP_ID)
        await learner.press("enter", "f5")
        await learner.sees("✗ Not yet", "more lines: f4, then arrows")
        await learner.press("f4", *["down"] * 30)
        await learner.sees("The end")
        # This task has more lines too.
        await learner.press("f4", "f4")
        assert learner.focus == "editor"


async def test_short_code_leaves_its_lines_to_the_verdict() -> None:
    session = FakeSession()
    session.wrong_judgement = Judgement(NAME, "failed", "This is a sentence of the verdict. " * 10 + "The end", 0)
    async with tutor(session) as learner:
        await learner.goes_to(LESSON, STEP_ID)
        await learner.press("enter", "ctrl+a", "backspace", *"x = 1", "f5")
        await learner.sees("✗ Not yet", "x = 1", "The end")


async def test_a_stopped_check_is_not_an_attempt() -> None:
    session = FakeSession()
    async with tutor(session) as learner:
        await learner.goes_to(LESSON, STEP_ID)
        session.held.clear()
        await learner.press("f5")
        await learner.sees("checking", lambda: session.asked)
        await learner.press("s")
        await learner.sees(lambda: learner.verdict == "Stopped by you.")
    progress = Progress.open()
    assert progress.attempts(NAME) == []
    progress.close()


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (120, 40), (200, 50)])
async def test_the_first_difference_is_shown(size: tuple[int, int]) -> None:
    session = FakeSession()
    session.wrong_judgement = PARTING
    async with tutor(session, size=size) as learner:
        await learner.goes_to(LESSON, STEP_ID)
        await learner.press("d")
        await learner.sees("Nothing has been checked yet.")
        assert view(learner) == "exercise"
        await learner.press("enter", "down", "f5")
        await learner.sees("d: see where it differs", "The first result that differs: weights, line 5")
        cursor = editor(learner).cursor_location
        await learner.press("d", "backspace", "f5")
        await learner.sees("d: see where it differs", lambda: "earlier" not in learner.text)
        # In the editor, by a key that types nothing.
        await learner.press("ctrl+d")
        await learner.sees("Where it differs")
        await learner.press("escape", "escape", "d")
        await learner.sees("Where it differs", "weights  2×2", "yours", "2.0000", "expected")
        # The cursor is on the first wrong cell; equal and nearly equal cells are not marked.
        await learner.sees("weights[0,1]: yours 2.0   expected 2.5   difference -0.5", "•")
        assert learner.text.count("•") in (1, 3)
        for caption in ("expected", "difference", "yours"):
            await learner.press("d")
            await learner.sees(caption, lambda: len(learner.lines) == size[1])
        await learner.press("left")
        await learner.sees("weights[0,0]: yours 1.0   expected 1.0   difference 0")
        await learner.press("escape")
        await learner.sees(lambda: view(learner) == "exercise", lambda: learner.focus == "verdict")
        await learner.press("enter")
        assert editor(learner).cursor_location == cursor


def test_there_may_be_nothing_to_compare() -> None:
    passed = Judgement(NAME, "passed", "All checks pass.")
    assert "has passed" in exercise_text.nothing_to_compare(passed)
    assert "found no result" in exercise_text.nothing_to_compare(Judgement(NAME, "failed", "no"))
    assert "Nothing has been checked yet" in exercise_text.nothing_to_compare(None)


# Help ---------------------------------------------------------------------------------------------------------------


async def test_hints_are_remembered() -> None:
    async with tutor() as learner:
        await learner.goes_to(LESSON, STEP_ID)
        await learner.press("f3", "f3")
        await learner.sees("Hint 2 of")
        await learner.press("n")
    async with tutor() as learner:
        await learner.press("m")
        await learner.goes_to(LESSON, STEP_ID)
        await learner.sees(f"f3: hint ({len(EXERCISE.hints) - 2} left)")
        assert "Hint 2 of" in learner.app.query_one("#task", TextPane).text


async def test_each_hint_says_how_many_are_left() -> None:
    async with tutor() as learner:
        await learner.goes_to(LESSON, STEP_ID)
        await learner.sees(f"f3: hint (there are {len(EXERCISE.hints)})")
        await learner.press("f3")
        await learner.sees(f"f3: hint ({len(EXERCISE.hints) - 1} left)")
        await learner.press(*ALL[1:])
        await learner.sees("f3: give up")


async def test_giving_up_and_taking_it_back() -> None:
    session = FakeSession()
    async with tutor(session) as learner:
        await learner.goes_to(LESSON, STEP_ID)
        await learner.press(*ALL)
        await learner.sees(lambda: "f3 give up" in learner.keys)
        await learner.press("f3")
        await learner.sees("f3 again: give up and see the solution")
        # Any other key cancels giving up.
        await learner.press("enter", "#", "f3")
        await learner.sees("f3 again: give up")
        mine = learner.code
        assert not learner.progress.gave_up(NAME)
        await learner.press("f3")
        await learner.sees(
            "Model answer: ", "You gave up.", "u take back giving up", lambda: "scores" in solved(learner)
        )
        assert learner.progress.gave_up(NAME)
        assert session.asked[-1] == f"compare {NAME}"
        for each in (
            "Why the model answer works",
            "+         v2.W_query.weight",
            "= scores (6×6): yours s, line 5, equal",
        ):
            assert each in solved(learner)
        # Code and cursor are unchanged.
        await learner.press("escape")
        await learner.sees(lambda: learner.code == mine, lambda: learner.focus == "editor")
        await learner.press("f3")
        await learner.sees("Model answer: ")
        await learner.press("u")
        await learner.sees("Taken back", lambda: view(learner) == "exercise", lambda: learner.code == mine)
        assert not learner.progress.gave_up(NAME)
        await learner.press("f3")
        await learner.sees("f3 again: give up")
        await learner.press("f3")
        await learner.sees("You gave up.")
    # In a new session, giving up can still be undone; the code was archived.
    async with tutor(session) as learner:
        await learner.press("enter")
        await learner.sees("You gave up on this one", lambda: learner.code == mine)
        await learner.press("f3")
        await learner.sees("u: take that back")
    progress = Progress.open()
    assert {(archived.code, archived.why) for archived in progress.archived(NAME)} == {(mine, "gave-up")}
    progress.close()


async def test_after_passing_the_solution_says_why_it_works() -> None:
    async with tutor() as learner:
        await learner.goes_to(LESSON, STEP_ID)
        await learner.writes(EXERCISE.solution)
        await learner.press("f5")
        await learner.sees("✓ Passed.   f3: why it works   f8: go on")
        await learner.press("f3")
        await learner.sees(
            "Why it works", lambda: "They are the same." in solved(learner), lambda: "u take" not in learner.text
        )
        await learner.press("u")
        assert view(learner) == "solution"
        assert learner.progress.solution_used(NAME)
        await learner.press("escape")
        # The same holds for an exercise passed in an earlier session.
        await learner.press("f8", "f7")
        await learner.sees("Passed before.   f5: check   f6: run and look   f3: why it works")
        await learner.press("n")
        await learner.sees(position_text_near(LESSON, STEP_ID, 1))


async def test_a_comparison_that_fails_is_reported() -> None:
    session = FakeSession()
    async with tutor(session) as learner:
        await learner.goes_to(LESSON, STEP_ID)
        await learner.writes(EXERCISE.solution)
        await learner.press("f5")
        await learner.sees("✓ Passed.")
        session.problem = "there is no worker"
        await learner.press("f3")
        await learner.sees(lambda: solved(learner).endswith("there is no worker"))


# A scratch run ------------------------------------------------------------------------------------------------------


async def test_a_scratch_run_leaves_the_exercise_unchanged() -> None:
    session = FakeSession()
    async with tutor(session) as learner:
        await learner.goes_to(LESSON, STEP_ID)
        await learner.press("enter", "#", "f5")
        await learner.sees("✗ Not yet.")
        mine, cursor, word = learner.code, editor(learner).cursor_location, learner.verdict
        for back in ("escape", "f6"):
            await learner.press("f6")
            await learner.sees("Your code: ", "live, 2 ms", lambda: view(learner) == "scratch")
            assert "enter explain" in learner.keys
            # A scratch run has no what-if changes.
            await learner.press("w")
            assert "What if" not in learner.text
            await learner.press("enter")
            await learner.sees(" ← ", lambda: learner.focus == "explanation")
            assert session.runs[-1].explained[-1][0] == STEP
            await learner.press("escape")
            await learner.sees(lambda: " ← " not in learner.text)
            await learner.press(back)
            await learner.sees(lambda: learner.focus == "editor", lambda: learner.verdict == word)
            assert (learner.code, editor(learner).cursor_location) == (mine, cursor)
    progress = Progress.open()
    assert len(progress.attempts(NAME)) == 1
    progress.close()


async def test_a_scratch_run_that_fails() -> None:
    session = FakeSession()
    session.scratch_result = StepResult(STEP, error=Failure("error", "NameError: name 'W' is not defined", 5))
    async with tutor(session) as learner:
        await learner.goes_to(LESSON, STEP_ID)
        await learner.press("f6")
        await learner.sees("Line 5: NameError: name 'W' is not defined", lambda: learner.focus == "code")
        assert learner.styled("def transfer(v1, v2):", reverse=True) == ["5"]
        await learner.press("f5")
        await learner.sees(lambda: view(learner) == "exercise", "✗ Not yet.")


async def test_a_scratch_run_with_many_matrices() -> None:
    session = FakeSession()
    session.scratch_result = StepResult(STEP, tensors=tuple(tensor(f"t{index}", (1.0, 2.0)) for index in range(9)))
    async with tutor(session) as learner:
        await learner.goes_to(LESSON, STEP_ID)
        await learner.press("f6")
        await learner.sees("t0  2×1")
        for index in range(9):
            await learner.sees(f"t{index}[0,0] = 1")
            await learner.press("tab")
        await learner.sees("def transfer")


async def test_a_scratch_run_is_stopped() -> None:
    session = FakeSession()
    async with tutor(session) as learner:
        await learner.goes_to(LESSON, STEP_ID)
        word = learner.verdict
        session.held.clear()
        await learner.press("f6")
        await learner.sees("running…   s: stop", lambda: session.asked == [f"run {LESSON}/None"])
        await learner.press("s")
        await learner.sees(lambda: learner.verdict == word, lambda: view(learner) == "exercise")


# The editor ---------------------------------------------------------------------------------------------------------


async def test_undo_works_after_visiting_a_different_step() -> None:
    async with tutor() as learner:
        await learner.goes_to(LESSON, STEP_ID)
        await learner.press("enter", "#", "f8", "f7")
        await learner.sees(lambda: learner.code == with_typed(EXERCISE.starter, "#"))
        await learner.press("enter", "ctrl+z")
        await learner.sees(lambda: learner.code == EXERCISE.starter)
        await learner.press("ctrl+y")
        await learner.sees(lambda: learner.code == with_typed(EXERCISE.starter, "#"))
        assert learner.progress.draft(NAME) == learner.code


async def test_code_replaced_by_the_starter_can_be_restored_later() -> None:
    async with tutor() as learner:
        await learner.goes_to(LESSON, STEP_ID)
        await learner.press("enter", "#", "f9", "x", "ctrl+z")
        await learner.sees(lambda: learner.code == EXERCISE.starter)
        await learner.press("f8")
    async with tutor() as learner:
        await learner.goes_to(LESSON, STEP_ID)
        await learner.sees(lambda: learner.code == EXERCISE.starter)
        await learner.press("f9")
        await learner.sees(lambda: learner.code == with_typed(EXERCISE.starter, "#"))


async def test_the_learners_own_editor(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test has no terminal that it could hand to an editor; `test_pty` tests that."""
    async with tutor() as learner:
        await learner.goes_to(LESSON, STEP_ID)
        monkeypatch.delenv("VISUAL", raising=False)
        monkeypatch.delenv("EDITOR", raising=False)
        await learner.press("ctrl+o")
        await learner.sees("set VISUAL or")
        # The next message would have to wait until there is room for it.
        learner.app.clear_notifications()
        monkeypatch.setenv("EDITOR", "no-such-editor")
        await learner.press("ctrl+o")
        await learner.sees("EDITOR names an editor")
        learner.app.clear_notifications()
        monkeypatch.setenv("EDITOR", "true")
        await learner.press("ctrl+o")
        await learner.sees("make room for")
        assert learner.code == EXERCISE.starter


async def test_an_edit_in_the_learners_own_editor_can_be_undone(monkeypatch: pytest.MonkeyPatch) -> None:
    from contextlib import nullcontext

    def edit(words: list[str], name: str, code: str) -> external_editor.EditOutcome:
        assert (words, name) == (["true"], NAME)
        return external_editor.EditOutcome(f"{code}# more\n")

    monkeypatch.setenv("EDITOR", "true")
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setattr(external_editor, "edit", edit)
    async with tutor() as learner:
        monkeypatch.setattr(learner.app, "suspend", nullcontext)
        await learner.goes_to(LESSON, STEP_ID)
        await learner.press("enter", "#", "ctrl+o")
        mine = with_typed(EXERCISE.starter, "#")
        await learner.sees(lambda: learner.code == f"{mine}# more\n")
        assert learner.progress.draft(NAME) == learner.code
        await learner.press("ctrl+z")
        await learner.sees(lambda: learner.code == mine)


# Two sessions of one learner -----------------------------------------------------------------------------------------

BOTH_KEPT = ("Another session of yours wrote other code", "f9: the other one (again: this one)")


def write_elsewhere(code: str, *, seen: bool = False) -> None:
    """Save code for the exercise in a different session; `seen` says whether it has opened the draft before."""
    with closing(Progress.open()) as elsewhere:
        elsewhere.save_draft(NAME, code, elsewhere.open_draft(NAME).version if seen else "")


async def everything_is_on_disk(learner: Learner) -> None:
    """Wait until the thread has written everything: with each write it takes in what other sessions have saved."""
    assert learner.progress._thread is not None
    await asyncio.wrap_future(learner.progress._thread.submit(int))
    await learner.pilot.pause()


async def test_code_of_another_session_is_kept_and_offered() -> None:
    theirs = "# twenty-two characters"
    async with tutor() as learner:
        await learner.goes_to(LESSON, STEP_ID)
        await everything_is_on_disk(learner)
        write_elsewhere(theirs)
        await learner.press("enter", "x")
        await learner.sees(*BOTH_KEPT)
        mine = learner.code
        assert mine == with_typed(EXERCISE.starter, "x")
        await learner.press("f9")
        await learner.sees(lambda: learner.code == theirs, *BOTH_KEPT)
        await learner.press("f9")
        await learner.sees(lambda: learner.code == mine)
        await learner.press("f9", "y")
        await learner.sees(lambda: learner.code == f"y{theirs}")
        # Continuing with the code of the other session is not a conflict.
        assert learner.progress.draft(NAME) == learner.code
    with closing(Progress.open()) as progress:
        assert progress.draft(NAME) == f"y{theirs}"
        assert [(each.code, each.why) for each in progress.archived(NAME)] == [(theirs, "session"), (mine, "reset")]


async def test_code_of_another_session_is_offered_again_later() -> None:
    async with tutor() as learner:
        await learner.goes_to(LESSON, STEP_ID)
        await everything_is_on_disk(learner)
        write_elsewhere("# theirs")
        await learner.press("enter", "x")
    async with tutor() as learner:
        await learner.goes_to(LESSON, STEP_ID)
        await learner.sees(*BOTH_KEPT, "f5: check")
        assert learner.code == with_typed(EXERCISE.starter, "x")
        await learner.press("f9")
        await learner.sees(lambda: learner.code == "# theirs")
    async with tutor() as learner:
        await learner.goes_to(LESSON, STEP_ID)
        assert learner.code == "# theirs"
        assert "Another session" not in learner.verdict


async def test_the_last_whole_code_is_offered_in_place_of_what_the_disk_changed() -> None:
    with closing(Progress.open()) as progress:
        progress.save_draft(NAME, "# chang\0d")
        progress.archive(NAME, "# whole", DAMAGED)
    async with tutor() as learner:
        await learner.goes_to(LESSON, STEP_ID)
        await learner.sees("The disk has changed a part of your code", "f9: the other one (again: this one)")
        await learner.press("f9")
        await learner.sees(lambda: learner.code == "# whole", "The disk has changed a part of your code")
        assert ("# chang\0d", "reset") in [(each.code, each.why) for each in learner.progress.archived(NAME)]


async def test_an_untouched_exercise_shows_what_another_session_writes() -> None:
    async with tutor() as learner:
        await learner.goes_to(LESSON, STEP_ID)
        await learner.press("enter", "x", "escape", "m")
        await learner.sees("course map")
        write_elsewhere("# gone on with elsewhere", seen=True)
        await learner.goes_to(LESSON, STEP_ID)
        await learner.sees(lambda: learner.code == "# gone on with elsewhere")
        assert "Another session" not in learner.verdict
        await learner.press("enter", "y")
        await learner.sees(lambda: "y" in learner.code)
    with closing(Progress.open()) as progress:
        assert progress.archived(NAME) == []


async def test_a_verdict_is_not_disturbed_by_another_session() -> None:
    async with tutor() as learner:
        await learner.goes_to(LESSON, STEP_ID)
        await learner.writes(EXERCISE.solution)
        with closing(Progress.open()) as elsewhere:
            await learner.sees(lambda: elsewhere.draft(NAME) == EXERCISE.solution)
        write_elsewhere("# theirs", seen=True)
        await learner.press("f5")
        await learner.sees("✓ Passed.", lambda: learner.progress.draft(NAME) == "# theirs")
        assert learner.code == EXERCISE.solution


# Passing over, testing out, coming back -----------------------------------------------------------------------------


async def test_leaving_an_exercise_unsolved_marks_it_skipped() -> None:
    async with tutor() as learner:
        await learner.goes_to(LESSON, STEP_ID)
        await learner.press("n")
        await learner.sees("exercise skipped", position_text_near(LESSON, STEP_ID, 1))
        assert learner.progress.state(LESSON, STEP_ID) == "skipped"
        # The remark is shown once.
        await learner.press("f7", "n")
        await learner.sees(position_text_near(LESSON, STEP_ID, 1), lambda: "skipped" not in learner.text)
        await learner.press("f7", "m")
        await learner.sees("course map")
        assert "» Make v2 agree with v1   exercise 3.1   skipped" in learner.app.query_one("#about", TextPane).text
        # A passed exercise is done, and stays done.
        await learner.goes_to(LESSON, STEP_ID)
        await learner.writes(EXERCISE.solution)
        await learner.press("f5")
        await learner.sees("✓ Passed.")
        await learner.press("f8")
        await learner.sees(position_text_near(LESSON, STEP_ID, 1), lambda: "skipped" not in learner.text)
        assert learner.progress.state(LESSON, STEP_ID) == "done"


async def test_passing_the_challenge_tests_out_of_the_lesson() -> None:
    lesson = next(each for each in COURSE.lessons if each.challenge)
    challenge = lesson.challenge
    assert challenge is not None
    exercise = task(challenge.exercise)
    async with tutor() as learner:
        await learner.press(*["down"] * lesson.number)
        await learner.sees(lambda: "c: try the challenge" in learner.app.query_one("#about", TextPane).text)
        await learner.press("c")
        await learner.sees(position_text(lesson.id, exercise.id), "This is the challenge of the lesson")
        await learner.writes(exercise.solution)
        await learner.press("f5")
        await learner.sees("✓ Passed.", "You have tested out of this lesson: its other")
        states = {learner.progress.state(lesson.id, step.id) for step in lesson.main_steps}
        assert states == {"skipped", "done"}
        await learner.press("m")
        await learner.sees("tested out")
        assert "c: try the challenge" not in learner.app.query_one("#about", TextPane).text


async def test_a_finished_lesson_is_not_tested_out_of() -> None:
    lesson = next(each for each in COURSE.lessons if each.challenge)
    challenge = lesson.challenge
    assert challenge is not None
    exercise = task(challenge.exercise)
    async with tutor() as learner:
        for step in lesson.steps[: lesson.index(exercise.id)]:
            learner.progress.set_state(lesson.id, step.id, "done")
        await learner.goes_to(lesson.id, exercise.id)
        assert "challenge" not in learner.verdict
        assert "jump back" not in learner.text
        await learner.writes(exercise.solution)
        await learner.press("f5")
        await learner.sees("✓ Passed.", lambda: "tested out" not in learner.text)
        assert learner.progress.state(lesson.id, lesson.steps[-1].id) == "new"


def failed_and_passed_long_ago() -> None:
    progress = Progress.open()
    long_ago = datetime.now(UTC) - timedelta(days=9)
    progress.set_state(LESSON, STEP_ID, "done")
    progress.save_draft(NAME, EXERCISE.solution)
    data = progress.export()
    progress.close()
    attempts = [
        {"exercise": NAME, "time": (long_ago + timedelta(minutes=index)).isoformat(), "verdict": verdict, "code": "x"}
        for index, verdict in enumerate(("failed", "passed"))
    ]
    progress = Progress.open()
    progress.restore({**data, "attempts": attempts})
    progress.close()


async def test_a_missed_exercise_comes_back_for_review() -> None:
    failed_and_passed_long_ago()
    async with tutor() as learner:
        about = learner.app.query_one("#about", TextPane)
        await learner.sees("↻  4. Attention as a class", lambda: "v: open the next one" in about.text)
        assert "↻ 4. Make v2 agree with v1" in about.text
        await learner.press("v")
        await learner.sees("Once more, from the starter", lambda: learner.code == EXERCISE.starter)
        # The last answer is archived and can be restored; hints start again.
        assert learner.progress.archived(NAME)[-1].code == EXERCISE.solution
        assert "f3 hint" in learner.keys
        await learner.press("f9")
        await learner.sees(lambda: learner.code == EXERCISE.solution)
        await learner.press("f9", "enter", "#", "m", "escape", "m", "v")
        # A review that was started continues.
        await learner.sees("Once more", lambda: "#m" in learner.code)
        await learner.writes(EXERCISE.solution)
        await learner.press("f5")
        await learner.sees("✓ Passed.   f3: why it works")
        # A review is not where the learner works.
        assert learner.progress.position() is None
        assert "j jump back" in learner.text
        await learner.press("escape", "j")
        await learner.sees("course map", lambda: "↻" not in learner.text)
        await learner.press("v")
        await learner.sees("Nothing is due for review.")


async def test_an_exercise_in_progress_is_not_due_for_review() -> None:
    async with tutor() as learner:
        await learner.goes_to(LESSON, STEP_ID)
        await learner.press("f5")
        await learner.sees("✗ Not yet.")
        await learner.press("m")
        await learner.sees("course map", lambda: "↻" not in learner.text)


async def test_an_answer_to_a_question_is_recorded() -> None:
    lesson = COURSE.lesson("all-queries")
    step = lesson.step("sums-to-one")
    assert isinstance(step, ChoiceStep)
    right = next(index for index, option in enumerate(step.options) if option.right)
    wrong = next(index for index, option in enumerate(step.options) if not option.right)
    async with tutor() as learner:
        progress = learner.progress
        learner.opens(lesson.id, lesson.index(step.id))
        await learner.sees(f"Question: {step.title}", "live, 2 ms")
        await learner.press("f3")
        await learner.sees(lambda: progress.hints_used(step.exercise) == 1)
        await learner.press("abcdefghi"[wrong])
        await learner.sees(lambda: not progress.passed(step.exercise), "✗")
        await learner.press("abcdefghi"[right])
        await learner.sees(lambda: progress.state(lesson.id, step.id) == "done", "✓")
        await learner.press("f8", "f7")
        await learner.sees("✓ Right: ")
        await learner.press("f1")
        await learner.sees("A question about the run")
    progress = Progress.open()
    assert [attempt.verdict for attempt in progress.attempts(step.exercise)] == ["failed", "passed"]
    progress.close()


async def test_leaving_a_question_unanswered_marks_it_skipped() -> None:
    lesson = COURSE.lesson("all-queries")
    async with tutor() as learner:
        learner.opens(lesson.id, lesson.index("sums-to-one"))
        await learner.sees("Question: ")
        await learner.press("f8")
        await learner.sees("skipped")
        assert learner.progress.state(lesson.id, "sums-to-one") == "skipped"


async def test_a_question_under_review_starts_afresh() -> None:
    lesson = COURSE.lesson("all-queries")
    step = lesson.step("sums-to-one")
    assert isinstance(step, ChoiceStep)
    async with tutor() as learner:
        learner.opens(lesson.id, lesson.index(step.id))
        right = next(index for index, option in enumerate(step.options) if option.right)
        await learner.sees("Question: ")
        await learner.press("abcdefghi"[right])
        await learner.sees("✓")
        await learner.press("m")
        learner.opens(lesson.id, lesson.index(step.id), purpose=Purpose.REVIEW)
        await learner.sees("live, 2 ms", "a-d", lambda: "✓" not in learner.text)
        await learner.press("abcdefghi"[right])
        await learner.sees("✓")


async def test_keys_of_the_map_do_nothing_elsewhere() -> None:
    async with tutor() as learner:
        await learner.goes_to(LESSON, "v1")
        await learner.press("c", "x")
        await learner.sees(position_text(LESSON, "v1"))
        assert learner.app._exported is None


async def test_an_export_replaces_that_of_before_and_its_path_is_whole() -> None:
    # As wide as the path of a temporary folder of these tests may need.
    async with tutor(size=(160, 24)) as learner:
        await learner.press("x")
        await learner.sees("were written to")
        file = learner.app._exported
        assert file is not None
        try:
            await learner.sees(str(file))
            # It does not cover the two lines where a cell is read out and keys are named.
            assert max(index for index, line in enumerate(learner.lines) if "were written to" in line) < 22
            await learner.press("x")
            await learner.pilot.pause()
            assert learner.app._exported == file
        finally:
            file.unlink()


async def test_a_letter_that_is_no_option_does_what_it_does_elsewhere() -> None:
    lesson = COURSE.lesson("all-queries")
    step = lesson.step("sums-to-one")
    assert isinstance(step, ChoiceStep)
    assert len(step.options) < 6
    async with tutor() as learner:
        learner.opens(lesson.id, lesson.index(step.id))
        await learner.sees("Question: ", "live, 2 ms")
        await learner.press("f")
        await learner.sees(lambda: learner.app.frame.view_id == "flow")


@pytest.mark.parametrize("terminal", [SSH, Terminal(depth="none", unicode=False)])
@pytest.mark.parametrize("size", [(60, 20), (80, 24), (120, 40)])
async def test_every_view_at_every_size(size: tuple[int, int], terminal: Terminal) -> None:
    session = FakeSession()
    session.wrong_judgement = PARTING
    async with tutor(session, size=size, terminal=terminal) as learner:
        await learner.goes_to(LESSON, STEP_ID)
        await learner.press("f5")
        await learner.sees("Not yet.")
        screens = learner.text
        for keys, sign in ((("d",), "yours"), (("escape", "f6"), "live"), (("f6", *ALL, "f3", "f3"), "You gave up")):
            await learner.press(*keys)
            await learner.sees(sign, lambda: len(learner.lines) == size[1])
            for other in ((40, 12), (20, 5), size):
                await learner.resizes(*other)
            screens += learner.text
            await learner.press("f1")
            await learner.sees("closes")
            await learner.press("z")
            await learner.sees(lambda: "closes" not in learner.text)
        assert terminal.unicode or screens.isascii()
