# exponential-beyond: exp on line 6, forward
import torch

scores = torch.tensor([[100.0, 1.0, 2.0]])
mask = torch.tensor([[False, True, False]])
chances = torch.exp(scores)
loss = -torch.log(chances[:, 1] / chances.masked_fill(mask, 0).sum(dim=1))
