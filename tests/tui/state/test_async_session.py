"""The worker as the screen sees it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest

from lessons.engine.session import Session
from lessons.format.lesson import Course, ExerciseStep
from lessons.results.code_unit import CodeUnit
from lessons.results.result import Window, WorkerError
from lessons.results.summaries import Blocks, RowStats
from lessons.results.tensor_questions import BlocksQuestion, ExplainQuestion, RowQuestion, WindowQuestion
from tests.course import COURSE
from tests.tui.fake_session import FakeSession
from tui.state.async_session import AsyncSession


@pytest.fixture(scope="module")
def course() -> Course:
    return COURSE


def task(course: Course) -> ExerciseStep:
    """Exercise 3.1."""
    exercise = course.exercise("3.1")[1]
    assert isinstance(exercise, ExerciseStep)
    return exercise


@pytest.fixture
def session() -> FakeSession:
    return FakeSession()


@pytest.fixture
async def engine(session: FakeSession) -> AsyncIterator[AsyncSession]:
    made = AsyncSession(session)
    yield made
    made.close()


FIRST_CELL = WindowQuestion("scores", (), 0, 0, 1, 1, CodeUnit.step("scores"))


async def until(true: Callable[[], object], seconds: float = 10) -> None:
    """Let other tasks run until a condition holds."""
    async with asyncio.timeout(seconds):
        while not true():
            await asyncio.sleep(0.001)


async def test_a_run(engine: AsyncSession, course: Course) -> None:
    lesson = course.lesson("one-query")
    run = await engine.run(lesson, "scores")
    assert [step.id for step in run.steps] == [
        step.id for step in lesson.steps[: lesson.index("scores") + 1] if step.kind != "exercise"
    ]


async def test_a_number_of_a_step_that_the_run_has_not_come_to(engine: AsyncSession, course: Course) -> None:
    run = await engine.run(course.lesson("one-query"), "scores")
    name = run.steps[-1].tensors[0].name
    assert await engine.ask(ExplainQuestion(name, (0,), CodeUnit.step("scores"))) is not None
    assert await engine.ask(ExplainQuestion("weights", (0,), CodeUnit.step("softmax"))) is None


async def test_a_scratch_run_is_kept_for_its_numbers(
    engine: AsyncSession, session: FakeSession, course: Course
) -> None:
    lesson = course.lesson("attention-classes")
    with_code, run = await engine.attempt(lesson, task(course), "x = 1")
    assert with_code.steps[-1].id == run.steps[-1].id == "your-code"
    assert (
        await engine.ask(ExplainQuestion(run.steps[-1].tensors[0].name, (0,), CodeUnit.step("your-code"))) is not None
    )
    await engine.run(course.lesson("one-query"), "scores")
    await until(session.runs[0].closed.is_set)


async def test_a_scratch_run_that_is_not_waited_for_is_closed(
    engine: AsyncSession, session: FakeSession, course: Course
) -> None:
    session.held.clear()
    attempt = asyncio.create_task(engine.attempt(course.lesson("attention-classes"), task(course), "x = 1"))
    await until(lambda: session.asked)
    attempt.cancel()
    with pytest.raises(asyncio.CancelledError):
        await attempt
    assert session.stopped.is_set()


async def test_a_comparison_stops_what_is_running(engine: AsyncSession, session: FakeSession, course: Course) -> None:
    session.held.clear()
    check = asyncio.create_task(engine.check(task(course), ""))
    await until(lambda: session.asked)
    comparison = asyncio.create_task(engine.compare(task(course), ""))
    assert (await check).stopped
    session.held.set()
    assert (await comparison).intermediates


async def test_a_newer_run_takes_the_place_of_an_older_one(
    engine: AsyncSession, session: FakeSession, course: Course
) -> None:
    first = await engine.run(course.lesson("one-query"), "scores")
    second = await engine.run(course.lesson("all-queries"), "product")
    # One is kept for its numbers; the other lets go of its process.
    await until(session.runs[0].closed.is_set)
    assert not session.runs[1].closed.is_set()
    window = await engine.ask(WindowQuestion("scores", (), 2, 3, 2, 2, CodeUnit.step("product")))
    assert isinstance(window, Window)
    assert window.rows == ((2.003, 2.004), (3.003, 3.004))
    assert (session.runs[0].asked, session.runs[1].asked) == ([], [((), 2, 3, 2, 2)])
    assert first is not second
    engine.close()
    assert session.runs[1].closed.is_set()


async def test_a_run_that_is_not_waited_for_any_more_is_stopped_and_closed(
    engine: AsyncSession, session: FakeSession, course: Course
) -> None:
    session.held.clear()
    task = asyncio.create_task(engine.run(course.lesson("one-query"), "scores"))
    await until(lambda: session.asked)
    before = session.cancelled
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert session.cancelled > before
    # It gives a result all the same, which nobody wants.
    await until(lambda: session.runs and session.runs[0].closed.is_set())
    assert await engine.ask(FIRST_CELL) is None


async def test_the_newest_of_many_runs_wins(engine: AsyncSession, session: FakeSession, course: Course) -> None:
    lesson = course.lesson("one-query")
    session.loaded.clear()
    tasks = [asyncio.create_task(engine.run(lesson, step.id)) for step in lesson.steps]
    await asyncio.sleep(0)
    for task in tasks[:-1]:
        task.cancel()
    await asyncio.gather(*tasks[:-1], return_exceptions=True)
    session.loaded.set()
    run = await tasks[-1]
    assert run.steps[-1].id == lesson.steps[-1].id
    # Those that had not begun never did.
    assert session.asked in (["run one-query/why", "run one-query/remember"], ["run one-query/remember"])
    await until(lambda: all(each.closed.is_set() for each in session.runs[:-1]))
    assert not session.runs[-1].closed.is_set()


async def test_a_check_stops_what_is_running(engine: AsyncSession, session: FakeSession, course: Course) -> None:
    session.held.clear()
    run = asyncio.create_task(engine.run(course.lesson("one-query"), "scores"))
    await until(lambda: session.asked)
    exercise = task(course)
    check = asyncio.create_task(engine.check(exercise, exercise.solution))
    await until(lambda: len(session.asked) == 2)
    assert run.done() or await run
    session.held.set()
    assert (await check).passed


async def test_windows_are_answered_while_something_runs(
    engine: AsyncSession, session: FakeSession, course: Course
) -> None:
    assert await engine.ask(FIRST_CELL) is None
    await engine.run(course.lesson("one-query"), "scores")
    session.held.clear()
    exercise = task(course)
    check = asyncio.create_task(engine.check(exercise, ""))
    await until(lambda: len(session.asked) == 2)
    assert await engine.ask(FIRST_CELL) is not None
    engine.stop()
    assert not (await check).passed


async def test_blocks_and_rows(engine: AsyncSession, course: Course) -> None:
    assert await engine.ask(BlocksQuestion("scores", (), 3, 6, "max", CodeUnit.step("product"))) is None
    assert await engine.ask(RowQuestion("scores", (), 2, 5, CodeUnit.step("product"))) is None
    await engine.run(course.lesson("all-queries"), "product")
    blocks = await engine.ask(BlocksQuestion("scores", (), 3, 6, "max", CodeUnit.step("product")))
    assert isinstance(blocks, Blocks)
    assert blocks.grid == ((2.005,), (5.005,))
    stats = await engine.ask(RowQuestion("scores", (), 2, 1, CodeUnit.step("product")))
    assert isinstance(stats, RowStats)
    assert stats.top == ((7, 2.007),)


async def test_a_prompt_and_the_lesson_side_by_side(engine: AsyncSession, session: FakeSession, course: Course) -> None:
    await engine.run(course.lesson("one-query"), "scores")
    assert await engine.open_prompt(course.lesson("one-query"), "scores") == (("x", "(2)"),)
    assert (await engine.enter("one")).stdout == "one\n"
    lesson, play = session.runs
    # What is asked goes to the run that it is about.
    assert await engine.ask(WindowQuestion("x", (), 1, 0, 1, 1, CodeUnit.input(1))) is not None
    assert await engine.ask(WindowQuestion("scores", (), 2, 0, 1, 1, CodeUnit.step("scores"))) is not None
    assert (lesson.asked, play.asked) == ([((), 2, 0, 1, 1)], [((), 1, 0, 1, 1)])
    engine.close_prompt()
    await until(play.closed.is_set)
    assert not lesson.closed.is_set()


async def test_a_prompt_whose_child_dies(engine: AsyncSession, session: FakeSession, course: Course) -> None:
    await engine.open_prompt(course.lesson("one-query"), "scores")
    await engine.enter("one")
    died = await engine.enter("die")
    assert died.error is not None
    assert died.names == (("x", "(2)"),)
    assert (await engine.enter("two")).stdout == "two\n"
    run = "run one-query/scores"
    assert session.asked == [run, "enter 1 one", "enter 2 die", run, "enter 1 one", "enter 3 two"]


async def test_an_input_is_stopped(engine: AsyncSession, session: FakeSession, course: Course) -> None:
    await engine.open_prompt(course.lesson("one-query"), "scores")
    session.held.clear()
    entered = asyncio.create_task(engine.enter("one"))
    await until(lambda: len(session.asked) == 2)
    engine.stop()
    played = await entered
    assert played.error is not None
    assert played.error.kind == "stopped"


async def test_leaving_a_prompt_stops_what_it_runs(engine: AsyncSession, session: FakeSession, course: Course) -> None:
    await engine.open_prompt(course.lesson("one-query"), "scores")
    session.held.clear()
    entered = asyncio.create_task(engine.enter("one"))
    await until(lambda: len(session.asked) == 2)
    engine.close_prompt()
    assert (await entered).error is not None
    await until(session.runs[0].closed.is_set)
    # A run of the lesson is none of its business.
    run = asyncio.create_task(engine.run(course.lesson("one-query"), "scores"))
    await until(lambda: len(session.asked) == 3)
    before = session.cancelled
    engine.close_prompt()
    assert session.cancelled == before
    session.held.set()
    await run


async def test_a_prompt_takes_the_place_of_another(engine: AsyncSession, session: FakeSession, course: Course) -> None:
    await engine.open_prompt(course.lesson("one-query"), "scores")
    await engine.open_prompt(course.lesson("all-queries"), "product")
    await until(session.runs[0].closed.is_set)
    assert not session.runs[1].closed.is_set()
    engine.close()
    assert session.runs[1].closed.is_set()


async def test_a_worker_that_does_not_start(course: Course) -> None:
    engine = AsyncSession(FakeSession(problem="there is no PyTorch"))
    with pytest.raises(WorkerError, match="there is no PyTorch"):
        await engine.start()
    with pytest.raises(WorkerError, match="there is no PyTorch"):
        await engine.run(course.lesson("one-query"), "scores")
    assert not engine.ready
    engine.close()


async def test_closing_while_pytorch_loads(course: Course) -> None:
    """A learner who quits at once is not kept waiting."""
    session = FakeSession(loaded=False)
    engine = AsyncSession(session)
    start = asyncio.create_task(engine.start())
    run = asyncio.create_task(engine.run(course.lesson("one-query"), "scores"))
    await asyncio.sleep(0)
    assert not engine.ready
    engine.close()
    assert session.closed
    with pytest.raises(WorkerError):
        await start
    # It was in the queue and never began.
    with pytest.raises((asyncio.CancelledError, WorkerError)):
        await run


async def test_closing_the_real_one_while_pytorch_loads() -> None:
    engine = AsyncSession(Session())
    start = asyncio.create_task(engine.start())
    await asyncio.sleep(0)
    engine.close()
    async with asyncio.timeout(10):
        with pytest.raises(WorkerError):
            await start
