# result-beyond: binary_cross_entropy on line 6, forward
import torch

guesses = torch.full((300, 400), 0.5, dtype=torch.float16)
targets = torch.ones(300, 400, dtype=torch.float16)
loss = torch.nn.functional.binary_cross_entropy(guesses, targets, reduction="sum")
