"""Answers put together as sections of one module."""

from __future__ import annotations

import ast

import pytest

from attn_tutor.lessons.takehome import course_definitions, module_file, top_level
from attn_tutor.lessons.takehome.module_file import Sections
from tests.lessons.takehome.learners import answers, solutions

ATTEND_ONE = """
import math
import torch
from torch import nn

SCALE = 2  # a constant of mine


# how far apart
def helper(a, b):
    return a @ b * SCALE


def attend(inputs, position):
    return torch.relu(helper(inputs, inputs[position]))


print(attend(torch.ones(3, 3), 1))
if __name__ == "__main__":
    attend = None
"""
ATTEND_ALL = """
import numpy as torch
import torch as t


def helper(a):
    return a @ a.T


def attend(inputs):
    return helper(inputs), t, torch
"""


def put_together(passed: dict[str, str]) -> Sections:
    return module_file.put_together(answers(passed))


def test_names_that_clash_are_told_apart() -> None:
    made = put_together({"one-query": ATTEND_ONE, "all-queries": ATTEND_ALL})
    first, second = made.sections
    assert first.names == {"attend": "attend"}
    assert second.names == {"attend": "attend_all_queries"}
    assert second.code == (
        "def helper_all_queries(a):\n    return a @ a.T\n\n\n"
        "def attend_all_queries(inputs):\n    return helper_all_queries(inputs), torch, torch_all_queries"
    )
    assert made.imports == ["import numpy as torch_all_queries", "import torch"]


def test_only_what_the_answer_needs_is_kept_with_the_comments_above_it() -> None:
    [section] = put_together({"one-query": ATTEND_ONE}).sections
    assert section.code == (
        "SCALE = 2  # a constant of mine\n\n\n# how far apart\ndef helper(a, b):\n    return a @ b * SCALE\n\n\n"
        "def attend(inputs, position):\n    return torch.relu(helper(inputs, inputs[position]))"
    )


def test_statements_that_share_a_line_are_told_apart() -> None:
    [section] = put_together({"translate": "import torch; a = 1; b = 2\ndef translate(x, y): return a"}).sections
    assert section.code == "a = 1\n\n\ndef translate(x, y): return a"


def test_what_is_set_on_a_class_later_goes_with_it() -> None:
    code = "class Masked: pass\ndef run(self): return 1\nMasked.forward = run\nMasked()\n"
    [section] = put_together({"register-mask": code}).sections
    assert "Masked.forward = run" in section.code
    assert "Masked()" not in section.code


def test_a_name_of_python_itself_gets_a_suffix() -> None:
    [section] = put_together({"copy-blocks": "def sum(x): return x\ndef copy(a, b): return sum(a)"}).sections
    assert section.code.startswith("def sum_copy_blocks(x)")
    assert "return sum_copy_blocks(a)" in section.code


def test_a_class_of_the_course_is_the_learner_s_own_if_there_is_one() -> None:
    made = put_together(solutions("causal-attention", "leaked-global", "wrapper", "two-wide"))
    assert [section.answer and section.answer.id for section in made.sections] == [
        "causal-attention",
        "leaked-global",
        "wrapper",
        "two-wide",
    ]
    assert "[CausalAttention(d_in" in made.sections[2].code
    assert "attention" not in "".join(made.imports)


def test_a_class_of_the_course_comes_along_if_the_learner_has_none() -> None:
    made = put_together(
        solutions("wrapper") | {"build-mask": "def later_words(n): return causal_mask(n)\ncausal_mask = int"}
    )
    names = [next(iter(ast.parse(section.code).body)) for section in made.sections if section.answer is None]
    assert [getattr(node, "name", "") for node in names] == [
        "check_sizes",
        "causal_mask_of_course",
        "_check_width",
        "check_batch",
        "CausalAttention",
    ]
    assert 'register_buffer("mask", causal_mask_of_course(' in made.sections[-2].code
    assert "from torch import Tensor" in made.imports


def test_the_same_definitions_come_once() -> None:
    made = put_together(solutions("wrapper", "two-wide", "gpt2-small-attention"))
    code = "\n".join(section.code for section in made.sections)
    assert code.count("def check_sizes") == code.count("class CausalAttention(") == 1
    assert code.count("class MultiHeadAttention(") == 1


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("from torch import *\ndef mix(a, b): return a @ b", "It imports all names of a module at once"),
        ("import attention\ndef mix(a, b): return attention", "It uses the course's package `attention` as a whole"),
        ("from attention import causal\ndef mix(a, b): return causal", "It uses the course's package"),
        ("def mix(a, b):\n    from attention.causal import causal_mask", "It uses the course's package"),
        ("from attention.causal import nothing\ndef mix(a, b): return nothing", "It uses the course's package"),
        ("exec('def mix(a, b): pass')", "Nothing in it defines mix."),
        ("def mix(a, b):", "It is not Python here."),
        ("import torch\ntorch = torch.nn\ndef mix(a, b): return torch", "It both imports and defines torch."),
    ],
)
def test_what_does_not_fit_is_left_out_with_a_reason(code: str, why: str) -> None:
    made = put_together({"all-contexts": code} | solutions("all-scores"))
    assert [section.answer.id for section in made.sections if section.answer] == ["all-scores"]
    [left_out] = made.left_out
    assert left_out.answer.id == "all-contexts"
    assert left_out.why.startswith(why)


def test_a_name_that_cannot_be_replaced_leaves_the_answer_out() -> None:
    code = "try:\n    pass\nexcept E as scores:\n    pass\ndef mix(a, b): return scores"
    made = put_together({"all-scores": "scores = 1\ndef all_scores(x): return scores", "all-contexts": code})
    assert [each.why for each in made.left_out] == ["Its name scores is taken by an earlier answer."]


def test_definitions_of_the_package_need_nothing_else_of_it() -> None:
    every = [
        (each.target.removesuffix(f".{each.name}"), each.name)
        for each in top_level.imports("from attention.x import y")
    ]
    assert every == [("attention.x", "y")]
    names = [("attention.cache", "MultiHeadAttentionCached"), ("attention.induction", "AttentionOnly")]
    found = course_definitions.collect([*names, ("attention.gpt2", "GPT2_SIZES")])
    space = {"__name__": "tests.lessons.takehome.test_module_sections"}
    exec(found.code, space)
    assert "import attention" not in found.code
    assert "from attention" not in found.code
    assert {"MultiHeadAttentionCached", "AttentionOnly", "GPT2_SIZES"} <= set(space)


def test_the_package_itself_names_what_it_exports() -> None:
    [found] = top_level.imports("from attention import MultiHeadAttention as Heads")
    assert course_definitions.resolve(found) == ("attention.multi_head", "MultiHeadAttention")
    [other] = top_level.imports("import torch")
    assert course_definitions.resolve(other) is None
