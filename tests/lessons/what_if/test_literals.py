"""The literals of a program as knobs."""

from __future__ import annotations

import pytest

from attn_tutor.lessons.format.knobs import ChangeError, Setting
from attn_tutor.lessons.format.lesson import Lesson, RunningStep
from attn_tutor.lessons.programs.engine import pages
from attn_tutor.lessons.programs.engine.pages import lesson_of
from attn_tutor.lessons.programs.results.program_result import Named
from attn_tutor.lessons.results.code_unit import PROGRAM
from attn_tutor.lessons.what_if.changes import UNCHANGED, apply
from attn_tutor.tui.state import what_if_rows

SOURCE = '''"""A docstring."""
lr = 1e-3  # ä
model = Net(16, bias=True, name="größe")

def f(x, p=0.5):
    """Another."""
    return x[:, 1] * -2 + f"{p:.2f}" * 0
'''


def found(source: str) -> list[tuple[str, object, str]]:
    """Return label, value and text of each literal."""
    return [(knob.label, knob.value, source[knob.start : knob.end]) for knob in pages.literal_knobs_of(source, ())]


def test_each_literal_but_docstrings_and_parts_of_f_strings_is_a_knob() -> None:
    assert found(SOURCE) == [
        ("lr, line 2", 0.001, "1e-3"),
        ("Net(), line 3", 16, "16"),
        ("bias, line 3", True, "True"),
        ("name, line 3", "größe", '"größe"'),
        ("p, line 5", 0.5, "0.5"),
        ("x[], line 7", 1, "1"),
        ("line 7", 2, "2"),
        ("line 7", 0, "0"),
    ]
    assert found("x = (") == []
    assert [label for label, _, _ in found("x = f([1, 2], y=3)")] == ["f() 1, line 1", "f() 2, line 1", "y, line 1"]


def test_the_default_of_an_option_is_called_after_it_and_what_only_names_it_is_an_aside() -> None:
    source = 'parser.add_argument("--lr", "-l", default=-0.5, type=float, help="how fast")\nprint("done", 3)\n'
    assert [(knob.label, knob.value, knob.aside) for knob in pages.literal_knobs_of(source, ())] == [
        ("add_argument() 1, line 1", "--lr", True),
        ("add_argument() 2, line 1", "-l", True),
        ("--lr, line 1", 0.5, False),
        ("help, line 1", "how fast", True),
        ("print() 1, line 2", "done", True),
        ("print() 2, line 2", 3, False),
    ]


def lesson(source: str = SOURCE) -> Lesson:
    """Return the program as a lesson."""
    return lesson_of("mine.py", source, (), "")


def test_a_source_that_is_too_deep_to_be_looked_through_has_no_knobs() -> None:
    """Python runs a chain of any number of branches."""
    chain = "if n == 0: x = 1\n" + "".join(f"elif n == {i}: x = {i}\n" for i in range(1, 1500))
    assert pages.literal_knobs_of(f"n = 5\n{chain}", ()) == ()
    assert pages.literal_knobs_of(f"x = 0{'+ 1' * 1500}\n", ()) == ()


def test_beside_another_file_a_literal_says_where_it_stands() -> None:
    named = [
        Named(f"{scope}.x", "x", "local", scope, file, 1, 1, (2,), "float32")
        for scope, file in (("f", PROGRAM.filename), ("other.g", "other.py"))
    ]
    program = lesson_of("mine.py", SOURCE, named, "", {"other.py": "lr = 7\n"})
    own, other = ([row.label for row in what_if_rows.rows(program, step.id, UNCHANGED, None)] for step in program.steps)
    # First those of the function that the page is about, then those of its file.
    assert own[:1] == ["p, line 5"]
    assert "lr, line 2" in own
    assert other[:2] == ["lr, line 1", "mine.py: lr, line 2"]
    changed = apply(program, UNCHANGED.with_knob(program, program.knobs[0].name, "0.1"))
    assert [step.code.split("\n")[:2] for step in changed.steps if isinstance(step, RunningStep)] == [
        ['"""A docstring."""', "lr = 0.1  # ä"], ["lr = 7", ""],
    ]  # fmt: skip
    # Where no page shows the program's own file, nothing of it can be changed.
    only_other = lesson_of("mine.py", SOURCE, named[1:], "", {"other.py": "lr = 7\n"})
    assert [knob.label for knob in only_other.knobs] == ["lr, line 1"]


def code_with(name: str, value: Setting) -> str:
    """Return the second and third line of the program with a literal changed."""
    step = apply(lesson(), UNCHANGED.with_knob(lesson(), name, value)).steps[0]
    assert isinstance(step, RunningStep)
    return "\n".join(step.code.split("\n")[1:3])


def test_a_literal_is_replaced_where_it_stands() -> None:
    names = [knob.name for knob in lesson().knobs]
    assert code_with(names[0], "0.1").startswith("lr = 0.1  # ä\n")
    assert code_with(names[2], "false").endswith('Net(16, bias=False, name="größe")')
    assert code_with(names[3], "it's").endswith('name="it\'s")')
    with pytest.raises(ChangeError, match="neither True nor False"):
        code_with(names[2], "2")
    with pytest.raises(ChangeError, match="not a number"):
        code_with(names[1], "many")


@pytest.mark.parametrize(
    ("source", "by", "expected"),
    [("3", 1, 4), ("0.01", 1, 0.02), ("0.01", -1, 0.009), ("0.0", 1, 0.1), ("True", 1, "False"), ("1e-08", 1, 2e-08)],
)
def test_literals_turn_by_their_first_digit(source: str, by: int, expected: Setting) -> None:
    (knob,) = pages.literal_knobs_of(f"x = {source}", ())
    assert knob.turn(lesson(), knob.initial(lesson()), by) == expected
