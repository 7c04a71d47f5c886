# infinities: subtract on line 6, forward
import torch

scores = torch.tensor([[float("-inf"), float("-inf")], [1.0, 2.0]])
highest = scores.max(dim=-1, keepdim=True).values
shifted = scores - highest
weights = shifted.exp() / shifted.exp().sum(dim=-1, keepdim=True)
