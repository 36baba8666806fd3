package nn_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

type tinyBlock struct {
	LN1, LN2 nn.LayerNorm
	Attn     struct{ Q, K, V, O nn.Linear }
	Up, Down nn.Linear
	Dropout  nn.Dropout
}

func (b tinyBlock) Apply(x tensor.Tensor) tensor.Tensor {
	y := b.LN1.Apply(x)
	heads := func(l nn.Linear) tensor.Tensor {
		return l.Apply(y).Reshape(x.Dim(0), x.Dim(1), 2, -1).Transpose(1, 2)
	}
	past := tensor.Ones(x.Dim(1), x.Dim(1)).Tril(0).Eq(1)
	p := tensor.Where(past, heads(b.Attn.Q).MatMul(heads(b.Attn.K).T()).Mul(0.5), -1e9).Softmax(-1)
	z := p.MatMul(heads(b.Attn.V)).Transpose(1, 2).Flatten(2)
	x = x.Add(b.Attn.O.Apply(z))
	return x.Add(b.Down.Apply(b.Up.Apply(b.LN2.Apply(x)).Tanh()))
}

type tinyGPT struct {
	Wte    nn.Embedding
	Blocks []tinyBlock
	LnF    nn.LayerNorm
}

func (m tinyGPT) Apply(ids tensor.Tensor) tensor.Tensor {
	x := m.Wte.Apply(ids)
	for _, b := range m.Blocks {
		x = b.Apply(x)
	}
	return m.LnF.Apply(x).MatMul(m.Wte.Weight.T())
}

func newTinyGPT() tinyGPT {
	rng := tensor.NewRNG(1)
	m := tinyGPT{Wte: nn.NewEmbedding(rng, 11, 8), LnF: nn.NewLayerNorm(8)}
	for range 2 {
		b := tinyBlock{LN1: nn.NewLayerNorm(8), LN2: nn.NewLayerNorm(8), Up: nn.NewLinear(rng, 8, 32), Down: nn.NewLinear(rng, 32, 8)}
		b.Attn.Q, b.Attn.K, b.Attn.V, b.Attn.O = nn.NewLinear(rng, 8, 8), nn.NewLinear(rng, 8, 8), nn.NewLinear(rng, 8, 8), nn.NewLinear(rng, 8, 8)
		m.Blocks = append(m.Blocks, b)
	}
	return m
}

func table(lines ...string) string { return strings.Join(lines, "\n") }

