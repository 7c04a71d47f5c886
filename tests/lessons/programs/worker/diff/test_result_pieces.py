"""What one run computes piece by piece and the other one at once: which piece is wrong."""

from __future__ import annotations

import pytest

from attn_tutor.lessons.programs.render import comparison_text
from attn_tutor.lessons.programs.results.comparison import RunDifference
from tests.lessons.programs.worker.diff.compared_code import compare

START = """
torch.manual_seed(0)
x = torch.randn(2, 6, 16)
wq, wk, wv = torch.randn(3, 16, 16) / 4
"""

WHOLE = f"""{START}
q, k, v = ((x @ w).view(2, 6, 4, 4).transpose(1, 2) for w in (wq, wk, wv))
scores = q @ k.transpose(-2, -1) / 2
weights = scores.softmax(dim=-1)
out = (weights @ v).transpose(1, 2).reshape(2, 6, 16)
"""

HEADS = f"""{START}
heads = []
for h in range(4):
    part = slice(4 * h, 4 * h + 4)
    q = x @ wq[:, part]
    k = x @ wk[:, part]
    v = x @ wv[:, part]
    scores = q @ k.transpose(-2, -1) / 2
    weights = scores.softmax(dim=-1)
    heads.append(weights @ v)
out = torch.cat(heads, dim=-1)
"""

STEPS = """
torch.manual_seed(0)
x, h = torch.randn(7, 3, 5), torch.zeros(3, 4)
rnn = torch.nn.RNN(5, 4)
wi, wh, bi, bh = rnn.parameters()
outs = []
for t in range(7):
    h = torch.tanh(x[t] @ wi.T + bi + h @ wh.T + bh)
    outs.append(h)
out = torch.stack(outs)
"""

LAYER = STEPS[: STEPS.index("outs")] + "out, _ = rnn(x)\n"

AT_ONCE = """
torch.manual_seed(0)
rewards, values = torch.randn(8), torch.randn(9)
deltas = rewards + 0.9 * values[1:] - values[:-1]
powers = 0.8 ** (torch.arange(8)[None, :] - torch.arange(8)[:, None]).clamp(min=0)
advantages = (deltas * powers.triu()).sum(dim=1)
returns = advantages + values[:-1]
"""

BACKWARDS = """
torch.manual_seed(0)
rewards, values = torch.randn(8), torch.randn(9)
advantages, last = torch.zeros(8), 0.0
for t in reversed(range(8)):
    delta = rewards[t] + 0.9 * values[t + 1] - values[t]
    last = delta + 0.8 * last
    advantages[t] = last
returns = advantages + values[:-1]
"""

PRODUCT = """
torch.manual_seed(0)
x, w = torch.randn(20, 12), torch.randn(12, 16)
y = x @ w
out = (y.relu() + 1).mean(dim=1)
"""

TILES = """
torch.manual_seed(0)
x, w = torch.randn(20, 12), torch.randn(12, 16)
z = torch.empty(20, 16)
for i in range(0, 20, 8):
    for j in range(0, 16, 8):
        tile = x[i : i + 8] @ w[:, j : j + 8]
        tile = tile.relu()
        z[i : i + 8, j : j + 8] = tile + 1
out = z.mean(dim=1)
"""


def difference(one: str, other: str) -> RunDifference:
    found = compare(one, other).difference
    assert found is not None
    return found


@pytest.mark.parametrize(("one", "other"), [(WHOLE, HEADS), (LAYER, STEPS), (AT_ONCE, BACKWARDS), (PRODUCT, TILES)])
def test_what_is_computed_in_pieces_agrees_with_the_whole(one: str, other: str) -> None:
    assert compare(one, other).difference is None
    assert compare(other, one).difference is None


@pytest.mark.parametrize(
    ("whole", "pieces", "good", "bad", "name", "part"),
    [
        (WHOLE, HEADS, "/ 2\n", "/ (2 if h != 2 else 4)\n", "scores", ":,2,:,:"),
        (WHOLE, HEADS, "softmax(dim=-1)", "softmax(dim=-1 if h else -2)", "weights", ":,0,:,:"),
        (WHOLE, HEADS, "softmax(dim=-1)", "softmax(dim=-1 if h != 3 else -2)", "weights", ":,3,:,:"),
        (WHOLE, HEADS, "x @ wk[:, part]", "x @ wk[:, part if h != 2 else slice(4, 8)]", "k", ":,8:12"),
        (AT_ONCE, BACKWARDS, "0.9 * values[t + 1]", "(0.9 - (t == 3)) * values[t + 1]", "delta", "3"),
        (PRODUCT, TILES, "tile.relu()", "(tile.relu() if i + j != 16 else tile.abs())", "tile", "8:16,8:16"),
    ],
)
def test_the_piece_that_is_wrong_is_named(whole: str, pieces: str, good: str, bad: str, name: str, part: str) -> None:
    assert good in pieces
    wrong = pieces.replace(good, bad)
    line = pieces[: pieces.index(good)].count("\n") + 1
    found = difference(whole, wrong)
    assert found.other is not None
    assert found.other.line == line
    text = "\n".join(comparison_text.lines(compare(whole, wrong), ("whole.py", "pieces.py"), "code", 200))
    assert f"whole.py computes all of it at once. What pieces.py computes here should be its part [{part}]." in text
    assert found.count
    back = difference(wrong, whole)
    assert back.one == found.other
    assert (back.count, back.spans) == (found.count, found.spans)


def test_the_time_step_that_is_wrong_is_named_and_not_the_first_one() -> None:
    wrong = STEPS.replace("    outs.append(h)", "    h = h * 2 if t == 4 else h\n    outs.append(h)")
    found = difference(LAYER, wrong)
    assert found.other is not None
    assert found.other.line == 9


def test_pieces_in_another_order_differ_where_they_are_joined() -> None:
    found = difference(WHOLE, HEADS.replace("torch.cat(heads", "torch.cat(heads[::-1]"))
    assert found.other is not None
    assert found.other.code == "torch.cat(heads[::-1], dim=-1)"
    assert found.permuted
