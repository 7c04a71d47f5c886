"""A document as a Jupyter notebook, which runs from top to bottom with PyTorch and nothing of ours.

Its first cell of code has what the others call to begin a lesson or a step, and to show tensors.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence

from attn_tutor.lessons.engine import scratch_run
from attn_tutor.lessons.format.exercises import ExerciseStep
from attn_tutor.lessons.format.lesson import ShownTensor, TrainStep
from attn_tutor.lessons.play.step_document import Code, Matrix, Output
from attn_tutor.lessons.results.clean_text import clean, clean_code
from attn_tutor.lessons.results.result import Tensor
from attn_tutor.lessons.takehome import markdown_file, top_level
from attn_tutor.lessons.takehome.course_definitions import NeedsPackage, PlacedDefinitions
from attn_tutor.lessons.takehome.taken_document import Chapter, Document, Section
from attn_tutor.lessons.texts.wording import Wording

say = Wording("take-home/notebook-tools")

TOOL_NAMES = ("begin_lesson", "begin_step", "show", "make_frame", "on_copies")
"""The names that the cell defines; no code of a lesson has one of them for something else."""

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
"""What runs a notebook, as Jupyter calls it."""

# The cell is Python that is pasted into notebooks; only its sentences are said.
TOOLS_CODE = '''
import copy as _copy
import html as _html
import linecache as _linecache
import math as _math
import random as _random
import traceback as _traceback

import torch
from IPython import get_ipython as _get_ipython
from IPython.display import display as _display


def begin_lesson():
    """@forget@"""
    for _name in set(globals()) - _kept:
        if not _name.startswith("_"):
            del globals()[_name]


def begin_step(seed):
    """@seed@"""
    torch.manual_seed(seed)
    _random.seed(seed)


def show(name, value, rows=(), columns=()):
    """@show@"""
    try:
        tensor = torch.as_tensor(value).detach()
    except Exception:
        print(f"{name} = {value!r}")
        return
    head = f"{name}: {' × '.join(map(str, tensor.shape)) or '@number@'}"
    parts = [f"<div><b>{_html.escape(head)}</b></div>"]
    matrices = tensor.reshape(-1, *tensor.shape[-2:]) if tensor.dim() > 1 else tensor.reshape(1, 1, -1)
    finite = [abs(each) for each in tensor.double().flatten().tolist()[:4096] if _math.isfinite(each)]
    for matrix in matrices[:4, :16, :16].tolist():
        lines = [_row("", "".join(f"<th>{_html.escape(each)}</th>" for each in columns[:16]))]
        for number, row in enumerate(matrix):
            label = _html.escape(rows[number]) if rows else ""
            cells = "".join(_cell(each, max(finite, default=0.0)) for each in row)
            lines.append(_row(label, cells))
        parts.append(f"<table>{''.join(lines if columns else lines[1:])}</table>")
    if matrices[:4, :16, :16].numel() < tensor.numel():
        parts.append("<div><i>@part@</i></div>")
    _display({"text/html": "".join(parts), "text/plain": f"{head}\\n{tensor}"}, raw=True)


def _row(label, cells):
    # Notebooks tint every second row, and here a color means a number.
    return f"<tr style='background:none'><th>{label}</th>{cells}</tr>"


def _cell(value, furthest):
    text = f"{value:.4f}" if isinstance(value, float) else str(value)
    depth = 0.0 if not _math.isfinite(value) or not furthest else abs(value) / furthest * 0.6
    color = "222,132,32" if value > 0 else "57,130,192"
    return f'<td style="text-align:right;background:rgba({color},{depth:.2f})">{text}</td>'


def make_frame(**curves):
    """@frame@"""
    last = [-1]

    def frame(done, total):
        tenth = done * 10 // max(total, 1)
        if tenth == last[0]:
            return
        last[0] = tenth
        state = torch.get_rng_state()
        with torch.no_grad():
            numbers = [f"{name} {float(eval(code, globals())):.4f}" for name, code in curves.items()]
        torch.set_rng_state(state)
        print(f"{done:6} / {total}   {'   '.join(numbers)}")

    return frame


def on_copies(line, cell):
    """@apart@"""
    memo, scope = {}, {"__name__": "answer"}
    for name, value in list(globals().items()):
        if name.startswith("_"):
            continue
        scope[name] = value
        if name not in _kept:
            try:
                scope[name] = _copy.deepcopy(value, memo)
            except Exception:
                pass
    file = f"<answer {len(_linecache.cache)}>"
    _linecache.cache[file] = (len(cell), None, cell.splitlines(keepends=True), file)
    try:
        exec(compile(cell, file, "exec"), scope)
    except Exception:
        _traceback.print_exc()


_get_ipython().register_magic_function(on_copies, "cell")
_kept = set(globals())
'''


def tools_code() -> str:
    """Return the code of the cell, with its sentences in the learner's language."""
    sentences = {
        "forget": say("forget", "Forget the names of the lesson before: each lesson begins without any."),
        "seed": say("seed", "Seed the random numbers, as the tutor does before each step."),
        "show": say("show", "Show a tensor as a table: blue below zero, orange above."),
        "number": say("number", "a single number"),
        "part": say("part", "Only a part is shown."),
        "frame": say("frame", "Return what a training calls now and then; it prints the numbers of the curves."),
        "apart": say("apart", "Run a cell on copies of the lesson's variables, which later cells do not see."),
    }
    text = TOOLS_CODE.strip("\n")
    for name, sentence in sentences.items():
        text = text.replace(f"@{name}@", sentence.replace("\\", "").replace('"', "'"))
    return text


