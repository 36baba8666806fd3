package export_test

import (
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/cases"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/models"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

func normal(seed uint64, shape ...int) tensor.Tensor { return tensor.NewRNG(seed).Normal(shape...) }

func one(f func(x tensor.Tensor) tensor.Tensor) func(tensors) tensors {
	return func(x tensors) tensors { return tensors{f(x[0])} }
}

func two(f func(x, y tensor.Tensor) tensor.Tensor) func(tensors) tensors {
	return func(x tensors) tensors { return tensors{f(x[0], x[1])} }
}

// functions returns functions of floats, then networks.
func functions() []fn {
	x, y := normal(1, 3, 4), normal(2, 3, 4)
	image, kernel := normal(1, 2, 4, 9, 8), normal(2, 6, 4, 3, 3)
	list := []fn{
		{"broadcast", two(func(x, y tensor.Tensor) tensor.Tensor { return x.Add(y.Sum(0)).Mul(y.Mean(1)).Sub(1) }), tensors{x, y}, nil, nil, nil},
		{"outer", one(func(x tensor.Tensor) tensor.Tensor { return x.Sum(0).Add(x.Sum(1)).Exp() }), tensors{x}, nil, nil, nil},
		{"transposed", two(func(x, y tensor.Tensor) tensor.Tensor { return x.T().Mul(y.T()).Add(tensor.Arange(3)).CumSum(0) }), tensors{x, y}, nil, nil, nil},
		{"matmul", two(func(x, y tensor.Tensor) tensor.Tensor { return x.MatMul(y.T()) }), tensors{x, y}, nil, nil, nil},
		{"matmul batches", two(func(x, y tensor.Tensor) tensor.Tensor { return x.MatMul(y) }), tensors{normal(1, 2, 1, 3, 4), normal(2, 5, 4, 6)}, nil, nil, nil},
		{"transposed by vector", two(func(x, y tensor.Tensor) tensor.Tensor { return x.T().Dot(y) }), tensors{x, normal(2, 3)}, nil, nil, nil},
		{"vectors", two(func(x, y tensor.Tensor) tensor.Tensor { return x.Dot(y) }), tensors{normal(1, 4), normal(2, 4)}, nil, nil, nil},
		{"einsum", two(func(x, y tensor.Tensor) tensor.Tensor { return tensor.Einsum("abc,cdb->da", x, y) }), tensors{normal(1, 2, 3, 4), normal(2, 4, 5, 3)}, nil, nil, nil},
		{"softmax", one(func(x tensor.Tensor) tensor.Tensor { return x.Softmax(-1) }), tensors{x}, nil, nil, nil},
		{"log softmax", one(func(x tensor.Tensor) tensor.Tensor { return x.LogSoftmax(0) }), tensors{x}, nil, nil, nil},
		{"activations", one(func(x tensor.Tensor) tensor.Tensor {
			return tensor.Stack(0, x.ReLU(), x.GELU(), x.GELUTanh(), x.SiLU(), x.Sigmoid(), x.Softplus(), x.Mish(), x.ELU(1), x.HardSwish())
		}), tensors{x.Mul(3)}, nil, nil, nil},
		{"thresholds", one(func(x tensor.Tensor) tensor.Tensor {
			return tensor.Stack(0, x.MaskedFill(x.Lt(1), 0), x.MaskedFill(x.Lt(-1), 0), x.MaskedFill(x.Lt(0), 0))
		}), tensors{x}, nil, nil, nil},
		{"functions", one(func(x tensor.Tensor) tensor.Tensor {
			return tensor.Stack(0, x.Sin(), x.Cos(), x.Atan(), x.Tanh(), x.Expm1(), x.Erf(), x.Floor(), x.Round(), x.Sign(), x.Square().Log1p(), x.Abs().Sqrt(), x.Asin(), x.Sinh())
		}), tensors{x.Mul(0.9).Clamp(-1, 1)}, nil, nil, nil},
		{"bits", two(func(x, y tensor.Tensor) tensor.Tensor {
			return tensor.Stack(0, x.Abs().Log2(), y.Cast(tensor.Int32).Cast(tensor.Float32).Exp2().Log2(), x.Copysign(y), x.Div(100).NormP(3, 1).Add(x))
		}), tensors{x, y}, nil, nil, nil},
		{"angles", two(func(y, x tensor.Tensor) tensor.Tensor { return y.Atan2(x) }), tensors{x, y}, nil, nil, nil},
		{"statistics", one(func(x tensor.Tensor) tensor.Tensor {
			return tensor.Cat(1, x.Var(1), x.Std(1), x.Max(1), x.Min(1), x.Prod(1), x.LogSumExp(1), x.Norm(1), x.ArgMax(1).Unsqueeze(1).Cast(tensor.Float32))
		}), tensors{x}, nil, nil, nil},
		{"movements", one(func(x tensor.Tensor) tensor.Tensor {
			return x.Flip(0).Roll(1, 1).Tile(2, 1).Slice(0, 1, 5).Reshape(2, 2, 4).Permute(2, 0, 1).Repeat(1, 2)
		}), tensors{x}, nil, nil, nil},
		{"take", two(func(x, i tensor.Tensor) tensor.Tensor { return x.Take(0, i) }), tensors{x, tensor.New([]int32{2, 0, 1, 1}, 2, 2)}, nil, nil, nil},
		{"take along", two(func(x, i tensor.Tensor) tensor.Tensor { return x.TakeAlong(1, i) }), tensors{x, tensor.New([]int64{2, 0, 1, 1, 3, 2}, 3, 2)}, nil, nil, nil},
		{"sort", one(func(x tensor.Tensor) tensor.Tensor { return x.Sort(1) }), tensors{x}, nil, nil, nil},
		{"top", func(x tensors) tensors { v, i := x[0].TopK(0, 2); return tensors{v, i} }, tensors{x}, nil, nil, nil},
		{"median", one(func(x tensor.Tensor) tensor.Tensor { return x.Quantile(1, 0.3) }), tensors{x}, nil, nil, nil},
		{"scans", one(func(x tensor.Tensor) tensor.Tensor { return tensor.Stack(0, x.CumSum(1), x.CumProd(1), x.CumMax(0)) }), tensors{x}, nil, nil, nil},
		{"one hot", one(func(x tensor.Tensor) tensor.Tensor { return x.ArgMax(1).OneHot(4) }), tensors{x}, nil, nil, nil},
		{"triangle", one(func(x tensor.Tensor) tensor.Tensor { return x.Tril(0).Add(x.Triu(1)) }), tensors{x}, nil, nil, nil},
		{"identity", func(x tensors) tensors { return tensors{x[0], x[0], x[0].T()} }, tensors{x}, nil, nil, nil},
		{"constants", func(x tensors) tensors { return tensors{tensor.Ones(2, 3), tensor.Arange(5), normal(3, 4)} }, tensors{x}, nil, nil, nil},
		{"halves", two(func(x, y tensor.Tensor) tensor.Tensor { return x.MatMul(y.T()).Softmax(1) }), tensors{x.Cast(tensor.Float16), y.Cast(tensor.Float16)}, nil, nil, nil},
		{"bfloat16", two(func(x, y tensor.Tensor) tensor.Tensor { return x.Add(y) }), tensors{x.Cast(tensor.BFloat16), y.Cast(tensor.BFloat16)}, nil, nil, nil},
		{"doubles", two(func(x, y tensor.Tensor) tensor.Tensor { return x.MatMul(y.T()).Exp().Mean(1) }), tensors{x.Cast(tensor.Float64), y.Cast(tensor.Float64)}, nil, nil, nil},
		{"resize", one(func(x tensor.Tensor) tensor.Tensor { return x.Resize([]int{13, 5}, nil) }), tensors{image}, nil, nil, nil},
		{"pad", one(func(x tensor.Tensor) tensor.Tensor { return x.Pad(-1, 2, 1).Pad(0, 0, 3) }), tensors{x}, nil, nil, nil},
		{"max pool", one(func(x tensor.Tensor) tensor.Tensor {
			return x.MaxPool(3, &tensor.ConvOptions{Stride: []int{2}, Padding: []int{1}})
		}), tensors{image}, nil, nil, nil},
		{"average pool", one(func(x tensor.Tensor) tensor.Tensor { return x.AvgPool(2, nil) }), tensors{image}, nil, nil, nil},
		{"unfold", one(func(x tensor.Tensor) tensor.Tensor { return x.Unfold(2, 3, 2).Sum(0) }), tensors{image}, nil, nil, nil},
		{"conv 1x1", two(func(x, y tensor.Tensor) tensor.Tensor { return x.Conv(y, nil) }), tensors{image, normal(2, 6, 4, 1, 1)}, nil, nil, nil},
		{"conv transpose", two(func(x, y tensor.Tensor) tensor.Tensor {
			return x.ConvTranspose(y, &tensor.ConvOptions{Stride: []int{2}})
		}), tensors{image, normal(2, 4, 3, 3, 3)}, nil, nil, nil},
		{"conv 1", two(func(x, y tensor.Tensor) tensor.Tensor { return x.Conv(y, &tensor.ConvOptions{Dilation: []int{2}}) }), tensors{normal(1, 2, 4, 9), normal(2, 6, 4, 3)}, nil, nil, nil},
		{"gradients", func(x tensors) tensors {
			return grad.Of(func(x tensors) tensor.Tensor {
				return x[0].Conv(x[1], &tensor.ConvOptions{Stride: []int{2}, Padding: []int{1}}).GELU().MaxPool(2, nil).Square().Sum()
			})(x)
		}, tensors{image, kernel}, nil, nil, nil},
		{"scan", two(func(x, y tensor.Tensor) tensor.Tensor {
			last, ys := grad.Scan(func(c, x tensor.Tensor) (tensor.Tensor, tensor.Tensor) {
				c = c.Mul(0.5).Add(x).Tanh()
				return c, c.Sum()
			}, x.Sum(0), y, &grad.ScanOptions{Reverse: true})
			return last.Add(ys.Unsqueeze(1))
		}), tensors{x, y}, nil, nil, nil},
	}
	for _, o := range []tensor.ConvOptions{{}, {Padding: []int{1}}, {Stride: []int{2, 3}, Padding: []int{2, 1}}, {Groups: 2}, {Groups: 4}} {
		k := kernel
		if o.Groups > 0 {
			k = normal(2, 8, 4/o.Groups, 3, 3)
		}
		list = append(list, fn{fmt.Sprintf("conv %v", o), two(func(x, y tensor.Tensor) tensor.Tensor { return x.Conv(y, &o) }), tensors{image, k}, nil, nil, nil})
	}
	return slices.Concat(list, networks(), dynamics())
}

// networks returns models of packages nn and models.
func networks() []fn {
	rng := tensor.NewRNG(7)
	mlp := nn.Sequential{nn.NewLinear(rng, 4, 8), nn.Func(tensor.Tensor.ReLU), nn.NewLinear(rng, 8, 3)}
	cnn := nn.Sequential{
		nn.NewConv2D(rng, 3, 8, 3, &tensor.ConvOptions{Padding: []int{1}}), nn.NewBatchNorm(8), nn.Func(tensor.Tensor.ReLU), nn.Func(func(x tensor.Tensor) tensor.Tensor { return x.MaxPool(2, nil) }),
		nn.NewConv2D(rng, 8, 4, 3, nil), nn.Func(tensor.Tensor.ReLU), nn.Func(func(x tensor.Tensor) tensor.Tensor { return x.AvgPool(2, nil) }), nn.Func(func(x tensor.Tensor) tensor.Tensor { return x.Flatten(1) }), nn.NewLinear(rng, 4*3*3, 5),
	}
	block := nn.NewTransformerEncoderLayer(rng, 16, 4, 32)
	lstm := nn.NewLSTM(rng, 5, 6, &nn.RecurrentOptions{Layers: 2, Bidirectional: true})
	gpt := tinyGPT2(rng, 8)
	image := normal(3, 2, 3, 16, 16)
	ids := tensor.New([]int32{1, 5, 3, 2, 7, 0}, 2, 3)
	return []fn{
		{"MLP", one(mlp.Apply), tensors{normal(1, 5, 4)}, mlp, nil, nil},
		{"CNN", one(cnn.Apply), tensors{image}, cnn, nil, nil},
		{"transformer", one(func(x tensor.Tensor) tensor.Tensor { return block.Apply(x) }), tensors{normal(1, 2, 7, 16)}, block, nil, nil},
		{"LSTM", one(func(x tensor.Tensor) tensor.Tensor { y, _ := lstm.Apply(x, nil); return y }), tensors{normal(1, 2, 7, 5)}, lstm, nil, nil},
		{"GPT-2", one(gpt.Apply), tensors{ids}, gpt, nil, nil},
		{"gradient of the CNN", func(x tensors) tensors {
			g := grad.Of(func(m nn.Sequential) tensor.Tensor { return nn.CrossEntropy(m.Apply(x[0]), x[1]).Mean() })(cnn)
			return leaves(g)
		}, tensors{image, tensor.New([]int32{1, 4})}, cnn, nil, nil},
		{"gradient of GPT-2", func(x tensors) tensors {
			g := grad.Of(func(m *models.GPT2) tensor.Tensor { return nn.CrossEntropy(m.Apply(x[0]), x[0]).Mean() })(gpt)
			return leaves(g)
		}, tensors{ids}, gpt, nil, nil},
		{"gradient of the LSTM", one(func(x tensor.Tensor) tensor.Tensor {
			return grad.Of(func(x tensor.Tensor) tensor.Tensor { y, _ := lstm.Apply(x, nil); return y.Square().Sum() })(x)
		}), tensors{normal(1, 2, 7, 5)}, lstm, nil, nil},
	}
}

// dynamics returns the functions of floats and the networks that take any lengths of some axes, with other
// lengths than the example's.
func dynamics() []fn {
	rng := tensor.NewRNG(7)
	cnn := nn.Sequential{
		nn.NewConv2D(rng, 3, 4, 3, &tensor.ConvOptions{Padding: []int{1}}), nn.NewBatchNorm(4), nn.Func(tensor.Tensor.ReLU),
		nn.Func(func(x tensor.Tensor) tensor.Tensor { return x.MaxPool(2, nil).Mean(2, 3).Flatten(1) }), nn.NewLinear(rng, 4, 5),
	}
	block, lstm := nn.NewTransformerEncoderLayer(rng, 16, 4, 32), nn.NewLSTM(rng, 5, 6, &nn.RecurrentOptions{Bidirectional: true})
	gpt := tinyGPT2(rng, 512)
	last := func(x tensor.Tensor) tensor.Tensor { // with the causal mask, positions and counts of the sequence
		return x.CumSum(1).Add(tensor.Arange(x.Dim(1)).Unsqueeze(1)).Slice(1, 1, x.Dim(1)).Mean()
	}
	kernel := normal(2, 4, 3, 3, 3)
	image, sequence, ids := normal(3, 2, 3, 16, 12), normal(1, 2, 7, 5), tensor.New([]int32{1, 5, 3, 2, 7, 0}, 2, 3)
	named := func(names ...string) map[string][]string { return map[string][]string{"x0": names} }
	return []fn{
		{"CNN of any batch", one(cnn.Apply), tensors{image}, cnn, tensors{tensor.Ones(1, 3, 16, 12)}, named("batch")},
		{"convolution of any size", one(func(x tensor.Tensor) tensor.Tensor {
			return x.Conv(kernel, nil).GELU().MaxPool(3, &tensor.ConvOptions{Stride: []int{1}})
		}), tensors{image}, nil, tensors{tensor.Ones(1, 3, 16, 16)}, named("batch", "", "height", "width")},
		{"transformer of any length", one(block.Apply), tensors{normal(1, 2, 7, 16)}, block, tensors{tensor.Ones(1, 1, 16)}, named("batch", "time")},
		{"LSTM of any length", one(func(x tensor.Tensor) tensor.Tensor { y, _ := lstm.Apply(x, nil); return y }), tensors{sequence}, lstm, tensors{tensor.Ones(1, 1, 5)}, named("batch", "time")},
		{"GPT-2 of any length", one(gpt.Apply), tensors{ids}, gpt, tensors{tensor.New([]int32{1}, 1, 1)}, named("batch", "time")},
		{"gradient of any batch", func(x tensors) tensors {
			return leaves(grad.Of(func(m nn.Sequential) tensor.Tensor { return nn.CrossEntropy(m.Apply(x[0]), x[1]).Mean() })(cnn))
		}, tensors{image, tensor.New([]int32{1, 4})}, cnn, tensors{image, tensor.New([]int32{1, 4})}, map[string][]string{"x0": {"batch"}, "x1": {"batch"}}},
		{"counts", one(last), tensors{sequence}, nil, tensors{sequence}, named("", "time")},
	}
}

// needConstants have a second operand that must be a constant for integers; lackUint64 are refused for it.
var (
	needConstants = map[ir.Op]bool{ir.Pow: true, ir.Shl: true, ir.Shr: true}
	lackUint64    = map[ir.Op]bool{ir.Div: true, ir.Rem: true, ir.ReduceMax: true, ir.ArgMax: true}
)

// onnxruntimeDiffers has cases that the standard leaves open, such as the maximum of NaN, or that onnxruntime
// lacks or rounds: it has no such functions of float64, and sums int64 as float64.
var onnxruntimeDiffers = []string{
	"ReduceMax float16", "ReduceMax float32", "ReduceMax float64", "Sum int64",
	"Atan float64", "Atan2 float64", "Erf float64", "Erfc float64",
}

// specials are operations on special values of each type.
func specials() []fn {
	var list []fn
	for _, d := range ir.DTypes {
		for _, c := range cases.Special(d, ir.DTypes) {
			if d.IsInt() && needConstants[c.Op] || d == tensor.Uint64 && lackUint64[c.Op] {
				continue
			}
			var in tensors
			for _, x := range c.Inputs {
				var b []byte
				for _, e := range x.Elems {
					b = e.Append(b, x.DType)
				}
				in = append(in, tensor.FromBytes(x.DType, []int{len(x.Elems)}, b))
			}
			list = append(list, fn{fmt.Sprintf("%v %v", c.Name, d), func(x tensors) tensors {
				var ns []*graph.Node
				for _, t := range x {
					ns = append(ns, tensor.Internal.Node(graph.Token{}, t))
				}
				return tensors{tensor.Internal.Tensor(graph.Token{}, c.Make(ns))}
			}, in, nil, nil, nil})
		}
	}
	return list
}

// tinyGPT2 returns a model of two layers.
func tinyGPT2(rng *tensor.RNG, positions int) *models.GPT2 {
	const width, heads, vocabulary = 16, 2, 11
	conv := func(in, out int) models.Conv1D {
		return models.Conv1D{Weight: rng.Normal(in, out).Mul(0.2), Bias: rng.Normal(out).Mul(0.1)}
	}
	norm := func() nn.LayerNorm { return nn.NewLayerNorm(width) }
	m := &models.GPT2{Tied: true}
	m.Transformer.Wte, m.Transformer.Wpe, m.Transformer.LnF = nn.NewEmbedding(rng, vocabulary, width), nn.NewEmbedding(rng, positions, width), norm()
	for range 2 {
		b := models.GPT2Block{LN1: norm(), LN2: norm(), Attn: models.GPT2Attention{CAttn: conv(width, 3*width), CProj: conv(width, width), Heads: heads, Scale: 0.35}}
		b.MLP.CFc, b.MLP.CProj, b.MLP.Act = conv(width, 4*width), conv(4*width, width), tensor.Tensor.GELUTanh
		m.Transformer.H = append(m.Transformer.H, b)
	}
	return m
}

func leaves(of any) tensors {
	var list tensors
	for _, t := range tree.All(of) {
		list = append(list, t)
	}
	return list
}
