# divided-by-0: power on line 5, forward
import torch

adjacency = torch.tensor([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
root = adjacency.sum(dim=1).pow(-0.5)
normalized = root[:, None] * adjacency * root[None, :]
features = normalized @ torch.ones(3, 2)
