# uninitialized: uninitialized on line 5, forward
import torch

torch.use_deterministic_algorithms(True)
buffer = torch.empty(3)
buffer[0] = 1.0
total = buffer.sum()
