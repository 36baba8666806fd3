"""Writes cases.json.gz: layers and losses of package nn, with PyTorch's results and gradients.

Run by hand, never by a test, with PyTorch 1.13 of Debian 12:

    apt-get install --no-install-recommends python3-torch
    cd internal/golden/testdata/nn && /usr/bin/python3 generate.py

Seeds are fixed: the same version writes the same bytes. All is computed in float64, of
multiples of 1/64, for results in float32.
"""

import gzip
import json

import torch
import torch.nn.functional as F

torch.manual_seed(1)
CASES = []


def number(x):
    x = float(f"{x:.8g}")
    return int(x) if x == int(x) and abs(x) < 1e6 else x


def array(t):
    data = t.detach().reshape(-1).tolist()
    kind = "int32" if t.dtype == torch.int64 else "float32"
    return {"dtype": kind, "shape": list(t.shape), "data": [number(x) for x in data]}


def randn(*shape):
    return torch.randn(*shape, dtype=torch.float64).mul(64).round().div(64)


def case(op, f, *inputs, **args):
    """Adds the result of f of inputs, and the gradients of those of floats."""
    ins = [x.clone().requires_grad_(x.is_floating_point()) for x in inputs]
    y = f(*ins)
    ct = randn(*y.shape)
    floats = [x for x in ins if x.is_floating_point()]
    got = iter(torch.autograd.grad(y, floats, ct, allow_unused=True))
    grads = [next(got) if x.is_floating_point() else None for x in ins]
    CASES.append({
        "op": op, "args": args, "inputs": [array(x) for x in inputs], "outputs": [array(y)],
        "cotangent": array(ct), "grads": [None if g is None else array(g) for g in grads],
    })


def signs(*shape):
    return torch.where(randn(*shape) > 0, 1.0, -1.0).double()


def bits(*shape):
    return (randn(*shape) > 0).double()


# layers
case("nn.bilinear", F.bilinear, randn(2, 3, 4), randn(2, 3, 5), randn(3, 4, 5), randn(3))
case("nn.prelu", F.prelu, randn(2, 3, 5), randn(3))
case("nn.prelu", F.prelu, randn(7), randn(1))
for mode, name, corners in [("nearest", "nearest", None), ("bilinear", "linear", False), ("bilinear", "linear", True), ("bicubic", "cubic", False)]:
    case("nn.upsample", lambda x: F.interpolate(x, scale_factor=3, mode=mode, align_corners=corners), randn(1, 2, 3, 5), factor=3, mode=name, corners=bool(corners))
case("nn.upsample", lambda x: F.interpolate(x, size=(4, 7)), randn(2, 1, 3, 5), size=[4, 7], mode="nearest")
case("nn.upsample", lambda x: F.interpolate(x, size=6, mode="linear"), randn(2, 2, 4), size=[6], mode="linear")
case("nn.adaptive_avg", lambda x: F.adaptive_avg_pool2d(x, (2, 3)), randn(2, 2, 5, 7), size=[2, 3])
case("nn.adaptive_max", lambda x: F.adaptive_max_pool1d(x, 3), randn(2, 2, 7), size=[3])
case("nn.adaptive_avg", lambda x: F.adaptive_avg_pool3d(x, 1), randn(1, 2, 3, 2, 2), size=[1])
for mode in ["reflect", "replicate", "circular"]:
    case("nn.pad", lambda x: F.pad(x, (2, 1, 0, 2), mode=mode), randn(1, 2, 4, 5), before=[0, 2], after=[2, 1], mode=mode)
case("nn.pad", lambda x: F.pad(x, (2, 2)), randn(2, 1, 3), before=[2])
case("nn.pad", lambda x: F.pad(x, (1, 0, 1, 0), value=-1.5), randn(1, 1, 2, 3), before=[1], after=[0], value=-1.5)
case("nn.pixel_shuffle", lambda x: F.pixel_shuffle(x, 2), randn(2, 8, 2, 3), factor=2)
for kw in [dict(stride=1, padding=0, dilation=1), dict(stride=2, padding=1, dilation=1), dict(stride=(2, 1), padding=(0, 2), dilation=(1, 2))]:
    lists = {k: [v] if isinstance(v, int) else list(v) for k, v in kw.items()}
    x = randn(2, 3, 6, 5)
    case("nn.unfold", lambda x: F.unfold(x, 2, **kw), x, size=2, **lists)
    case("nn.fold", lambda x: F.fold(x, (6, 5), 2, **kw), randn(*F.unfold(x, 2, **kw).shape), size=2, lengths=[6, 5], **lists)
