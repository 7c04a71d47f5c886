# divided-by-0: divide on line 10, backward
import torch

weight = torch.zeros(2, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.01)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**16)
for _ in range(4):
    optimizer.zero_grad()
    loss = weight.abs().sqrt().sum()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
