# logarithm-of-0: log on line 6, forward
import torch

scores = torch.tensor([0.5, 20.0])
labels = torch.tensor([0.0, 0.0])
loss = -(1 - labels).mul(torch.log(1 - torch.sigmoid(scores))).mean()
