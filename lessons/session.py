"""The parent's side of the worker: run a lesson's steps, judge an answer, within deadlines, whatever the code does.

Everything here blocks, so a screen calls it from a thread; `cancel` may be called from any other thread.
"""

from __future__ import annotations

import array
import contextlib
import secrets
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from lessons import labels, template
from lessons.launch import Exit, ForkUnsafe, Job, Launcher, SpareLauncher, line_of, make_launcher, output
from lessons.model import ExerciseStep, Lesson, Limits, ReadStep, RunStep, Shown
from lessons.result import (
    CheckResult,
    Failure,
    FailureKind,
    Judgement,
    StepResult,
    Tensor,
    Verdict,
    Window,
    WorkerError,
)
from lessons.worker import wire

ANSWER_LIMIT = 10.0
JUDGE_LIMITS = Limits(cpu=30, wall=60, memory=2048)
ROUNDS = 2
MAX_SOURCE = 1024 * 1024


class Run:
    """A lesson that has run up to a step: the results, and a child that still holds the tensors."""

    def __init__(self, steps: list[StepResult], job: Job | None) -> None:
        self.steps = steps
        self._job = job
        self._lock = threading.Lock()

    def result(self, step_id: str) -> StepResult | None:
        """What a step gave, None if the run did not come to it."""
        return next((step for step in self.steps if step.id == step_id), None)

    def window(
        self, step_id: str, name: str, lead: tuple[int, ...], top: int, left: int, height: int, width: int
    ) -> Window | None:
        """A rectangle of a shown tensor from the child; None if the child is gone or does not know it."""
        with self._lock:
            if self._job is None:
                return None
            question = {"op": "window", "step": step_id, "name": name, "lead": list(lead)}
            place = {"top": top, "left": left, "height": height, "width": width}
            try:
                wire.send(self._job.talk, question | place)
                reply = wire.receive(self._job.talk, deadline=time.monotonic() + ANSWER_LIMIT)
                return _window(reply, lead, top, left)
            except (wire.WireError, TimeoutError, ValueError, KeyError, TypeError):
                self._end()
                return None

    def close(self) -> None:
        """End the child."""
        with self._lock:
            self._end()

    def _end(self) -> None:
        if self._job is not None:
            self._job.close()
            self._job = None


