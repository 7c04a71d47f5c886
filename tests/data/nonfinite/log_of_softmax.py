# logarithm-of-0: log on line 6, forward
import torch

logits = torch.tensor([[0.0, 200.0, 3.0]])
probabilities = torch.softmax(logits, dim=-1)
log_probabilities = torch.log(probabilities)
loss = -(log_probabilities * torch.tensor([[0.0, 1.0, 0.0]])).sum()
