# finite
import torch

y, x = torch.zeros(2, requires_grad=True), torch.zeros(2, requires_grad=True)
torch.atan2(y, x).sum().backward()