class Session:
    """A worker and what is asked of it. Close it when done: nothing of it survives that."""

    def __init__(self, launcher: Launcher | None = None, *, nice: int = 0, kind: str = "") -> None:
        self._launcher = launcher or make_launcher(kind, nice)
        self._running: Job | None = None
        self._cancelled = threading.Event()
        self._closed = threading.Event()
        self._lock = threading.Lock()

    def start(self) -> None:
        """Begin to load PyTorch in the worker; returns at once."""
        self._launcher.start()

    @property
    def ready(self) -> bool:
        """Whether the worker has PyTorch loaded."""
        return self._launcher.ready

    def wait_ready(self) -> None:
        """Wait until the worker can run code. Raises `WorkerError`."""
        self._launcher.wait_ready()

    def cancel(self) -> None:
        """Stop the program that is running now, if any."""
        self._cancelled.set()
        with self._lock:
            job = self._running
        if job is not None:
            job.end(ask_line=True)

    def close(self) -> None:
        """End the worker and all its children. What is asked of the session afterwards raises `WorkerError`."""
        self._closed.set()
        self.cancel()
        self._launcher.close()

    # Running a lesson --------------------------------------------------------------------------------------------

    def run(self, lesson: Lesson, upto: str | None = None) -> Run:
        """Run the lesson from its setup up to the step `upto` (default: all of it).

        A step that fails ends the run; its result says how, and later steps have none. Raises `WorkerError` if the
        worker cannot run anything at all.
        """
        self._cancelled.clear()
        last = len(lesson.steps) if upto is None else lesson.index(upto) + 1
        steps = [step for step in lesson.steps[:last] if isinstance(step, ReadStep | RunStep)]
        results: list[StepResult] = []
        job = self._launch(lesson.limits)
        try:
            with self._current(job):
                came_to_end = self._run_steps(lesson, steps, job, results)
        except BaseException:
            job.close()
            raise
        if not came_to_end:
            job.close()
            return Run(results, None)
        job.settled()
        return Run(results, job)

    def _run_steps(self, lesson: Lesson, steps: list[ReadStep | RunStep], job: Job, results: list[StepResult]) -> bool:
        """Send the job and collect the results of its steps. Returns whether the child said that it was done."""
        deadline = time.monotonic() + lesson.limits.wall
        printed = 0
        try:
            request = {"op": "lesson", "seed": lesson.seed, "setup": lesson.setup}
            wire.send(job.talk, request | {"steps": [_request(lesson, step) for step in steps]})
            while (frame := wire.receive(job.talk, deadline)).op == "step":
                results.append(_step_result(lesson, steps[len(results)], frame, job))
                printed = int(frame.header["stdout"][1])
            if frame.op != "done":
                raise wire.WireError("unexpected message")
            return True
        except TimeoutError:
            failure = self._timeout(job, lesson.limits.wall)
        except (wire.WireError, ValueError, KeyError, TypeError, IndexError) as error:
            failure = self._death(job, error, lesson.limits)
        if len(results) < len(steps):
            results.append(StepResult(steps[len(results)].id, stdout=output(job.out, printed), error=failure))
        return False

    # Judging -----------------------------------------------------------------------------------------------------

    def check(self, exercise: ExerciseStep, source: str) -> Judgement:
        """Judge an answer. Raises `WorkerError` if it cannot be judged through no fault of the answer."""
        began = time.monotonic()
        self._cancelled.clear()
        try:
            judgement = self._check(exercise, source)
        except WorkerError:
            if not self._cancelled.is_set():
                raise
            judgement = _unjudged(exercise, "error", "Stopped by you.")
        seconds = round(time.monotonic() - began, 3)
        return replace(judgement, seconds=seconds)

    def _check(self, exercise: ExerciseStep, source: str) -> Judgement:
        def verdict(kind: Verdict, message: str, line: int | None = None, stdout: str = "") -> Judgement:
            return _unjudged(exercise, kind, message, line, stdout)

        if not source.strip():
            return verdict("failed", f"There is no code yet. {_define(exercise.defines)}")
        code = source.encode("utf-8", "surrogatepass")
        if len(code) > MAX_SOURCE:
            return verdict("error", f"The program is longer than {MAX_SOURCE // 1024} KB.")
        seeds = [secrets.randbelow(2**31) for _ in range(ROUNDS)]
        with self._ending(JUDGE_LIMITS) as judge:
            hidden = self._ask_judge(judge, exercise, seeds)
            # It runs no program of the learner; what theirs leaves behind is not to be counted as its own.
            judge.settled()
            with self._ending(exercise.limits) as job:
                deadline = time.monotonic() + exercise.limits.wall
                try:
                    request = {"op": "answer", "probe": exercise.probe, "seeds": seeds}
                    wire.send(job.talk, request | {"defines": list(exercise.defines)}, code)
                    loaded = wire.receive(job.talk, deadline).header
                    if loaded.get("error"):
                        failure = _failure(loaded["error"])
                        return verdict(_verdict(failure), failure.message, failure.line, output(job.out))
                    if loaded.get("missing"):
                        names = tuple(str(name) for name in loaded["missing"])
                        return verdict("failed", _define(names), stdout=output(job.out))
                    wire.send(job.talk, {"op": "contexts", "contexts": hidden.header["contexts"]}, hidden.blob)
                    answered = wire.receive(job.talk, deadline)
                    if answered.header.get("error"):
                        failure = _failure(answered.header["error"])
                        return verdict(_verdict(failure), failure.message, failure.line, output(job.out))
                    gots, blob = answered.header["gots"], answered.blob
                except TimeoutError:
                    failure = self._timeout(job, exercise.limits.wall)
                    return verdict(_verdict(failure), failure.message, failure.line, output(job.out))
                except (wire.WireError, ValueError, KeyError, TypeError) as error:
                    failure = self._death(job, error, exercise.limits)
                    return verdict(_verdict(failure), failure.message, failure.line, output(job.out))
                job.end()
                printed = output(job.out)
            return self._decide(judge, exercise, gots, blob, printed)

    def _ask_judge(self, judge: Job, exercise: ExerciseStep, seeds: list[int]) -> wire.Frame:
        checks = [{"name": check.name, "test": check.test, "fail": check.fail} for check in exercise.checks]
        request = {"op": "judge", "seeds": seeds, "context": exercise.context, "probe": exercise.probe}
        try:
            wire.send(judge.talk, request | {"solution": exercise.solution, "checks": checks})
            return wire.receive(judge.talk, time.monotonic() + JUDGE_LIMITS.wall)
        except (wire.WireError, TimeoutError):
            raise self._judge_failed(judge) from None

    def _decide(self, judge: Job, exercise: ExerciseStep, gots: object, blob: bytes, printed: str) -> Judgement:
        unreadable = "Your program was judged as not passed: its reply was unreadable."
        try:
            wire.send(judge.talk, {"op": "gots", "gots": gots}, blob)
            report = wire.receive(judge.talk, time.monotonic() + JUDGE_LIMITS.wall).header
            if report.get("error"):
                return _unjudged(exercise, "error", unreadable, stdout=printed)
            checks = tuple(CheckResult(item["name"], item["passed"], item["message"]) for item in report["checks"])
        except (wire.Closed, TimeoutError, KeyError, TypeError):
            raise self._judge_failed(judge) from None
        except wire.WireError:
            return _unjudged(exercise, "error", unreadable, stdout=printed)
        wrong = [check for check in checks if not check.passed]
        if not wrong:
            return Judgement(exercise.exercise, "passed", "All checks pass.", checks=checks, stdout=printed)
        message = f"{wrong[0].name}: {wrong[0].message}"
        return Judgement(exercise.exercise, "failed", message, checks=checks, stdout=printed)

    def _judge_failed(self, judge: Job) -> WorkerError:
        judge.end()
        lines = output(judge.err).strip().splitlines()
        return WorkerError(f"The judge of this exercise failed: {lines[-1] if lines else 'it ended without a word'}")

    # Children that end badly --------------------------------------------------------------------------------------

    def _launch(self, limits: Limits) -> Job:
        if self._closed.is_set():
            # A request that was still waiting must not start the worker again.
            raise WorkerError("The worker has been closed.")
        try:
            job = self._launcher.launch(limits)
        except ForkUnsafe:
            self._launcher.close()
            self._launcher = SpareLauncher()
            job = self._launcher.launch(limits)
        if self._closed.is_set():
            job.close()
            self._launcher.close()
            raise WorkerError("The worker has been closed.")
        return job

    @contextlib.contextmanager
    def _current(self, job: Job) -> Iterator[None]:
        """Let `cancel` find the job; end it at once if that came before."""
        with self._lock:
            outer, self._running = self._running, job
        if self._cancelled.is_set():
            job.end()
        try:
            yield
        finally:
            with self._lock:
                self._running = outer

    @contextlib.contextmanager
    def _ending(self, limits: Limits) -> Iterator[Job]:
        """A child for one purpose, ended afterwards."""
        job = self._launch(limits)
        try:
            with self._current(job):
                yield job
        finally:
            job.close()

    def _timeout(self, job: Job, wall: float) -> Failure:
        job.end(ask_line=True)
        line = line_of(job)
        where = f" It was at line {line}." if line else ""
        return Failure("timeout", f"Stopped after {wall:g} seconds.{where}", line)

    def _death(self, job: Job, error: Exception, limits: Limits) -> Failure:
        """Why a child ended without saying so, or said something unreadable."""
        ended: Exit = job.end()
        line = line_of(job)
        where = f" at line {line}" if line else ""
        if self._cancelled.is_set():
            return Failure("stopped", f"Stopped by you{where}.", line)
        if ended.reason == "processes":
            return Failure("error", "The code started too many processes; they were ended.", line)
        if ended.reason == "memory":
            return Failure("memory", "The processes that the code started used too much memory.", line)
        if ended.code == -24:  # SIGXCPU
            return Failure("timeout", f"Stopped after {limits.cpu:g} seconds of computing{where}.", line)
        if not isinstance(error, wire.Closed):
            return Failure("crash", "The code sent something unreadable in place of its result.", line)
        if ended.code in (-11, -7, -6, -4, -8):
            return Failure("crash", f"The Python interpreter itself crashed{where}.", line)
        if ended.code == -9:
            return Failure("crash", "The program was killed from outside, perhaps for lack of memory.", line)
        if ended.code == 99:
            return Failure("crash", "The code broke Python's own tools, so that its result could not be sent.", line)
        return Failure("crash", "The code ended the program itself (os._exit) before it was done.", line)


