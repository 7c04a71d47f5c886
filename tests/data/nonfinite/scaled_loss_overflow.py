# result-beyond: convert on line 8, backward
import torch

weight = torch.ones(4, dtype=torch.float16, requires_grad=True)
inputs = torch.full((4,), 8.0, dtype=torch.float16)
loss = (weight * inputs).sum()
scaled = loss.float() * 65536.0
scaled.backward()
print(scaled)
