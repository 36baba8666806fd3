package nn_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// A limit is a loss of predictions x, some of which are infinite, with the limits of its
// values and of the gradient of the sum of those that are finite.
type limit struct {
	name        string
	loss        func(x tensor.Tensor) tensor.Tensor
	x           [][]float32
	want, slope []float32
}

func limits() []limit {
	inf := float32(math.Inf(1))
	f := func(v ...float32) tensor.Tensor { return tensor.New(v) }
	rows := func(v ...[]float32) tensor.Tensor { return tensor.From(v) }
	labels := func(v ...int32) tensor.Tensor { return tensor.New(v) }
	// two gives a loss of predictions and targets as one of predictions, for a vector of each.
	two := func(loss func(x, y tensor.Tensor) tensor.Tensor, y ...float32) func(x tensor.Tensor) tensor.Tensor {
		return func(x tensor.Tensor) tensor.Tensor { return loss(x.Squeeze(0), f(y...)) }
	}
	with := func(o nn.CrossEntropyOptions, of ...int32) func(x tensor.Tensor) tensor.Tensor {
		return func(x tensor.Tensor) tensor.Tensor {
			loss, _ := nn.CrossEntropyWith(x, labels(of...), &o)
			return loss
		}
	}
	v := func(x ...float32) [][]float32 { return [][]float32{x} }
	const ln2 = math.Ln2
	sure := [][]float32{{0, 0, -inf}, {0, -inf, -inf}}
	weights := tensor.New([]float32{1, 1, 0})
	return []limit{
		{"CrossEntropy", func(x tensor.Tensor) tensor.Tensor { return nn.CrossEntropy(x, labels(0, 0)) },
			sure, []float32{ln2, 0}, []float32{-0.5, 0.5, 0, 0, 0, 0}},
		{"CrossEntropy", func(x tensor.Tensor) tensor.Tensor { return nn.CrossEntropy(x, labels(2)) },
			sure[:1], []float32{inf}, []float32{0.5, 0.5, -1}},
		{"NLL", func(x tensor.Tensor) tensor.Tensor { return nn.NLL(x, labels(0, 0)) }, sure, []float32{0, 0}, []float32{-1, 0, 0, -1, 0, 0}},
		{"CrossEntropyWith Weight", with(nn.CrossEntropyOptions{Weight: weights}, 0, 2), sure, []float32{ln2, 0}, []float32{-0.5, 0.5, 0, 0, 0, 0}},
		{"CrossEntropyWith Weight, Smoothing", with(nn.CrossEntropyOptions{Weight: weights, Smoothing: 0.3}, 0),
			sure[:1], []float32{0.7*ln2 + 0.2*ln2}, []float32{-0.35, 0.35, 0}},
		{"CrossEntropyWith Smoothing 1", with(nn.CrossEntropyOptions{Weight: weights, Smoothing: 1}, 2),
			sure[:1], []float32{ln2 * 2 / 3}, []float32{0, 0, 0}},
		{"CrossEntropyWith Gamma", with(nn.CrossEntropyOptions{Gamma: 2}, 0, 0), [][]float32{{0, -inf}, {-inf, 0}}, []float32{0, inf}, []float32{0, 0, -1, 1}},
		{"CrossEntropyWith Ignore", with(nn.CrossEntropyOptions{Ignore: []int{-1}}, 0, -1),
			[][]float32{{0, 0}, {-inf, -inf}}, []float32{ln2, 0}, []float32{-0.5, 0.5, 0, 0}},
		{"CrossEntropyWith Ignore", with(nn.CrossEntropyOptions{Ignore: []int{1}}, 1), [][]float32{{float32(math.NaN()), inf}}, []float32{0}, []float32{0, 0}},
		{"SoftCrossEntropy", func(x tensor.Tensor) tensor.Tensor {
			return nn.SoftCrossEntropy(x, rows([]float32{0.5, 0.5, 0}, []float32{1, 0, 0}))
		}, [][]float32{{1, 2, -inf}, {0, -inf, -inf}}, []float32{0.8132617, 0}, []float32{0.2689414 - 0.5, 0.7310586 - 0.5, 0, 0, 0, 0}},
		{"KLDiv", func(x tensor.Tensor) tensor.Tensor {
			return nn.KLDiv(x, rows([]float32{1, 0}, []float32{0.5, 0.5}))
		}, [][]float32{{0, -inf}, {0, -inf}}, []float32{0, inf}, []float32{-1, 0, -0.5, -0.5}},
		{"BCE", two(nn.BCE, 1, 0), v(1, 0), []float32{0, 0}, []float32{0, 0}},
		{"BCEWithLogits", two(nn.BCEWithLogits, 1, 0, 0, 1, 0.5), v(inf, -inf, inf, -inf, inf), []float32{0, 0, inf, inf, inf}, []float32{0, 0, 1, -1, 0.5}},
		{"BCEWithPosWeight", two(func(x, y tensor.Tensor) tensor.Tensor { return nn.BCEWithPosWeight(x, y, 2) }, 1, 0, 0, 1),
			v(inf, -inf, inf, -inf), []float32{0, 0, inf, inf}, []float32{0, 0, 1, -2}},
		{"BCEWithPosWeight 0", two(func(x, y tensor.Tensor) tensor.Tensor { return nn.BCEWithPosWeight(x, y, 0) }, 1, 0, 0, 1),
			v(inf, -inf, inf, -inf), []float32{0, 0, inf, 0}, []float32{0, 0, 1, 0}},
		{"Focal", two(func(x, y tensor.Tensor) tensor.Tensor { return nn.Focal(x, y, &nn.FocalOptions{Alpha: -1}) }, 1, 0, 0, 1),
			v(inf, -inf, inf, -inf), []float32{0, 0, inf, inf}, []float32{0, 0, 1, -1}},
		{"Focal Alpha 1", two(func(x, y tensor.Tensor) tensor.Tensor { return nn.Focal(x, y, &nn.FocalOptions{Alpha: 1}) }, 0, 0), v(inf, -inf), []float32{0, 0}, []float32{0, 0}},
		{"PoissonNLL", two(nn.PoissonNLL, 0, 1, 2), v(-inf, -inf, inf), []float32{0, inf, inf}, []float32{0, -1, inf}},
		{"GaussianNLL", two(func(x, y tensor.Tensor) tensor.Tensor { return nn.GaussianNLL(x, y, f(1, 1e30)) }, 0, 0), v(inf, 1e25), []float32{inf, 5e19}, []float32{inf, 1e-5}},
		{"MSE", two(nn.MSE, 0, 0), v(inf, 1), []float32{inf, 1}, []float32{inf, 2}},
		{"L1", two(nn.L1, 0, 0), v(inf, -inf), []float32{inf, inf}, []float32{1, -1}},
		{"Huber", two(nn.Huber, 0, 0), v(inf, -inf), []float32{inf, inf}, []float32{1, -1}},
		{"SmoothL1", two(func(x, y tensor.Tensor) tensor.Tensor { return nn.SmoothL1(x, y, 2) }, 0, 0), v(inf, -inf), []float32{inf, inf}, []float32{1, -1}},
		{"SmoothL1 of a large beta", two(func(x, y tensor.Tensor) tensor.Tensor { return nn.SmoothL1(x, y, 1e30) }, 0), v(2e30), []float32{1.5e30}, []float32{1}},
		{"Hinge", two(nn.Hinge, 1, -1, 0), v(inf, -inf, inf), []float32{0, 0, 1}, []float32{0, 0, 0}},
		{"SoftMargin", two(nn.SoftMargin, 1, -1, 0), v(inf, -inf, inf), []float32{0, 0, ln2}, []float32{0, 0, 0}},
		{"MarginRanking", two(func(x, y tensor.Tensor) tensor.Tensor { return nn.MarginRanking(x, f(0, 0, 0), y, 0.5) }, 1, -1, 0),
			v(inf, -inf, inf), []float32{0, 0, 0.5}, []float32{0, 0, 0}},
		{"HingeEmbedding", two(func(x, y tensor.Tensor) tensor.Tensor { return nn.HingeEmbedding(x, y, 1) }, -1, 1), v(inf, inf), []float32{0, inf}, []float32{0, 1}},
		{"MultiLabelSoftMargin", func(x tensor.Tensor) tensor.Tensor { return nn.MultiLabelSoftMargin(x, rows([]float32{1, 0})) }, v(inf, -inf), []float32{0}, []float32{0, 0}},
		{"MultiLabelMargin", func(x tensor.Tensor) tensor.Tensor { return nn.MultiLabelMargin(x, rows([]float32{1, 0, 1})) }, v(inf, -inf, 0), []float32{0}, []float32{0, 0, 0}},
		{"MultiMargin", func(x tensor.Tensor) tensor.Tensor { return nn.MultiMargin(x, labels(0, 0), 1, 1) },
			[][]float32{{inf, 0}, {0, -inf}}, []float32{0, 0}, []float32{0, 0, 0, 0}},
		{"MultiMargin p = 2", func(x tensor.Tensor) tensor.Tensor { return nn.MultiMargin(x, labels(0, 0), 1, 2) },
			[][]float32{{inf, 0}, {0, -inf}}, []float32{0, 0}, []float32{0, 0, 0, 0}},
		{"TripletMargin", func(x tensor.Tensor) tensor.Tensor {
			return nn.TripletMargin(rows([]float32{0, 0}), rows([]float32{0, 1}), x, 1)
		}, v(inf, 0), []float32{0}, []float32{0, 0}},
		{"CosineDistance", func(x tensor.Tensor) tensor.Tensor {
			return nn.CosineDistance(x, rows([]float32{1, 0}, []float32{0, 1}))
		},
			[][]float32{{0, 0}, {3e38, 0}}, []float32{1, 1}, nil},
		{"CosineEmbedding", func(x tensor.Tensor) tensor.Tensor { return nn.CosineEmbedding(x, rows([]float32{1, 0}), f(-1), 0) }, v(0, 0), []float32{0}, []float32{0, 0}},
		{"InfoNCE", func(x tensor.Tensor) tensor.Tensor { return nn.InfoNCE(x, rows([]float32{1, 0}, []float32{0, 1}), 1) },
			[][]float32{{0, 0}, {0, 3e38}}, []float32{ln2, 0.31326166}, nil},
		{"CTC", func(x tensor.Tensor) tensor.Tensor {
			return nn.CTC(x.Unsqueeze(1), tensor.From([][]int32{{1}}), labels(2), labels(1), 0)
		}, [][]float32{{-inf, 0, -inf}, {0, -inf, -inf}}, []float32{0}, []float32{0, -1, 0, -1, 0, 0}},
	}
}