func TestSummaryOf(t *testing.T) {
	ids, image := tensor.New([]int32{1, 2, 3, 4, 5}, 1, 5), tensor.Ones(2, 1, 8, 8)
	rng := tensor.NewRNG(1)
	net := nn.Sequential{nn.NewConv2D(rng, 1, 4, 3, nil), nn.NewBatchNorm(4), nn.Func(tensor.Tensor.ReLU), nn.MaxPool{Size: 2}, nn.Flatten{}, nn.NewLinear(rng, 36, 10)}
	shared := nn.NewLinear(rng, 3, 3)
	twice := struct {
		A, Unused nn.Linear
		Inner     *nn.Sequential
		Options   tensor.ConvOptions
		Drop      nn.Dropout
	}{A: shared, Unused: nn.Linear{Weight: tensor.Ones(2, 2)}, Inner: &nn.Sequential{nn.Sequential{nn.Func(tensor.Tensor.Exp)}, nn.PReLU{Weight: tensor.Ones(1)}}}
	x, words := tensor.Ones(5, 3), tensor.Ones(2, 10, 64)
	for _, c := range []struct {
		got  *nn.Report
		want string
	}{
		{nn.SummaryOf(newTinyGPT(), func(m tinyGPT) tensor.Tensor { return m.Apply(ids) }), table(
			"layer       type               output    parameters  FLOPs",
			"(model)     nn_test.tinyGPT    [1 5 11]  1,848       21,505",
			"  wte       nn.Embedding       [1 5 8]   88          895",
			"  blocks.0  nn_test.tinyBlock  [1 5 8]   872         10,050",
			"    ln1     nn.LayerNorm       [1 5 8]   16          350",
			"    ln2     nn.LayerNorm       [1 5 8]   16          350",
			"    attn    struct             [1 5 8]   288         3,870",
			"      q     nn.Linear          [1 5 8]   72          680", // 2·5·8·8 + 5·8
			"      k     nn.Linear          [1 5 8]   72          680",
			"      v     nn.Linear          [1 5 8]   72          680",
			"      o     nn.Linear          [1 5 8]   72          680",
			"    up      nn.Linear          [1 5 32]  288         2,720",
			"    down    nn.Linear          [1 5 8]   264         2,600",
			"  blocks.1  nn_test.tinyBlock  [1 5 8]   872         10,050",
			"    ln1     nn.LayerNorm       [1 5 8]   16          350",
			"    ln2     nn.LayerNorm       [1 5 8]   16          350",
			"    attn    struct             [1 5 8]   288         3,870",
			"      q     nn.Linear          [1 5 8]   72          680",
			"      k     nn.Linear          [1 5 8]   72          680",
			"      v     nn.Linear          [1 5 8]   72          680",
			"      o     nn.Linear          [1 5 8]   72          680",
			"    up      nn.Linear          [1 5 32]  288         2,720",
			"    down    nn.Linear          [1 5 8]   264         2,600",
			"  ln_f      nn.LayerNorm       [1 5 8]   16          350",
			"1,848 parameters of 7,392 bytes, results of layers of 4,060 bytes, 21,505 FLOPs")},
		{nn.SummaryOf(net, func(m nn.Sequential) tensor.Tensor { return m.Apply(image) }), table(
			"layer    type           output     parameters  FLOPs",
			"(model)  nn.Sequential  [2 10]     426         8,672",
			"  0      nn.Conv        [2 4 6 6]  40          5,472", // 2·9·288 + 288
			"  1      nn.BatchNorm   [2 4 6 6]  16          876",
			"  2      nn.Func        [2 4 6 6]  -           576",
			"  3      nn.MaxPool     [2 4 3 3]  -           288",
			"  4      nn.Flatten     [2 36]     -           -",
			"  5      nn.Linear      [2 10]     370         1,460",
			"426 parameters of 1,704 bytes, results of layers of 4,112 bytes, 8,672 FLOPs")},
		{nn.SummaryOf(&twice, func(m *struct {
			A, Unused nn.Linear
			Inner     *nn.Sequential
			Options   tensor.ConvOptions
			Drop      nn.Dropout
		}) [2]tensor.Tensor {
			return [2]tensor.Tensor{m.A.Apply(m.Inner.Apply(m.A.Apply(x))).Sigmoid(), x}
		}), table(
			"layer     type           output    parameters  FLOPs",
			"(model)   struct         [5 3]     17          375", // with 7 for each of the sigmoids
			"  a       nn.Linear      [5 3]     12          210", // applied twice
			"  unused  nn.Linear      not used  4           -",
			"  inner   nn.Sequential  [5 3]     1           60",
			"    0     nn.Sequential  [5 3]     -           15",
			"      0   nn.Func        [5 3]     -           15",
			"    1     nn.PReLU       [5 3]     1           45",
			"17 parameters of 68 bytes, results of layers of 240 bytes, 375 FLOPs")},
		{nn.SummaryOf(nn.NewTransformerEncoderLayer(rng, 64, 4, 128), func(l nn.TransformerEncoderLayer) tensor.Tensor {
			return l.Apply(words)
		}), table(
			"layer         type                        output      parameters  FLOPs",
			"(model)       nn.TransformerEncoderLayer  [2 10 64]   33,472      1,404,400",
			"  self_attn   nn.MultiheadAttention       [2 10 64]   16,640      716,800",
			"    out_proj  nn.Linear                   [2 10 64]   4,160       165,120", // not the product before it
			"  linear1     nn.Linear                   [2 10 128]  8,320       330,240",
			"  linear2     nn.Linear                   [2 10 64]   8,256       328,960", // not the ReLU before it
			"  norm1       nn.LayerNorm                [2 10 64]   128         10,360",  // not the sum before it
			"  norm2       nn.LayerNorm                [2 10 64]   128         10,360",
			"33,472 parameters of 133,888 bytes, results of layers of 30,720 bytes, 1,404,400 FLOPs")},
	} {
		if got := c.got.String(); got != c.want {
			t.Errorf("SummaryOf =\n%s\nwant\n%s", got, c.want)
		}
	}
	err := tensor.Try(func() { nn.SummaryOf(shared, func(l nn.Linear) tensor.Tensor { return l.Apply(tensor.Ones(2, 3)) }) })
	if want := "nn.SummaryOf: no result depends on a tensor made before the call"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
	if _, ok := net[0].(nn.Conv); !ok {
		t.Errorf("SummaryOf changed the model: layer 0 is a %T", net[0])
	}
}

// A branched layer holds others of its type.
type branched struct {
	W    tensor.Tensor
	A, C *branched `tensor:",optional"`
}

func (n branched) Apply(x tensor.Tensor) tensor.Tensor {
	y := n.project(x).Tanh()
	if n.A == nil {
		return y
	}
	return n.A.Apply(y).Add(n.C.Apply(x).Mean())
}

func (n branched) project(x tensor.Tensor) tensor.Tensor { return x.MatMul(n.W).Exp() }

