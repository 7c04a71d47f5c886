"""Programs with another value for a variable: where it is put, and that no line moves."""

from __future__ import annotations

import pytest

from attn_tutor.tui.programs.compare_programs import NoAssignment, reassigned


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("a = 1\nx = 2\nx = 3\n", "a = 1\nx = (f(y))\nx = 3\n"),
        ("x: int = 2  # two\n", "x: int = (f(y))  # two\n"),
        ("x = g(\n    1,\n)\nz = x\n", "x = (f(y)\n\n)\nz = x\n"),
        ("é = 'ä'; x = 'ö'\n", "é = 'ä'; x = (f(y))\n"),
        ("x = (\n", "x = (\n"),
        ('if __name__ == "__main__":\n    x = 1\n', 'if __name__ == "__main__":\n    x = (f(y))\n'),
        (
            "def x(): x = 1\ntry:\n    pass\nexcept A:\n    x = 2\n",
            "def x(): x = 1\ntry:\n    pass\nexcept A:\n    x = (f(y))\n",
        ),
    ],
)
def test_the_first_assignment_takes_the_value(code: str, expected: str) -> None:
    assert reassigned(code, "x", "f(y)") == expected
    assert expected.count("\n") == code.count("\n")


def test_a_variable_of_a_function_is_named_with_it() -> None:
    code = "x = 1\nclass A:\n    def f(self):\n        if self:\n            x = 2\n"
    assert reassigned(code, "A.f.x", "3") == code.replace("2", "(3)")
    with pytest.raises(NoAssignment):
        reassigned(code, "f.x", "3")


@pytest.mark.parametrize("code", ["y = 1\n", "def f():\n    x = 1\n", "x += 1\n"])
def test_a_program_without_one_is_refused(code: str) -> None:
    with pytest.raises(NoAssignment):
        reassigned(code, "x", "1")


def test_what_is_no_expression_is_refused() -> None:
    with pytest.raises(SyntaxError):
        reassigned("x = 1", "x", "1)")