# From frames to plain data ----------------------------------------------------------------------------------------


def _request(lesson: Lesson, step: ReadStep | RunStep) -> dict[str, Any]:
    run = step if isinstance(step, RunStep) else None
    return {
        "id": step.id,
        "code": run.code if run else "",
        "seed": run.seed if run and run.seed is not None else lesson.seed,
        "show": [{"name": shown.name, "expr": shown.expression} for shown in run.show] if run else [],
        "fields": [
            {"expression": field.expression, "conversion": field.conversion, "spec": field.spec}
            for field in template.fields(step.prose)
        ],
    }


def _step_result(lesson: Lesson, step: ReadStep | RunStep, frame: wire.Frame, job: Job) -> StepResult:
    header = frame.header
    shown = step.show if isinstance(step, RunStep) else ()
    start, end = header["stdout"]
    return StepResult(
        id=step.id,
        stdout=output(job.out, start, end),
        error=_failure(header["error"]) if header["error"] else None,
        tensors=tuple(
            tensor_of(lesson, spec, entry, frame.blob) for spec, entry in zip(shown, header["tensors"], strict=False)
        ),
        text={str(key): str(value) for key, value in header["text"].items()},
        seconds=float(header["seconds"]),
    )


def tensor_of(lesson: Lesson, shown: Shown, entry: dict[str, Any], blob: bytes) -> Tensor:
    """A tensor from its description in a frame and the frame's blob."""
    shape = tuple(int(size) for size in entry["shape"])
    numbers = _cast(entry["code"], blob[entry["offset"] : entry["offset"] + entry["bytes"]])
    whole = bool(entry["whole"])
    rows = int(entry["rows"])
    window = None if whole else Window((0,) * max(0, len(shape) - 2), 0, 0, _rows(numbers, rows))
    names, texts = labels.of(lesson, shown, shape)
    return Tensor(
        name=shown.name,
        kind=shown.kind,
        dtype=str(entry["dtype"]),
        shape=shape,
        axes=names,
        labels=texts,
        low=entry["low"],
        high=entry["high"],
        values=tuple(numbers) if whole else None,
        window=window,
    )


