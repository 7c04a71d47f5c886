"""The cost of the recorder: the same code with it and without, each in a process of its own.

`python -m bench.recorder_cost LESSON STEP plain|recorded` is such a process; it prints the processor seconds of the
steps up to STEP, the median of some runs, and its peak memory in MB.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from statistics import median

LESSONS = {"six tokens": ("multi-head-class", "equal"), "GPT-2 size": ("gpt2-size", "weights")}
RUNS = {"six tokens": 20, "GPT-2 size": 3}


def costs(rounds: int) -> Iterator[tuple[str, str, list[float]]]:
    """Yield name, unit and values: milliseconds and megabytes of both, and their ratios in pairs."""
    for size, (lesson, step) in LESSONS.items():
        plain, recorded = [], []
        for _ in range(rounds):
            # In turn, since the load of the machine varies.
            plain.append(_measure(lesson, step, "plain", RUNS[size]))
            recorded.append(_measure(lesson, step, "recorded", RUNS[size]))
        yield f"{size}: plain, cpu", "ms", [1000 * seconds for seconds, _ in plain]
        yield f"{size}: recorded, cpu", "ms", [1000 * seconds for seconds, _ in recorded]
        yield f"{size}: recorded / plain, cpu", "x", _ratios(plain, recorded, 0)
        yield f"{size}: plain, peak memory", "MB", [peak for _, peak in plain]
        yield f"{size}: recorded / plain, peak memory", "x", _ratios(plain, recorded, 1)


def _ratios(plain: list[tuple[float, float]], recorded: list[tuple[float, float]], index: int) -> list[float]:
    return [ours[index] / theirs[index] for theirs, ours in zip(plain, recorded, strict=True)]


def _measure(lesson: str, step: str, mode: str, runs: int) -> tuple[float, float]:
    threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    command = [sys.executable, "-W", "ignore", "-m", "bench.recorder_cost", lesson, step, mode, str(runs)]
    done = subprocess.run(command, env={**os.environ, **threads}, capture_output=True, text=True, check=True)
    # The output of the lesson comes first.
    seconds, peak = done.stdout.splitlines()[-1].split()
    return float(seconds), float(peak)


def main(lesson_id: str, step_id: str, mode: str, runs: int) -> None:
    """Run the lesson's code and print its cost."""
    import gc

    from lessons.format.lesson import RunningStep
    from lessons.reading.loader import load_course
    from lessons.results import code_unit
    from lessons.results.code_unit import CodeUnit
    from lessons.worker.jobs.execute import execute
    from lessons.worker.jobs.lesson_run import seed
    from lessons.worker.jobs.run_state import RunState

    lesson = load_course().lesson(lesson_id)
    steps = [step for step in lesson.steps[: lesson.index(step_id) + 1] if isinstance(step, RunningStep)]
    parts = [(code_unit.SETUP, lesson.setup, lesson.seed)]
    parts += [
        (CodeUnit.step(step.id), step.code, step.seed if step.seed is not None else lesson.seed) for step in steps
    ]
    seconds = []
    # As in the worker: the garbage collector ignores the objects of the imports.
    gc.freeze()
    for _ in range(runs):
        state = RunState()
        began = time.process_time()
        for unit, code, number in parts:
            seed(number)
            failed = state.run(code, unit) if mode == "recorded" else execute(code, unit.filename, state.namespace)
            assert failed is None, failed
        seconds.append(time.process_time() - began)
        del state
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(median(seconds), peak)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
