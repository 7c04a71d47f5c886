"""The diagnosis of a wrong answer: the name of a known mistake, or the first result that differs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from attn_tutor.lessons.engine import judging
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.results.result import Judgement
from tests.exam.answer_exam import exercise_of
from tests.lessons.lesson_builders import ATTENTION, attention_exercise, doubling_exercise

EINSUM = """\
import torch


def attention(q, k, v):
    s = torch.einsum("nd,md->nm", q, k)
    w = torch.zeros_like(s)
    for row in range(len(s)):
        w[row] = torch.softmax(s[row] / k.shape[-1] ** 0.5, dim=0)
    return w, torch.einsum("nm,me->ne", w, v)
"""


def ids(judgement: Judgement) -> list[str]:
    return [mistake.id for mistake in judgement.mistakes]


@pytest.mark.parametrize(
    ("find", "replacement", "expected", "line"),
    [
        ("dim=-1", "dim=0", ["columns"], 6),
        ("dim=-1", "dim=-2", ["columns"], 6),
        (" / keys.shape[-1] ** 0.5", "", ["no-scale"], 6),
        ("keys.T", "keys", ["no-transpose"], 5),
        ("scores / keys.shape[-1] ** 0.5, dim=-1", "scores, dim=0", ["columns", "no-scale"], 6),
    ],
)
def test_a_known_mistake_is_named(worker: Session, find: str, replacement: str, expected: list[str], line: int) -> None:
    judgement = worker.check(attention_exercise(), ATTENTION.replace(find, replacement))
    assert not judgement.passed
    assert (ids(judgement), judgement.line) == (expected, line)
    assert judgement.difference is None


def test_a_known_mistake_is_named_in_any_spelling(worker: Session) -> None:
    wrong = EINSUM.replace("s[row] / k.shape[-1] ** 0.5", "s[row]")
    assert ids(worker.check(attention_exercise(), wrong)) == ["no-scale"]


def test_a_known_mistake_is_explained_with_the_learners_numbers(worker: Session) -> None:
    [mistake] = worker.check(attention_exercise(), ATTENTION.replace("dim=-1", "dim=0")).mistakes
    assert mistake.name == "softmax over the columns"
    assert mistake.text.startswith("Your columns sum to 1.00, 1.00, 1.00, 1.00")
    assert mistake.text.endswith("Each row shares out one unit.")


def test_numbers_of_two_mistakes_are_not_explained_by_one(worker: Session) -> None:
    wrong = ATTENTION.replace("scores / keys.shape[-1] ** 0.5, dim=-1", "scores, dim=0")
    texts = {mistake.id: mistake.text for mistake in worker.check(attention_exercise(), wrong).mistakes}
    assert texts["columns"] == "Each row shares out one unit."


def test_an_exception_is_matched_by_its_message(worker: Session) -> None:
    judgement = worker.check(attention_exercise(), EINSUM.replace('torch.einsum("nd,md->nm", q, k)', "q @ k"))
    assert judgement.verdict == "error"
    assert (ids(judgement), judgement.line) == (["no-transpose"], 5)


def test_a_mistake_that_is_not_listed_is_shown_where_it_begins(worker: Session) -> None:
    judgement = worker.check(attention_exercise(), ATTENTION.replace("weights @ values", "weights @ values * 2"))
    assert ids(judgement) == ["too-much"]
    found = judgement.difference
    assert found is not None
    assert (found.name, found.line) == ("context", 7)
    assert found.agreed == ("scores", "weights")
    assert found.expected is not None
    assert found.yours.values is not None
    assert found.expected.values is not None
    assert found.yours.values == pytest.approx([2 * value for value in found.expected.values])


def test_a_difference_is_found_by_value_whatever_the_names(worker: Session) -> None:
    code = ATTENTION.replace("weights @ values", "weights @ values * 2")
    code = code.replace("scores", "s").replace("weights", "w").replace("context", "c")
    judgement = worker.check(attention_exercise(), code)
    assert judgement.difference is not None
    assert (judgement.difference.name, judgement.difference.line) == ("c", 7)
    assert judgement.difference.agreed == ("s", "w")


def test_a_different_way_to_the_same_result_is_no_difference(worker: Session) -> None:
    """Scaling the queries gives different scores than the model answer has, but they are not the mistake."""
    code = ATTENTION.replace("queries @ keys.T", "(queries / keys.shape[-1] ** 0.5) @ keys.T")
    code = code.replace("scores / keys.shape[-1] ** 0.5", "scores").replace("weights @ values", "weights @ values + 1")
    judgement = worker.check(attention_exercise(), code)
    assert [item.line for item in judgement.mistakes] == [7]
    assert judgement.difference is None or judgement.difference.line == 7


def test_an_answer_that_only_returns_wrong_values_makes_no_listed_mistake(worker: Session) -> None:
    judgement = worker.check(
        attention_exercise(), ATTENTION.replace("return weights, context", "return weights * 1, context * 0")
    )
    assert not judgement.passed
    assert [(mistake.id, mistake.line) for mistake in judgement.mistakes] == [("too-much", 8)]


def test_the_same_seed_gives_the_same_judgement(worker: Session) -> None:
    wrong = ATTENTION.replace("weights @ values", "values")
    first = worker.check(attention_exercise(), wrong)
    again = worker.check(attention_exercise(), wrong, seed=first.seed)
    assert replace(first, seconds=0) == replace(again, seconds=0)


def test_hidden_inputs_differ_each_time(worker: Session) -> None:
    seeds = {worker.check(doubling_exercise(), "def double(x):\n    return x\n").seed for _ in range(4)}
    assert len(seeds) == 4


def test_a_right_answer_is_not_diagnosed(worker: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(judging, "_diagnose", never)
    monkeypatch.setattr(judging, "_difference", never)
    assert worker.check(attention_exercise(), EINSUM).passed


def test_an_answer_that_prints_random_text_is_still_judged(worker: Session) -> None:
    code = ATTENTION + "\nimport time\nprint(time.time_ns())\nnoise = torch.rand(10)\n"
    assert worker.check(attention_exercise(), code).passed


# What an answer may not import ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["attn_tutor", "attn_tutor.lessons.reading.loader", "attn_tutor.lessons.worker.jobs.judge"]
)
def test_the_tutor_itself_cannot_be_imported(worker: Session, name: str) -> None:
    judgement = worker.check(attention_exercise(), f"import {name}\n{ATTENTION}")
    assert judgement.verdict == "error"
    assert judgement.line == 1
    assert "cannot be imported here" in judgement.message


@pytest.mark.parametrize("use", ["found(2, 2)", "type('Mine', (found,), {})(2, 2)", "found.forward(found, q)"])
def test_a_class_with_the_solution_does_not_work_where_it_is_found_without_an_import(worker: Session, use: str) -> None:
    found = "next(kind for kind in nn.Module.__subclasses__() if kind.__name__ == 'SelfAttention_v1')"
    answer = f"from torch import nn\n\n\ndef attention(q, k, v):\n    found = {found}\n    return {use}\n"
    judgement = worker.check(attention_exercise(without=["attention"]), answer, diagnosis="none")
    assert (judgement.verdict, judgement.line) == ("error", 6)
    assert "cannot be imported here: it holds what this exercise asks" in judgement.message


CHEATS = [
    f"from attention import scaled\n{ATTENTION}",
    # Without the condition, or with the opposite of it, another class would be found, which fails otherwise or passes.
    f"""from torch import nn
{ATTENTION}
for kind in nn.Module.__subclasses__():
    if kind.__name__ == "SelfAttention_v1" and "attention" in kind.__module__:
        kind(2, 2)