def _window(reply: wire.Frame, lead: tuple[int, ...], top: int, left: int) -> Window | None:
    if reply.op != "window" or "error" in reply.header:
        return None
    numbers = _cast(reply.header["code"], reply.blob)
    return Window(lead, top, left, _rows(numbers, int(reply.header["rows"])))


def _cast(code: str, data: bytes) -> list[float]:
    if code not in ("B", "q", "d", "f"):
        raise ValueError("unknown number format")
    return [*array.array(code, data)]


def _rows(numbers: list[float], rows: int) -> tuple[tuple[float, ...], ...]:
    width = len(numbers) // rows if rows else 0
    return tuple(tuple(numbers[row * width : (row + 1) * width]) for row in range(rows))


def _failure(data: dict[str, Any]) -> Failure:
    kind: FailureKind = "memory" if data["kind"] == "memory" else "error"
    line = data.get("line")
    return Failure(kind, str(data["message"]), line if isinstance(line, int) else None)


def _unjudged(
    exercise: ExerciseStep, verdict: Verdict, message: str, line: int | None = None, stdout: str = ""
) -> Judgement:
    """The word on an answer that could not be looked at, so that no check passed."""
    checks = tuple(CheckResult(check.name, False) for check in exercise.checks)
    return Judgement(exercise.exercise, verdict, message, line, None, checks, stdout=stdout)


def _verdict(failure: Failure) -> Verdict:
    return "error" if failure.kind == "stopped" else failure.kind


def _define(names: tuple[str, ...]) -> str:
    listed = " and ".join(f"`{name}`" for name in names)
    return f"Your code does not define {listed}. The task says what to write."
