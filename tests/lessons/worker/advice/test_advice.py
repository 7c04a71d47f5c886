"""Advice on exceptions: the sentences after Python's own message, for programs that really fail."""

from __future__ import annotations

import builtins
from textwrap import dedent, indent
from typing import Any

import pytest
import torch
from torch import nn

import attention
from lessons.engine.session import Session
from lessons.worker.advice import advice
from lessons.worker.advice.exception_rules import RULES
from lessons.worker.advice.safe_reading import (
    UNKNOWN,
    TensorInfo,
    attribute,
    fields,
    indexed,
    is_a,
    message_of,
    tensor_info,
)
from lessons.worker.advice.scene import nearest, size
from lessons.worker.advice.shape_effects import broadcast, product, viewed
from lessons.worker.jobs.execute import LONGEST, YOUR_CODE, describe, execute
from lessons.worker.message_parts import ErrorReport
from tests.lessons.lesson_builders import doubling_exercise

assert attention, "the names of the course are known, as in the worker"

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
    "queries @ keys": "`queries` is 6x3 and `keys` is 2x3: the inner sizes, 3 and 2, must agree. "
    "Did you mean `queries @ keys.T`?",
    "torch.matmul(queries, keys)": "the inner sizes, 3 and 2, must agree. Did you mean `queries @ keys.T`?",
    "queries.mm(keys)": "Did you mean `queries @ keys.T`?",
    "queries @ queries": "`queries` is 6x3 on both sides: the inner sizes, 3 and 6, must agree. "
    "Did you mean `queries @ queries.T`?",
    "queries.T @ keys": "Did you mean `queries @ keys.T`?",
    "matrix @ queries": "`matrix` is 3x4 and `queries` is 6x3: the inner sizes, 4 and 6, must agree. "
    "Did you mean `queries @ matrix`?",
    "batch @ batch": "Did you mean `batch @ batch.transpose(-2, -1)`?",
    "batch @ batch.T": "`batch` is 2x6x3 and `batch.T` is 3x6x2: the inner sizes, 3 and 6, must agree. "
    "Did you mean `batch @ batch.transpose(-2, -1)`?",
    "batch.unsqueeze(1) @ batch.unsqueeze(1)": "Did you mean "
    "`batch.unsqueeze(1) @ batch.unsqueeze(1).transpose(-2, -1)`?",
    "torch.rand(2, 2, 6, 3) @ torch.rand(3, 2, 3, 6)": "the axes in front of the last two, [2, 2] and [3, 2], "
    "must agree, or be 1.",
    "vector @ torch.rand(4, 2)": "`vector` is a vector of 3 and `torch.rand(4, 2)` is 4x2: the inner sizes, 3 and 4, "
    "must agree.",
    "torch.tensor(2.0) @ queries": "`torch.tensor(2.0)` is a single number and `queries` is 6x3: "
    "`@` takes no single number, use `*` for that.",
    "queries @ layer.weight": "`layer.weight` is 4x3, out by in, as nn.Linear keeps it. Call the layer: "
    "`layer(queries)`.",
    "layer(torch.rand(6, 5))": "`torch.rand(6, 5)` is 6x5, so its last axis has 5 numbers, but `layer` takes 3 "
    "(in_features=3).",
    "torch.dot(queries, queries)": "torch.dot multiplies two vectors, but `queries` is 6x3 and `queries` is 6x3. "
    "Did you mean `queries @ queries.T`?",
    'torch.einsum("ij,kj->ik", queries, torch.rand(2, 4))': "`queries` is 6x3 and `torch.rand(2, 4)` is 2x4: "
    "the letter j stands for an axis of both, whose sizes must agree.",
    'torch.einsum("ij,kj->ik", queries, batch)': "`batch` is 2x6x3: it has 3 axes and needs 3 letters, "
    "but the equation gives it 2.",
    "torch.bmm(batch, keys)": "the inner sizes, 3 and 2, must agree. Did you mean `batch @ keys.T`?",
    "torch.bmm(batch, keys.T)": "torch.bmm takes two batches of matrices, 3 axes each; `@` takes any.",
    # Broadcasting, masks, copies
    "queries + keys": "`queries` is 6x3 and `keys` is 2x3. "
    "Counted from the last axis, the sizes must be equal, or one of them 1.",
    "queries * torch.rand(6)": "`torch.rand(6).unsqueeze(-1)` makes it a column, with a number for every row.",
    "queries + queries.T": "`queries` is 6x3 and `queries.T` is 3x6. Did you mean",
    "queries * queries.T": "`*` multiplies place by place; the matrix product is `queries @ queries.T`.",
    "queries.T + queries.T.T": "Did you mean `queries.T`?",
    "queries * matrix": "`*` multiplies place by place; the matrix product is `queries @ matrix`.",
    "square.masked_fill(mask.bool(), 0)": "`square` is 6x6 and `mask.bool()` is 10x10. "
    "Slice the mask to the number of tokens: `mask[:6, :6].bool()`.",
    "square + mask": "Slice the mask to the number of tokens: `mask[:6, :6]`.",
    "square.masked_fill(mask[:5, :5] > 0, 0)": "The mask is for fewer tokens than the 6 that there are: "
    "make it larger.",
    "queries.copy_(keys)": "`queries` is 6x3 and `keys` is 2x3. A copy needs the same shape.",
    "layer.weight.data.copy_(matrix)": "`layer.weight.data` is 4x3 and `matrix` is 3x4. Did you mean `matrix.T`? "
    "A copy needs the same shape.",
    "queries[0] = torch.rand(4)": "`queries[0]` is a vector of 3, but `torch.rand(4)` is a vector of 4: "
    "what is written into a place must have its shape.",
    "vector[:] = batch": "`vector[:]` is a vector of 3, but `batch` is 2x6x3: "
    "what is written into a place must have its shape.",
    # Views
    "queries.T.view(18)": "write `queries.T.contiguous().view(18)` or `queries.T.reshape(18)`.",
    "batch.transpose(1, 2).view(2, 18)": "write `batch.transpose(1, 2).contiguous().view(2, 18)` or "
    "`batch.transpose(1, 2).reshape(2, 18)`.",
    "batch.view(2, 6, 2, 2)": "`batch` is 2x6x3 and holds 36 numbers, but 2 * 6 * 2 * 2 = 48: "
    "the sizes of a view must multiply to the same.",
    "batch.view(5, -1)": "`batch` is 2x6x3 and holds 36 numbers, which the sizes beside -1, 5, do not divide.",
    "batch.permute(0, 2)": "`batch` is 2x6x3: permute needs every axis exactly once. "
    "To exchange two, use `.transpose(a, b)`.",
    "batch.t()": "`batch` is 2x6x3. Use `batch.transpose(-2, -1)`.",
    # Joining
    "torch.cat(queries, keys)": "torch.cat takes a list of tensors: `torch.cat([queries, keys], dim=-1)`.",
    "torch.stack(queries, keys)": "torch.stack takes a list of tensors: `torch.stack([queries, keys])`.",
    "torch.cat([queries, keys], dim=1)": "`queries` is 6x3 and `keys` is 2x3: joined along axis 1, all other sizes "
    "must agree. Did you mean `dim=0`?",
    "torch.stack([queries, keys])": "`queries` is 6x3 and `keys` is 2x3. torch.stack needs equal shapes; "
    "torch.cat joins along an axis that is there already.",
    "torch.cat([])": "The list is empty: nothing was put into it.",
    # One number, unpacking
    "queries.item()": "`queries` is 6x3: only a tensor of one number can become a number. "
    "Choose a cell, as in `x[0, 0]`.",
    "torch.tensor([queries, keys])": "To make one tensor of several, use `torch.stack([queries, keys])`.",
    "import math; math.sqrt(queries)": "Use `torch.sqrt` for tensors.",
    "if queries > 0: pass": "Say which is meant, `(queries > 0).all()` or `(queries > 0).any()`;",
    "b, n, d = queries.shape": "`queries` is 6x3, so its shape has 2 sizes, but 3 names wait for one. "
    "`queries.unsqueeze(0)` adds a batch axis in front.",
    "n, d = batch.shape": "`batch` is 2x6x3, so its shape has 3 sizes, but 2 names wait for one.",
    "output, weights = layer(queries)": "`layer(queries)` is one tensor, 6x4: unpacked it gives its 6 rows.",
    # Layers, parameters and tensors
    "queries @ layer": "`layer` is a layer, not a matrix: call it, `layer(queries)`.",
    "layer @ queries": "`layer` is a layer, not a matrix: call it, `layer(queries)`.",
    "layer * queries": "`layer` is a layer, not a matrix: call it, `layer(queries)`.",
    "queries @ [1.0, 2.0, 3.0]": "`[1.0, 2.0, 3.0]` is a list: `torch.tensor([1.0, 2.0, 3.0])` makes a tensor of it.",
    "queries @ 2": "`2` is a plain number: multiply by it with `*`; `@` is for matrices.",
    "queries + queries.mean": "`queries.mean` is a function and has to be called: `queries.mean()`.",
    "matrix(queries)": "`matrix` is a matrix (3x4), not a layer, so it cannot be called: write `queries @ matrix`.",
    "layer.weight(queries)": "`layer.weight` is the matrix of the layer: call the layer itself, `layer(...)`.",
    "queries.T()": "`.T` takes no brackets: write `queries.T`.",
    "queries.shape(0)": "`queries.shape` is no function: write `queries.shape[0]`, "
    "or `queries.shape` alone for all sizes.",
    "half(queries)": "`half` is a float: brackets after it would call it. Is a `*` or a `,` missing?",
    "layer.shape": "`layer` is a layer; its matrix is `layer.weight`.",
    "matrix.weight": "`matrix` is no layer but the matrix itself: leave out `.weight`.",
    "layer.weight = matrix.T": "A parameter is replaced by a parameter, `layer.weight = nn.Parameter(matrix.T)`, or "
    "filled in place, `layer.weight.copy_(matrix.T)`, inside `with torch.no_grad():`.",
    "nn.ModuleList([queries])": "It holds layers, not tensors: for parameters there is nn.ParameterList.",
    "nn.ModuleList([layer])(queries)": "An nn.ModuleList only holds layers: call each of them, "
    "`[layer(x) for layer in layers]`.",
    "layer.load_state_dict({'weight': matrix})": "`weight` is given as 3x4, but the module has 4x3. "
    "Transpose it, `.T`.",
    "(queries, keys).shape": "`(queries, keys)` is a tuple of 2: take one, `(queries, keys)[0]`, or give each a name, "
    "`output, weights = ...`.",
    "pair = [queries, queries]; pair.mean()": "`pair` is a list, not a tensor: `torch.stack(pair)` makes one of it.",
    "attend = nn.MultiheadAttention(3, 1); out = attend(queries, queries, queries); out.shape": "nn.MultiheadAttention "
    "gives two results, the output and the weights: take one, `out[0]`, or give each a name, "
    "`output, weights = ...`.",
    "queries.shape[0].mean()": "`queries.shape[0]` is a plain number, not a tensor: `.item()`, `.shape[0]` and len "
    "give such.",
    # Gradients
    "y = matrix.exp(); y += 1; y.sum().backward()": "Make a new tensor instead, as in `x = x + 1`.",
    "matrix.fill_(1)": "`matrix` learns by gradients, so it may be changed in place only inside "
    "`with torch.no_grad():`. Put the line in such a block.",
    "matrix[0, 0] = 1": "`matrix` learns by gradients, so it may be changed in place only inside "
    "`with torch.no_grad():`. Put the line in such a block.",
    "matrix += 1": "`matrix` learns by gradients, so it may be changed in place only inside "
    "`with torch.no_grad():`. Put the line in such a block.",
    "queries.sum().backward()": "Nothing that `queries.sum()` was computed from needs a gradient: make a tensor with "
    "`requires_grad=True`, or as nn.Parameter, and compute outside of `torch.no_grad()`, without `.detach()` on the "
    "way.",
    "loss = matrix.exp().sum(); loss.backward(); loss.backward()": "compute the result again before the next, or, if "
    "both are meant, say `backward(retain_graph=True)` in the first.",
    "layer(queries).backward()": "`layer(queries)` is 6x4. `backward` starts at a single number: write "
    "`layer(queries).sum().backward()`, or `.mean()`.",
    "matrix.grad.sum()": "`matrix.grad` is None until `backward()` has been called, and for tensors that need no "
    "gradient.",
    # Dtypes
    "square.masked_fill(mask[:6, :6], 0)": "`mask[:6, :6]` holds float32 numbers, but a mask must hold True and False: "
    "write `mask[:6, :6].bool()`.",
    "torch.where(mask, 0.0, 1.0)": "`mask` holds float32 numbers, but a mask must hold True and False: "
    "write `mask.bool()`.",
    "~mask": "`~` exchanges True and False, but `mask` holds numbers: write `~mask.bool()`.",
    "whole @ keys.T": "`whole` holds int64 numbers, `keys.T` float32: both must be of one kind. Write `whole.float()`.",
    "queries @ keys.T.double()": "both must be of one kind. Write `keys.T.double().float()`.",
    "layer(whole)": "`whole` holds int64 numbers, `layer` float32: both must be of one kind. Write `whole.float()`.",
    "queries[mask]": "`mask` holds float32 numbers: an index must hold whole numbers, `mask.long()`, or as a mask "
    "True and False, `mask.bool()`.",
    "nn.Embedding(5, 3)(vector)": "`vector` holds float32 numbers: an index must hold whole numbers,",
    "torch.softmax(whole, dim=-1)": "`whole` holds int64 values, and this needs floats: write `whole.float()`.",
    "whole.mean()": "`whole` holds int64 values, and this needs floats: write `whole.float()`.",
    "torch.softmax(queries)": "Say along which axis the weights add up to 1: `dim=-1` is every row by itself.",
    "torch.sqrt(queries.shape[-1])": "`queries.shape[-1]` is a plain number, but a tensor is needed: write "
    "`queries.shape[-1] ** 0.5`.",
    "torch.softmax([1.0, 2.0], dim=0)": "`[1.0, 2.0]` is a list: `torch.tensor([1.0, 2.0])` makes a tensor of it.",
    "torch.triu(6, 6)": "It takes a matrix and blanks one half: `torch.triu(torch.ones(6, 6), diagonal=1)`.",
    "torch.ones(6, 6, diagonal=1)": "`diagonal` is for torch.triu and torch.tril: close the bracket of torch.ones "
    "before it.",
    "nn.functional.softmax(queries, axis=-1)": "PyTorch calls it `dim` here.",
    # Sizes that are floats
    "nn.Linear(3, 4 / 2)": "A size must be a whole number, and `/` gives a float even where it comes out even: "
    "write `4 // 2`.",
    "batch.view(2, 6, half)": "A size must be a whole number, but `half` is 3.0. Where it is computed, divide "
    "with `//`.",
    "torch.zeros(half, 2)": "A size must be a whole number, but `half` is 3.0. Where it is computed, divide with `//`.",
    "range(half)": "A size must be a whole number, but `half` is 3.0. Where it is computed, divide with `//`.",
    "queries[1.0]": "An index must be a whole number: write `1` for `1.0`.",
    # Indices
    "queries[6]": "`queries` is 6x3: axis 0 has 6 places, counted from 0: the last is 5, or -1.",
    "queries.sum(dim=2)": "`queries` is 6x3: it has 2 axes, numbered 0 to 1, or -2 to -1 from the end.",
    "vector.softmax(dim=1)": "`vector` is a vector of 3: it has one axis, numbered 0 to 0, or -1 to -1 from the end.",
    "queries[0, 0, 0]": "`queries` is 6x3: it has 2 axes, but 3 indices are given.",
    "queries.shape[2]": "`queries.shape` has 2 entries, counted from 0: the last is 1, or -1.",
    "layer.state_dict()['W']": None,
    "sizes = {'query': 1, 'key': 2}; sizes['keys']": 'Did you mean "key"?',
    "sizes = {'query': 1, 'key': 2}; sizes['bias']": 'Its keys are "query", "key".',
    # Names
    "F.softmax(queries, dim=-1)": "Add the line `import torch.nn.functional as F` at the top.",
    "math.sqrt(2)": "Add the line `import math` at the top.",
    "softmax(queries, dim=-1)": "Did you mean `torch.softmax`?",
    "Linear(3, 4)": "Did you mean `nn.Linear` (with `from torch import nn`)?",
    "quieres @ keys": "Did you mean `queries`?",
    "true": "Did you mean `True`?",
    "np.array(1)": "That library is not here: PyTorch has the same under `torch`, such as `torch.tensor` and "
    "`torch.exp`.",
    "MultiHeadAttention(3, 2)": "Add the line `from attention.multi_head import MultiHeadAttention` at the top.",
    "self.W": "Only methods that name it know `self`: write it as the first parameter, `def forward(self, x):`.",
    "queries.t1": "Did you mean `queries.T`?",
    "queries.shapes": "Did you mean `queries.shape`?",
    "layer.wieght": "Did you mean `layer.weight`?",
    "torch.soft_max(queries)": "Did you mean `torch.softmax`?",
    "torch.Linear(3, 4)": "It is in another place: `nn.Linear`.",
    "nn.softmax(queries)": "It is in another place: `torch.softmax`.",
    "nn.linear(3, 4)": "Did you mean `nn.Linear`?",
    "nn.dropout(0.1)": "Did you mean `nn.Dropout`?",
    "nn.parameter(queries)": "Did you mean `nn.Parameter`?",
    "nothing_like_it": "`nothing_like_it` has no value here.",
    "import torc": "Did you mean `torch`?",
    "from torch import Linear": "It is in another place: `from torch.nn import Linear`.",
    "from attention.causal import MultiHeadAttention": "It is in `attention.multi_head`: "
    "`from attention.multi_head import MultiHeadAttention`.",
    # Powers
    "queries ^ 2": "`^` compares bits; a power is written `**`: `queries ** 2`.",
    "queries / queries.shape[-1] ^ 0.5": "a power is written `**`: `queries.shape[-1] ** 0.5`.",
    "(half + 1) ^ 0.5": "a power is written `**`: `(half + 1) ** 0.5`.",
    # Plain Python
    "queries / (half - 3); half / (half - 3)": "`half - 3` is 0 here.",
    "1 / 0": None,
    "assert queries.shape[0] == half": "`queries.shape[0] == half` is not true: `queries.shape[0]` is 6 and `half` "
    "is 3.0.",
    "assert queries.shape[0] == 5, 'five'": None,
    "for i in queries.shape[0]: pass": "To count up to a number, write `range(queries.shape[0])`.",
    "layer[0]": "`layer` is a layer; its matrix is `layer.weight`.",
    "queries.size[0]": "`queries.size` is a function: call it first, `queries.size()`. Its sizes are `queries.shape`.",
    "nn.Linear(3)": "It is called as `nn.Linear(in_features, out_features, bias=..., device=..., dtype=...)`.",
    "layer(queries, keys)": "It is called as `layer(input)`.",
    "raise ValueError('mine')": None,
    # Syntax errors
    "if queries is None print(1)": "A line that opens a block ends with a colon.",
    "x = 3 @": "Something is missing after `@` at the end of the line.",
    "x = 1 && 2": "Python writes `and` for `&&`.",
    "half++": "Python has no `++`: write `half += 1`.",
    "lambda = 1": "`lambda` is a word of Python itself: choose another name.",
    "x = = 2": "Between two `=` of `==` there is no blank; a value is given with one `=`.",
    "if half = 3: pass": "`=` gives a name a value; `==` asks whether two values are equal.",
    "x = “a”": "Type it on the keyboard: a plain quotation mark.",
    "x = 2 × 3": "Type it on the keyboard: `*`.",
    "x = -∞": "Python writes `torch.inf` for it.",
    "return queries": "`return` belongs into a `def`: indent the line as deep as the others of the function.",
    "  x = 1": "This line starts further right than the one before, though that opens no block.",
    "def f(self x): pass": "A comma is missing: `self, x`.",
    "x = (1": None,
    # Notebooks and prompts
    "!pip install torch": "A line with `!` is a command of a notebook: leave it out. torch is here already.",
    "%matplotlib inline": "A line with `%` is a command of a notebook: leave it out.",
    "%%time": "A line with `%` is a command of a notebook: leave it out.",
    "```python": "These marks fence off code in a text: leave them out.",
    ">>> x = 1": "`>>>` is the prompt of an interpreter: leave it out, and what it printed too.",
    "In [1]: import torch": "`In [1]:` is the prompt of an interpreter: leave it out, and what it printed too.",
    "torch.softmax?": "A question mark asks for help in a notebook: leave the line out.",
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
    "queries @ keys": "`queries` is 2x6x4 and `keys` is 2x6x4: the inner sizes, 4 and 6, must agree. "
    "Did you mean `queries @ keys.transpose(-2, -1)`?",
    "queries @ keys.T": "Did you mean `queries @ keys.transpose(-2, -1)`?",
    "queries @ keys.transpose(0, 1)": "Did you mean `queries @ keys.transpose(-2, -1)`?",
    "self.W_query(x) @ self.W_key(x)": "Did you mean `self.W_query(x) @ self.W_key(x).transpose(-2, -1)`?",
    "x @ self.W_query": "`self.W_query` is a layer, not a matrix: call it, `self.W_query(x)`.",
    "x @ self.W_query.weight": "`self.W_query.weight` is 4x3, out by in, as nn.Linear keeps it. Call the layer: "
    "`self.W_query(x)`.",
    "self.W_key(queries)": "`queries` is 2x6x4, so its last axis has 4 numbers, but `self.W_key` takes 3 "
    "(in_features=3).",
    "self.W(x)": "`self.W` is a matrix (3x4), not a layer, so it cannot be called: write `x @ self.W`.",
    "scores.masked_fill(self.mask.bool(), -torch.inf)": "`scores` is 2x6x6 and `self.mask.bool()` is 10x10. "
    "Slice the mask to the number of tokens: `self.mask[:6, :6].bool()`.",
    "scores.masked_fill_(self.mask, -torch.inf)": "`self.mask` holds float32 numbers, but a mask must hold True and "
    "False: write `self.mask.bool()`.",
    "torch.softmax(scores, dim=3)": "`scores` is 2x6x6: it has 3 axes, numbered 0 to 2, or -3 to -1 from the end.",
    "queries.view(2, 6, 2, self.d_out / 2)": "write `self.d_out // 2`.",
    "W_query(x)": "Inside a method it is called `self.W_query`.",
    "self.w_query(x)": "Did you mean `self.W_query`?",
    "self.W_quer(x)": "Did you mean `self.W_query`?",
    "self.heads(x)": "Nothing has set `self.heads`: do it in `__init__`.",
    "self.W = x": "A parameter is replaced by a parameter, `self.W = nn.Parameter(x)`, or filled in place, "
    "`self.W.copy_(x)`, inside `with torch.no_grad():`.",
    "self.W_query = x": "`self.W_query` is a layer; its matrix is `self.W_query.weight`: write "
    "`self.W_query.weight = nn.Parameter(x)`.",
    "self.mask = 3": "A buffer must stay a tensor: `self.mask = torch.tensor(3)`, or give the value another name.",
    "Head(3, 4)": "Line 6 defines it as `__init__(self, d_in, d_out, context_length)`: `self` comes by itself, a call "
    "gives `d_in, d_out, context_length`.",
    "Head(3, 4, tokens=6)": "Line 6 defines it as `__init__(self, d_in, d_out, context_length)`",
    "Head(3, 4, contextlength=6)": "Did you mean `context_length`?",
    "Head.forward(x)": "`Head` is the class: make an object first, `layer = Head(...)`, then call `layer(...)`.",
    "super().forward(x)": "nn.Module itself has no `forward`: leave out `super().forward(...)`.",
    "self.W_query.bias.shape": "`self.W_query.bias` is None: the layer was made with `bias=False`.",
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
        "Line 2, `from torch import *`, puts another `range` in place of Python's: leave it out, and import what you "
        "need by name.",
    ),
    "a type replaced": (
        """
        def f():
            return [float(x) for x in (1, 2)]
        from torch import *
        f()
        """,
        "Line 4, `from torch import *`, puts another `float` in place of Python's: leave it out, and import what you "
        "need by name.",
    ),
    "an own function replaced": (
        """
        def softmax(x):
            return x
        from torch import *
        softmax(ones(3))
        """,
        "Line 4, `from torch import *`, puts another `softmax` in place of yours: leave it out, and import what you "
        "need by name.",
    ),
    "init misspelled": (
        """
        from torch import nn
        class Head(nn.Module):
            def _init_(self, d_in):
                super().__init__()
        Head(3)
        """,
        "Line 4 defines `_init_`, but Python calls `__init__`, with two `_` on each side.",
    ),
    "no call of super": (
        """
        from torch import nn
        class Head(nn.Module):
            def __init__(self):
                self.W = nn.Linear(3, 2)
        Head()
        """,
        "`super().__init__()` is missing at the start of `Head.__init__`: it sets the module up.",
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
        "The class is no module yet: line 3 should be `class Head(nn.Module):`.",
    ),
    "no module, asked for parameters": (
        "class Head:\n    pass\nHead().parameters()",
        "The class is no module yet: line 1 should be `class Head(nn.Module):`.",
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
        "`W` on line 6 exists only inside `__init__`: keep it as `self.W` there, and write that here.",
    ),
    "a name that nothing gives": (
        "def f(queries, keys):\n    return weights_of_it @ queries\nf(1, 2)",
        "`weights_of_it` has no value here. These have one: `queries`, `keys`.",
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
        "`super().__init__()` must come first in `Head.__init__`: it sets the module up.",
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
        "`super().__init__()` is missing at the start of `Head.__init__`: it sets the module up.",
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
        "Line 6 sets `self.mask` already: leave it out, register_buffer makes the name.",
    ),
    "no forward": (
        "from torch import nn\nclass Head(nn.Module):\n    pass\nHead()(1)",
        "Give `Head` a `def forward(self, x):`, indented like `__init__`: it runs when the module is called.",
    ),
    "forward misspelt": (
        "from torch import nn\nclass Head(nn.Module):\n    def foward(self, x):\n        return x\nHead()(1)",
        "The class defines `foward`: it has to be called `forward`.",
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
        "`forward` (line 6) is inside `__init__`: indent both alike.",
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
        "`forward` (line 5) is outside of the class: indent it like `__init__`.",
    ),
    "no self": (
        "from torch import nn\nclass Head(nn.Module):\n    def forward(x):\n        return x\nHead()(1)",
        "The first parameter of a method is the object itself: line 3 should be `def forward(self, x):`.",
    ),
    "not self": (
        "class Head:\n    def __init__(d_in, d_out):\n        pass\nHead(3, 2)",
        "The first parameter of a method is the object itself: line 2 should be `def __init__(self, d_in, d_out):`.",
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
        "The function around it gives `size` a value only later: move that up.",
    ),
    "a list by halves": (
        "half = 4 / 2\n[1, 2, 3][half]",
        "An index must be a whole number, but `half` is 2.0. Where it is computed, divide with `//`.",
    ),
    "no return": (
        "def attend(x):\n    y = 2 * x\nscores = attend(1)\nscores.shape",
        "`scores` is None: `attend` (line 1) gives nothing back, since it has no `return` with a value.",
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
        "`out` is None: `forward` (line 4) gives nothing back, since it has no `return` with a value.",
    ),
    "a list that is changed": (
        "heads = []\nheads = heads.append(1)\nheads[0]",
        "`heads` is None: `.append()` changes its object and gives nothing back.",
    ),
    "assigned in the function": (
        "count = 1\ndef add():\n    count = count + 1\nadd()",
        "Line 3 assigns `count`, so it belongs to this function, and has no value yet. "
        "Give it a value before, or pass it as an argument.",
    ),
    "assigned in an if": (
        "def add(x):\n    if x > 1:\n        y = 2\n    return y\nadd(0)",
        "`y` gets its value on line 3, which was not run this time (an `if`, or an empty loop).",
    ),
    "defined later": (
        "attend(1)\ndef attend(x):\n    return x",
        "`attend` is defined on line 2, after this line was run: move it up.",
    ),
    "a value that comes later": (
        "scores = queries\nqueries = 1",
        "`queries` gets its value only on line 2: move that up.",
    ),
    "known in another function": (
        "def make():\n    scores = 1\ndef use():\n    return scores\nmake()\nuse()",
        "`scores` on line 2 exists only inside `make`: return it, or make it here.",
    ),
    "a local of the constructor": (
        "class Head:\n    def __init__(self):\n        width = 3\n    def run(self):\n        self.width\nHead().run()",
        "Line 3 sets only `width`: write `self.width = ...` there.",
    ),
    "a method without self": (
        "class Head:\n    def one(self):\n        return two()\n    def two(self):\n        return 1\nHead().one()",
        "Inside a method it is called `self.two`.",
    ),
    "a name of Python": (
        "len = 3\nlen([1])",
        "The program has given Python's own name `len` to an int: choose another for that.",
    ),
    "no brackets": (
        "import torch\nwith torch.no_grad:\n    pass",
        "Brackets are missing: `with torch.no_grad():`.",
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
    "no colon": ("def f(x)\n    return x", "The line with `def` must end with a colon, before the indented block."),
    "no block": ("def f(x):\nreturn x", "What belongs to it starts four spaces further right."),
    "tabs": ("if 1:\n    x = 1\n\tx = 2", "Indent with spaces only, four for each step."),
    "between two": (
        "if 1:\n    x = 1\n  y = 2",
        "Its start must stand exactly below the start of an earlier line.",
    ),
    "text without an end": ("x = 'abc", "At its end the quotation mark of its beginning is missing."),
}


OTHER_VERSIONS = {
    'RuntimeError("Can\'t call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")': "NumPy "
    "knows no gradients: `x.detach().numpy()` gives the numbers alone.",
    'RuntimeError("expected scalar type Long but found Float")': "All tensors in a product must hold one kind of "
    "numbers: `.float()` converts to float32.",
    'RuntimeError("you can only change requires_grad flags of leaf variables.")': "Only a tensor that was not computed "
    "from others can be told so: use `.detach()` first.",
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
    from lessons.worker.advice import scene

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
    assert describe(error, "<other>") == ErrorReport("error", "ZeroDivisionError: division by zero")


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
    assert "must agree" in judgement.message or "must be of one kind" in judgement.message


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
