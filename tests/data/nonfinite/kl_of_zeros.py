# logarithm-of-0: log on line 6, forward
import torch

p = torch.tensor([0.5, 0.5, 0.0])
q = torch.tensor([0.25, 0.75, 0.0])
kl = (p * (p.log() - q.log())).sum()
