# root-of-negative: sqrt on line 6, forward
import torch

values = torch.full((7,), 10000.1)
variance = (values * values).mean() - values.mean() ** 2
deviation = variance.sqrt()
