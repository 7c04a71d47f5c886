# finite
import torch

hits, misses = torch.tensor([3.0, 0.0, 5.0]), torch.tensor([1.0, 0.0, 2.0])
precision = hits / (hits + misses)
average = torch.nanmean(precision)
table = torch.full((2, 3), float("nan"))
table[0] = hits
middle = table[0].masked_fill(table[0] > 4, float("nan")).nanquantile(0.5)
