# nothing-left: softmax on line 7, forward
import torch

scores = torch.randn(2, 3)
mask = torch.tensor([[True, False, False], [True, True, True]])
hidden = scores.masked_fill(mask, float("-inf"))
weights = hidden.softmax(dim=-1)
context = weights @ torch.randn(3, 2)
