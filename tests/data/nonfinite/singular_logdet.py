# logarithm-of-0: linalg_slogdet on line 5, forward
import torch

covariance = torch.tensor([[1.0, 1.0], [1.0, 1.0]])
loss = torch.logdet(covariance)
