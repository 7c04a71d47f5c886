# too-few: negative_log_likelihood on line 6, forward
import torch

scores = torch.tensor([[1.0, 2.0, 3.0], [0.0, 1.0, 0.0]])
targets = torch.tensor([-1, -1])
loss = torch.nn.functional.cross_entropy(scores, targets, ignore_index=-1)
