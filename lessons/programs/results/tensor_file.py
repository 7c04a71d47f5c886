"""What a file of tensors holds, and what the numbers of one of them amount to, as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from attn_tutor.lessons.results import clean_text
from attn_tutor.lessons.results.field_bounds import Count, Finite, Longest, Name, ReadBy, Sizes, Text

PrintedText = Annotated[Text, ReadBy(clean_text.in_one_line)]


@dataclass(frozen=True, slots=True)
class ListedTensor:
    """A tensor in the list of a file.

    Attributes:
        name: what the file calls it.
        shape, dtype: the sizes of its axes, and its type as torch calls it, or else the file.
        nbytes: the bytes that its numbers take.
        offset: the byte of the file at which the first one begins; None for compressed ones.
        problem: why it cannot be shown, in a sentence; "" if it can.
    """

    name: Text
    shape: Sizes
    dtype: Name
    nbytes: Count
    offset: Count | None
    problem: Text


@dataclass(frozen=True, slots=True)
class TensorStatistics:
    """What the numbers of a tensor amount to; of complex ones, their absolute values.

    Attributes:
        count: how many numbers it has.
        seen: how many of them were looked at, spread over the whole tensor.
        low, high, mean, std: of the finite numbers among these, None if there are none or if they do not fit into a
            number; `std` divides by their count.
        zeros, nans, infinities: how many of these there are.
    """

    count: Count
    seen: Count
    low: Finite | None
    high: Finite | None
    mean: Finite | None
    std: Finite | None
    zeros: Count
    nans: Count
    infinities: Count


@dataclass(frozen=True, slots=True)
class TensorList:
    """The tensors of a file.

    Attributes:
        kind: the format: safetensors, torch, npy or npz.
        size: the bytes of the file.
        tensors: its tensors, in its order.
        others: the names and descriptions of what else it holds.
        more_tensors, more_others: how many of each it holds besides these.
    """

    kind: Name
    size: Count
    tensors: Annotated[tuple[ListedTensor, ...], Longest(10_000)]
    others: Annotated[tuple[tuple[PrintedText, PrintedText], ...], Longest(10_000)]
    more_tensors: Count = 0
    more_others: Count = 0
