# divided-by-0: power on line 7, backward
import torch

base = torch.tensor([0.0, 2.0], requires_grad=True)
exponent = torch.tensor([0.5, 2.0])
loss = (base**exponent).sum()
loss.backward()