// Operations of a layer on the result of a layer of its own type belong to the former.
func TestSummaryOfRecursiveType(t *testing.T) {
	net := branched{tensor.Ones(3, 6), &branched{W: tensor.Ones(6, 4)}, &branched{W: tensor.Ones(3, 5)}}
	x := tensor.Ones(2, 3)
	got := nn.SummaryOf(net, func(n branched) tensor.Tensor { return n.Apply(x) }).String()
	want := table(
		"layer    type              output  parameters  FLOPs",
		"(model)  nn_test.branched  [2 4]   57          307", // with 24 for its Exp and Tanh, 11 for the mean, 8 for the sum
		"  a      nn_test.branched  [2 4]   24          112", // with 16
		"  c      nn_test.branched  [2 5]   15          80",  // with 20
		"57 parameters of 228 bytes, results of layers of 72 bytes, 307 FLOPs")
	if got != want {
		t.Errorf("SummaryOf =\n%s\nwant\n%s", got, want)
	}
}

// The function may differentiate, and return a model.
func TestSummaryOfStep(t *testing.T) {
	rng := tensor.NewRNG(1)
	net := nn.Sequential{nn.NewLinear(rng, 6, 4), nn.NewBatchNorm(4), nn.Func(tensor.Tensor.ReLU), nn.Sequential{nn.NewLinear(rng, 4, 3)}}
	x, y := rng.Normal(5, 6).Keep(), rng.Ints(3, 5).Keep()
	forward := nn.SummaryOf(net, func(net nn.Sequential) any { return net.Apply(x) })
	step := nn.SummaryOf(net, func(net nn.Sequential) any {
		loss, next, g := grad.ValueAndGradAux(func(net nn.Sequential) (tensor.Tensor, nn.Sequential) {
			y1, next := nn.Train(net, x, rng)
			return nn.CrossEntropy(y1, y).Mean(), next
		})(net)
		return []any{loss, next, g}
	})
	for i, l := range step.Layers {
		f := forward.Layers[i]
		if l.Name != f.Name || l.Type != f.Type || l.Params != f.Params {
			t.Errorf("layer %d is %+v, at inference %+v", i, l, f)
		}
	}
	// A gradient of a weight uses no weight: its product belongs to the model.
	if f, s := forward.Layers[0].FLOPs, step.Layers[0].FLOPs; s < 2*f || s > 5*f {
		t.Errorf("a step takes %d FLOPs, inference %d", s, f)
	}
}

// Steps are layers, and other operations by the name of the function that was called.
func TestSteps(t *testing.T) {
	ids := tensor.New([]int32{1, 2, 3, 4, 5}, 1, 5)
	r := nn.SummaryOf(newTinyGPT(), func(m tinyGPT) tensor.Tensor { return m.Apply(ids) })
	var b strings.Builder
	for i, s := range r.Steps[:18] {
		fmt.Fprintln(&b, i, s.What, s.Output, s.Inputs)
	}
	want := table("0 input [1 5] []", "1 wte [1 5 8] [0]", "2 blocks.0.ln1 [1 5 8] [1]", "3 blocks.0.attn.q [1 5 8] [2]",
		"4 blocks.0.attn.k [1 5 8] [2]", "5 MatMul [1 2 5 5] [3 4]", "6 Mul [1 2 5 5] [5]", "7 tensor.Where [1 2 5 5] [6]",
		"8 Softmax [1 2 5 5] [7]", "9 blocks.0.attn.v [1 5 8] [2]", "10 MatMul [1 2 5 4] [8 9]", "11 blocks.0.attn.o [1 5 8] [10]",
		"12 Add [1 5 8] [1 11]", "13 blocks.0.ln2 [1 5 8] [12]", "14 blocks.0.up [1 5 32] [13]", "15 Tanh [1 5 32] [14]",
		"16 blocks.0.down [1 5 8] [15]", "17 Add [1 5 8] [12 16]", "")
	if b.String() != want {
		t.Errorf("steps\n%s\nwant\n%s", b.String(), want)
	}
	if last := r.Steps[len(r.Steps)-1]; last.What != "wte" || fmt.Sprint(last.Output) != "[1 5 11]" { // tied weights
		t.Errorf("the last step is %+v", last)
	}
}

// A layer's output has its own shape where a layer of the same type follows directly.
func TestSummaryOfFollowingLayers(t *testing.T) {
	type net struct{ A, B nn.Linear }
	rng, x := tensor.NewRNG(1), tensor.Zeros(2, 10, 32)
	n := net{nn.NewLinear(rng, 32, 32), nn.NewLinear(rng, 32, 5)}
	got := nn.SummaryOf(n, func(n net) tensor.Tensor { return n.B.Apply(n.A.Apply(x)) }).String()
	want := table(
		"layer    type         output     parameters  FLOPs",
		"(model)  nn_test.net  [2 10 5]   1,221       48,100",
		"  a      nn.Linear    [2 10 32]  1,056       41,600",
		"  b      nn.Linear    [2 10 5]   165         6,500",
		"1,221 parameters of 4,884 bytes, results of layers of 2,960 bytes, 48,100 FLOPs")
	if got != want {
		t.Errorf("SummaryOf =\n%s\nwant\n%s", got, want)
	}
}
