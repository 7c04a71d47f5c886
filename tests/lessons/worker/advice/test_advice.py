"""Advice on exceptions: the sentences after Python's own message, for programs that really fail."""

from __future__ import annotations

import builtins
from textwrap import dedent, indent
from typing import Any

import pytest
import torch
from torch import nn

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.results.result import Failure
from attn_tutor.lessons.worker.advice import advice
from attn_tutor.lessons.worker.advice.rules import RULES
from attn_tutor.lessons.worker.advice.safe_reading import (
    UNKNOWN,
    TensorInfo,
    attribute,
    fields,
    indexed,
    is_a,
    message_of,
    tensor_info,
)
from attn_tutor.lessons.worker.advice.scene import nearest, size
from attn_tutor.lessons.worker.advice.shape_effects import broadcast, product, viewed
from attn_tutor.lessons.worker.jobs.execute import LONGEST, YOUR_CODE, describe, execute
from tests.lessons.lesson_builders import doubling_exercise

START = """
import torch
from torch import nn

queries, keys, square = torch.rand(6, 3), torch.rand(2, 3), torch.rand(6, 6)
batch, vector, whole = torch.rand(2, 6, 3), torch.rand(3), torch.ones(6, 3, dtype=torch.long)
mask, half = torch.ones(10, 10).triu(1), 6 / 2
layer, matrix = nn.Linear(3, 4, bias=False), nn.Parameter(torch.rand(3, 4))
"""

HEAD = """
import torch
from torch import nn

class Head(nn.Module):
    def __init__(self, d_in, d_out, context_length):
        super().__init__()
        self.d_out = d_out
        self.W_query = nn.Linear(d_in, d_out, bias=False)
        self.W_key = nn.Linear(d_in, d_out, bias=False)
        self.W = nn.Parameter(torch.rand(d_in, d_out))
        self.register_buffer("mask", torch.triu(torch.ones(context_length, context_length), diagonal=1))

    def forward(self, x):
        queries, keys = self.W_query(x), self.W_key(x)
        scores = queries @ keys.transpose(1, 2)
{body}

Head(3, 4, 10)(torch.rand(2, 6, 3))
"""


def failure_message(source: str) -> str:
    """Run a program that fails and return the message of the failure."""
    failure = execute(source, YOUR_CODE, {})
    assert failure is not None, "the program should fail"
    return failure.message


def ends_with_advice(message: str, advised: str) -> bool:
    """Return whether a message ends with this advice, after Python's own words."""
    return message.endswith(f" {advised}") and len(message) > len(advised) + 3


# Single lines --------------------------------------------------------------------------------------------------------