func TestLossLimits(t *testing.T) {
	for _, c := range limits() {
		x := tensor.From(c.x)
		check(t, c.name, c.loss(x), []int{len(c.want)}, c.want...)
		if c.slope == nil {
			continue
		}
		total := func(x tensor.Tensor) tensor.Tensor { return c.loss(x).Sum() }
		check(t, "gradient of "+c.name, grad.Of(total)(x), x.Shape(), c.slope...)
		var sum float32
		for _, d := range c.slope {
			sum += d
		}
		_, tangent := grad.JVP(total, x, tensor.OnesLike(x))
		check(t, "tangent of "+c.name, tangent, []int{}, sum)
	}
}

// Each exported function that checks predictions has a row of limits.
func TestLimitsOfAllLosses(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	covered := limits()
	found := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !f.Name.IsExported() {
				continue
			}
			checks := false
			ast.Inspect(f, func(n ast.Node) bool {
				id, ok := n.(*ast.Ident)
				checks = checks || ok && slices.Contains([]string{"checkTarget", "checkPred", "checkLabels", "nll"}, id.Name)
				return true
			})
			if !checks {
				continue
			}
			found++
			if !slices.ContainsFunc(covered, func(c limit) bool { return strings.Split(c.name, " ")[0] == f.Name.Name }) {
				t.Errorf("%s has no row in limits", f.Name.Name)
			}
		}
	}
	if found < 24 {
		t.Errorf("found %d losses, want at least 24", found)
	}
}

