# zero-by-zero: adam on line 10, optimizer
import torch

weight = torch.tensor([1.0, 2.0], requires_grad=True)
optimizer = torch.optim.Adam([weight], lr=0.1, eps=0.0)
for _ in range(3):
    optimizer.zero_grad()
    loss = weight[0] * 3 + weight[1] * 0
    loss.backward()
    optimizer.step()