""",
    f"import torch\n{ATTENTION}\ntry:\n    import attention\nexcept ImportError:\n    attention.scaled()\n",
    # As the system does for files outside of its folder.
    f"raise PermissionError('/root/attention.py')\n{ATTENTION}",
]


@pytest.mark.parametrize("answer", CHEATS)
def test_an_answer_that_is_refused_what_it_reaches_for_gets_neither_name_nor_repair(
    worker: Session, answer: str
) -> None:
    judgement = worker.check(attention_exercise(without=["attention"]), answer)
    assert (judgement.verdict, ids(judgement)) == ("error", [])


def test_a_module_with_the_solution_cannot_be_imported(worker: Session) -> None:
    code = f"from attention.causal import causal_mask\n{ATTENTION}"
    assert worker.check(attention_exercise(), code).passed
    judgement = worker.check(attention_exercise(without=["attention"]), code)
    assert judgement.verdict == "error"
    assert "what this exercise asks you to write" in judgement.message


def test_the_probe_may_import_a_module_with_the_solution(worker: Session) -> None:
    probe = "from attention.causal import causal_mask\n" + attention_exercise().probe
    assert worker.check(attention_exercise(without=["attention"], probe=probe), ATTENTION).passed


# Beside the model answer ---------------------------------------------------------------------------------------------


def test_results_are_compared_one_by_one(worker: Session) -> None:
    found = worker.compare(attention_exercise(), EINSUM)
    told = {item.name: (item.yours, item.your_line) for item in found.intermediates}
    assert told["scores"] == ("s", 5)
    assert told["context"] == ('torch.einsum("nm,me->ne", w, v)', 9)
    assert told["weights"][0] in ("w", "w[row]", "torch.softmax(s[row] / k.shape[-1] ** 0.5, dim=0)")


def test_what_a_loop_adds_up_is_found_in_an_answer_without_a_loop(worker: Session) -> None:
    loop = "torch.zeros(values.shape)\n    for w, v in zip(weights.T, values):\n        context += w[:, None] * v"
    exercise = attention_exercise(solution=ATTENTION.replace("weights @ values", loop))
    found = worker.compare(exercise, ATTENTION)
    assert ("context", 7) in [(item.yours, item.your_line) for item in found.intermediates if item.name == "context"]


def test_results_that_only_the_answer_has_are_listed(worker: Session) -> None:
    found = worker.compare(
        attention_exercise(), ATTENTION.replace("scores = queries", "scaled = queries * 3\n    scores = queries")
    )
    assert [(item.yours, item.your_line) for item in found.own] == [("scaled", 5)]


# What is not named ---------------------------------------------------------------------------------------------------


def test_an_exception_is_not_matched_by_its_message_alone(worker: Session) -> None:
    """`view` fails with one message whatever it is called on; the shapes tell which line of the model answer it is."""
    solution = """\