// norms are layers that normalize, with an Eps, for inputs [4 8 6].
var norms = map[string]func(eps float64) nn.Layer{
	"LayerNorm":    func(eps float64) nn.Layer { return nn.LayerNorm{Eps: eps} },
	"RMSNorm":      func(eps float64) nn.Layer { return nn.RMSNorm{Eps: eps} },
	"GroupNorm":    func(eps float64) nn.Layer { return nn.GroupNorm{Groups: 2, Eps: eps} },
	"InstanceNorm": func(eps float64) nn.Layer { return nn.InstanceNorm{Eps: eps} },
	"BatchNorm": func(eps float64) nn.Layer {
		return nn.Func(func(x tensor.Tensor) tensor.Tensor {
			l := nn.NewBatchNorm(8)
			l.Weight, l.Bias, l.Eps = tensor.Tensor{}, tensor.Tensor{}, eps
			l.Mean, l.Var = l.Mean.Cast(x.DType()), l.Var.Cast(x.DType())
			y, _ := l.Train(x, tensor.NewRNG(1))
			return y
		})
	},
	"LocalResponseNorm": func(float64) nn.Layer { return nn.LocalResponseNorm{Size: 3} },
}

// Norms equal norms in float64 at all scales; so do gradients, where the scale's reciprocal
// is a float32. Rows of equal elements are 0.
func TestNormsAtAllScales(t *testing.T) {
	x, w := tensor.NewRNG(1).Normal(4, 8, 6).Keep(), tensor.NewRNG(2).Normal(4, 8, 6).Keep()
	types := []tensor.DType{tensor.Float32, tensor.BFloat16, tensor.Float16}
	for name, norm := range norms {
		for _, eps := range []float64{1e-5, 1e-8, 1e-12, 1e-15} {
			for _, d := range types {
				tol := map[tensor.DType]float64{tensor.Float32: 1e-5, tensor.BFloat16: 1e-2, tensor.Float16: 2e-3}[d]
				apply := norm(eps).Apply
				if name != "LocalResponseNorm" {
					for _, c := range []float64{0, 3} {
						y := apply(tensor.FullOf(d, c, 4, 8, 6))
						if name != "RMSNorm" || c == 0 {
							near(t, fmt.Sprintf("%s with eps %v of %v %v", name, eps, d, c), y, tensor.ZerosOf(d, 4, 8, 6), 0)
						}
					}
				}
				for _, scale := range []float64{1e-30, 1e-12, 1e-7, 1e-3, 1, 1e3, 1e15, 1e25, 1e30} {
					if d == tensor.Float16 && (scale < 1e-3 || scale > 1e3) {
						continue
					}
					scaled := x.Mul(scale).Cast(d)
					call := fmt.Sprintf("%s with eps %v of %v at %v", name, eps, d, scale)
					near(t, call, apply(scaled), apply(scaled.Cast(tensor.Float64)).Cast(d), tol)
					if d != tensor.Float32 || name == "LocalResponseNorm" && scale > 1e15 {
						continue
					}
					slope := func(x tensor.Tensor) tensor.Tensor {
						return grad.Of(func(x tensor.Tensor) tensor.Tensor { return apply(x).Mul(w.Cast(x.DType())).Sum() })(x)
					}
					s := max(scale, math.Sqrt(eps))
					near(t, "gradient of "+call, slope(scaled).Mul(s), slope(scaled.Cast(tensor.Float64)).Cast(d).Mul(s), 1e-4)
				}
			}
		}
	}
}

