"""Values with tensors in them, encoded for other processes and decoded."""

from __future__ import annotations

import json
import math
from collections import OrderedDict
from typing import Any

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from attn_tutor.lessons.worker.jobs import values
from attn_tutor.lessons.worker.jobs.values import ValueNotPlain, decode, encode


def round_trip(value: object) -> Any:
    """Encode a value, write it as JSON text, and decode it."""
    tree, blob = encode(value)
    return decode(json.loads(json.dumps(tree)), blob)


def is_identical(left: torch.Tensor, right: torch.Tensor) -> bool:
    """Return whether two tensors are equal in dtype, shape and every bit."""
    return left.dtype == right.dtype and left.shape == right.shape and values.raw(left) == values.raw(right)


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        False,
        0,
        -(2**63) + 1,
        2**63 - 1,
        0.1,
        -0.0,
        math.inf,
        "",
        "Ω \x00 \x1b[2J \udcff",
        [],
        [1, [2, [3, None]]],
        (),
        (1, (2.5, "three")),
        {},
        {"a": 1, "b": {"c": [(), {}]}},
        {"t": "tensor", "items": []},
        [True, 1, 1.0],
    ],
)
def test_plain_value_round_trip(value: object) -> None:
    assert repr(round_trip(value)) == repr(value)


def test_keys_become_text() -> None:
    assert round_trip({1: "one", None: 0}) == {"1": "one", "None": 0}


def test_dict_keeps_its_order() -> None:
    assert list(round_trip(OrderedDict(z=1, a=2, m=3))) == ["z", "a", "m"]


@pytest.mark.parametrize("dtype", values.DTYPES.values(), ids=values.DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (1,), (5,), (2, 3), (2, 0, 3), (2, 3, 4, 5)])
def test_tensor_round_trip(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    tensor = torch.arange(math.prod(shape)).reshape(shape).remainder(7).to(dtype)
    assert is_identical(round_trip(tensor), tensor)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_special_numbers(dtype: torch.dtype) -> None:
    tensor = torch.tensor(
        [math.nan, math.inf, -math.inf, -0.0, torch.finfo(dtype).tiny, torch.finfo(dtype).max], dtype=dtype
    )
    assert is_identical(round_trip(tensor), tensor)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8])
def test_extreme_integers(dtype: torch.dtype) -> None:
    tensor = torch.tensor([torch.iinfo(dtype).min, torch.iinfo(dtype).max], dtype=dtype)
    assert is_identical(round_trip(tensor), tensor)


def test_views_are_copied() -> None:
    base = torch.arange(24.0).reshape(2, 3, 4)
    for view in (base.transpose(0, 2), base[:, 1:, ::2], base[1].T, base[0, 0].expand(3, 4), base.flip(0), base.mT):
        assert is_identical(round_trip(view), view)


def test_parameters_are_sent_as_tensors() -> None:
    layer = torch.nn.Linear(3, 2)
    got = round_trip({"weight": layer.weight, "out": layer(torch.ones(3))})
    assert is_identical(got["weight"], layer.weight)
    assert not got["weight"].requires_grad
    assert not got["out"].requires_grad


def test_each_tensor_is_its_own_copy() -> None:
    tensor = torch.zeros(3)
    first, second = round_trip([tensor, tensor])
    first += 1
    assert second.tolist() == [0, 0, 0]
    assert tensor.tolist() == [0, 0, 0]


def test_many_tensors_of_odd_sizes_do_not_disturb_each_other() -> None:
    given_tensors = [
        torch.full((size,), size, dtype=dtype) for size in (1, 3, 0, 7) for dtype in values.DTYPES.values()
    ]
    for got, want in zip(round_trip(given_tensors), given_tensors, strict=True):
        assert is_identical(got, want)


class Number(int):
    """A subclass of int, whose methods may do anything."""


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (object(), "a value of type object"),
        (Number(3), "a value of type Number"),
        ({1, 2}, "a value of type set"),
        (b"bytes", "a value of type bytes"),
        (1j, "a value of type complex"),
        (torch.float32, "a value of type dtype"),
        (torch.nn.Linear(2, 2), "a value of type Linear"),
        ([{"deep": (object(),)}], "a value of type object"),
        (2**63, "an integer of more than 64 bits"),
        ("x" * 10_001, "a text of 10001 characters"),
        ([0] * 5001, "too many values"),
        (torch.zeros(2, dtype=torch.complex64), "a tensor of dtype torch.complex64"),
        (torch.zeros(2, 2).to_sparse(), "a tensor of layout torch.sparse_coo"),
        (torch.zeros(2, device="meta"), "a tensor without data"),
        (torch.zeros(1200, 1200, 2), r"a tensor of shape \(1200, 1200, 2\), too large to be compared"),
        ([torch.zeros(1000, 1000)] * 2, r"a tensor of shape \(1000, 1000\), too large to be compared"),
    ],
)
def test_error_names_the_part_that_cannot_be_encoded(value: object, message: str) -> None:
    with pytest.raises(ValueNotPlain, match=f"^{message}$"):
        encode(value)


