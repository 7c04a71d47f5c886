# power-of-negative: power on line 5, forward
import torch

signal = torch.tensor([4.0, -8.0])
root = signal**0.5
