"""The code of the attention package as text, which the screen shows without importing it."""

from __future__ import annotations

import ast
import inspect
from itertools import pairwise
from textwrap import dedent

import pytest

from attn_tutor.attention import causal, self_attention
from attn_tutor.lessons.format.lesson import Course, ReadStep, RunStep
from attn_tutor.lessons.reading import package_source


def test_class_without_docstrings() -> None:
    text = package_source.read("attention.causal:CausalAttention")
    assert text.startswith("class CausalAttention(nn.Module):\n")
    assert text.endswith("\n")
    assert '"""' not in text
    assert "register_buffer" in text


@pytest.mark.parametrize(
    ("reference", "thing"),
    [
        ("attention.causal:CausalAttention", causal.CausalAttention),
        ("attention.self_attention:SelfAttention_v1", self_attention.SelfAttention_v1),
        ("attention.self_attention:SelfAttention_v2", self_attention.SelfAttention_v2),
        ("attention.causal:causal_mask", causal.causal_mask),
    ],
)
def test_the_text_is_the_code_that_runs(reference: str, thing: type) -> None:
    """Docstrings are the only difference."""
    shown, real = ast.parse(package_source.read(reference)), ast.parse(dedent(inspect.getsource(thing)))
    for node in ast.walk(real):
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            del node.body[0]
    assert ast.dump(shown) == ast.dump(real)


@pytest.mark.parametrize(
    "reference",
    sorted(
        {
            "attention.causal:CausalAttention",
            "attention.multi_head:MultiHeadAttention",
            "attention.causal:causal_mask",
        }
    ),
)
def test_no_trace_of_a_docstring_is_left(reference: str) -> None:
    lines = package_source.read(reference).splitlines()
    assert all(line == line.rstrip() for line in lines)
    assert lines[0]
    assert lines[1], "a blank line after the first"
    assert not any(first == second == "" for first, second in pairwise(lines))


@pytest.mark.parametrize(
    ("reference", "complaint"),
    [
        ("attention.causal:Nothing", "there is no 'Nothing' in attention.causal"),
        ("attention.causal:causal", "there is no 'causal' in attention.causal"),
        ("attention.causal", "there is no '' in attention.causal"),
        ("attention.nothing:CausalAttention", "there is no module 'attention.nothing'"),
        ("attention:CausalAttention", "there is no module 'attention'"),
        (f"attention.{'x' * 300}:CausalAttention", f"there is no module 'attention.{'x' * 300}'"),
        ("os:path", "there is no module 'os'"),
        ("attn_tutor.lessons.reading.loader:load_course", "there is no module 'attn_tutor.lessons.reading.loader'"),
        ("", "there is no module ''"),
    ],
)
def test_unknown_reference_raises(reference: str, complaint: str) -> None:
    with pytest.raises(LookupError) as caught:
        package_source.read(reference)
    assert caught.value.args == (complaint,)


def references(course: Course) -> set[str]:
    """Return the references to the package in the lessons."""
    return {
        step.source
        for lesson in course.lessons
        for step in lesson.steps
        if isinstance(step, ReadStep | RunStep) and step.source
    }


def test_every_reference_of_the_course_can_be_read(course: Course) -> None:
    assert references(course)
    for reference in references(course):
        assert package_source.read(reference)


def test_code_that_a_lesson_shows_fits_a_terminal(course: Course) -> None:
    """A line has 80 columns, and text without a screen is indented by four."""
    for reference in references(course):
        wide = [line for line in package_source.read(reference).splitlines() if len(line) > 80 - 4]
        assert not wide, reference
