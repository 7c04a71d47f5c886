# finite
import torch

x = torch.zeros(3, requires_grad=True)
(x.norm() + torch.linalg.vector_norm(x, 3) + torch.cdist(x[None], x[None]).sum() + x.std()).backward()
