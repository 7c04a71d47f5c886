# logarithm-of-0: log1p on line 5, forward
import torch

rates = torch.tensor([0.5, -1.0])
gains = torch.log1p(rates)
