"""Attention for a model that writes: keys and values of earlier tokens are kept instead of being computed again.

A causal model never looks ahead, so a new token changes nothing about the tokens before it: their keys and values stay
as they are. Only the new token's query, key and value have to be made. A query is needed once, for its own token's
context vector, and is not kept.

:class:`MultiHeadAttentionCached` gives, piece by piece, the numbers that
:class:`~attention.multi_head.MultiHeadAttention` gives for the whole text at once. It is for inference: in training all
tokens are there from the start, and one pass does them all.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ._check import check_batch
from .multi_head import MultiHeadAttention


class KeyValueCache:
    """The keys and values of one layer for the tokens so far, (batch, head, token, head_dim) each.

    A new text needs an empty cache: a new one, or this one after :meth:`clear`.
    """

    keys: Tensor | None = None
    values: Tensor | None = None

    def __len__(self) -> int:
        """Count the tokens of each text in the cache."""
        return 0 if self.keys is None else self.keys.shape[2]

    def append(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Append the keys and values of new tokens; return the keys and values of all tokens, old and new."""
        if self.keys is not None and self.values is not None:
            keys = torch.cat((self.keys, keys), dim=2)
            values = torch.cat((self.values, values), dim=2)
        self.keys, self.values = keys, values
        return keys, values

    def clear(self) -> None:
        """Drop all keys and values, so that the next token is the first of its text."""
        self.keys = self.values = None


class MultiHeadAttentionCached(MultiHeadAttention):
    """:class:`MultiHeadAttention` that can go on where it left off.

    Parameters and buffer are inherited, so every checkpoint fits. Without a cache it takes a whole text; with one, the
    inputs are the tokens that come after those in the cache.

    Raises ``ValueError`` when the tokens in the cache and the new ones are more than ``context_length``, or the cache
    belongs to a batch of another size.
    """

    def forward(self, inputs: Tensor, cache: KeyValueCache | None = None) -> Tensor:
        """Attend for the new tokens alone, to all tokens: (batch, token, d_in) -> (batch, token, d_out)."""
        check_batch(inputs, self.W_query.in_features, len(self.mask))
        cache = KeyValueCache() if cache is None else cache
        b, n, _ = inputs.shape
        past, total = len(cache), len(cache) + n
        _check_room(cache, b, total, len(self.mask))
        # (query, key): the rows of the new tokens, not the first rows
        mask = self.mask[past:total, :total]
        queries, new_keys, new_values = self.project(inputs)
        keys, values = cache.append(new_keys, new_values)
        context = self.attend(queries, keys, values, mask)
        projected = self.join(context)
        return projected


def _check_room(cache: KeyValueCache, b: int, total: int, context_length: int) -> None:
    """Raise ``ValueError`` unless the cache holds ``b`` texts, or none, and ``total`` tokens fit into the layer."""
    if cache.keys is not None and len(cache.keys) != b:
        raise ValueError(
            f"the cache holds {len(cache.keys)} texts, the inputs are {b}: "
            "a new batch needs an empty cache, cache.clear() makes one"
        )
    if total > context_length:
        raise ValueError(
            f"{len(cache)} tokens in the cache and {total - len(cache)} new ones are {total}, "
            f"but this layer was built for context_length={context_length} at most"
        )


def cache_bytes(num_tokens: int, width: int, num_layers: int, bytes_per_number: int = 4) -> int:
    """Compute the bytes that the caches of a whole model take for one text.

    Each layer keeps a key and a value for every token, each ``width`` numbers wide.
    """
    return 2 * num_layers * num_tokens * width * bytes_per_number
