# infinity-times-0: multiply on line 6, forward
import torch

keep = torch.ones(3, 3).tril()
scores = torch.eye(3)
masked = scores + (1 - keep) * float("-inf")
weights = masked.softmax(dim=-1)