LINES = {
    # Matrix products
    "queries @ keys": "`queries` is 6x3 and `keys` is 2x3. The inner sizes, 3 and 2, have to match. Did you mean "
    "`queries @ keys.T`?",
    "torch.matmul(queries, keys)": "`queries` is 6x3 and `keys` is 2x3. The inner sizes, 3 and 2, have to match. Did "
    "you mean `queries @ keys.T`?",
    "queries.mm(keys)": "Did you mean `queries @ keys.T`?",
    "queries @ queries": "`queries` is 6x3 on both sides. The inner sizes, 3 and 6, have to match. Did you mean "
    "`queries @ queries.T`?",
    "queries.T @ keys": "Did you mean `queries @ keys.T`?",
    "matrix @ queries": "`matrix` is 3x4 and `queries` is 6x3. The inner sizes, 4 and 6, have to match. Did you mean "
    "`queries @ matrix`?",
    "batch @ batch": "Did you mean `batch @ batch.transpose(-2, -1)`?",
    "batch @ batch.T": "`batch` is 2x6x3 and `batch.T` is 3x6x2. The inner sizes, 3 and 6, have to match. Did you mean "
    "`batch @ batch.transpose(-2, -1)`?",
    "batch.unsqueeze(1) @ batch.unsqueeze(1)": "Did you mean "
    "`batch.unsqueeze(1) @ batch.unsqueeze(1).transpose(-2, -1)`?",
    "torch.rand(2, 2, 6, 3) @ torch.rand(3, 2, 3, 6)": "`torch.rand(2, 2, 6, 3)` is 2x2x6x3 and `torch.rand(3, 2, 3, "
    "6)` is 3x2x3x6. The axes before the last two, [2, 2] and [3, 2], have to match or be 1.",
    "vector @ torch.rand(4, 2)": "`vector` is a vector of 3 and `torch.rand(4, 2)` is 4x2. The inner sizes, 3 and 4, "
    "have to match.",
    "torch.tensor(2.0) @ queries": "`torch.tensor(2.0)` is a single number and `queries` is 6x3. `@` doesn't work "
    "with a single number, as `*` does.",
    "queries @ layer.weight": "`layer.weight` is 4x3, because nn.Linear stores one row for each output. Try "
    "`layer(queries)`, which calls the layer.",
    "layer(torch.rand(6, 5))": "`torch.rand(6, 5)` is 6x5, so its last axis has 5 numbers, but `layer` takes 3 "
    "(in_features=3).",
    "torch.dot(queries, queries)": "torch.dot multiplies two vectors, but `queries` is 6x3 and `queries` is 6x3. "
    "Did you mean `queries @ queries.T`?",
    'torch.einsum("ij,kj->ik", queries, torch.rand(2, 4))': "`queries` is 6x3 and `torch.rand(2, 4)` is 2x4. The "
    "letter j names an axis of each, so these two axes need the same size.",
    'torch.einsum("ij,kj->ik", queries, batch)': "`batch` is 2x6x3. It has 3 axes and needs a letter for each, but "
    "the equation gives it 2.",
    "torch.bmm(batch, keys)": "`batch` is 2x6x3 and `keys` is 2x3. The inner sizes, 3 and 2, have to match. Did you "
    "mean `batch @ keys.T`?",
    "torch.bmm(batch, keys.T)": "torch.bmm takes two batches of matrices, with 3 axes each. `@` works with any "
    "number of axes.",
    # Broadcasting, masks, copies
    "queries + keys": "`queries` is 6x3 and `keys` is 2x3. Compared from the last axis on, two sizes have to be "
    "equal, or one of them has to be 1.",
    "queries * torch.rand(6)": "`queries` is 6x3 and `torch.rand(6)` is a vector of 6. Try "
    "`torch.rand(6).unsqueeze(-1)`, which makes it a column with one number per row.",
    "queries + queries.T": "`queries` is 6x3 and `queries.T` is 3x6. Did you mean",
    "queries * queries.T": "`queries` is 6x3 and `queries.T` is 3x6. `*` multiplies element by element. The matrix "
    "product is `queries @ queries.T`.",
    "queries.T + queries.T.T": "Did you mean `queries.T`?",
    "queries * matrix": "`queries` is 6x3 and `matrix` is 3x4. `*` multiplies element by element. The matrix product "
    "is `queries @ matrix`.",
    "square.masked_fill(mask.bool(), 0)": "`square` is 6x6 and `mask.bool()` is 10x10. "
    "Slice the mask to the number of tokens: `mask[:6, :6].bool()`.",
    "square + mask": "Slice the mask to the number of tokens: `mask[:6, :6]`.",
    "square.masked_fill(mask[:5, :5] > 0, 0)": "`square` is 6x6 and `mask[:5, :5] > 0` is 5x5. The mask is too small "
    "for 6 tokens. Make it larger.",
    "queries.copy_(keys)": "`queries` is 6x3 and `keys` is 2x3. A copy needs the same shape.",
    "layer.weight.data.copy_(matrix)": "`layer.weight.data` is 4x3 and `matrix` is 3x4. Did you mean `matrix.T`? "
    "A copy needs the same shape.",
    "queries[0] = torch.rand(4)": "`queries[0]` is a vector of 3, but `torch.rand(4)` is a vector of 4. What you "
    "assign needs the same shape, or one that can be repeated to fill it.",
    "vector[:] = batch": "`vector[:]` is a vector of 3, but `batch` is 2x6x3. What you assign needs the same shape, or "
    "one that can be repeated to fill it.",
    # Views
    "queries.T.view(18)": "`view` needs the numbers to be stored in reading order, which they often aren't after a "
    "transposition. Write `queries.T.contiguous().view(18)` or `queries.T.reshape(18)`.",
    "batch.transpose(1, 2).view(2, 18)": "`view` needs the numbers to be stored in reading order, which they often "
    "aren't after a transposition. Write `batch.transpose(1, 2).contiguous().view(2, 18)` or `batch.transpose(1, "
    "2).reshape(2, 18)`.",
    "batch.view(2, 6, 2, 2)": "`batch` is 2x6x3 and contains 36 numbers, but the sizes that you ask for give 2 * 6 * "
    "2 * 2 = 48.",
    "batch.view(5, -1)": "`batch` is 2x6x3 and contains 36 numbers, which can't be divided by the other sizes (5).",
    "batch.permute(0, 2)": "`batch` is 2x6x3. `permute` needs every axis exactly once. To swap two axes, use "
    "`.transpose(a, b)`.",
    "batch.t()": "`batch` is 2x6x3. Try `batch.transpose(-2, -1)`.",
    # Joining
    "torch.cat(queries, keys)": "torch.cat takes a list of tensors. Try `torch.cat([queries, keys], dim=-1)`.",
    "torch.stack(queries, keys)": "torch.stack takes a list of tensors. Try `torch.stack([queries, keys])`.",
    "torch.cat([queries, keys], dim=1)": "`queries` is 6x3 and `keys` is 2x3. To join them along axis 1, all other "
    "sizes have to match. Did you mean `dim=0`?",
    "torch.stack([queries, keys])": "`queries` is 6x3 and `keys` is 2x3. torch.stack needs tensors of the same "
    "shape. torch.cat joins them along an axis that they already have.",
    "torch.cat([])": "The list is empty. Nothing has been put into it.",
    # One number, unpacking
    "queries.item()": "`queries` is 6x3. Only a tensor with a single element can be converted to a number. Pick one "
    "element, as in `queries[0, 0]`.",
    "torch.tensor([queries, keys])": "torch.tensor can't combine tensors. Write "
    "`torch.stack([queries, keys])` to make one tensor out of them.",
    "import math; math.sqrt(queries)": "`queries` is 6x3. Only a tensor with a single element can be converted to a "
    "number. For tensors, use `torch.sqrt`.",
    "if queries > 0: pass": "A condition needs a single True or False, but this is a whole tensor. Use `(queries > "
    "0).all()` or `(queries > 0).any()`. To choose element by element, use torch.where, with `&` "
    "and `|` in place of `and` and `or`.",
    "b, n, d = queries.shape": "`queries` is 6x3, so its shape has 2 entries, but there are 3 names on the left. "
    "`queries.unsqueeze(0)` adds a batch axis in front.",
    "n, d = batch.shape": "`batch` is 2x6x3, so its shape has 3 entries, but there are 2 names on the left.",
    "output, weights = layer(queries)": "`layer(queries)` is a single tensor (6x4), and unpacking it gives its 6 rows.",
    # Layers, parameters and tensors
    "queries @ layer": "`layer` is a layer, not a matrix. Write `layer(queries)` to call it.",
    "layer @ queries": "`layer` is a layer, not a matrix. Write `layer(queries)` to call it.",
    "layer * queries": "`layer` is a layer, not a matrix. Write `layer(queries)` to call it.",
    "queries @ [1.0, 2.0, 3.0]": "`[1.0, 2.0, 3.0]` is a list, not a tensor. Try `torch.tensor([1.0, 2.0, 3.0])`.",
    "queries @ 2": "`2` is a plain number. `@` is for matrices, and `*` for numbers.",
    "queries + queries.mean": "`queries.mean` is a function. Write `queries.mean()` to call it.",
    "matrix(queries)": "`matrix` is a matrix (3x4), not a layer, so it can't be called. Write `queries @ matrix`.",
    "layer.weight(queries)": "`layer.weight` is the matrix of the layer. Call the layer itself, as in `layer(...)`.",
    "queries.T()": "`.T` takes no parentheses. Write `queries.T`.",
    "queries.shape(0)": "`queries.shape` is not a function. Write `queries.shape[0]` for one size, or `queries.shape` "
    "for all of them.",
    "half(queries)": "`half` has the type float, so the parentheses after it can't call it. Is a `*` or a `,` missing?",
    "layer.shape": "`layer` is a layer. Its matrix is `layer.weight`.",
    "matrix.weight": "`matrix` is not a layer but the matrix itself, so leave out `.weight`.",
    "layer.weight = matrix.T": "A parameter can be replaced only by another parameter. Write `layer.weight = "
    "nn.Parameter(matrix.T)`, or fill it in place with `layer.weight.copy_(matrix.T)` inside a "
    "`with torch.no_grad():` block.",
    "nn.ModuleList([queries])": "The container takes layers, not tensors. For parameters, use nn.ParameterList.",
    "nn.ModuleList([layer])(queries)": "An nn.ModuleList only stores layers. Call each of them yourself, as in "
    "`[layer(x) for layer in layers]`.",
    "layer.load_state_dict({'weight': matrix})": "You gave `weight` as 3x4, but in the module it is 4x3. Transpose "
    "it with `.T`.",
    "(queries, keys).shape": "`(queries, keys)` is a tuple of 2. Take one of them, such as `(queries, keys)[0]`, or "
    "give each a name, as in `output, weights = ...`.",
    "pair = [queries, queries]; pair.mean()": "`pair` is a list, not a tensor. Try `torch.stack(pair)`.",
    "attend = nn.MultiheadAttention(3, 1); out = attend(queries, queries, queries); out.shape": ""
    "nn.MultiheadAttention "
    "returns two results, the output and the weights. Take one of them, such as `out[0]`, or give each a name, "
    "as in `output, weights = ...`.",
    "queries.shape[0].mean()": "`queries.shape[0]` is a plain number, not a tensor. `.item()`, `.shape[0]`, and "
    "`len` return plain numbers.",
    # Gradients
    "y = matrix.exp(); y += 1; y.sum().backward()": "Make a new tensor instead, as in `x = x + 1`.",
    "matrix.fill_(1)": "`matrix` requires a gradient, so you can change it in place only inside a `with "
    "torch.no_grad():` block.",
    "matrix[0, 0] = 1": "`matrix` requires a gradient, so you can change it in place only inside a `with "
    "torch.no_grad():` block.",
    "matrix += 1": "`matrix` requires a gradient, so you can change it in place only inside a `with "
    "torch.no_grad():` block.",
    "queries.sum().backward()": "Nothing that `queries.sum()` was computed from requires a gradient. At least one "
    "tensor has to be an nn.Parameter or be created with `requires_grad=True`, and there must be no "
    "`torch.no_grad()` or `.detach()` in between.",
    "loss = matrix.exp().sum(); loss.backward(); loss.backward()": "`backward()` frees what the computation had "
    "stored, so it can run only once. Compute the result again before the second call or, if you need both, use "
    "`backward(retain_graph=True)` in the first.",
    "layer(queries).backward()": "`layer(queries)` is 6x4. `backward` has to start from a single number. Write "
    "`layer(queries).sum().backward()`, or take the `.mean()`.",
    "matrix.grad.sum()": "`matrix.grad` is None until you call `backward()`. Only tensors that require a gradient, and "
    "that were not computed from others, get one.",
    # Dtypes
    "square.masked_fill(mask[:6, :6], 0)": "`mask[:6, :6]` contains float32 numbers, but a mask has to contain True "
    "and False. Write `mask[:6, :6].bool()`.",
    "torch.where(mask, 0.0, 1.0)": "`mask` contains float32 numbers, but a mask has to contain True and False. Write "
    "`mask.bool()`.",
    "~mask": "`~` swaps True and False, but `mask` contains numbers. Write `~mask.bool()`.",
    "whole @ keys.T": "`whole` is int64, but `keys.T` is float32. A product needs both to have the same dtype. Write "
    "`whole.float()`.",
    "queries @ keys.T.double()": "`queries` is float32, but `keys.T.double()` is float64. A product needs both to "
    "have the same dtype. Write `keys.T.double().float()`.",
    "layer(whole)": "`whole` is int64, but `layer` is float32. A product needs both to have the same dtype. Write "
    "`whole.float()`.",
    "queries[mask]": "`mask` contains float32 numbers, but an index needs whole numbers (`mask.long()`), or True and "
    "False if it is a mask (`mask.bool()`).",
    "nn.Embedding(5, 3)(vector)": "`vector` contains float32 numbers, but an index needs whole numbers "
    "(`vector.long()`), or True and False if it is a mask (`vector.bool()`).",
    "torch.softmax(whole, dim=-1)": "`whole` contains int64 values, but this function needs floats. Write "
    "`whole.float()`.",
    "whole.mean()": "`whole` contains int64 values, but this function needs floats. Write `whole.float()`.",
    "torch.softmax(queries)": "Say along which axis the weights should add up to 1. With `dim=-1`, each row does.",
    "torch.sqrt(queries.shape[-1])": "`queries.shape[-1]` is a plain number, but a tensor is needed. Write "
    "`queries.shape[-1] ** 0.5`.",
    "torch.softmax([1.0, 2.0], dim=0)": "`[1.0, 2.0]` is a list, but a tensor is needed. Try `torch.tensor([1.0, "
    "2.0])`.",
    "torch.triu(6, 6)": "torch.triu takes a matrix and sets one half of it to 0. Try `torch.triu(torch.ones(6, 6), "
    "diagonal=1)`.",
    "torch.ones(6, 6, diagonal=1)": "`diagonal` belongs to torch.triu and torch.tril. Close the parenthesis of "
    "torch.ones before it.",
    "nn.functional.softmax(queries, axis=-1)": "PyTorch calls this argument `dim`.",
    # Sizes that are floats
    "nn.Linear(3, 4 / 2)": "A size has to be a whole number, but `/` always gives a float. Write `4 // 2`.",
    "batch.view(2, 6, half)": "A size has to be a whole number, but `half` is 3.0. If it comes from a division, use "
    "`//` there.",
    "torch.zeros(half, 2)": "A size has to be a whole number, but `half` is 3.0. If it comes from a division, use `//` "
    "there.",
    "range(half)": "A size has to be a whole number, but `half` is 3.0. If it comes from a division, use `//` there.",
    "queries[1.0]": "An index has to be a whole number. Write `1` instead of `1.0`.",
    # Indices
    "queries[6]": "`queries` is 6x3. Axis 0 has 6 entries, numbered from 0, so the last one is 5 (or -1).",
    "queries.sum(dim=2)": "`queries` is 6x3, so it has 2 axes, numbered from 0 to 1, or from -2 to -1 when counted "
    "from the end.",
    "torch.tensor(2.0).softmax(dim=1)": "`torch.tensor(2.0)` is a single number, so it has no axes.",
    "vector.softmax(dim=1)": "`vector` is a vector of 3, so it has only one axis, number 0 (or -1).",
    "queries[0, 0, 0]": "`queries` is 6x3, so it has 2 axes, but you gave 3 indices.",
    "queries.shape[2]": "`queries.shape` has 2 entries, numbered from 0, so the last one is 1 (or -1).",
    "layer.state_dict()['W']": None,
    "sizes = {'query': 1, 'key': 2}; sizes['keys']": 'Did you mean "key"?',
    "sizes = {'query': 1, 'key': 2}; sizes['bias']": 'Its keys are "query", "key".',
    "sizes = {'query': 1}; asked = ['query']; sizes[asked]": (
        "`sizes` looks up one key at a time, and `asked` is a list: look up its entries one by one."
    ),
    # Names
    "F.softmax(queries, dim=-1)": "Add the line `import torch.nn.functional as F` at the top.",
    "math.sqrt(2)": "Add the line `import math` at the top.",
    "softmax(queries, dim=-1)": "Did you mean `torch.softmax`?",
    "Linear(3, 4)": "Did you mean `nn.Linear` (with `from torch import nn`)?",
    "quieres @ keys": "Did you mean `queries`?",
    "true": "Did you mean `True`?",
    "np.array(1)": "NumPy is not available here. PyTorch has similar functions in `torch`, such as `torch.tensor` "
    "and `torch.exp`.",
    "MultiHeadAttention(3, 2)": "Add the line `from attention.multi_head import MultiHeadAttention` at the top.",
    "self.W": "`self` exists only in methods that list it. Make it the first parameter, as in `def forward(self, x):`.",
    "queries.t1": "Did you mean `queries.T`?",
    "queries.shapes": "Did you mean `queries.shape`?",
    "layer.wieght": "Did you mean `layer.weight`?",
    "torch.soft_max(queries)": "Did you mean `torch.softmax`?",
    "torch.Linear(3, 4)": "It is in a different place: `nn.Linear`.",
    "nn.softmax(queries)": "It is in a different place: `torch.softmax`.",
    "nn.linear(3, 4)": "Did you mean `nn.Linear`?",
    "nn.dropout(0.1)": "Did you mean `nn.Dropout`?",
    "nn.parameter(queries)": "Did you mean `nn.Parameter`?",
    "totals == queries": "`==` compares two values. To give `totals` a value, use a single `=`.",
    "queries @ None": None,
    "nothing_like_it": "`nothing_like_it` has no value here.",
    "import torc": "Did you mean `torch`?",
    "from torch import Linear": "It is in a different place: `from torch.nn import Linear`.",
    "from attention.causal import MultiHeadAttention": "It is in `attention.multi_head`. Write `from "
    "attention.multi_head import MultiHeadAttention`.",
    # Powers
    "queries ^ 2": "`^` compares bits. Python uses `**` for powers, as in `queries ** 2`.",
    "queries / queries.shape[-1] ^ 0.5": "`^` compares bits. Python uses `**` for powers, as in `queries.shape[-1] "
    "** 0.5`.",
    "(half + 1) ^ 0.5": "`^` compares bits. Python uses `**` for powers, as in `(half + 1) ** 0.5`.",
    # Plain Python
    "queries / (half - 3); half / (half - 3)": "`half - 3` is 0 here.",
    "1 / 0": None,
    "assert queries.shape[0] == half": "`queries.shape[0] == half` is not true: `queries.shape[0]` is 6 and `half` "
    "is 3.0.",
    "assert queries.shape[0] == 5, 'five'": None,
    "for i in queries.shape[0]: pass": "To count up to a number, write `range(queries.shape[0])`.",
    "layer[0]": "`layer` is a layer. Its matrix is `layer.weight`.",
    "queries.size[0]": "`queries.size` is a function. Write `queries.size()` to call it first. The sizes are also in "
    "`queries.shape`.",
    "nn.Linear(3)": "You call it like this: `nn.Linear(in_features, out_features, bias=..., device=..., dtype=...)`.",
    "layer(queries, keys)": "You call it like this: `layer(input)`.",
    "raise ValueError('mine')": None,
    # Syntax errors
    "if queries is None print(1)": "A line that starts a block has to end with a colon.",
    "x = 3 @": "Something is missing after `@` at the end of the line.",
    "x = 1 && 2": "In Python, `&&` is written `and`.",
    "half++": "Python has no `++`. Write `half += 1`.",
    "lambda = 1": "`lambda` is a keyword of Python. Choose a different name.",
    "x = = 2": "There is no space inside `==`. To assign a value, use a single `=`.",
    "if half = 3: pass": "`=` assigns a value to a name. To compare two values, use `==`.",
    "x = “a”": "Replace it with a plain quotation mark.",
    "x = 2 × 3": "Replace it with `*`.",
    "x = -∞": "In Python, write `torch.inf` instead.",
    "return queries": "`return` works only inside a function. Indent the line like the other lines of the function.",
    "  x = 1": "This line is indented further than the one before it, but that line doesn't start a block.",
    "def f(self x): pass": "A comma is missing between `self` and `x`.",
    "x = (1": None,
    # Notebooks and prompts
    "!pip install torch": "A line that starts with `!` is a notebook command. Leave it out. torch is already "
    "installed.",
    "%matplotlib inline": "A line that starts with `%` is a notebook command. Leave it out.",
    "%%time": "A line that starts with `%` is a notebook command. Leave it out.",
    "```python": "These marks surround code in a text. Leave them out.",
    ">>> x = 1": "`>>>` is the prompt of an interpreter. Leave it out, along with anything that was printed.",
    "In [1]: import torch": "`In [1]:` is the prompt of an interpreter. Leave it out, along with anything that was "
    "printed.",
    "torch.softmax?": "A question mark asks for help in a notebook. Leave the line out.",
}


