# finite
import torch

torch.manual_seed(0)
scores = torch.randn(4, 4)
mask = torch.tril(torch.ones(4, 4)).log()
triangle = torch.full((4, 4), float("-inf")).triu(1)
weights = (scores + mask + triangle).softmax(dim=-1)
best = torch.tensor(float("inf"))
lowest = torch.minimum(best, scores.min())
