"""A document as a notebook: valid, and run by Jupyter's own client without anything of ours."""

from __future__ import annotations

import json

import nbformat
import pytest

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import RunningStep
from attn_tutor.lessons.takehome import course_document, notebook_file, top_level
from attn_tutor.lessons.takehome.course_definitions import NeedsPackage, PlacedDefinitions
from attn_tutor.lessons.takehome.learner_work import LearnerWork
from tests.course import COURSE, LESSONS
from tests.lessons.takehome import notebook_runs
from tests.lessons.takehome.learners import attempts, read_steps, solutions


@pytest.mark.slow
def test_a_notebook_runs_and_shows_what_the_tutor_shows(session: Session) -> None:
    """The lesson has classes of the package, answers that use them, and steps without an answer."""
    lesson = COURSE.lesson("causal-class")
    course = COURSE.model_copy(update={"lessons": (lesson,)})
    work = LearnerWork(read_steps(lesson, 12), attempts(solutions("causal-attention", "hide-later")))
    document = course_document.build(session, course, work)
    notebook = notebook_runs.execute(document)
    assert list(notebook_runs.differences(document, notebook)) == []
    assert len(notebook_runs.tensors_of(notebook)) > 8
    assert "Traceback" not in notebook_runs.printed(notebook)
    assert "%%on_copies" in "".join(cell.source for cell in notebook.cells)


def test_a_step_that_was_not_read_runs_and_shows_nothing(session: Session) -> None:
    lesson = COURSE.lesson("2")
    course = COURSE.model_copy(update={"lessons": (lesson,)})
    work = LearnerWork({(lesson.id, "product"): "done", (lesson.id, "weights"): "done"})
    document = course_document.build(session, course, work)
    text = notebook_file.write(document)
    assert text == notebook_file.write(document)
    nbformat.validate(nbformat.reads(text, as_version=4))
    sources = ["".join(cell["source"]) for cell in json.loads(text)["cells"]]
    [loops] = [source for source in sources if "looped = torch.empty" in source]
    assert "show(" not in loops
    assert any("You have not read this one" in source and "Let every word ask" in source for source in sources)
    [product] = [source for source in sources if source.startswith("begin_step(123)\nscores = ")]
    words = "['Your', 'journey', 'starts', 'with', 'one', 'step']"
    [weights] = [source for source in sources if "row_sums = " in source]
    assert weights.splitlines()[-5:] == [
        "show(", "    'row_sums', row_sums[:, None],", "    columns=['sum'],", f"    rows={words},", ")"
    ]  # fmt: skip
    assert product.splitlines()[-4:-1] == ["    'scores', scores,", f"    columns={words},", f"    rows={words},"]
    assert max(map(len, weights.splitlines())) <= notebook_file.LONGEST_LINE


def test_no_lesson_takes_a_name_of_the_tools() -> None:
    for lesson in LESSONS:
        for _, code in lesson.texts:
            bound = {name for each in top_level.statements(code) for name in each.binds}
            assert not bound & {*notebook_file.TOOL_NAMES, "_kept"}, lesson.id
    tools = notebook_file.tools_code()
    assert "@" not in tools
    assert set(notebook_file.TOOL_NAMES) <= {name for each in top_level.statements(tools) for name in each.binds}


def test_every_lesson_runs_without_the_package() -> None:
    """Each piece of code of the course has its imports of the package replaced."""
    for lesson in LESSONS:
        placed = PlacedDefinitions()
        for step in (None, *(step for step in lesson.steps if isinstance(step, RunningStep))):
            before, rest = placed.add(lesson.setup if step is None else step.code)
            assert "attention" not in {
                each.module.partition(".")[0] for each in top_level.imports(before + "\n" + rest)
            }


def test_definitions_stand_once_until_a_name_is_taken() -> None:
    placed = PlacedDefinitions()
    first, rest = placed.add("from attention.causal import CausalAttention as Head\nhead = Head(1, 1, 2, 0.0)")
    assert "class CausalAttention" in first
    assert rest == "Head = CausalAttention\nhead = Head(1, 1, 2, 0.0)"
    assert placed.add("from attention.causal import CausalAttention\nx = 1") == ("", "x = 1")
    placed.add("class CausalAttention:\n    pass")
    again, _ = placed.add("from attention.causal import CausalAttention")
    assert "class CausalAttention" in again
    for code in ("import attention", "from attention import multi_head", "def f():\n    import attention"):
        with pytest.raises(NeedsPackage):
            placed.add(code)
