# logarithm-of-0: log on line 6, forward
import torch

points = torch.randn(8, 3)
points[:, 1] = 1
scale = -points.std(dim=0).log()
z = (points * scale.exp()).sum()