case("nn.fold", lambda x: F.fold(x, (5, 7), 3, dilation=2), randn(1, 18, 3), size=3, lengths=[5, 7], stride=[1], padding=[0], dilation=[2])
for size in [1, 3, 4]:
    case("nn.response_norm", lambda x: F.local_response_norm(x, size, alpha=0.5, beta=0.6, k=1.5), randn(2, 5, 3), size=size, alpha=0.5, beta=0.6, k=1.5)
case("nn.response_norm", lambda x: F.local_response_norm(x, 2), randn(1, 4, 2, 3), size=2)
for groups in [1, 2]:
    case("nn.conv_transpose", lambda x, w, b: F.conv_transpose2d(x, w, b, stride=2, padding=1, output_padding=1, dilation=2, groups=groups),
         randn(1, 4, 3, 4), randn(4, 2, 3, 3), randn(2 * groups), stride=[2], padding=[1], output_padding=[1], dilation=[2], groups=groups)
case("nn.conv_transpose", lambda x, w, b: F.conv_transpose1d(x, w, b, stride=3), randn(2, 3, 4), randn(3, 2, 2), randn(2), stride=[3])
case("nn.conv_transpose", lambda x, w, b: F.conv_transpose3d(x, w, b), randn(1, 2, 2, 3, 2), randn(2, 1, 2, 2, 2), randn(1))
case("nn.layer_norm", lambda x, w, b: F.layer_norm(x, (3, 4), w, b), randn(2, 3, 4), randn(3, 4), randn(3, 4))
case("nn.group_norm", lambda x, w, b: F.group_norm(x, 2, w, b, 1e-3), randn(2, 4, 3), randn(4), randn(4), groups=2, eps=1e-3)
case("nn.instance_norm", lambda x, w, b: F.instance_norm(x, weight=w, bias=b), randn(2, 3, 5), randn(3), randn(3))
case("nn.batch_norm", lambda x, m, v, w, b: F.batch_norm(x, m.detach(), v.detach(), w, b), randn(3, 2, 5), randn(2), randn(2).square(), randn(2), randn(2))
case("nn.weight_norm", lambda v, g: torch._weight_norm(v, g, 0), randn(3, 2, 4), randn(3, 1, 1))
case("nn.normalize", lambda x: F.normalize(x, dim=-1), randn(3, 4))

# losses
none = dict(reduction="none")
labels = torch.tensor([2, 0, 3])
case("nn.focal", lambda x, y: torch.where(y > 0, 0.25, 0.75) * (1 - torch.where(y > 0, x.sigmoid(), 1 - x.sigmoid())) ** 2 * F.binary_cross_entropy_with_logits(x, y.detach(), **none), randn(3, 4), bits(3, 4))
case("nn.focal_classes", lambda x, y: (1 - F.softmax(x, -1).gather(-1, y[:, None])[:, 0]) ** 2.5 * F.cross_entropy(x, y, **none), randn(3, 4), labels, gamma=2.5)
case("nn.gaussian_nll", lambda x, y, v: F.gaussian_nll_loss(x, y, v, **none), randn(3, 4), randn(3, 4), randn(3, 4).square() + 0.1)
for beta in [0.5, 1.0, 0.0]:
    case("nn.smooth_l1", lambda x, y: F.smooth_l1_loss(x, y, beta=beta, **none), randn(3, 4), randn(3, 4), beta=beta)
