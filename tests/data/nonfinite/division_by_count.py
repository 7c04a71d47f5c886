# zero-by-zero: divide on line 6, forward
import torch

losses = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
mask = torch.tensor([[1.0, 1.0], [0.0, 0.0]])
per_row = (losses * mask).sum(dim=1) / mask.sum(dim=1)
loss = per_row.mean()
