# too-few: running_var on line 5, forward
import torch

mean, variance = torch.zeros(2), torch.ones(2)
out = torch.batch_norm(torch.ones(1, 2), None, None, mean, variance, True, 0.1, 1e-5, False)
later = torch.batch_norm(torch.ones(4, 2), None, None, mean, variance, False, 0.1, 1e-5, False)