@pytest.mark.parametrize(("line", "advised"), LINES.items(), ids=LINES)
@pytest.mark.filterwarnings("ignore:The use of `x.T`")
def test_advice_on_a_line(line: str, advised: str | None) -> None:
    message = failure_message(START + line)
    if advised is None:
        assert "`" not in message
    elif advised.endswith((".", "?")):
        assert message.endswith(advised), message
    else:
        assert advised in message, message
    assert ".." not in message.replace("...", "")


# The classes of the course -------------------------------------------------------------------------------------------

BODIES = {
    "queries @ keys": "`queries` is 2x6x4 and `keys` is 2x6x4. The inner sizes, 4 and 6, have to match. Did you mean "
    "`queries @ keys.transpose(-2, -1)`?",
    "queries @ keys.T": "Did you mean `queries @ keys.transpose(-2, -1)`?",
    "queries @ keys.transpose(0, 1)": "Did you mean `queries @ keys.transpose(-2, -1)`?",
    "self.W_query(x) @ self.W_key(x)": "Did you mean `self.W_query(x) @ self.W_key(x).transpose(-2, -1)`?",
    "x @ self.W_query": "`self.W_query` is a layer, not a matrix. Write `self.W_query(x)` to call it.",
    "x @ self.W_query.weight": "`self.W_query.weight` is 4x3, because nn.Linear stores one row for each output. Try "
    "`self.W_query(x)`, which calls the layer.",
    "self.W_key(queries)": "`queries` is 2x6x4, so its last axis has 4 numbers, but `self.W_key` takes 3 "
    "(in_features=3).",
    "self.W(x)": "`self.W` is a matrix (3x4), not a layer, so it can't be called. Write `x @ self.W`.",
    "scores.masked_fill(self.mask.bool(), -torch.inf)": "`scores` is 2x6x6 and `self.mask.bool()` is 10x10. "
    "Slice the mask to the number of tokens: `self.mask[:6, :6].bool()`.",
    "scores.masked_fill_(self.mask, -torch.inf)": "`self.mask` contains float32 numbers, but a mask has to contain "
    "True and False. Write `self.mask.bool()`.",
    "torch.softmax(scores, dim=3)": "`scores` is 2x6x6, so it has 3 axes, numbered from 0 to 2, or from -3 to -1 "
    "when counted from the end.",
    "queries.view(2, 6, 2, self.d_out / 2)": "A size has to be a whole number, but `/` always gives a float. Write "
    "`self.d_out // 2`.",
    "W_query(x)": "Inside a method, write `self.W_query`.",
    "self.w_query(x)": "Did you mean `self.W_query`?",
    "self.W_quer(x)": "Did you mean `self.W_query`?",
    "self.heads(x)": "Nothing has set `self.heads` yet. Set it in `__init__`.",
    "self.W = x": "A parameter can be replaced only by another parameter. Write `self.W = nn.Parameter(x)`, or "
    "fill it in place with `self.W.copy_(x)` inside a `with torch.no_grad():` block.",
    "self.W_query = x": "`self.W_query` is a layer, and its matrix is `self.W_query.weight`. Write "
    "`self.W_query.weight = nn.Parameter(x)`.",
    "self.mask = 3": "A buffer has to stay a tensor. Write `self.mask = torch.tensor(3)`, or give the value a "
    "different name.",
    "Head(3, 4)": "Line 6 defines it as `__init__(self, d_in, d_out, context_length)`. Python passes `self` on "
    "its own, so a call passes `d_in, d_out, context_length`.",
    "Head(3, 4, tokens=6)": "Line 6 defines it as `__init__(self, d_in, d_out, context_length)`",
    "Head(3, 4, contextlength=6)": "Did you mean `context_length`?",
    "Head.forward(x)": "`Head` is the class. Make an object of it first, `layer = Head(...)`, and then call "
    "`layer(...)`.",
    "super().forward(x)": "nn.Module itself has no `forward`, so leave out `super().forward(...)`.",
    "self.W_query.bias.shape": "`self.W_query.bias` is None. A layer that was created with `bias=False` has no bias.",
}


