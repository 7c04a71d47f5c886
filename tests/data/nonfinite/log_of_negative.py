# logarithm-of-negative: log on line 5, forward
import torch

returns = torch.tensor([1.2, 0.4, -0.1])
growth = (returns * 2).log()
total = growth.sum()
