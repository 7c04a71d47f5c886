# finite
import torch

torch.manual_seed(0)
weight = torch.full((4,), 0.5, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.01)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**16)
inputs = torch.full((4,), 8.0)
for _ in range(6):
    optimizer.zero_grad()
    loss = (weight.half() * inputs.half()).sum().float()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_([weight], 1.0)
    scaler.step(optimizer)
    scaler.update()
