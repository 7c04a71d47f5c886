# zero-by-zero: weight_norm on line 8, forward
import torch
from torch import nn

layer = nn.Linear(2, 2)
nn.init.zeros_(layer.weight)
layer = torch.nn.utils.parametrizations.weight_norm(layer)
out = layer(torch.ones(1, 2))
