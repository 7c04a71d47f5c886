"""The global names of code, and code in which they are replaced."""

from __future__ import annotations

import ast

import pytest

from attn_tutor.lessons.takehome import top_level
from attn_tutor.lessons.takehome.top_level import NameNotFound

NAMES = {"f": "F", "g": "G", "x": "X"}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f(a):\n    return f(a) + g  # f", "def F(a):\n    return F(a) + G  # f"),
        ("def h(f):\n    return f + x", "def h(f):\n    return f + X"),
        ("def h():\n    f = 1\n    def i():\n        return f + g\n    return i", None),
        ("def h():\n    global x, f\n    x = f", "def h():\n    global X, F\n    X = F"),
        ("def h(a=f, *, b: g = x) -> f: pass", "def h(a=F, *, b: G = X) -> F: pass"),
        ("h = [f for f in f if x]", "h = [f for f in F if X]"),
        ("h = {x: g for x, y in f for z in x}", "h = {x: G for x, y in F for z in x}"),
        ("h = lambda f, y=f: f + g", "h = lambda f, y=F: f + G"),
        ("@f\nclass g(x):\n    f = 1\n    h = f\n    def m(self):\n        return f", None),
        (
            "class h:\n    def f(self):\n        return f(self.f)",
            "class h:\n    def f(self):\n        return F(self.f)",
        ),
        ("x.f = g(f=f)", "X.f = G(f=F)"),
        ("é = 'é'; f = x", "é = 'é'; F = X"),
        ("def h(a):\n    if (f := a):\n        return f", "def h(a):\n    if (f := a):\n        return f"),
        (
            "def h(a):\n    any((f := b) for b in a)\n    return f",
            "def h(a):\n    any((f := b) for b in a)\n    return f",
        ),
        ("def h():\n    import f\n    return f, g", "def h():\n    import f\n    return f, G"),
        ("async  def  f(): pass", "async  def  F(): pass"),
        ("f'{f} {x:>{g}}'", None),
    ],
)
def test_global_names_are_replaced_and_local_ones_are_not(source: str, expected: str | None) -> None:
    replaced = top_level.renamed(source, NAMES)
    if expected is not None:
        assert replaced == expected
    assert ast.dump(ast.parse(top_level.renamed(replaced, {new: old for old, new in NAMES.items()}))) == ast.dump(
        ast.parse(source)
    )


def test_a_class_hides_its_names_from_nobody_but_its_own_body() -> None:
    source = "@f\nclass g(x):\n    f = 1\n    h = f\n    def m(self):\n        return f"
    assert top_level.renamed(source, NAMES) == (
        "@F\nclass G(X):\n    f = 1\n    h = f\n    def m(self):\n        return F"
    )


def test_a_function_in_a_function_sees_the_names_of_both() -> None:
    source = "def h():\n    f = 1\n    def i():\n        return f + g\n    return i"
    assert top_level.renamed(source, NAMES) == source.replace("g", "G")


@pytest.mark.parametrize(
    "source", ["try: pass\nexcept E as f: pass", "match h:\n    case f: pass", "match h:\n    case [*f]: pass"]
)
def test_a_name_that_cannot_be_replaced_is_refused(source: str) -> None:
    with pytest.raises(NameNotFound, match="f"):
        top_level.renamed(source, NAMES)


@pytest.mark.parametrize(
    ("source", "reads", "binds"),
    [
        ("def f(a): return g(a) + a", {"g"}, {"f"}),
        ("f = g = x", {"x"}, {"f", "g"}),
        ("class f(g):\n    h = x\n    i = h", {"g", "x"}, {"f"}),
        ("def f():\n    global x\n    x = g", {"g"}, {"f", "x"}),
        ("for f in g: x = f", {"g", "f"}, {"f", "x"}),
    ],
)
def test_what_a_statement_reads_and_binds(source: str, reads: set[str], binds: set[str]) -> None:
    names = top_level.global_names_of(ast.parse(source).body[0])
    assert names.binds == binds
    assert names.reads - names.binds == reads - binds
