"""The first cell of code of a notebook: what the other cells call to begin a lesson or a step, and to show tensors."""

from __future__ import annotations

from attn_tutor.lessons.format.lesson import TrainStep
from attn_tutor.lessons.texts.wording import Wording

say = Wording("take-home/notebook-tools")

NAMES = ("begin_lesson", "begin_step", "show", "make_frame", "on_copies")
"""The names that the cell defines; no code of a lesson has one of them for something else."""

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
"""What runs a notebook, as Jupyter calls it."""

# The cell is Python that is pasted into notebooks; only its sentences are said.
CODE = '''
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


def code() -> str:
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
    text = CODE.strip("\n")
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
