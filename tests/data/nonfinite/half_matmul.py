# result-beyond: matmul on line 6, forward
import torch

a = torch.full((2, 64), 60.0, dtype=torch.float16)
b = torch.full((64, 3), 60.0, dtype=torch.float16)
product = a @ b
out = product - product
