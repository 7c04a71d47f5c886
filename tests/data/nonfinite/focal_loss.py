# divided-by-0: power on line 8, backward
import torch

logits = torch.tensor([30.0, -2.0], requires_grad=True)
target = torch.tensor([1.0, 0.0])
p = torch.sigmoid(logits)
chance = torch.where(target == 1, p, 1 - p)
(((1 - chance) ** 0.5) * -torch.log(chance)).sum().backward()
