# infinity-times-0: multiply on line 6, forward
import torch

gate = torch.tensor([0.0, 1.0])
limit = torch.tensor([float("inf"), 2.0])
out = gate * limit
