# result-beyond: norm on line 5, forward
import torch

gradient = torch.full((4,), 1e25)
length = gradient.norm()
factor = 1 / length
scaled = gradient * factor - length
