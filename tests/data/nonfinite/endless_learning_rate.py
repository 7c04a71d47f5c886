# endless-setting: sgd on line 8, optimizer
import torch

w = torch.ones(2, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
optimizer.param_groups[0]["lr"] = float("inf")
w.sum().backward()
optimizer.step()
