# logarithm-of-0: log on line 6, forward
import torch

mean, spread = torch.tensor([0.5, 1.0]), torch.tensor([1.0, 0.0])
samples = torch.tensor([0.5, 1.0])
logarithms = torch.distributions.Normal(mean, spread, validate_args=False).log_prob(samples)
loss = -logarithms.mean()
