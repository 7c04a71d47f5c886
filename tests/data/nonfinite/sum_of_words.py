# divided-by-0: reciprocal on line 5, forward
import torch

words = torch.tensor([[0.0, 0.0], [1.0, 1.0]])
shares = (1 / words.sum(dim=1)).diag().to_sparse() @ words
total = shares.sum()