@pytest.mark.parametrize(("body", "advised"), BODIES.items(), ids=BODIES)
@pytest.mark.filterwarnings("ignore:The use of `x.T`")
def test_advice_on_a_line_of_a_method(body: str, advised: str) -> None:
    message = failure_message(HEAD.format(body=indent(body, " " * 8)))
    assert advised in message, message


# Whole programs ------------------------------------------------------------------------------------------------------

PROGRAMS = {
    "a builtin function replaced": (
        """
        from torch import *
        for i in range(3): pass
        """,
        "Line 2 replaces Python's own `range`. `from torch import *` brings in a different one, so "
        "import what you need by name instead.",
    ),
    "a type replaced": (
        """
        def f():
            return [float(x) for x in (1, 2)]
        from torch import *
        f()
        """,
        "Line 4 replaces Python's own `float`. `from torch import *` brings in a different one, so "
        "import what you need by name instead.",
    ),
    "an own function replaced": (
        """
        def softmax(x):
            return x
        from torch import *
        softmax(ones(3))
        """,
        "Line 4 replaces your `softmax`. `from torch import *` brings in a different one, so import "
        "what you need by name instead.",
    ),
    "init misspelled": (
        """
        from torch import nn
        class Head(nn.Module):
            def _init_(self, d_in):
                super().__init__()
        Head(3)
        """,
        "Line 4 defines `_init_`, but Python looks for `__init__`, with two underscores on each side.",
    ),
    "no call of super": (
        """
        from torch import nn
        class Head(nn.Module):
            def __init__(self):
                self.W = nn.Linear(3, 2)
        Head()
        """,
        "`Head.__init__` has to start with `super().__init__()`, which sets up the module.",
    ),
    "no module": (
        """
        from torch import nn
        class Head:
            def __init__(self):
                super().__init__()
            def forward(self, x):
                return x
        Head()(1)
        """,
        "`Head` is not a module yet. Line 3 should be `class Head(nn.Module):`.",
    ),
    "no module, asked for parameters": (
        "class Head:\n    pass\nHead().parameters()",
        "`Head` is not a module yet. Line 1 should be `class Head(nn.Module):`.",
    ),
    "a layer without self": (
        """
        from torch import nn
        class Head(nn.Module):
            def __init__(self):
                super().__init__()
                W = nn.Linear(3, 2)
            def forward(self, x):
                return W(x)
        Head()(1)
        """,
        "`W` from line 6 exists only inside `__init__`. Store it as `self.W` there, and use that name here.",
    ),
    "a name that nothing gives": (
        "def f(queries, keys):\n    return weights_of_it @ queries\nf(1, 2)",
        "`weights_of_it` has no value here. The names that have one are `queries`, `keys`.",
    ),
    "a late call of super": (
        """
        from torch import nn
        class Head(nn.Module):
            def __init__(self):
                self.W = nn.Linear(3, 2)
                super().__init__()
        Head()
        """,
        "`super().__init__()` has to come first in `Head.__init__`, because it sets up the module.",
    ),
    "no call of super, and no layer": (
        """
        from torch import nn
        class Head(nn.Module):
            def __init__(self):
                self.size = 3
            def forward(self, x):
                return x
        Head()(1)
        """,
        "`Head.__init__` has to start with `super().__init__()`, which sets up the module.",
    ),
    "a buffer that is there": (
        """
        import torch
        class Head(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.mask = None
                self.register_buffer("mask", torch.ones(2))
        Head()
        """,
        "Line 6 already sets `self.mask`. Leave that out, because `register_buffer` creates the attribute.",
    ),
    "no forward": (
        "from torch import nn\nclass Head(nn.Module):\n    pass\nHead()(1)",
        "`Head` needs a method `forward`, which runs when you call the module. It starts with `def "
        "forward(self, x):` and is indented as a part of the class.",
    ),
    "forward misspelt": (
        "from torch import nn\nclass Head(nn.Module):\n    def foward(self, x):\n        return x\nHead()(1)",
        "The class defines `foward`, but the method has to be called `forward`.",
    ),
    "forward too deep": (
        """
        from torch import nn
        class Head(nn.Module):
            def __init__(self):
                super().__init__()
                def forward(self, x):
                    return x
        Head()(1)
        """,
        "`forward` (line 6) is inside `__init__`. Indent both of them by the same amount.",
    ),
    "forward outside": (
        """
        from torch import nn
        class Head(nn.Module):
            pass
        def forward(self, x):
            return x
        Head()(1)
        """,
        "`forward` (line 5) is outside the class. Indent it so that it belongs to the class.",
    ),
    "no self": (
        "from torch import nn\nclass Head(nn.Module):\n    def forward(x):\n        return x\nHead()(1)",
        "A method gets the object itself as its first argument, so line 3 should be `def forward(self, x):`.",
    ),
    "not self": (
        "class Head:\n    def __init__(d_in, d_out):\n        pass\nHead(3, 2)",
        "A method gets the object itself as its first argument, so line 2 should be `def __init__(self, "
        "d_in, d_out):`.",
    ),
    "too few arguments": (
        "def attend(queries, keys):\n    return queries\nattend(1)",
        "Line 1 defines it as `attend(queries, keys)`.",
    ),
    "an argument twice": (
        "def attend(queries, keys):\n    return queries\nattend(1, queries=2)",
        "Line 1 defines it as `attend(queries, keys)`.",
    ),
    "a value of the function around": (
        "def attend():\n    def scale():\n        return size\n    scale()\n    size = 2\nattend()",
        "The function around it gives `size` a value only later. Move that line up.",
    ),
    "a list by halves": (
        "half = 4 / 2\n[1, 2, 3][half]",
        "An index has to be a whole number, but `half` is 2.0. If it comes from a division, use `//` there.",
    ),
    "no return": (
        "def attend(x):\n    y = 2 * x\nscores = attend(1)\nscores.shape",
        "`scores` is None. `attend` (line 1) returns None, because it has no `return` with a value.",
    ),
    "no return from forward": (
        """
        from torch import nn
        class Head(nn.Module):
            def forward(self, x):
                2 * x
        head = Head()
        out = head(1)
        out + 1
        """,
        "`out` is None. `forward` (line 4) returns None, because it has no `return` with a value.",
    ),
    "a list that is changed": (
        "heads = []\nheads = heads.append(1)\nheads[0]",
        "`heads` is None, because `.append()` returns nothing. Call it on a line of its own, without `=`.",
    ),
    "assigned in the function": (
        "count = 1\ndef add():\n    count = count + 1\nadd()",
        "Line 3 assigns to `count`, which makes it a local name of this function, and it has no value "
        "yet. Give it a value before this line, or pass it as an argument.",
    ),
    "assigned in an if": (
        "def add(x):\n    if x > 1:\n        y = 2\n    return y\nadd(0)",
        "`y` gets its value on line 3, but that line didn't run this time, because of an `if` or an empty loop.",
    ),
    "defined later": (
        "attend(1)\ndef attend(x):\n    return x",
        "`attend` is defined on line 2, but this line runs before that. Move the definition up.",
    ),
    "a value that comes later": (
        "scores = queries\nqueries = 1",
        "`queries` gets its value only on line 2. Move that line up.",
    ),
    "known in another function": (
        "def make():\n    scores = 1\ndef use():\n    return scores\nmake()\nuse()",
        "`scores` from line 2 exists only inside `make`. Return it from there, or create it here.",
    ),
    "a local of the constructor": (
        "class Head:\n    def __init__(self):\n        width = 3\n    def run(self):\n        self.width\nHead().run()",
        "Line 3 sets `width`, but not `self.width`. Write `self.width = ...` there.",
    ),
    "a method without self": (
        "class Head:\n    def one(self):\n        return two()\n    def two(self):\n        return 1\nHead().one()",
        "Inside a method, write `self.two`.",
    ),
    "a name of Python": (
        "len = 3\nlen([1])",
        "Your code gives Python's own name `len` to a value of type int. Choose a different name.",
    ),
    "no brackets": (
        "import torch\nwith torch.no_grad:\n    pass",
        "The parentheses are missing. The line should be `with torch.no_grad():`.",
    ),
    "in a comprehension": (
        "import torch\nq, k = torch.rand(6, 3), torch.rand(2, 3)\n[q @ k for _ in range(2)]",
        "Did you mean `q @ k.T`?",
    ),
    "over several lines": (
        "import torch\nq, k = torch.rand(6, 3), torch.rand(2, 3)\nscores = (\n    q\n    @ k\n)",
        "Did you mean `q @ k.T`?",
    ),
    "in code that was called": (
        """
        import torch
        from attention.multi_head import MultiHeadAttention
        MultiHeadAttention(3, 4, 6, 0.0, 2, num_head=1)
        """,
        "Did you mean `num_heads`?",
    ),
    "else without if": (
        "x = 1\nelse:\n    x = 2",
        "It needs an `if` (or `for`, `while`, `try`) above it with the same indentation.",
    ),
    "no colon": ("def f(x)\n    return x", "The line with `def` has to end with a colon."),
    "no block": ("def f(x):\nreturn x", "Indent the lines that belong to it by four more spaces."),
    "tabs": ("if 1:\n    x = 1\n\tx = 2", "Indent with spaces only, four per level."),
    "between two": (
        "if 1:\n    x = 1\n  y = 2",
        "It has to line up with the start of an earlier line.",
    ),
    "text without an end": ("x = 'abc", "The quotation mark that should end it is missing."),
}


