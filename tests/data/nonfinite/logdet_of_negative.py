# logarithm-of-negative: where on line 5, forward
import torch

covariance = torch.tensor([[1.0, 2.0], [2.0, 1.0]])
entropy = 0.5 * torch.logdet(covariance)
