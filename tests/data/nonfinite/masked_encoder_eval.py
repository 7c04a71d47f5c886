# nothing-left: softmax on line 9, forward
import torch

torch.manual_seed(0)
layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
tokens = torch.randn(2, 3, 8)
banned = torch.ones(3, 3, dtype=torch.bool)
with torch.no_grad():
    encoded = layer(tokens, src_mask=banned)
