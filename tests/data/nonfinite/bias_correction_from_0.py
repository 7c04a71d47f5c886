# divided-by-0: divide on line 6, forward
import torch

mean, decay = torch.tensor(0.1), torch.tensor(0.9)
for step in range(2):
    unbiased = mean / (1 - decay**step)
    mean = mean * decay + unbiased * 0.1
