"""A notebook that a learner takes home, executed by Jupyter's own client; a script does so for all lessons.

python -m tests.lessons.takehome.notebook_runs [LESSON ...]
"""

from __future__ import annotations

import json
import math
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

import nbformat
from nbclient import NotebookClient

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import RunningStep
from attn_tutor.lessons.play.step_document import Matrix
from attn_tutor.lessons.takehome import course_document, notebook_file
from attn_tutor.lessons.takehome.learner_work import LearnerWork
from attn_tutor.lessons.takehome.taken_document import Document
from tests.course import COURSE
from tests.lessons.takehome.learners import attempts, solutions

TELL = """
import sys
sys.modules["attention"] = sys.modules["lessons"] = sys.modules["tui"] = None

_show = show

def show(name, value, **labels):
    _show(name, value, **labels)
    try:
        print("SHOWN", __import__("json").dumps([name, torch.as_tensor(value).double().flatten().tolist()]))
    except Exception:
        pass
"""
"""A cell behind the tools: nothing of ours can be imported, and what is shown is printed with all its digits."""


def execute(document: Document) -> Any:
    """Write a document as a notebook, and run it from top to bottom in a kernel that finds PyTorch and nothing of ours.

    Raises what nbclient raises if a cell fails.
    """
    notebook = nbformat.reads(notebook_file.write(document), as_version=4)
    nbformat.validate(notebook)
    notebook.cells.insert(2, nbformat.v4.new_code_cell(TELL))
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": folder}})
        client.execute()
    return notebook


def printed(notebook: Any) -> str:
    """Return all that the cells of a notebook have printed."""
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    return "".join(output.text for output in outputs if output.output_type == "stream")


def tensors_of(notebook: Any) -> list[tuple[str, list[float]]]:
    """Return the tensors that the steps of a notebook have shown, apart from those of answers."""
    found = []
    for cell in notebook.cells:
        if cell.cell_type == "code" and not cell.source.startswith("%%on_copies"):
            text = "".join(output.text for output in cell.outputs if output.output_type == "stream")
            found += [
                json.loads(line.removeprefix("SHOWN ")) for line in text.splitlines() if line.startswith("SHOWN ")
            ]
    return [(name, values) for name, values in found]


def expected(document: Document) -> list[tuple[str, bool, list[float] | None]]:
    """Return the tensors of a document: the name, whether each run has other numbers, and the numbers."""
    return [
        (block.tensor.name, section.step.varies, None if block.tensor.values is None else list(block.tensor.values))
        for chapter in document.chapters
        for section in chapter.read_sections
        for block in section.blocks
        if isinstance(block, Matrix) and isinstance(section.step, RunningStep)
    ]


def differences(document: Document, notebook: Any) -> Iterator[str]:
    """Yield what a notebook has shown other than the tutor."""
    told, ours = tensors_of(notebook), expected(document)
    if [name for name, _ in told] != [name for name, *_ in ours]:
        yield f"{[name for name, _ in told]} instead of {[name for name, *_ in ours]}"
        return
    for (name, values), (_, varies, right) in zip(told, ours, strict=True):
        if right is None or varies:
            continue
        pairs = list(zip(values, right, strict=True))
        off = [pair for pair in pairs if not (pair[0] == pair[1] or math.isclose(*pair, rel_tol=1e-4, abs_tol=1e-5))]
        if off := [pair for pair in off if not all(map(math.isnan, pair))]:
            yield f"{name}: {len(off)} of {len(pairs)} numbers differ, such as {off[0]}"


def main(names: list[str]) -> None:
    """Run the notebooks of lessons, with all answers passed, and print what is different in them."""
    session = Session()
    for lesson in [COURSE.lesson(name) for name in names] or COURSE.lessons:
        course = COURSE.model_copy(update={"lessons": (lesson,)})
        document = course_document.build(session, course, LearnerWork(attempts=attempts(solutions())), whole=True)
        notebook = execute(document)
        print(
            lesson.id, f"{len(tensors_of(notebook))} tensors", *differences(document, notebook), sep="\n   ", flush=True
        )
        print("   Traceback" if "Traceback" in printed(notebook) else "   no answer failed", flush=True)
    session.close()


if __name__ == "__main__":
    main(sys.argv[1:])
