# too-few: std on line 5, forward
import torch

rewards = torch.tensor([2.5])
advantages = (rewards - rewards.mean()) / rewards.std()
