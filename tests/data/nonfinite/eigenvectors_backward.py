# zero-by-zero: divide on line 6, backward
import torch

covariance = torch.eye(3, requires_grad=True)
values, vectors = torch.linalg.eigh(covariance)
vectors[:, 0].sum().backward()
