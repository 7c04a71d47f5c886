# nothing-left: softmax on line 8, forward
import torch

torch.manual_seed(0)
attention = torch.nn.MultiheadAttention(8, 2, batch_first=True)
tokens = torch.randn(2, 3, 8)
padding = torch.tensor([[False, False, True], [True, True, True]])
context, weights = attention(tokens, tokens, tokens, key_padding_mask=padding)
loss = context.sum()
