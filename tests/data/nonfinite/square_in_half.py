# result-beyond: multiply on line 6, forward
import torch

x = torch.full((1, 8), 300.0, dtype=torch.float16)
x[0, 0] = -300.0
square = x * x
spread = square.mean(dim=-1)
scaled = x / spread.sqrt()
