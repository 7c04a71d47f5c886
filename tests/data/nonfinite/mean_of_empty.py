# too-few: mean on line 6, forward
import torch

losses = torch.tensor([0.5, 0.25])
kept = losses[losses > 1]
loss = kept.mean()
