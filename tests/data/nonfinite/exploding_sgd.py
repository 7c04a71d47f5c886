# result-beyond: power on line 11, forward
import torch

torch.manual_seed(0)
inputs = torch.randn(32, 4)
targets = inputs @ torch.tensor([1.0, -2.0, 3.0, 0.5])
weight = torch.zeros(4, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=10.0)
for _ in range(40):
    optimizer.zero_grad()
    loss = (inputs @ weight - targets).pow(2).mean()
    loss.backward()
    optimizer.step()
