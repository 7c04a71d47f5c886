# result-beyond: matmul on line 6, forward
import torch

queries = torch.full((3, 64), 40.0).half()
keys = torch.full((3, 64), 40.0).half()
scores = queries @ keys.T
weights = scores.softmax(dim=-1)
