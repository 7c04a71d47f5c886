# divided-by-0: rsqrt on line 6, backward
import torch

cosine = torch.tensor([1.0, 0.5], requires_grad=True)
angle = torch.acos(cosine)
angle.sum().backward()
