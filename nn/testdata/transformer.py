"""Writes transformer.safetensors: layers of PyTorch with random weights, inputs and outputs."""
import json, struct, sys
import numpy as np, torch
torch.manual_seed(1)
out = {}
def save(case, module, **io):
    for k, v in module.state_dict().items(): out[f"{case}.model.{k}"] = v
    for k, v in io.items(): out[f"{case}.{k}"] = v
def random(m):
    with torch.no_grad():
        for p in m.parameters(): p.copy_(torch.randn_like(p) * 0.4)
    return m.eval()
x, memory = torch.randn(2, 5, 8), torch.randn(2, 3, 8)
valid = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]]).bool()
causal = torch.full((5, 5), -float("inf")).triu(1)
m = random(torch.nn.TransformerEncoderLayer(8, 2, 12, activation="gelu", batch_first=True))
save("encoder", m, x=x, valid=valid, y=m(x, src_key_padding_mask=~valid))
enc = random(torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(8, 4, 12, batch_first=True, norm_first=True), 2, torch.nn.LayerNorm(8)))
save("stack", enc, x=x, y=enc(x))
mv = torch.tensor([[1, 1, 1], [1, 1, 0]]).bool()
for name, first in ("decoder", False), ("decoder_first", True):
    m = random(torch.nn.TransformerDecoderLayer(8, 2, 12, batch_first=True, norm_first=first))
    save(name, m, x=x, memory=memory, valid=mv, y=m(x, memory, tgt_mask=causal, memory_key_padding_mask=~mv))
h, at, data = {}, 0, b""
for k, v in out.items():
    a = v.detach().numpy()
    b = a.tobytes()
    h[k] = {"dtype": "BOOL" if a.dtype == bool else "F32", "shape": list(a.shape), "data_offsets": [at, at + len(b)]}
    at += len(b); data += b
j = json.dumps(h).encode(); j += b" " * (-len(j) % 8)
open("transformer.safetensors", "wb").write(struct.pack("<Q", len(j)) + j + data)
