# result-beyond: multiply on line 6, forward
import torch

weight = torch.tensor([1e20, 1.0], requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.1)
loss = (weight * 1e20).sum() * 1e20
loss.backward()
torch.nn.utils.clip_grad_norm_([weight], 1.0)
optimizer.step()
