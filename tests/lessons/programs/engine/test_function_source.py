"""The source of one function of a file."""

from __future__ import annotations

from attn_tutor.lessons.programs.engine.session import function_source


def test_the_source_of_a_function_is_found_by_its_name() -> None:
    code = """\
if True:
    class Net:
        @property
        def size(self):
            return 1

        def forward(self, x):
            def inner(y):
                return y
            return inner(x)
"""
    assert function_source(code, "Net.size") == "@property\ndef size(self):\n    return 1"
    assert function_source(code, "Net.forward.inner") == "def inner(y):\n    return y"
    assert [function_source(code, "Net.backward"), function_source("x = (", "f")] == ["", ""]
