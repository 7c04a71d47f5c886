# result-beyond: adamw on line 9, optimizer
import torch

weight = torch.ones(2, dtype=torch.float16, requires_grad=True)
optimizer = torch.optim.AdamW([weight], lr=0.1)
for _ in range(2):
    optimizer.zero_grad()
    (weight * 1e-4).sum().backward()
    optimizer.step()
