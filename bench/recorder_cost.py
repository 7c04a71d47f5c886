"""The cost of the recorder: the same code with it and without, each in a process of its own.

`python -m bench.recorder_cost NAME plain|recorded` is such a process; it prints the processor seconds of a program or
of the steps of a lesson, the median of some runs, and its peak memory in MB.
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
"""Lessons with the last of their steps that runs."""

_MODULE = """
class Attention(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.queries, self.keys, self.values = (torch.nn.Linear(width, width) for _ in range(3))

    def forward(self, tokens):
        queries, keys, values = self.queries(tokens), self.keys(tokens), self.values(tokens)
        scores = queries @ keys.transpose(-2, -1) / keys.shape[-1] ** 0.5
        return torch.softmax(scores, dim=-1) @ values

layer = Attention(WIDTH)
tokens, wanted = torch.rand(4, 16, WIDTH), torch.rand(4, 16, WIDTH)
"""
_TRAINING = """
optimizer = torch.optim.AdamW(layer.parameters(), lr=1e-3)
for step in range(STEPS):
    optimizer.zero_grad()
    loss = ((layer(tokens) - wanted) ** 2).mean()
    loss.backward()
    optimizer.step()
"""

PROGRAMS = {
    "sums of 4x4": "x, w = torch.rand(4, 4), torch.rand(4, 4)\nfor _ in range(3000):\n    y = x + w",
    "rows of 4x4": "x = torch.rand(4, 4)\nfor _ in range(3000):\n    y = x[0]",
    "in-place sums of 4x4": "x, w = torch.rand(4, 4), torch.rand(4, 4)\nfor _ in range(3000):\n    x += w",
    "softmax of 6x6": "x = torch.rand(6, 6)\nfor _ in range(3000):\n    y = torch.softmax(x, dim=-1)",
    "loops that fill a matrix": (
        "x, scores = torch.rand(20, 3), torch.empty(20, 20)\n"
        "for i in range(20):\n    for j in range(20):\n        scores[i, j] = torch.dot(x[i], x[j])"
    ),
    "attention of 6x3": (
        "x, w = torch.rand(6, 3), torch.rand(3, 2)\nfor _ in range(400):\n"
        "    context = torch.softmax(x @ w @ (x @ w).T / 2 ** 0.5, dim=-1) @ x"
    ),
    "attention as a module": _MODULE.replace("WIDTH", "8") + "for _ in range(200):\n    context = layer(tokens)",
    "training, 30 steps": (_MODULE + _TRAINING).replace("WIDTH", "16").replace("STEPS", "30"),
    "training, 200 steps": (_MODULE + _TRAINING).replace("WIDTH", "64").replace("STEPS", "200"),
}
"""Programs of small operations."""

ONCE = ("training, 200 steps",)
"""Programs that run once, since their memory is what is measured."""


def costs(rounds: int) -> Iterator[tuple[str, str, list[float]]]:
    """Yield name, unit and values: milliseconds and megabytes of both, and their ratios in pairs."""
    for name in (*LESSONS, *PROGRAMS):
        plain, recorded = [], []
        for _ in range(rounds):
            # In turn, since the load of the machine varies.
            plain.append(measure(__name__, name, "plain"))
            recorded.append(measure(__name__, name, "recorded"))
        yield f"{name}: plain, cpu", "ms", [1000 * seconds for seconds, _ in plain]
        yield f"{name}: recorded, cpu", "ms", [1000 * seconds for seconds, _ in recorded]
        yield f"{name}: recorded / plain, cpu", "x", _ratios(plain, recorded, 0)
        if name in LESSONS or name in ONCE:
            yield f"{name}: plain, peak memory", "MB", [peak for _, peak in plain]
            yield f"{name}: recorded / plain, peak memory", "x", _ratios(plain, recorded, 1)


def _ratios(plain: list[tuple[float, float]], recorded: list[tuple[float, float]], index: int) -> list[float]:
    return [ours[index] / theirs[index] for theirs, ours in zip(plain, recorded, strict=True)]


def measure(module: str, name: str, mode: str) -> tuple[float, float]:
    """Return the processor seconds and the peak memory in MB that a module prints last for a program in a mode."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    command = [sys.executable, "-W", "ignore", "-m", module, name, mode]
    done = subprocess.run(command, env={**os.environ, **threads}, capture_output=True, text=True, check=True)
    # The output of the lesson comes first.
    seconds, peak = done.stdout.splitlines()[-1].split()
    return float(seconds), float(peak)


def main(name: str, mode: str) -> None:
    """Run the code and print its cost."""
    import gc

    import torch

    from attn_tutor.lessons.format.lesson import RunningStep
    from attn_tutor.lessons.reading.loader import load_course
    from attn_tutor.lessons.results import code_unit
    from attn_tutor.lessons.results.code_unit import CodeUnit
    from attn_tutor.lessons.worker.jobs.execute import execute, seed_generators
    from attn_tutor.lessons.worker.jobs.run_state import RunState

    if name in PROGRAMS:
        # What PyTorch imports when an optimizer is first used is no cost of the program.
        torch.optim.AdamW([torch.nn.Parameter(torch.ones(1))])
        parts = [(CodeUnit.step("program"), PROGRAMS[name], 0)]
    else:
        lesson_id, step_id = LESSONS[name]
        lesson = load_course().lesson(lesson_id)
        steps = [step for step in lesson.steps[: lesson.index(step_id) + 1] if isinstance(step, RunningStep)]
        parts = [(code_unit.SETUP, lesson.setup, lesson.seed)]
        parts += [
            (CodeUnit.step(step.id), step.code, step.seed if step.seed is not None else lesson.seed) for step in steps
        ]
    seconds = []
    # As in the worker: the garbage collector ignores the objects of the imports.
    gc.freeze()
    for _ in range(1 if name in ONCE else 3 if name == "GPT-2 size" else 20):
        state = RunState()
        state.namespace["torch"] = torch
        began = time.process_time()
        for unit, code, number in parts:
            seed_generators(number)
            failed = state.run(code, unit) if mode == "recorded" else execute(code, unit.filename, state.namespace)
            assert failed is None, failed
        seconds.append(time.process_time() - began)
        del state
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(median(seconds), peak)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