OTHER_VERSIONS = {
    'RuntimeError("Can\'t call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")': "NumPy "
    "can't keep track of gradients. Try `x.detach().numpy()`.",
    'RuntimeError("expected scalar type Long but found Float")': "All tensors in a product need the same dtype. "
    "`.float()` converts a tensor to float32.",
    'RuntimeError("you can only change requires_grad flags of leaf variables.")': "You can set `requires_grad` only "
    "on a tensor that wasn't computed from other tensors. Use `.detach()` first.",
}


@pytest.mark.parametrize(("error", "advised"), OTHER_VERSIONS.items(), ids=OTHER_VERSIONS)
def test_advice_on_messages_of_other_versions(error: str, advised: str) -> None:
    """Some messages exist only in other versions of PyTorch, or only with NumPy."""
    assert ends_with_advice(failure_message(f"raise {error}"), advised)


@pytest.mark.parametrize(("source", "advised"), PROGRAMS.values(), ids=PROGRAMS)
def test_advice_on_a_program(source: str, advised: str) -> None:
    message = failure_message(dedent(source))
    assert ends_with_advice(message, advised), message


def test_without_columns_the_whole_line_is_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    source = START + "scores = queries @ keys"
    error = _raised(source)
    from attn_tutor.lessons.worker.advice import scene

    monkeypatch.setattr(scene.Scene, "_node", lambda self, trace: None)
    found = advice(error, YOUR_CODE, source)
    assert found is not None
    assert found.text.endswith("Did you mean `queries @ keys.T`?")


