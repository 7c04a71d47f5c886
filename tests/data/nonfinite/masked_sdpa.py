# finite
import torch
from torch.nn.functional import scaled_dot_product_attention

query = torch.randn(1, 2, 3, 4)
bias = torch.zeros(3, 3)
bias[1] = float("-inf")
context = scaled_dot_product_attention(query, query, query, attn_mask=bias)
pooled = context.mean()