def frame_code(step: TrainStep) -> str:
    """Return the line that makes the `frame` of a training."""
    curves = ", ".join(f"{curve.name}={curve.expr!r}" for curve in step.curves)
    return f"frame = make_frame({curves})"


def kept_code(step: TrainStep) -> str:
    """Return the line that keeps what was trained, for the code that builds on it."""
    return f"trained = {{name: tensor.detach().clone() for name, tensor in ({step.keep}).items()}}"


LABELED_AXES = ("token", "query", "key")
"""The axes whose labels are words; those of others say no more than their position, unless the author gives them."""

MOST_LABELS = 16
LONGEST_LINE = 88
"""The most characters of a line that a notebook shows on a window of usual width."""

LONGEST_ID = 64
"""What the format allows for the id of a cell."""

Cell = dict[str, object]


def write(document: Document) -> str:
    """Return a document as a notebook, in the format 4.5."""
    cells = _Cells()
    about = say(
        "about",
        "Run all cells from top to bottom. They need PyTorch and nothing else. Trainings are run again, which may take "
        "minutes.",
    )
    cells.markdown("about", f"# {markdown_file.escaped(document.title)}", markdown_file.escaped(document.about), about)
    cells.code("tools", f"# {say('tools', 'What the cells below call.')}\n{tools_code()}")
    for chapter in document.chapters:
        _ChapterCells(chapter, cells).add()
    notebook = {
        "cells": cells.cells,
        "metadata": {
            "kernelspec": KERNEL,
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


class _Cells:
    """The cells of a notebook, as they are added."""

    def __init__(self) -> None:
        self.cells: list[Cell] = []

    def markdown(self, name: str, *parts: str) -> None:
        """Add a cell of text, unless there is none."""
        if text := "\n\n".join(filter(None, parts)):
            self.cells.append({"cell_type": "markdown", **self._head(name), "source": _lines(clean(text))})

    def code(self, name: str, *parts: str) -> None:
        """Add a cell of code, unless there is none."""
        if text := "\n".join(filter(None, (part.strip("\n") for part in parts))):
            cell = {"cell_type": "code", **self._head(name), "source": _lines(clean_code(text))}
            self.cells.append({**cell, "execution_count": None, "outputs": []})

    def _head(self, name: str) -> Cell:
        return {"id": f"{len(self.cells)}-{name}"[:LONGEST_ID], "metadata": {}}


def _lines(text: str) -> list[str]:
    """Return a text as the format has it, which a tool for versions compares line by line."""
    return text.encode("utf-8", "replace").decode().splitlines(keepends=True)


class _ChapterCells:
    """The cells of one lesson."""

    def __init__(self, chapter: Chapter, cells: _Cells) -> None:
        self._chapter, self._lesson, self._cells = chapter, chapter.lesson, cells
        self._placed = PlacedDefinitions()

    def add(self) -> None:
        """Add the lesson: its opening, then its steps."""
        texts = [block for block in self._chapter.opening if not isinstance(block, Code)]
        title = f"## {markdown_file.escaped(self._chapter.title)}"
        self._cells.markdown(self._lesson.id, title, *map(markdown_file.block_text, texts))
        self._cells.code(f"{self._lesson.id}-begin", "begin_lesson()", f"begin_step({self._lesson.seed})")
        self._run(f"{self._lesson.id}-setup", self._lesson.setup)
        for section in self._chapter.sections:
            if section.was_read:
                self._section(section)
            else:
                self._unread(section)

    def _section(self, section: Section) -> None:
        """Add a step that was read: texts in one cell up to the next piece of code that runs."""
        name = f"{self._lesson.id}-{section.step.id}"
        texts = [f"### {markdown_file.escaped(section.title)}"]
        shown = [block.tensor for block in section.blocks if isinstance(block, Matrix)]
        ran = False
        for block in section.blocks:
            if isinstance(block, Output | Matrix) and section.step.runs:
                if not ran:
                    self._flush(name, texts)
                    self._step(section, name, shown)
                    ran = True
            elif isinstance(block, Code) and block.role in ("step", "training", "answer"):
                texts += [markdown_file.escaped(block.title)] if block.title else []
                self._flush(name, texts)
                self._code(section, name, block, shown)
                ran = ran or block.role == "step"
            else:
                texts.append(markdown_file.block_text(block))
        self._flush(name, texts)

    def _flush(self, name: str, texts: list[str]) -> None:
        self._cells.markdown(name, *texts)
        texts.clear()

    def _unread(self, section: Section) -> None:
        """Add the code of a step that was not read, since later steps may build on it."""
        if not section.step.run_code:
            return
        name = f"{self._lesson.id}-{section.step.id}"
        why = say("unread", "You have not read this one; later steps may need what it computes.")
        self._cells.markdown(name, f"*{markdown_file.escaped(f'{section.title}. {why}')}*")
        if (training := self._lesson.trainings.get(section.step.id)) is not None:
            self._training(training, name)
        self._step(section, name, ())

    def _code(self, section: Section, name: str, block: Code, shown: Sequence[Tensor]) -> None:
        match block.role:
            case "training":
                self._training(self._lesson.trainings[section.step.id], name)
            case "answer":
                self._answer(self._lesson.code_exercises[section.step.id], name, block)
            case _:
                self._step(section, name, shown)

    def _step(self, section: Section, name: str, shown: Sequence[Tensor]) -> None:
        """Add the cell that runs a step and shows its tensors."""
        step = section.step
        specs = {spec.name: spec for spec in step.tensors}
        shows = [_show(specs[tensor.name], tensor) for tensor in shown if tensor.name in specs]
        self._run(name, f"begin_step({self._lesson.seed_of(step)})", step.run_code, *shows)

    def _training(self, step: TrainStep, name: str) -> None:
        """Add the cell that trains, with a `frame` that prints the curves, and keeps what the next cell needs."""
        seed = f"begin_step({self._lesson.seed_of(step)})"
        self._run(f"{name}-training", seed, frame_code(step), step.training, kept_code(step))

    def _answer(self, step: ExerciseStep, name: str, block: Code) -> None:
        """Add the cell with the learner's code, tried out on the lesson's values, apart from all others."""
        code = scratch_run.code_of(step, block.text.removeprefix("\ufeff"))
        try:
            before, rest = PlacedDefinitions().add(code)
        except (NeedsPackage, SyntaxError, ValueError, RecursionError):
            self._cells.markdown(name, markdown_file.fenced(block.text, "python"))
            return
        names = _assigned(step.attempt)
        shows = [f"show({each!r}, {each})" for each in names]
        seed = f"begin_step({self._lesson.seed})"
        self._cells.code(f"{name}-answer", "%%on_copies", seed, before, rest, *shows)

    def _run(self, name: str, *parts: str) -> None:
        """Add a cell of the lesson's own code, and before it one with what it takes from the package."""
        before, rest = self._placed.add("\n".join(filter(None, (part.strip("\n") for part in parts))))
        if before:
            comment = say("package", "From the package `attention` of the course.")
            self._cells.code(f"{name}-package", f"# {comment}", before)
        self._cells.code(name, rest)


def _show(spec: ShownTensor, tensor: Tensor) -> str:
    """Return the line that shows a tensor, with words at its rows and columns."""
    parts = [repr(spec.name), spec.expression]
    axes = dict(zip(tensor.axes, tensor.labels, strict=True))
    for keyword, axis in zip(("columns", "rows"), reversed(tensor.axes[-2:]), strict=False):
        labels = tensor.labels[-1] if keyword == "columns" else axes[axis]
        if (axis in LABELED_AXES or axis in spec.labels) and len(labels) <= MOST_LABELS:
            parts.append(f"{keyword}={list(labels)!r}")
    line = f"show({', '.join(parts)})"
    if len(line) <= LONGEST_LINE:
        return line
    # A notebook cuts off what is longer, until somebody scrolls.
    return "\n".join(["show(", f"    {', '.join(parts[:2])},", *(f"    {part}," for part in parts[2:]), ")"])


def _assigned(code: str) -> list[str]:
    """Return the variables that a piece of code sets at its top level, in order."""
    found: list[str] = []
    for node in ast.parse(code).body:
        if isinstance(node, ast.Assign):
            bound = top_level.global_names_of(node).binds
            found += [
                part.id
                for target in node.targets
                for part in ast.walk(target)
                if isinstance(part, ast.Name) and part.id in bound and isinstance(part.ctx, ast.Store)
            ]
    return list(dict.fromkeys(found))