def test_values_that_contain_themselves() -> None:
    loop: list[object] = []
    loop.append(loop)
    with pytest.raises(ValueNotPlain, match="nested too deeply"):
        encode(loop)


def test_depth_that_can_be_encoded_can_be_decoded() -> None:
    value: object = torch.ones(1)
    for _ in range(values.DEPTH):
        value = (value,)
    got = round_trip(value)
    for _ in range(values.DEPTH):
        (got,) = got
    assert got.tolist() == [1]


def test_raw_bytes_are_row_major_and_little_endian() -> None:
    assert values.raw(torch.tensor([[1, 2], [3, 4]], dtype=torch.int16).T) == b"\1\0\3\0\2\0\4\0"
    assert values.raw(torch.empty(0)) == b""


# What a hostile program sends ----------------------------------------------------------------------------------------

TENSOR = {"t": "tensor", "dtype": "float32", "shape": [2], "offset": 0}


@pytest.mark.parametrize(
    "tree",
    [
        {},
        {"t": "object"},
        {"t": "tuple"},
        {"t": "tuple", "items": 3},
        {"t": "dict", "items": [1]},
        {"t": "dict", "items": [[1]]},
        {"t": "dict", "items": [[1, 2, 3]]},
        {"t": "dict", "items": {"a": 1}},
        {"t": ["tensor"]},
        TENSOR | {"dtype": "complex64"},
        TENSOR | {"dtype": None},
        TENSOR | {"dtype": ["float32"]},
        TENSOR | {"shape": 2},
        TENSOR | {"shape": [-1]},
        TENSOR | {"shape": [2.0]},
        TENSOR | {"shape": [True]},
        TENSOR | {"shape": ["2"]},
        TENSOR | {"shape": [3]},
        TENSOR | {"shape": [2**40]},
        TENSOR | {"shape": [values.CAP] * 8},
        TENSOR | {"shape": [1] * 9},
        TENSOR | {"offset": -1},
        TENSOR | {"offset": 1},
        TENSOR | {"offset": 2**70},
        TENSOR | {"offset": "0"},
        TENSOR | {"offset": None},
        TENSOR | {"shape": None},
    ],
)
def test_tree_that_encode_would_not_write_is_refused(tree: object) -> None:
    with pytest.raises((ValueError, KeyError, TypeError)):
        decode(tree, bytes(8))


def test_empty_tensor_of_absurd_size_is_refused() -> None:
    # It would take no memory, but its strides do not fit into 64 bits.
    with pytest.raises(ValueError, match="unreadable"):
        decode(TENSOR | {"shape": [0] + [values.CAP] * 7}, b"")


def test_deep_tree_is_refused() -> None:
    tree: object = 1
    for _ in range(500):
        tree = [tree]
    with pytest.raises(ValueError, match="nested too deeply"):
        decode(tree, b"")


LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=3)
    | st.sampled_from(["tensor", "tuple", "dict", *values.DTYPES])
)
TREES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.fixed_dictionaries(
            {},
            optional={
                "t": st.sampled_from(["tensor", "tuple", "dict", "list"]) | inner,
                "items": st.lists(st.lists(inner, min_size=2, max_size=2), max_size=3) | inner,
                "dtype": st.sampled_from(sorted(values.DTYPES)) | inner,
                "shape": st.lists(st.integers(-1, 9) | st.sampled_from([2**31, 2**63, values.CAP]), max_size=9) | inner,
                "offset": st.integers(-1, 40) | inner,
            },
        )
    ),
    max_leaves=12,
)


@settings(max_examples=300)
@given(TREES, st.binary(max_size=64))
@example({"t": "tensor", "dtype": "bool", "shape": [4], "offset": 0}, b"\x02\xff\x00\x01")
@example({"t": "tensor", "dtype": "float32", "shape": [0, values.CAP, values.CAP, values.CAP], "offset": 0}, b"")
def test_any_tree_is_a_value_or_refused(tree: object, blob: bytes) -> None:
    try:
        value = decode(tree, blob)
    except (ValueError, KeyError, TypeError):
        return
    assert value is None or type(value) in (bool, int, float, str, list, tuple, dict, torch.Tensor)


@settings(max_examples=60)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**62), 2**62) | st.floats(allow_nan=False) | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner, max_size=3)
        ),
        max_leaves=15,
    )
)
def test_any_plain_value_round_trip(value: object) -> None:
    assert round_trip(value) == value
