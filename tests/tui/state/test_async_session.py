"""The worker as the screen sees it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable

import pytest

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import Course, ExerciseStep
from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.results.result import Window, WorkerError
from attn_tutor.lessons.results.summaries import Blocks, RowStats
from attn_tutor.lessons.results.tensor_questions import BlocksQuestion, ExplainQuestion, RowQuestion, WindowQuestion
from attn_tutor.tui.state.async_session import AsyncSession
from tests.course import COURSE
from tests.tui.fake_session import FakeSession


@pytest.fixture(scope="module")
def course() -> Course:
    return COURSE


def task(course: Course) -> ExerciseStep:
    """Return exercise 3.1."""
    exercise = course.exercise("3.1")[1]
    assert isinstance(exercise, ExerciseStep)
    return exercise


@pytest.fixture
def session() -> FakeSession:
    return FakeSession()


@pytest.fixture
async def async_session(session: FakeSession) -> AsyncIterator[AsyncSession]:
    wrapper = AsyncSession(session)
    yield wrapper
    wrapper.close()


FIRST_CELL = WindowQuestion("scores", (), 0, 0, 1, 1, CodeUnit.step("scores"))


async def until(true: Callable[[], object], seconds: float = 60) -> None:
    """Let other tasks run until a condition holds."""
    async with asyncio.timeout(seconds):
        while not true():
            await asyncio.sleep(0.001)


async def test_a_run(async_session: AsyncSession, course: Course) -> None:
    lesson = course.lesson("one-query")
    run = await async_session.run(lesson, "scores")
    assert [step.id for step in run.steps] == [
        step.id for step in lesson.steps[: lesson.index("scores") + 1] if step.kind != "exercise"
    ]


async def test_a_question_about_a_step_that_the_run_has_not_reached(
    async_session: AsyncSession, course: Course
) -> None:
    run = await async_session.run(course.lesson("one-query"), "scores")
    name = run.steps[-1].tensors[0].name
    assert await async_session.ask(ExplainQuestion(name, (0,), CodeUnit.step("scores"))) is not None
    assert await async_session.ask(ExplainQuestion("weights", (0,), CodeUnit.step("softmax"))) is None


async def test_a_scratch_run_stays_for_questions(
    async_session: AsyncSession, session: FakeSession, course: Course
) -> None:
    lesson = course.lesson("attention-classes")
    with_code, run = await async_session.attempt(lesson, task(course), "x = 1")
    assert with_code.steps[-1].id == run.steps[-1].id == "your-code"
    assert (
        await async_session.ask(ExplainQuestion(run.steps[-1].tensors[0].name, (0,), CodeUnit.step("your-code")))
        is not None
    )
    await async_session.run(course.lesson("one-query"), "scores")
    await until(session.runs[0].closed.is_set)


async def test_a_canceled_scratch_run_is_closed(
    async_session: AsyncSession, session: FakeSession, course: Course
) -> None:
    session.held.clear()
    attempt = asyncio.create_task(async_session.attempt(course.lesson("attention-classes"), task(course), "x = 1"))
    await until(lambda: session.asked)
    attempt.cancel()
    with pytest.raises(asyncio.CancelledError):
        await attempt
    assert session.stopped.is_set()


async def test_a_comparison_stops_what_is_running(
    async_session: AsyncSession, session: FakeSession, course: Course
) -> None:
    session.held.clear()
    check = asyncio.create_task(async_session.check(task(course), ""))
    await until(lambda: session.asked)
    comparison = asyncio.create_task(async_session.compare(task(course), ""))
    assert (await check).stopped
    session.held.set()
    assert (await comparison).intermediates


async def test_a_new_run_replaces_the_previous_one(
    async_session: AsyncSession, session: FakeSession, course: Course
) -> None:
    first = await async_session.run(course.lesson("one-query"), "scores")
    second = await async_session.run(course.lesson("all-queries"), "product")
    # The new run stays for questions; the previous one ends its process.
    await until(session.runs[0].closed.is_set)
    assert not session.runs[1].closed.is_set()
    window = await async_session.ask(WindowQuestion("scores", (), 2, 3, 2, 2, CodeUnit.step("product")))
    assert isinstance(window, Window)
    assert window.rows == ((2.003, 2.004), (3.003, 3.004))
    assert (session.runs[0].asked, session.runs[1].asked) == ([], [((), 2, 3, 2, 2)])
    assert first is not second
    async_session.close()
    assert session.runs[1].closed.is_set()


async def test_a_canceled_run_is_stopped_and_closed(
    async_session: AsyncSession, session: FakeSession, course: Course
) -> None:
    session.held.clear()
    task = asyncio.create_task(async_session.run(course.lesson("one-query"), "scores"))
    await until(lambda: session.asked)
    before = session.cancelled
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert session.cancelled > before
    # The stopped run still returns a result, which must be closed.
    await until(lambda: session.runs and session.runs[0].closed.is_set())
    assert await async_session.ask(FIRST_CELL) is None


async def test_the_newest_of_many_runs_wins(async_session: AsyncSession, session: FakeSession, course: Course) -> None:
    lesson = course.lesson("one-query")
    session.loaded.clear()
    tasks = [asyncio.create_task(async_session.run(lesson, step.id)) for step in lesson.steps]
    await asyncio.sleep(0)
    for task in tasks[:-1]:
        task.cancel()
    await asyncio.gather(*tasks[:-1], return_exceptions=True)
    session.loaded.set()
    run = await tasks[-1]
    assert run.steps[-1].id == lesson.steps[-1].id
    # Runs that had not started never start.
    assert session.asked in (["run one-query/why", "run one-query/remember"], ["run one-query/remember"])
    await until(lambda: all(each.closed.is_set() for each in session.runs[:-1]))
    assert not session.runs[-1].closed.is_set()


async def test_a_check_stops_what_is_running(async_session: AsyncSession, session: FakeSession, course: Course) -> None:
    session.held.clear()
    run = asyncio.create_task(async_session.run(course.lesson("one-query"), "scores"))
    await until(lambda: session.asked)
    exercise = task(course)
    check = asyncio.create_task(async_session.check(exercise, exercise.solution))
    await until(lambda: len(session.asked) == 2)
    assert run.done() or await run
    session.held.set()
    assert (await check).passed


async def test_a_run_that_is_nice_to_have_waits(
    async_session: AsyncSession, session: FakeSession, course: Course
) -> None:
    session.held.clear()
    exercise, lesson = task(course), course.lesson("one-query")
    check = asyncio.create_task(async_session.check(exercise, exercise.solution))
    await until(lambda: session.asked)
    before = session.cancelled
    runs = [asyncio.create_task(async_session.run_later(lesson, "scores")) for _ in range(2)]
    await asyncio.sleep(0)
    # Canceled before it has begun, it stops nothing either.
    runs[0].cancel()
    await asyncio.gather(runs[0], return_exceptions=True)
    session.held.set()
    assert (await check).passed
    assert (await runs[1]).result("scores") is not None
    assert session.cancelled == before


async def test_windows_are_answered_while_something_runs(
    async_session: AsyncSession, session: FakeSession, course: Course
) -> None:
    assert await async_session.ask(FIRST_CELL) is None
    await async_session.run(course.lesson("one-query"), "scores")
    session.held.clear()
    exercise = task(course)
    check = asyncio.create_task(async_session.check(exercise, ""))
    await until(lambda: len(session.asked) == 2)
    assert await async_session.ask(FIRST_CELL) is not None
    async_session.stop()
    assert not (await check).passed


async def test_blocks_and_rows(async_session: AsyncSession, course: Course) -> None:
    assert await async_session.ask(BlocksQuestion("scores", (), 3, 6, "max", CodeUnit.step("product"))) is None
    assert await async_session.ask(RowQuestion("scores", (), 2, 5, CodeUnit.step("product"))) is None
    await async_session.run(course.lesson("all-queries"), "product")
    blocks = await async_session.ask(BlocksQuestion("scores", (), 3, 6, "max", CodeUnit.step("product")))
    assert isinstance(blocks, Blocks)
    assert blocks.grid == ((2.005,), (5.005,))
    stats = await async_session.ask(RowQuestion("scores", (), 2, 1, CodeUnit.step("product")))
    assert isinstance(stats, RowStats)
    assert stats.top == ((7, 2.007),)


async def test_a_prompt_and_the_lesson_side_by_side(
    async_session: AsyncSession, session: FakeSession, course: Course
) -> None:
    await async_session.run(course.lesson("one-query"), "scores")
    assert await async_session.open_prompt(course.lesson("one-query"), "scores") == (("x", "(2)"),)
    assert (await async_session.enter("one")).stdout == "one\n"
    lesson, prompt = session.runs
    # A question goes to the run that it is about.
    assert await async_session.ask(WindowQuestion("x", (), 1, 0, 1, 1, CodeUnit.input(1))) is not None
    assert await async_session.ask(WindowQuestion("scores", (), 2, 0, 1, 1, CodeUnit.step("scores"))) is not None
    assert (lesson.asked, prompt.asked) == ([((), 2, 0, 1, 1)], [((), 1, 0, 1, 1)])
    async_session.close_prompt()
    await until(prompt.closed.is_set)
    assert not lesson.closed.is_set()


async def test_a_prompt_whose_child_dies(async_session: AsyncSession, session: FakeSession, course: Course) -> None:
    await async_session.open_prompt(course.lesson("one-query"), "scores")
    await async_session.enter("one")
    died = await async_session.enter("die")
    assert died.error is not None
    assert died.names == (("x", "(2)"),)
    assert (await async_session.enter("two")).stdout == "two\n"
    run = "run one-query/scores"
    assert session.asked == [run, "enter 1 one", "enter 2 die", run, "enter 1 one", "enter 3 two"]


async def test_an_input_is_stopped(async_session: AsyncSession, session: FakeSession, course: Course) -> None:
    await async_session.open_prompt(course.lesson("one-query"), "scores")
    session.held.clear()
    entered = asyncio.create_task(async_session.enter("one"))
    await until(lambda: len(session.asked) == 2)
    async_session.stop()
    result = await entered
    assert result.error is not None
    assert result.error.kind == "stopped"


async def test_leaving_a_prompt_stops_what_it_runs(
    async_session: AsyncSession, session: FakeSession, course: Course
) -> None:
    await async_session.open_prompt(course.lesson("one-query"), "scores")
    session.held.clear()
    entered = asyncio.create_task(async_session.enter("one"))
    await until(lambda: len(session.asked) == 2)
    async_session.close_prompt()
    assert (await entered).error is not None
    await until(session.runs[0].closed.is_set)
    # Closing a prompt does not stop a run of the lesson.
    run = asyncio.create_task(async_session.run(course.lesson("one-query"), "scores"))
    await until(lambda: len(session.asked) == 3)
    before = session.cancelled
    async_session.close_prompt()
    assert session.cancelled == before
    session.held.set()
    await run


async def test_a_new_prompt_replaces_the_previous_one(
    async_session: AsyncSession, session: FakeSession, course: Course
) -> None:
    await async_session.open_prompt(course.lesson("one-query"), "scores")
    await async_session.open_prompt(course.lesson("all-queries"), "product")
    await until(session.runs[0].closed.is_set)
    assert not session.runs[1].closed.is_set()
    async_session.close()
    assert session.runs[1].closed.is_set()


async def test_a_worker_that_does_not_start(course: Course) -> None:
    async_session = AsyncSession(FakeSession(problem="there is no PyTorch"))
    with pytest.raises(WorkerError, match="there is no PyTorch"):
        await async_session.start()
    with pytest.raises(WorkerError, match="there is no PyTorch"):
        await async_session.run(course.lesson("one-query"), "scores")
    assert not async_session.ready
    async_session.close()


async def test_closing_while_pytorch_loads(course: Course) -> None:
    """A learner who quits at once does not have to wait."""
    begun = threading.Event()

    class Loading(FakeSession):
        def wait_ready(self) -> None:
            begun.set()
            super().wait_ready()

    session = Loading(loaded=False)
    async_session = AsyncSession(session)
    start = asyncio.create_task(async_session.start())
    run = asyncio.create_task(async_session.run(course.lesson("one-query"), "scores"))
    await until(begun.is_set)
    assert not async_session.ready
    async_session.close()
    assert session.closed
    with pytest.raises(WorkerError):
        await start
    # The run was in the queue and never started.
    with pytest.raises((asyncio.CancelledError, WorkerError)):
        await run


async def test_closing_a_real_session_while_pytorch_loads() -> None:
    begun = threading.Event()

    class Loading(Session):
        def wait_ready(self) -> None:
            begun.set()
            super().wait_ready()

    async_session = AsyncSession(Loading())
    start = asyncio.create_task(async_session.start())
    await until(begun.is_set)
    async_session.close()
    async with asyncio.timeout(60):
        with pytest.raises(WorkerError):
            await start
