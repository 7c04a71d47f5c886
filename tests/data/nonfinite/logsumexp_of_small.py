# logarithm-of-0: log on line 5, forward
import torch

energies = torch.tensor([[-120.0, -130.0], [1.0, 2.0]])
loss = -energies.exp().sum(dim=1).log()
