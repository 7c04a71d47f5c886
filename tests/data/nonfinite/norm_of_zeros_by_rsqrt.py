# divided-by-0: rsqrt on line 5, forward
import torch

x = torch.tensor([[0.0, 0.0], [1.0, 2.0]])
normed = x * torch.rsqrt(x.pow(2).mean(dim=-1, keepdim=True))