def _raised(source: str) -> BaseException:
    with pytest.raises(Exception) as caught:  # noqa: PT011
        exec(compile(source, YOUR_CODE, "exec"), {})
    return caught.value


def test_exceptions_without_advice_keep_their_message() -> None:
    for source in ("raise SystemExit", "def f():\n    f()\nf()"):
        assert "`" not in failure_message(source)


def test_exception_in_another_file_gets_no_advice() -> None:
    error = _raised("1 / 0")
    assert describe(error, "<other>") == Failure("error", "ZeroDivisionError: division by zero")


def test_a_long_message_is_cut() -> None:
    message = failure_message("raise KeyError('x' * 10000)")
    assert len(message) == LONGEST
    message = failure_message("names = {'" + "x" * 9000 + "': 1}\nnames['" + "x" * 8999 + "y']")
    assert len(message) <= LONGEST


# Through the worker --------------------------------------------------------------------------------------------------


def test_advice_on_an_answer(worker: Session) -> None:
    source = "import torch\ndef double(x):\n    return x.double() @ torch.rand(7, 9) @ y\n"
    judgement = worker.check(doubling_exercise(), source)
    assert judgement.verdict == "error"
    assert "have to match" in judgement.message or "have the same dtype" in judgement.message


def test_advice_on_an_answer_that_cannot_be_called(worker: Session) -> None:
    judgement = worker.check(doubling_exercise(), "def double():\n    return 1\n")
    assert judgement.message.endswith("takes 0 positional arguments but 1 was given. Line 1 defines it as `double()`.")


