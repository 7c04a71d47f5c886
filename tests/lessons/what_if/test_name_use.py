"""Which names code reads, binds and changes."""

from __future__ import annotations

import pytest

from attn_tutor.lessons.what_if import name_use

READS = {
    "x = y": "y",
    "x = 1\nprint(x)": "print",
    "x = x + 1": "x",
    "x += 1": "x",
    "x[0] = y": "x y",
    "x: int\nx": "x",
    "a, (b, *c) = d\na, b, c": "d",
    "for i in rows:\n    i": "rows",
    "for i in i:\n    pass": "i",
    "[i * k for i in rows if i]": "k rows",
    "{i: j for i, j in pairs}": "pairs",
    "f = lambda a, b=c: a + b + d": "c d",
    "def f(a, b=c):\n    return a + later + other\nlater = 1": "c other",
    "def f(a):\n    def g():\n        return a\n    return g()": "",
    "class A(Base):\n    n = 1\n    def m(self):\n        return self.n + w": "Base w",
    "if (n := size) > 1:\n    n": "size",
    "with open(path) as file:\n    file": "open path",
    "try:\n    pass\nexcept Oops as error:\n    error": "Oops",
    "import torch\ntorch.ones(2)": "",
    "import torch.nn as nn\nfrom math import exp as e\nnn, e, torch": "torch",
    "def f():\n    import math\n    return math.e": "",
    "f'{x:{y}}'": "x y",
}


@pytest.mark.parametrize("code", READS)
def test_reads(code: str) -> None:
    assert name_use.of_program(code).reads == set(READS[code].split())


CHANGES = {
    "x[0] = 1": "x",
    "x[0] += 1": "x",
    "del x[0]": "x",
    "layer.weight.data[0] = 1": "layer",
    "x.add_(y)": "x",
    "nn.init.zeros_(layer.weight)": "layer",
    "import torch\ntorch.relu_(x)": "x",
    "torch.mul(x, y, out=z[0])": "z",
    "x.__len__()": "",
    "y = x.add(1)": "",
    "def f(x):\n    x[0] = 1": "",
    "x = 1": "",
}


@pytest.mark.parametrize("code", CHANGES)
def test_changes(code: str) -> None:
    assert name_use.of_program(code, {"nn", "torch"}).changes == set(CHANGES[code].split())


def test_what_is_bound() -> None:
    use = name_use.of_program("import a.b\nx = y = 1\ndef f(p): q = 1\nfor i in []: pass")
    assert use.binds == {"x", "y", "f", "i"}
    assert use.imports == {"a"}
    assert name_use.of_expression(" [x for x in rows][k] ").reads == {"rows", "k"}