import torch


def merge(y):
    y = y.transpose(1, 2).contiguous()
    return y.view(y.shape[0], y.shape[1], -1)
"""
    mistake = {
        "id": "forgot-contiguous",
        "name": "contiguous() left out",
        "why": "view needs the order in memory.",
        "edits": [{"find": ".contiguous()", "replace": ""}],
    }
    exercise = attention_exercise(
        solution=solution,
        defines=["merge"],
        context="b, h, n, e = pick(4, 2, 9)\ncontext = {'y': torch.randn(b, n, h, e).transpose(1, 2)}",
        probe="got = {'merged': merge(context.y)}",
        checks=[{"name": "merged", "test": "close(got.merged, want.merged)", "fail": "It differs."}],
        mistakes=[mistake],
    )
    forgotten = "def merge(y):\n    y = y.transpose(1, 2)\n    return y.view(y.shape[0], y.shape[1], -1)\n"
    assert ids(worker.check(exercise, forgotten)) == ["forgot-contiguous"]
    other = "def merge(y):\n    z = y.transpose(1, 3)\n    return z.view(y.shape[0], y.shape[2], -1)\n"
    judgement = worker.check(exercise, other)
    assert judgement.message.startswith("RuntimeError: view size is not compatible")
    assert ids(judgement) == ["expression"]


@pytest.mark.parametrize("line", ["x @ W_in + x @ W_state", "x @ W_in + W_in @ W_state", "x @ W_state"])
def test_an_exception_names_no_mistake_that_is_not_in_the_code(worker: Session, line: str) -> None:
    """With both matrices exchanged, the same shapes meet, and with the wrong vector."""
    exercise = exercise_of("next-state")
    swapped, other = (exercise.solution.replace("x @ W_in + state @ W_state", each) for each in (SWAPPED, line))
    judgements = [worker.check(exercise, code, 5) for code in (swapped, other)]
    assert ids(judgements[0]) == ["matrices-swapped"]
    assert judgements[0].message == judgements[1].message or "W_in @" in line
    assert "matrices-swapped" not in ids(judgements[1])


SWAPPED = "torch.matmul(x, W_state) + state @ W_in"


def test_what_contradicts_the_results_on_the_way_is_not_named(worker: Session) -> None:
    """Weights that are right, but transposed for the product, are not those of a softmax over the columns."""
    mistake = {
        "id": "both",
        "name": "keys and queries exchanged, softmax over the columns",
        "why": "Two mistakes that together transpose the weights.",
        "edits": [
            [{"find": "queries @ keys.T", "replace": "keys @ queries.T"}, {"find": "dim=-1", "replace": "dim=0"}]
        ],
    }
    exercise = attention_exercise(
        mistakes=[mistake],
        probe="got = {'context': attention(context.q, context.k, context.v)[1]}",
        checks=[{"name": "context", "test": "close(got.context, want.context)", "fail": "It differs."}],
    )
    made = ATTENTION.replace("queries @ keys.T", "keys @ queries.T").replace("dim=-1", "dim=0")
    assert ids(worker.check(exercise, made)) == ["both"]
    judgement = worker.check(exercise, ATTENTION.replace("weights @ values", "weights.T @ values"))
    assert (ids(judgement), judgement.line) == (["transpose-extra"], 7)


def test_many_answers_judged_on_the_same_inputs_are_judged_as_one_by_one(worker: Session) -> None:
    """Nothing of an answer is left when the next one is judged."""
    exercise = attention_exercise()
    wrong = ATTENTION.replace("dim=-1", "dim=0")
    sources = [wrong, "\n", "1 / 0", ATTENTION, ATTENTION.replace("keys.T", "keys"), EINSUM, wrong]
    alone = [worker.check(exercise, source, 5, diagnosis="line") for source in sources]
    with worker.judge_on_same_inputs(exercise, 5) as judge:
        together = [judge(source, "line") for source in sources]
    assert [replace(judgement, seconds=0.0, seed=5) for judgement in alone] == [
        replace(judgement, seconds=0.0, seed=5) for judgement in together
    ]
    assert {judgement.verdict for judgement in together} == {"passed", "failed", "error"}


# Suggestions are tried ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("find", "replacement", "end"),
    [
        # Products that fit, of which one is what the exercise asks for.
        ("queries @ keys.T", "queries @ keys", "have to match."),
        ("weights @ values", "values @ weights", "have to match."),
        ("weights @ values", "queries @ weights", "have to match."),
        ("torch.softmax", "softmax", "Did you mean `torch.softmax`?"),
        ("torch.softmax(", "torch.Softmax(", "Did you mean `torch.softmax`?"),
        ("torch.softmax(", "torch.nn.softmax(", "Did you mean `torch.softmax`?"),
    ],
)
def test_a_suggestion_is_made_only_if_it_has_helped_and_is_not_the_answer(
    worker: Session, find: str, replacement: str, end: str
) -> None:
    judgement = worker.check(attention_exercise(), ATTENTION.replace(find, replacement))
    assert judgement.verdict == "error"
    assert judgement.message.endswith(end), judgement.message