# Hostile programs ----------------------------------------------------------------------------------------------------

HOSTILE = {
    "text that raises": "class Bad(RuntimeError):\n    def __str__(self):\n        raise ValueError\nraise Bad",
    "text that lies": "class Bad(RuntimeError):\n    def __str__(self):\n        return 'size mismatch'\nraise Bad",
    "arguments that raise": (
        "class S(str):\n    def __str__(self):\n        return 1 / 0\nraise TypeError(S('f() missing 1'))"
    ),
    "attributes that loop": (
        "class Bad(TypeError):\n    def __getattribute__(self, name):\n        while True: pass\n"
        "raise Bad(\"x() missing 1 required positional argument: 'x'\")"
    ),
    "class that lies": "class Lie(Exception):\n    __class__ = SyntaxError\nraise Lie('invalid syntax')",
    "class that raises": (
        "class Lie(Exception):\n    @property\n    def __class__(self):\n        raise ValueError\nraise Lie('x')"
    ),
    "traceback that raises": ("class Bad(KeyError):\n    __traceback__ = property(lambda self: RAN())\nraise Bad('x')"),
    "values that raise": (
        "import torch\nclass Evil:\n    def __getattribute__(self, name):\n        return RAN()\n"
        "    __eq__ = __len__ = __bool__ = __getitem__ = __call__ = __getattr__ = lambda *a: RAN()\n"
        "    __hash__ = None\n"
        "def f():\n    x, q = Evil(), torch.rand(6, 3)\n    return q @ q, x.y, x[0], x()\nf()"
    ),
    "dictionary that raises": (
        "class Evil:\n    __dict__ = shape = property(lambda self: RAN())\nx = Evil()\nx.foo.bar"
    ),
    "metaclass that raises": (
        "class Meta(type):\n    def __getattribute__(cls, name):\n        return RAN()\n"
        "    __eq__ = lambda *a: RAN()\n    __hash__ = type.__hash__\n    __mro__ = property(lambda c: RAN())\n"
        "class C(metaclass=Meta):\n    pass\nx = C()\nx + 1"
    ),
    "class of keys that raise": (
        "class K(str):\n    __eq__ = lambda *a: RAN()\n    __hash__ = str.__hash__\nd = {K('b'): 1}\nd['c']"
    ),
    "tensor of another class": (
        "import torch\nclass T(torch.Tensor):\n    @classmethod\n    def __torch_function__(cls, f, *a, **k):\n"
        "        raise RuntimeError('mat1 and mat2 shapes cannot be multiplied (6x3 and 2x3)')\n"
        "q = torch.Tensor._make_subclass(T, torch.rand(6, 3))\nq @ q"
    ),
    "modules replaced": (
        "import ast, difflib, linecache, re, sys, torch\nq = torch.rand(6, 3)\n"
        "ast.parse = ast.walk = ast.iter_child_nodes = re.compile = difflib.get_close_matches = None\n"
        "torch.Tensor = torch.nn.Linear = torch.nn.Module = None\nlinecache.cache = sys.modules = None\nq @ q"
    ),
    "no source": "import linecache, torch\nq = torch.rand(6, 3)\nlinecache.cache.clear()\nq @ q",
    "local like a builtin": (
        "import torch\nq = torch.rand(6, 3)\ndef f(len, str, type, isinstance):\n    return q @ q\nf(1, 2, 3, 4)"
    ),
    "list of itself": "import torch\nx = [0]\nx[0] = x\ntorch.softmax(x, dim=0)",
    "syntax error of its own": "raise SyntaxError('invalid syntax', ('<your code>', object(), 1, 'x'))",
    "name of another kind": "raise NameError(5)",
    "message without a place": "raise RuntimeError('mat1 and mat2 shapes cannot be multiplied (6x3 and 2x3)')",
    "large powers": "x = 10 ** 6\nassert x * x * x * x * x == 0",
}


@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE)
def test_advice_runs_no_code_of_a_hostile_program(worker: Session, source: str) -> None:
    """It runs in the worker, since some of the programs would end the test process."""
    judgement = worker.check(doubling_exercise(), "def RAN():\n    print('ran')\n    raise ValueError\n" + source)
    assert judgement.verdict == "error", judgement
    assert judgement.line is not None
    assert judgement.stdout == ""