case("nn.huber", lambda x, y: F.huber_loss(x, y, delta=0.7, **none), randn(3, 4), randn(3, 4), delta=0.7)
case("nn.margin_ranking", lambda a, b, y: F.margin_ranking_loss(a, b, y, margin=0.3, **none), randn(3, 4), randn(3, 4), signs(3, 4), margin=0.3)
case("nn.hinge_embedding", lambda x, y: F.hinge_embedding_loss(x, y.detach(), margin=1, **none), randn(3, 4), signs(3, 4), margin=1)
case("nn.cosine_embedding", lambda a, b, y: F.cosine_embedding_loss(a, b, y.detach(), margin=0.2, **none), randn(6, 4), randn(6, 4), signs(6), margin=0.2)
case("nn.soft_margin", lambda x, y: F.soft_margin_loss(x, y.detach(), **none), randn(3, 4), signs(3, 4), reduction="none")
case("nn.multilabel_soft_margin", lambda x, y: F.multilabel_soft_margin_loss(x, y, **none), randn(3, 4), bits(3, 4), reduction="none")
rows = torch.tensor([[3, 0, -1, 1], [-1, 1, 2, 3], [0, 1, 2, 3], [2, -1, -1, -1]])
case("nn.multilabel_margin", lambda x: F.multilabel_margin_loss(x, rows, **none), randn(4, 4), targets=[[1, 0, 0, 1], [0, 0, 0, 0], [1, 1, 1, 1], [0, 0, 1, 0]])
for p in [1, 2]:
    case("nn.multi_margin", lambda x, y: F.multi_margin_loss(x, y, p=p, margin=0.8, **none), randn(3, 4), labels, p=p, margin=0.8)
case("nn.soft_cross_entropy", lambda x, y: F.cross_entropy(x, y, **none), randn(3, 4), F.softmax(randn(3, 4), -1).mul(64).round().div(64), reduction="none")
case("nn.bce_pos_weight", lambda x, y, w: F.binary_cross_entropy_with_logits(x, y, pos_weight=w.detach(), **none), randn(3, 4), bits(3, 4), randn(4).square())
case("nn.info_nce", lambda q, k: F.cross_entropy(F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).T / 0.1, torch.arange(3), **none), randn(3, 5), randn(4, 5), temperature=0.1)
for time, lengths, target_lengths in [(9, [9, 7, 9, 5], [3, 2, 0, 3]), (6, [6, 6, 6, 6], [1, 3, 2, 3])]:
    targets = torch.tensor([[1, 2, 3], [2, 2, 1], [3, 1, 1], [1, 3, 1]])
    case("ctc", lambda x: F.ctc_loss(F.log_softmax(x, -1), targets, torch.tensor(lengths), torch.tensor(target_lengths), **none),
         randn(time, 4, 5), targets=targets.tolist(), input_lengths=lengths, target_lengths=target_lengths, blank=0)

# recurrent layers: all results in one
def recurrent(kind, lengths=None, layers=1, bidirectional=False, bias=True, projection=0, **kw):
    batch, time, width_in, width = 3, 5, 3, 4
    if projection:
        kw["proj_size"] = projection
    m = getattr(torch.nn, kind)(width_in, width, layers, bias=bias, batch_first=True, bidirectional=bidirectional, **kw).double()
    weights = [randn(*w.shape) for w in m._flat_weights]
    cells = layers * (2 if bidirectional else 1)
    state = [randn(cells, batch, projection or width)] + [randn(cells, batch, width)] * (kind == "LSTM")

    def f(x, *rest):
        m._flat_weights = list(rest[len(state):])
        if lengths:
            x = torch.nn.utils.rnn.pack_padded_sequence(x, torch.tensor(lengths), batch_first=True, enforce_sorted=False)
        y, last = m(x, rest[0] if len(state) == 1 else tuple(rest[:2]))
        if lengths:
            y, _ = torch.nn.utils.rnn.pad_packed_sequence(y, batch_first=True, total_length=time)
        return torch.cat([t.reshape(-1) for t in [y, *(last if len(state) > 1 else [last])]])

    case("nn.recurrent", f, randn(batch, time, width_in), *state, *weights, kind=kind, lengths=lengths or [], layers=layers,
         bidirectional=bidirectional, relu=kw.get("nonlinearity") == "relu")
    CASES[-1]["atol"] = 1e-5  # gradients are sums over all steps and examples


for kind in ["RNN", "LSTM", "GRU"]:
    recurrent(kind)
    recurrent(kind, bias=False, layers=2)
    recurrent(kind, bidirectional=True, layers=2)
    recurrent(kind, bidirectional=True, layers=2, lengths=[2, 5, 4])
recurrent("RNN", layers=2, nonlinearity="relu")
recurrent("LSTM", layers=2, bidirectional=True, projection=2, lengths=[3, 1, 5])

with gzip.GzipFile("cases.json.gz", "wb", mtime=0) as f:
    f.write(json.dumps({"source": "PyTorch " + torch.__version__, "cases": CASES}, separators=(",", ":")).encode())
