# divided-by-0: power on line 7, backward
import torch

gamma = torch.tensor(0.45, requires_grad=True)
image = torch.tensor([0.0, 0.5], requires_grad=True)
# The derivative for gamma takes log(0), which PyTorch leaves out itself; that for the image is infinite.
(image**gamma).sum().backward()
