package schedule

import (
	le "encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tensorken/tensorken/grad"
	plans "github.com/tensorken/tensorken/internal/compile"
	"github.com/tensorken/tensorken/internal/shader/simt"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// The ways in which attention may be written get kernels of the template, as do their gradients.
func TestAttentionForms(t *testing.T) {
	plans.Verify()
	const float, half = tensor.Float32, tensor.BFloat16
	type qkv struct{ Q, K, V tensor.Tensor }
	product := func(q, k tensor.Tensor) tensor.Tensor { return q.MatMul(k.Transpose(-1, -2)) }
	plain := func(x qkv) tensor.Tensor { return product(x.Q, x.K).Softmax(-1).MatMul(x.V) }
	for i, c := range []struct {
		name      string
		shape     []int // of q, k and v
		dtype     tensor.DType
		tolerance float64 // of the gradients, of which the greatest are some 50
		kernels   int
		f         func(x qkv) tensor.Tensor
	}{
		{"a head as wide as rows are long", []int{1, 128, 128}, float, 0.005, 3, plain},
		{"no batch", []int{130, 16}, float, 0.001, 3, plain},
		{"dropout", []int{1, 128, 32}, float, 0.001, 4, func(x qkv) tensor.Tensor {
			return tensor.Attention(x.Q, x.K, x.V, &tensor.AttentionOptions{Dropout: 0.3, RNG: tensor.NewRNG(1)})
		}},
		{"softmax in float32", []int{1, 128, 32}, half, 2, 4, func(x qkv) tensor.Tensor {
			return product(x.Q, x.K).Cast(float).Softmax(-1).Cast(x.V.DType()).MatMul(x.V)
		}},
		{"scores in float32", []int{1, 128, 32}, half, 2, 4, func(x qkv) tensor.Tensor {
			return product(x.Q.Cast(float), x.K.Cast(float)).Softmax(-1).Cast(x.V.DType()).MatMul(x.V)
		}},
		{"all in float32", []int{1, 128, 32}, half, 2, 3, func(x qkv) tensor.Tensor {
			return product(x.Q.Cast(float), x.K.Cast(float)).Softmax(-1).MatMul(x.V.Cast(float)).Cast(x.V.DType())
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if i%3 != 0 {
				notShort(t)
			}
			rng := rand.New(rand.NewPCG(1, 2))
			in := qkv{normal(rng, c.shape...), normal(rng, c.shape...), normal(rng, c.shape...)}
			run := func(d *tensor.Device, dtype tensor.DType) []float32 {
				_, g := grad.ValueAndGrad(func(x qkv) tensor.Tensor {
					y := c.f(x).Cast(float)
					return y.Mul(y).Sum()
				})(qkv{in.Q.To(d).Cast(dtype), in.K.To(d).Cast(dtype), in.V.To(d).Cast(dtype)})
				if err := tensor.Eval(g); err != nil {
					t.Fatal(err)
				}
				return floatsOf(t, g.Q, g.K, g.V)
			}
			kernels := 0
			ref := attender(t, hopper, func(k *ir.Kernel) {
				if k.Template == ir.Attention {
					kernels++
				} else if k.Template == ir.Contraction {
					t.Errorf("a product is no part of a kernel of attention:\n%v", k)
				}
			})
			got, want := run(tensor.NewDevice(ref), c.dtype), run(tensor.CPU(), float)
			if kernels != c.kernels {
				t.Errorf("%d kernels of attention, want %d", kernels, c.kernels)
			}
			for i := range got {
				if !(math.Abs(float64(got[i]-want[i])) <= c.tolerance) {
					t.Fatalf("element %d is %g, want %g", i, got[i], want[i])
				}
			}
		})
	}
}

// The greatest score of a row is NaN if one is, of either sign and in any place.
func TestGreatestScore(t *testing.T) {
	const rows, columns, depth = 40, 70, 8
	k := kernel(ir.Attention, []ir.Axis{{Len: rows, Role: ir.M}, {Len: columns, Role: ir.N}, {Len: depth, Role: ir.K}},
		[]ir.Arg{in(f32), in(f32), out(f32, rows)},
		load(f32, 0, by(depth, 0, 1)), load(f32, 1, by(0, depth, 1)), alu(ir.Mul, f32, 0, 1), reduction(ir.Sum, f32, 2, 4),
		reduction(ir.ReduceMax, f32, 3, 2), store(f32, 4, 2, by(1, 0, 0)))
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, target := range []Target{big, noSubgroups} {
		p := simt.Compile(compile(t, k, target))
		for _, c := range []struct{ others, one, want float32 }{
			{-3, 2, 2}, {2, -3, 2}, {-inf, -inf, -inf}, {-inf, inf, inf}, {1, nan, nan}, {1, -nan, nan}, {-inf, nan, nan}, {inf, nan, nan}, {nan, 1, nan},
		} {
			for _, at := range []int{0, 5, 33, columns - 1} {
				left, right := make([]float32, rows*depth), make([]float32, columns*depth)
				for i := range rows {
					left[i*depth] = 1
				}
				for j := range columns {
					right[j*depth] = c.others
				}
				right[at*depth] = c.one
				args := []simt.Arg{{Data: floats(left)}, {Data: floats(right)}, {Data: make([]byte, 4*rows)}}
				if err := p.Run(args); err != nil {
					t.Fatal(err)
				}
				for i := range rows {
					got := math.Float32frombits(le.LittleEndian.Uint32(args[2].Data[4*i:]))
					if got != c.want && !(got != got && c.want != c.want) {
						t.Fatalf("%+v: the greatest of %g and, in column %d, %g is %g in row %d", target, c.others, at, c.one, got, i)
					}
				}
			}
		}
	}
}
