# zero-by-zero: divide on line 6, forward
import torch

x = torch.tensor([[3.0, 3.0], [1.0, 2.0]], requires_grad=True)
centered = x - x.mean(dim=-1, keepdim=True)
normed = centered / centered.pow(2).mean(dim=-1, keepdim=True).sqrt()
normed.sum().backward()