// Positive settings that float32 lacks are not 0.
func TestLeastSettings(t *testing.T) {
	x, zeros, eye := tensor.New([]float32{1, -2, 0, 5}), tensor.Zeros(1, 4, 2), tensor.Eye(2)
	for name, f := range map[string]func(v float64) tensor.Tensor{
		"SmoothL1":          func(v float64) tensor.Tensor { return nn.SmoothL1(x, x.ReLU(), v) },
		"InfoNCE":           func(v float64) tensor.Tensor { return nn.InfoNCE(eye, eye, v) },
		"LocalResponseNorm": func(v float64) tensor.Tensor { return nn.LocalResponseNorm{Size: 2, K: v}.Apply(zeros) },
		"CELU":              func(v float64) tensor.Tensor { return x.CELU(v) },
		"Attention": func(v float64) tensor.Tensor {
			return tensor.Attention(eye, eye, eye, &tensor.AttentionOptions{SoftCap: v})
		},
		"LayerNorm": func(v float64) tensor.Tensor { return nn.LayerNorm{Eps: v}.Apply(zeros) },
	} {
		for _, v := range []float64{1e-30, 1e-40, 1e-46, 1e-300} {
			if y := f(v); y.IsFinite().All().Not().Item() != 0 {
				t.Errorf("%s with %v is %v", name, v, y)
			}
		}
	}
}

// The inference of a batch norm is finite for every Eps, of which float32 lacks the smallest.
func TestBatchNormOfNoVariance(t *testing.T) {
	for _, eps := range []float64{1e-5, 1e-40, 1e-300} {
		l := nn.NewBatchNorm(1)
		l.Eps, l.Var = eps, tensor.Zeros(1)
		check(t, fmt.Sprintf("BatchNorm with eps %v", eps), l.Apply(tensor.Zeros(2, 1)), []int{2, 1}, 0, 0)
	}
}
