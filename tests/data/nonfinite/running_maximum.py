# finite
import torch

torch.manual_seed(0)
blocks = torch.randn(3, 5)
highest, total = torch.tensor(float("-inf")), torch.tensor(0.0)
for block in blocks:
    new = torch.maximum(highest, block.max())
    total = total * (highest - new).exp() + (block - new).exp().sum()
    highest = new
logsumexp = highest + total.log()
