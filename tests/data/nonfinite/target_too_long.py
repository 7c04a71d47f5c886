# no-alignment: ctc_loss on line 6, forward
import torch

chances = torch.zeros(3, 1, 4).log_softmax(dim=-1)
one, three, labels = torch.tensor([2]), torch.tensor([3]), torch.tensor([[1, 1]])
loss = torch.nn.functional.ctc_loss(chances[:2], labels, one, one)
fits = torch.nn.functional.ctc_loss(chances, labels, three, one)
