# zero-by-zero: divide on line 6, forward
import torch

a = torch.tensor([1.0, 2.0])
b = torch.zeros(2)
cosine = (a @ b) / (a.norm() * b.norm())
