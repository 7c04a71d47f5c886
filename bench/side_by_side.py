"""The tutor beside other ways to do the same: `python -m bench.side_by_side`, which prints tables for RESULTS.md.

Each way is measured in turn within a round, since the load of a machine varies; a first round is not counted. A way
whose program is not installed is named and left out: `--jupyter PYTHON` names a Python that has jupyter_client,
ipykernel and torch, `--pythonlings PYTHON` one that has pythonlings and torch.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from attn_tutor.lessons.engine.run import Run
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import ExerciseStep, RunningStep
from attn_tutor.lessons.reading.loader import load_course
from attn_tutor.lessons.results.tensor_questions import ExplainQuestion
from attn_tutor.lessons.what_if.changes import UNCHANGED
from bench import screen
from bench.__main__ import scratch_home

LESSON, STEP = "all-queries", "product"
CELL = 1, 1
EXERCISE = "scaled-attention"
KNOB = "causal-mask", "causal-weights", "temperature", 2
KERNEL = Path(__file__).with_name("jupyter_kernel.py")
PYTHONLINGS = """
import json, sys
from pathlib import Path
from pythonlings.core.exercise import Exercise
from pythonlings.core.runner import run
exercise = Exercise("one", Path(sys.argv[1]), Path(sys.argv[2]), "attention", "")
results = [run(exercise, timeout_s=60) for _ in range(int(sys.argv[3]) + 1)]
assert all(result.passed for result in results), results[0].stderr
print(json.dumps([result.duration_s for result in results[1:]]))
"""
Rows = dict[str, list[float]]


def main() -> int:
    """Measure what is asked for, and print one table each."""
    parser = argparse.ArgumentParser(prog="python -m bench.side_by_side", description=__doc__.split("\n", 1)[0])
    parts: dict[str, Callable[[argparse.Namespace], Rows]] = {
        "start": lambda options: screen.starts(options.runs),
        "ways": ways,
        "check": cold_check,
        "attention": attention,
    }
    parser.add_argument("parts", nargs="*", choices=[*parts, []], help="what to measure; without any, everything")
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--jupyter", default=sys.executable, metavar="PYTHON")
    parser.add_argument("--pythonlings", default=sys.executable, metavar="PYTHON")
    options = parser.parse_args()
    print(machine())
    with scratch_home():
        for name in options.parts or parts:
            print(f"\n{name}; load {os.getloadavg()[0]:.1f}\n")
            show(parts[name](options))
    return 0


def machine() -> str:
    """Say where this is measured."""
    versions = [f"{name} {importlib.metadata.version(name)}" for name in ("torch", "textual")]
    return ", ".join(
        [platform.platform(), f"{os.cpu_count()} processors", f"Python {platform.python_version()}", *versions]
    )


def show(rows: Rows) -> None:
    """Print median, least and greatest of each row, in milliseconds."""
    print(f"| {'milliseconds':72} | median |  least | greatest | runs |")
    print(f"| {'-' * 72} | -----: | -----: | -------: | ---: |")
    for name, seconds in rows.items():
        numbers = [1000 * each(seconds) for each in (statistics.median, min, max)]
        print("| {:72} | {:6.1f} | {:6.1f} | {:8.1f} | {:4} |".format(name, *numbers, len(seconds)), flush=True)


def in_turn(actions: dict[str, Callable[[], object]], runs: int) -> Rows:
    """Measure the seconds of each action, in turn; the first round is not counted."""
    seconds: Rows = defaultdict(list)
    for turn in range(runs + 1):
        for name, action in actions.items():
            began = time.monotonic()
            action()
            if turn:
                seconds[name].append(time.monotonic() - began)
    return dict(seconds)


def ways(options: argparse.Namespace) -> Rows:
    """Measure a step, a knob, an explanation and a verdict in the tutor, and the step's code elsewhere."""
    course = load_course()
    lesson = course.lesson(LESSON)
    _, exercise = course.exercise(EXERCISE)
    assert isinstance(exercise, ExerciseStep)
    answer = exercise.solution
    steps = [step for step in lesson.steps[: lesson.index(STEP) + 1] if isinstance(step, RunningStep)]
    shown = "\n".join(f"print({tensor.expression})" for tensor in steps[-1].tensors)
    code = "\n".join([lesson.setup, *(step.code for step in steps), shown])
    checked = f"{answer}\nassert callable({answer.split('def ', 1)[1].split('(', 1)[0]})\n"
    session = Session()
    try:
        session.wait_ready()
        run = session.run(lesson, STEP)
        name = steps[-1].tensors[0].name
        held: list[Run] = []
        masked = course.lesson(KNOB[0])
        turned = UNCHANGED.with_knob(masked, *KNOB[2:])
        actions: dict[str, Callable[[], object]] = {
            "a step, in the tutor (recorded, fresh state), until its results": lambda: held.append(
                session.run(lesson, STEP)
            ),
            # The tutor does so behind the results, since nobody waits for it.
            "the end of the process that ran the step": lambda: held.pop().close(),
            "a knob turned, in the tutor": lambda: session.run(masked, KNOB[1], turned).close(),
            "an explanation, in the tutor": lambda: run.ask(ExplainQuestion(name, CELL)),
            "a verdict, in the tutor": lambda: session.check(exercise, answer, seed=1),
            "the step's code, in a fresh process": lambda: python(code),
            "the answer with an assertion, in a fresh process": lambda: python(checked),
        }
        rows = in_turn(actions, options.runs)
        run.close()
    finally:
        session.close()
    rows |= pythonlings(options.pythonlings, answer, checked.removeprefix(answer), options.runs)
    return rows | jupyter(options.jupyter, code, max(2, options.runs // 3))


def python(code: str) -> None:
    """Run code in a process of its own."""
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def jupyter(interpreter: str, code: str, kernels: int) -> Rows:
    """Measure code in Jupyter kernels; nothing if there is no Jupyter."""
    done = subprocess.run([interpreter, str(KERNEL), str(kernels)], input=code, capture_output=True, text=True)
    if done.returncode:
        print(f"Jupyter is not measured: {done.stderr.strip().splitlines()[-1]}\n")
        return {}
    seconds = json.loads(done.stdout)
    return {
        "the step's code, in a fresh Jupyter kernel": seconds["fresh"],
        "the step's code, in a warm Jupyter kernel (used state)": seconds["warm"],
    }


def pythonlings(interpreter: str, answer: str, check: str, runs: int) -> Rows:
    """Measure how long pythonlings takes to a verdict on the same answer; nothing if there is no pythonlings."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in ("answer.py", "check.py")]
        for path, code in zip(paths, (answer, check), strict=True):
            path.write_text(code, encoding="utf-8")
        command = [interpreter, "-c", PYTHONLINGS, *map(str, paths), str(runs)]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(f"pythonlings is not measured: {done.stderr.strip().splitlines()[-1]}\n")
        return {}
    return {"the answer with an assertion, in pythonlings": json.loads(done.stdout)}


def cold_check(options: argparse.Namespace) -> Rows:
    """Measure `attn-tutor check` from nothing, beside `import torch`."""
    _, exercise = load_course().exercise(EXERCISE)
    assert isinstance(exercise, ExerciseStep)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "answer.py")
        file.write_text(exercise.solution, encoding="utf-8")
        check = [sys.executable, "-m", "attn_tutor", "check", EXERCISE, str(file)]
        return in_turn(
            {
                "import torch, in a fresh process": lambda: python("import torch"),
                "attn-tutor check, cold": lambda: subprocess.run(check, check=True, capture_output=True),
            },
            options.runs,
        )


def attention(_: argparse.Namespace) -> Rows:
    """Measure the attention classes beside PyTorch's own."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.attention_speed", "256", "1024"], check=True, capture_output=True, text=True
    )
    rows: Rows = json.loads(done.stdout)
    return rows


if __name__ == "__main__":
    sys.exit(main())
