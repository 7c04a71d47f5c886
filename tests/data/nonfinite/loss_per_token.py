# zero-by-zero: divide on line 6, forward
import torch

tokens = torch.tensor(int("0"))
total = torch.tensor([0.0, 0.0]).sum()
loss = total / tokens
