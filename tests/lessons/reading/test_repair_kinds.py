"""The kinds of repairs, and what is said about them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from attn_tutor.lessons.reading import expression_edits, mistake_library, own_edits, repair_kinds, repairs
from attn_tutor.lessons.reading.code_differences import differences, parse, smallest
from attn_tutor.lessons.reading.repair_kinds import LAST, LEAVING, kind_of, kind_texts

MODULES = (repair_kinds, repairs, own_edits, expression_edits, expression_edits)


@pytest.mark.parametrize(
    ("kind", "about", "wrong", "right"),
    [
        ("axis", "torch.softmax(s, dim=0)", "w = torch.softmax(s, dim=0)", "w = torch.softmax(s, dim=-1)"),
        ("axis", "s.softmax(0)", "w = s.softmax(0)", "w = s.softmax(-1)"),
        ("axis", "k.transpose(0, 1)", "w = k.transpose(0, 1)", "w = k.transpose(1, 2)"),
        ("other-value", "2", "w = x.chunk(2, dim=1)", "w = x.chunk(3, dim=1)"),
        ("other-value", "0", "w = max(n, 0)", "w = max(n, 1)"),
        ("transpose-extra", "k.T", "s = q @ k.T", "s = q @ k"),
        ("transpose-missing", "k", "s = q @ k", "s = q @ k.transpose(1, 2)"),
        ("sides-exchanged", "b - a", "s = b - a", "s = a - b"),
        ("place-by-place", "q * k", "s = q * k", "s = q @ k"),
        ("operator", "q + k", "s = q + k", "s = q - k"),
        ("operator", "i < j", "m = i < j", "m = i <= j"),
        ("brackets", "a / 1 - p", "s = a / 1 - p", "s = a / (1 - p)"),
        ("opposite", "mask", "s = f(mask)", "s = f(~mask)"),
        ("opposite", "-torch.inf", "s = f(-torch.inf)", "s = f(torch.inf)"),
        ("order", "(c, w)", "return c, w", "return w, c"),
        ("order", "f(a, b)", "s = f(a, b)", "s = f(b, a)"),
        ("arguments", "f(a, b)", "s = f(a, b)", "s = f(c, d)"),
        ("argument-missing", "f(a)", "s = f(a)", "s = f(a, keepdim=True)"),
        ("argument-extra", "f(a, 1)", "s = f(a, 1)", "s = f(a)"),
        ("index", "x.shape[0]", "n = x.shape[0]", "n = x.shape[-1]"),
        ("index", "m[:n]", "n = m[:n]", "n = m[:n, :n]"),
        ("other-name", "q", "s = q @ k", "s = p @ k"),
        ("other-target", "q", "q = 1", "p = 1"),
        ("other-attribute", "v.q", "s = v.q", "s = v.k"),
        ("other-function", "x.mean", "s = x.mean()", "s = x.sum()"),
        ("other-function", "torch.stack", "s = torch.stack(x)", "s = torch.cat(x)"),
        ("expression", "x.mean", "s = x.mean()", "s = y.sum()"),
        ("other-value", "-10", "s = f(-10)", "s = f(-torch.inf)"),
        ("other-value", "True", "s = f(bias=True)", "s = f(bias=False)"),
        ("other-value", "-1000.0", "s = f(-1000.0)", "s = f(float('-inf'))"),
        ("fixed-value", "6", "s = f(6)", "s = f(n - 1)"),
        ("self-missing", "W", "s = x @ W", "s = x @ self.W"),
        ("values-extra", "(…, w)", "return c, w", "return c"),
        ("values-missing", "c", "return c", "return w, c"),
        ("too-much", "… / d ** 0.5", "s = q @ k / d ** 0.5", "s = q @ k"),
        ("too-much", "….detach()", "s = f(x).detach()", "s = f(x)"),
        ("too-little", "s", "w = f(s)", "w = f(s / d)"),
        ("expression", "(a - b).norm()", "s = (a - b).norm()", "s = a @ b"),
        ("statement", "", "s += 1", "s = s * 2"),
        ("statement-extra", "", "a = 1\nb = 2", "a = 1"),
        ("statement-missing", "", "a = 1", "a = 1\nb = a"),
        ("return-missing", "", "a = 1", "a = 1\nreturn a"),
        ("gap", "...", "x = ...", "x = y + 1"),
        ("gap", "...", "x[0] = ...", "x[0] = y[0] * 2"),
        ("result-not-kept", "", "x.clamp(0)", "x = x.clamp(0)"),
        ("result-not-returned", "", "build(x)", "return build(x)"),
    ],
)
def test_an_edit_has_a_kind(kind: str, about: str, wrong: str, right: str) -> None:
    [found] = differences(parse(wrong), parse(right))
    assert kind_of(smallest(found)) == (kind, about)


def test_long_code_is_shortened() -> None:
    assert len(repair_kinds.shortened("x" * 100)) == repair_kinds.LONGEST
    assert repair_kinds.shortened("f(a,\n  b)") == "f(a, b)"


def test_each_kind_has_a_text_of_its_own() -> None:
    code = "".join(Path(str(module.__file__)).read_text(encoding="utf-8") for module in MODULES)
    kinds = set(kind_texts())
    assert kinds <= set(re.findall(r'"([a-z]+(?:-[a-z]+)*)"', code))
    assert set(LAST | LEAVING) | set(re.findall(r'yield "([a-z-]+)"', code)) <= kinds
    assert not kinds & set(mistake_library.load_library())
    for text in kind_texts().values():
        assert text.why.format(code="x", outcome="y")
