"""Thumbnails of tensors: a matrix in few blocks, each with the mean of its cells."""

from __future__ import annotations

import math

import torch

from attn_tutor.lessons.results.flow import LARGEST_THUMBNAIL

Rows = tuple[tuple[float, ...], ...]


def thumbnail(tensor: torch.Tensor) -> Rows:
    """Return the first matrix of a tensor in at most `LARGEST_THUMBNAIL` rows and columns; a vector is one row.

    A block of a larger matrix is the mean of its cells without those that a mask has made -inf.
    """
    if tensor.is_complex():
        tensor = tensor.abs()
    if not tensor.numel():
        return ()
    matrix = tensor[(0,) * (tensor.dim() - 2)] if tensor.dim() > 2 else tensor.reshape(-1, (1, *tensor.shape)[-1])
    most_rows, most_cols = LARGEST_THUMBNAIL
    strips = matrix.to(torch.float64).tensor_split(min(matrix.shape[0], most_rows))
    return tuple(
        tuple(_mean(block) for block in strip.tensor_split(min(strip.shape[1], most_cols), dim=1)) for strip in strips
    )


def _mean(block: torch.Tensor) -> float:
    mean = float(block.mean())
    if math.isfinite(mean):
        return mean
    there = block[block != -torch.inf]
    return float(there.mean()) if there.numel() else -torch.inf