def message_and_replaced_builtins(source: str) -> tuple[str, list[str]]:
    """Run a program that replaces builtins. Return the message and the replaced names, and restore the builtins."""
    original, names = dict(vars(builtins)), vars(builtins)
    changed, update, execution = original.items(), names.update, execute
    failure = execution(source, YOUR_CODE, {})
    after_it = names.copy()
    update(original)
    for name in set(names) - set(original):
        del names[name]
    assert failure is not None
    return failure.message, [name for name, value in changed if after_it.get(name) is not value]


REPLACED = ("len", "isinstance", "next", "any", "type", "getattr", "str", "zip", "map")


def test_advice_with_replaced_builtins() -> None:
    source = f"{START}import builtins\n{''.join(f'builtins.{name} = ' for name in REPLACED)}None\nqueries @ keys"
    message, changed = message_and_replaced_builtins(source)
    assert message.endswith("Did you mean `queries @ keys.T`?")
    assert set(changed) == set(REPLACED)


def test_advice_with_removed_builtins() -> None:
    source = f"{START}import builtins\ndel {', '.join(f'builtins.{name}' for name in REPLACED)}\nqueries @ keys"
    message, changed = message_and_replaced_builtins(source)
    assert message.endswith("Did you mean `queries @ keys.T`?")
    assert set(changed) == set(REPLACED)


# Parts of the advice -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "index"),
    [
        ((6, 3), 0), ((6, 3), slice(2, None)), ((6, 3), (slice(None), 1)), ((2, 6, 3), (..., 0)),
        ((2, 6, 3), (0, ..., slice(1, 2))), ((6, 3), None), ((6, 3), (None, slice(0, 0))), ((4, 5, 6), (-1, slice(9))),
        ((4, 5, 6), (slice(None, None, 2), None, ...)),
    ],
)  # fmt: skip
def test_shape_of_an_indexed_tensor(shape: tuple[int, ...], index: Any) -> None:
    found = indexed(TensorInfo(shape), index)
    assert found.shape == tuple(torch.zeros(shape)[index].shape)


@pytest.mark.parametrize("index", [6, (0, 0, 0), "a", (0, 1.5), torch.tensor([1])])
def test_index_with_an_unknown_result(index: Any) -> None:
    assert indexed(TensorInfo((6, 3)), index) is UNKNOWN


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((6, 3), (3, 2)), ((6, 3), (2, 3)), ((3,), (3,)), ((3,), (3, 2)), ((6, 3), (3,)), ((2, 6, 3), (3, 4)),
        ((2, 1, 6, 3), (5, 3, 4)), ((2, 6, 3), (3, 3, 4)), ((3,), (2, 3, 4)), ((2, 6, 3), (3,)), ((4,), (3,)),
    ],
)  # fmt: skip
def test_shape_of_a_product(one: tuple[int, ...], other: tuple[int, ...]) -> None:
    try:
        shape: tuple[int, ...] | None = tuple((torch.zeros(one) @ torch.zeros(other)).shape)
    except RuntimeError:
        shape = None
    assert product(one, other) == shape


@pytest.mark.parametrize(
    ("one", "other"), [((6, 3), (3,)), ((6, 1), (3,)), ((6, 3), (2, 3)), ((), (3,)), ((2, 1, 3), (6, 1)), ((0,), (1,))]
)
def test_shape_of_a_broadcast(one: tuple[int, ...], other: tuple[int, ...]) -> None:
    try:
        shape: tuple[int, ...] | None = tuple((torch.zeros(one) + torch.zeros(other)).shape)
    except RuntimeError:
        shape = None
    assert broadcast(one, other) == shape


def test_shape_of_a_view() -> None:
    assert viewed((6, 3), [2, -1]) == (2, 9)
    assert viewed((6, 3), [9, 2]) == (9, 2)
    assert viewed((6, 3), [4, -1]) is None
    assert viewed((6, 3), [4, 5]) is None
    assert viewed((6, 3), [-1, -1]) is None


def test_values_are_only_looked_up() -> None:
    layer = nn.Linear(3, 2)
    assert attribute(layer, "weight") is layer.weight
    assert attribute(layer, "in_features") == 3
    assert attribute(layer, "missing") is UNKNOWN
    assert attribute(torch.zeros(6, 3), "T") == TensorInfo((3, 6), torch.float32)
    assert attribute(torch.zeros(6, 3), "shape") == (6, 3)
    assert tensor_info(torch.zeros(2, dtype=torch.bool)) == TensorInfo((2,), torch.bool)
    assert tensor_info([1.0]) is None


def test_no_property_is_read() -> None:
    class WithProperty:
        @property
        def value(self) -> int:
            raise AssertionError("asked")

        def __getattribute__(self, name: str) -> Any:
            raise AssertionError("asked")

    asked = property(lambda self: WithProperty().value)
    Hidden = type("Hidden", (), {"__dict__": asked, "__class__": asked, "value": asked})
    for thing in (WithProperty(), Hidden()):
        assert attribute(thing, "value") is UNKNOWN
        assert fields(thing) == {}
        assert not is_a(thing, int)
        assert is_a(thing, object)


def test_message_of_an_exception() -> None:
    class WithText(ValueError):
        def __str__(self) -> str:
            raise AssertionError("asked")

    assert message_of(KeyError("a")) == "'a'"
    assert message_of(ValueError("a", 1)) == "('a', 1)"
    assert message_of(WithText("a")) == ""
    assert message_of(ValueError(object())) == ""


def test_nearest_names() -> None:
    assert nearest("W_quer", ["W_key", "W_query"]) == "W_query"
    assert nearest("wquery", ["W_query", "query"]) == "W_query"
    assert nearest("x", ["xs", "y"]) is None
    assert nearest("scores", ["score", "scores"]) == "score"
    assert nearest("anything", []) is None


def test_text_of_a_shape() -> None:
    assert [size(shape) for shape in ((), (3,), (6, 3), (2, 6, 3))] == [
        "a single number",
        "a vector of 3",
        "6x3",
        "2x6x3",
    ]


def test_all_rules_name_a_kind_of_exception() -> None:
    assert all(issubclass(rule.kind, BaseException) for rule in RULES)
    assert len(RULES) > 90


def test_only_what_reads_a_line_waits_for_the_keyboard() -> None:
    # A pipe between processes that was closed ends with the same kind of error.
    assert describe(EOFError("EOF when reading a line"), "<other>").message.startswith(
        "The code waits for the keyboard"
    )
    assert describe(EOFError("Ran out of input"), "<other>").message == "EOFError: Ran out of input"
    assert describe(EOFError(), "<other>").message == "EOFError"
