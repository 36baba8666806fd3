package blocks_test

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/blocks"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/tensor"
)

// packed returns a matrix in a format, of random codes and scales of moderate size, and the same
// matrix decoded.
func packed(f *blocks.Format, rows, cols int) (p, plain tensor.Tensor) {
	r := rand.New(rand.NewPCG(1, 2))
	x := make([]float32, rows*cols)
	b := make([]byte, f.DType().Bytes(len(x)))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	f.SetScales(b, func() float32 { return float32(r.NormFloat64()) / 64 })
	f.Decode(x, b)
	return tensor.Internal.FromBlocks(graph.Token{}, "test", f.DType(), []int{rows, cols}, b), tensor.New(x, rows, cols)
}

func bits(t *testing.T, x tensor.Tensor) []uint32 {
	t.Helper()
	b, err := x.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	out := make([]uint32, len(b)/4)
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return out
}

// TestTensors compares tensors in each format with decoded ones: bit for bit where elements are
// only moved, products within the bounds of docs/accuracy.md.
func TestTensors(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(blocks.Formats)) {
		t.Run(name, func(t *testing.T) {
			const rows, cols = 37, 512
			p, plain := packed(blocks.Formats[name], rows, cols)
			index := tensor.New([]int32{3, 36, 3, 0, 17})
			for what, f := range map[string]func(x tensor.Tensor) tensor.Tensor{
				"read":      func(x tensor.Tensor) tensor.Tensor { return x },
				"copy":      func(x tensor.Tensor) tensor.Tensor { return x.Add(tensor.Zeros(rows, cols)) },
				"rows":      func(x tensor.Tensor) tensor.Tensor { return x.Take(0, index) },
				"columns":   func(x tensor.Tensor) tensor.Tensor { return x.Take(1, index).Neg() },
				"transpose": func(x tensor.Tensor) tensor.Tensor { return x.T().Neg() },
				"slice":     func(x tensor.Tensor) tensor.Tensor { return x.Slice(0, 3, 9).Slice(1, 130, 390).Neg() },
				"flip":      func(x tensor.Tensor) tensor.Tensor { return x.Flip(1).Neg() },
				"sum":       func(x tensor.Tensor) tensor.Tensor { return x.Sum(1) },
			} {
				if !slices.Equal(bits(t, f(p)), bits(t, f(plain))) {
					t.Errorf("%s: other elements than those of the decoded tensor", what)
				}
			}
			for _, m := range []int{1, 2, 3, 8, 13, 16, 40} {
				r := rand.New(rand.NewPCG(1, uint64(m)))
				x := make([]float32, m*cols)
				for i := range x {
					x[i] = float32(r.NormFloat64())
				}
				product := grad.Jit(func(args [2]tensor.Tensor) tensor.Tensor { return args[0].MatMul(args[1].T()) })
				a := tensor.New(x, m, cols)
				// Products by packed weights are in fixed point: see docs/contract.md.
				rounding := a.Abs().Mul(1e-6)
				greatest := a.Abs().Reshape(m, cols/32, 32).Max(-1).Expand(m, cols/32, 32).Reshape(m, cols)
				fixed := rounding.Add(greatest.Mul(1. / (1 << 16)))
				if m > 4 { // the depth is of two axes, as in a projection of heads
					heads := grad.Jit(func(args [2]tensor.Tensor) tensor.Tensor {
						return args[0].Permute(1, 0, 2).Reshape(m, cols).MatMul(args[1].T())
					})
					if err := near(heads([2]tensor.Tensor{a.Reshape(m, cols/32, 32).Permute(1, 0, 2).Add(0), p}), a.MatMul(plain.T()), fixed.MatMul(plain.T().Abs())); err != nil {
						t.Errorf("product of heads, %d rows: %v", m, err)
					}
				}
				for i, w := range []tensor.Tensor{p, p, plain, p, plain} {
					off := rounding
					if i != 2 && i != 4 {
						off = fixed
					}
					if err := near(product([2]tensor.Tensor{a, w}), a.MatMul(plain.T()), off.MatMul(plain.T().Abs())); err != nil {
						t.Errorf("product of %d rows: %v", m, err)
					}
				}
			}
		})
	}
}

// A mask may end the depth of a product within a block: the blocks count up to there.
func TestMaskedDepth(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(blocks.Formats)) {
		const cols, depth = 21, 512
		p, plain := packed(blocks.Formats[name], cols, depth)
		for _, m := range []int{1, 3, 13, 40} {
			r := rand.New(rand.NewPCG(1, uint64(m)))
			v := make([]float32, m*depth)
			for i := range v {
				v[i] = float32(r.NormFloat64())
			}
			x := tensor.New(v, m, depth)
			for _, limit := range []int32{0, 7, 96, 299, depth} {
				masked := tensor.Where(tensor.Arange(depth).Cast(tensor.Int32).Lt(tensor.New([]int32{limit}, 1)), x, tensor.ZerosLike(x))
				want := tensor.New(v, m, depth).Slice(1, 0, int(limit)).MatMul(plain.T().Slice(0, 0, int(limit)))
				off := x.Abs().Mul(1e-6).Add(5. / (1 << 16)).MatMul(plain.T().Abs())
				if err := near(masked.MatMul(p.T()), want, off); err != nil {
					t.Errorf("%s, %d rows, %d of %d elements: %v", name, m, limit, depth, err)
				}
			}
		}
	}
}

// near returns an error if sums differ by more than off.
func near(got, want, off tensor.Tensor) error {
	var all [3][]float32
	for i, x := range []tensor.Tensor{got, want, off} {
		var err error
		if all[i], err = tensor.Data[float32](x); err != nil {
			return err
		}
	}
	g, w, s := all[0], all[1], all[2]
	for i := range w {
		if d := math.Abs(float64(g[i] - w[i])); !(d <= float64(s[i])) {
			return fmt.Errorf("element %d is %v, want %v, off by at most %v", i, g[i], w[i], s[i])
		}
	}
	return nil
}

// Products have rows of any number of blocks, as 28 of 32 elements in a model of width 896.
func TestWidths(t *testing.T) {
	for name, f := range blocks.Formats {
		for _, n := range []int{1, 3, 9, 19, 28, 35} {
			p, plain := packed(f, 13, n*f.Len)
			for _, m := range []int{1, 4, 5, 8, 9, 17} {
				a := tensor.NewRNG(uint64(m)).Normal(m, n*f.Len)
				product := grad.Jit(func(args [2]tensor.Tensor) tensor.Tensor { return args[0].MatMul(args[1].T()) })
				greatest := a.Abs().Reshape(m, -1, 32).Max(-1).Expand(m, n*f.Len/32, 32).Reshape(m, -1)
				off := a.Abs().Mul(1e-6).Add(greatest.Mul(1. / (1 << 16))).MatMul(plain.T().Abs())
				if err := near(product([2]tensor.Tensor{a, p}), a.MatMul(plain.T()), off); err != nil {
					t.Errorf("%s, %d rows of %d blocks: %v", name, m, n, err)
				}
			}
		}
	}
}
