package tensor_test

import (
	"math"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/grad/gradtest"
	"github.com/tensorken/tensorken/internal/property"
	"github.com/tensorken/tensorken/tensor"
)

func TestHabits(t *testing.T) {
	x := iota(2, 6)
	chunks, rows := x.Chunk(-1, 3), x.Unstack(1)
	if len(chunks) != 3 || len(rows) != 6 {
		t.Fatalf("%d chunks and %d columns", len(chunks), len(rows))
	}
	run(t, []check{
		of("Expand with -1", iota(2, 1).Expand(3, -1, 2), []int{3, 2, 2}, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1),
		of("Chunk, the last shorter", tensor.Linspace(0, 6, 7).Chunk(0, 3)[2], []int{1}, 6),
		of("Chunk, the first", tensor.Linspace(0, 6, 7).Chunk(0, 3)[0], []int{3}, 0, 1, 2),
		of("Chunk, fewer", lengths(tensor.Zeros(5).Chunk(0, 4)), []int{3}, 2, 2, 1),
		of("Chunk of more", lengths(tensor.Zeros(2).Chunk(0, 4)), []int{2}, 1, 1),
		of("Chunk of nothing", lengths(tensor.Zeros(0).Chunk(0, 3)), []int{3}, 0, 0, 0),
		of("Chunk", chunks[1], []int{2, 2}, 2, 3, 8, 9),
		same("Unstack", rows[4], 4, 10),
		same("Interleave", tensor.Interleave(0, floats(1, 2), floats(3, 4), floats(5, 6)), 1, 3, 5, 2, 4, 6),
		of("Interleave axis 1", tensor.Interleave(-1, iota(2, 2), iota(2, 2).Add(10)), []int{2, 4}, 0, 10, 1, 11, 2, 12, 3, 13),
		typed("New of int", tensor.New([]int{1, -2, 1 << 40}), tensor.Int64, 1, -2, 1<<40),
		typed("From of int", tensor.From([]int{3}), tensor.Int64, 3),
		typed("Arange", tensor.Arange(2, 5), tensor.Int32, 2, 3, 4),
		typed("Arange by 2", tensor.Arange(1, 6, 2), tensor.Int32, 1, 3, 5),
		typed("Arange back", tensor.Arange(5, 0, -2), tensor.Int32, 5, 3, 1),
		typed("Arange, nothing ahead", tensor.Arange(5, 0), tensor.Int32),
		typed("Arange, nothing behind", tensor.Arange(0, 5, -1), tensor.Int32),
		same("Logspace", tensor.Logspace(-1, 2, 4), 0.1, 1, 10, 100),
		typed("ZerosOf", tensor.ZerosOf(tensor.Int32, 2), tensor.Int32, 0, 0),
		typed("OnesOf", tensor.OnesOf(tensor.Bool, 2), tensor.Bool, 1, 1),
		typed("OnesOf half", tensor.OnesOf(tensor.Float16, 1), tensor.Float16, 1),
		typed("FullOf", tensor.FullOf(tensor.Uint8, 7, 2), tensor.Uint8, 7, 7),
		typed("FullLike", tensor.FullLike(ints(1, 2), 9), tensor.Int32, 9, 9),
		{"TrilIndices", tensor.TrilIndices(3, 2, 0), tensor.Int32, []int{2, 5}, []float64{0, 1, 1, 2, 2, 0, 0, 1, 0, 1}},
		{"TrilIndices, a short one of a large matrix", tensor.TrilIndices(1<<29, 1<<29, 1-1<<29), tensor.Int32, []int{2, 1}, []float64{1<<29 - 1, 0}},
		{"TrilIndices of all", tensor.TrilIndices(2, 2, math.MaxInt), tensor.Int32, []int{2, 4}, []float64{0, 0, 1, 1, 0, 1, 0, 1}},
		{"TrilIndices of nothing", tensor.TrilIndices(1<<31-1, 0, 0), tensor.Int32, []int{2, 0}, nil},
		{"TriuIndices of nothing", tensor.TriuIndices(1<<29, 1<<29, math.MaxInt), tensor.Int32, []int{2, 0}, nil},
		{"TriuIndices of all", tensor.TriuIndices(2, 1, math.MinInt), tensor.Int32, []int{2, 2}, []float64{0, 1, 0, 0}},
		{"TriuIndices", tensor.TriuIndices(2, 3, 1), tensor.Int32, []int{2, 3}, []float64{0, 0, 1, 1, 2, 2}},
	})
	if back, err := tensor.Data[int](tensor.New([]int{5, 6})); err != nil || !slices.Equal(back, []int{5, 6}) {
		t.Errorf("Data[int] = %v, %v", back, err)
	}
}

func TestPut(t *testing.T) {
	x := iota(3, 4)
	run(t, []check{
		of("Put rows", x.Put(0, ints(2, 0), iota(2, 4).Add(20)), []int{3, 4}, 24, 25, 26, 27, 4, 5, 6, 7, 20, 21, 22, 23),
		of("Put a number", x.Put(1, ints(-1), tensor.Scalar(9)), []int{3, 4}, 0, 1, 2, 9, 4, 5, 6, 9, 8, 9, 10, 9),
		of("Put by a scalar", x.Put(0, ints(1).At(0), floats(7, 7, 7, 7)), []int{3, 4}, 0, 1, 2, 3, 7, 7, 7, 7, 8, 9, 10, 11),
		same("Put, the last of equals", floats(0, 0).Put(0, ints(1, 1, 1), floats(1, 2, 3)), 0, 3),
		typed("Put of bools", bools(false, true).Put(0, ints(0), bools(true)), tensor.Bool, 1, 1),
		same("Put of nothing", floats(1, 2).Put(0, ints(), floats()), 1, 2),
		same("ScatterSet", floats(1, 2, 3).ScatterSet(0, tensor.New([]int{-1, 0, 0}), floats(7, 8, 9)), 9, 2, 7),
		of("ScatterSet of rows", iota(2, 3).ScatterSet(1, ints(0, 2).Reshape(2, 1), floats(9).Reshape(1, 1)), []int{2, 3}, 9, 1, 2, 3, 4, 9),
	})
	first := grad.Of(func(x tensor.Tensor) tensor.Tensor { return x.Put(0, ints(1), floats(5)).Square().Sum() })
	second := grad.Of(func(v tensor.Tensor) tensor.Tensor {
		return floats(1, 2, 3).Put(0, ints(1, 1), v).Square().Sum()
	})
	run(t, []check{
		same("derivative by what is kept", first(floats(1, 2, 3)), 2, 0, 6),
		same("derivative by what is put", second(floats(4, 5)), 0, 10),
		of("Put in a batch", grad.Vmap(func(i tensor.Tensor) tensor.Tensor { return floats(1, 2).Put(0, i, floats(7)) })(ints(0, 1).Reshape(2, 1)),
			[]int{2, 2}, 7, 2, 1, 7),
	})
}

func TestProducts(t *testing.T) {
	a, b := iota(2, 3), iota(3, 2)
	run(t, []check{
		of("Outer", floats(1, 2).Outer(floats(3, 4, 5)), []int{2, 3}, 3, 4, 5, 6, 8, 10),
		of("Outer in batches", iota(2, 1).Outer(iota(2, 2)), []int{2, 1, 2}, 0, 0, 2, 3),
		of("Kron", floats(1, 2).Kron(a), []int{2, 6}, 0, 1, 2, 0, 2, 4, 3, 4, 5, 6, 8, 10),
		of("TensorDot", a.TensorDot(b, []int{1}, []int{0}), []int{2, 2}, 10, 13, 28, 40),
		of("TensorDot of two pairs", a.TensorDot(b, []int{0, 1}, []int{1, 0}), []int{}, 0+1*2+2*4+3*1+4*3+5*5),
		of("TensorDot of none", floats(1, 2).TensorDot(floats(3), nil, nil), []int{2, 1}, 3, 6),
		of("Trace", iota(2, 2, 2).Trace(), []int{2}, 3, 11),
		of("DiagEmbed", iota(2, 2).Add(1).DiagEmbed(0), []int{2, 2, 2}, 1, 0, 0, 2, 3, 0, 0, 4),
		of("DiagEmbed above", floats(1).DiagEmbed(1), []int{2, 2}, 0, 1, 0, 0),
		of("DiagEmbed below", iota(2, 1).Add(1).DiagEmbed(-1), []int{2, 2, 2}, 0, 0, 1, 0, 0, 0, 2, 0),
		of("Rot90", a.Rot90(1, 0, 1), []int{3, 2}, 2, 5, 1, 4, 0, 3),
		of("Rot90 by 2", a.Rot90(-2, 0, 1), []int{2, 3}, 5, 4, 3, 2, 1, 0),
		of("Rot90 back", a.Rot90(3, 0, 1), []int{3, 2}, 3, 0, 4, 1, 5, 2),
	})
	x := iota(2, 3).Cast(tensor.Float64)
	for name, f := range map[string]func(tensor.Tensor) tensor.Tensor{
		"Outer":     func(x tensor.Tensor) tensor.Tensor { return x.Outer(x.Add(1)) },
		"Kron":      func(x tensor.Tensor) tensor.Tensor { return x.Kron(x) },
		"TensorDot": func(x tensor.Tensor) tensor.Tensor { return x.TensorDot(x, []int{0}, []int{0}) },
		"DiagEmbed": func(x tensor.Tensor) tensor.Tensor { return x.Square().DiagEmbed(1) },
		"PadMode":   func(x tensor.Tensor) tensor.Tensor { return x.Square().PadMode(1, 2, 1, tensor.Reflect) },
		"Fold":      func(x tensor.Tensor) tensor.Tensor { return x.Square().Fold(0, 5, 2) },
	} {
		t.Run(name, func(t *testing.T) {
			gradtest.Check(t, f, x, 2)
			batch := tensor.Stack(0, x, x.Neg())
			if ok, err := tensor.AllClose(grad.Vmap(f)(batch), tensor.Stack(0, f(x), f(x.Neg())), 0, 0); !ok || err != nil {
				t.Errorf("Vmap differs (%v)", err)
			}
		})
	}
}

// PadMode is an index that is reflected, limited or taken modulo the length.
func TestPadMode(t *testing.T) {
	property.Check(t, func(r *property.T) {
		n := property.IntRange(1, 5).Draw(r, "length")
		mode := property.SampledFrom([]tensor.PadMode{tensor.Reflect, tensor.Replicate, tensor.Circular}).Draw(r, "mode")
		most := map[tensor.PadMode]int{tensor.Reflect: n - 1, tensor.Replicate: 7, tensor.Circular: n}[mode]
		before, after := property.IntRange(0, most).Draw(r, "before"), property.IntRange(0, most).Draw(r, "after")
		var want []float64
		for i := -before; i < n+after; i++ {
			j := i
			switch mode {
			case tensor.Reflect:
				j = max(i, -i)
				j = min(j, 2*(n-1)-j)
			case tensor.Replicate:
				j = min(max(i, 0), n-1)
			case tensor.Circular:
				j = (i + n) % n
			}
			want = append(want, float64(10*j), float64(10*j+1))
		}
		x := iota(n, 1).Mul(10).Add(iota(2))
		got := values(t, x.PadMode(0, before, after, mode))
		if !slices.Equal(got, want) {
			r.Fatalf("%v of %d by %d and %d: %v, want %v", mode, n, before, after, got, want)
		}
	})
}

// Fold is the transpose of Unfold, so ⟨Unfold(x), y⟩ = ⟨x, Fold(y)⟩.
func TestFold(t *testing.T) {
	property.Check(t, func(r *property.T) {
		size, step := property.IntRange(1, 4).Draw(r, "size"), property.IntRange(1, 5).Draw(r, "step")
		length := property.IntRange(size, 12).Draw(r, "length")
		n := (length-size)/step + 1
		y := iota(n, 2, size).Add(1)
		want := make([]float64, 2*length)
		for i := range n {
			for c := range 2 {
				for k := range size {
					want[(i*step+k)*2+c] += float64((i*2+c)*size + k + 1)
				}
			}
		}
		if got := values(t, y.Fold(0, length, step)); !slices.Equal(got, want) {
			r.Fatalf("%d windows of %d, %d apart: %v, want %v", n, size, step, got, want)
		}
	})
	run(t, []check{
		of("PixelShuffle", iota(1, 4, 1, 2).PixelShuffle(2), []int{1, 1, 2, 4}, 0, 2, 1, 3, 4, 6, 5, 7),
		of("PixelUnshuffle", iota(1, 4, 1, 2).PixelShuffle(2).PixelUnshuffle(2), []int{1, 4, 1, 2}, 0, 1, 2, 3, 4, 5, 6, 7),
		of("PixelShuffle of a line", iota(1, 3, 2).PixelShuffle(3), []int{1, 1, 6}, 0, 2, 4, 1, 3, 5),
	})
}

// lengths returns how long tensors with one axis are.
func lengths(ts []tensor.Tensor) tensor.Tensor {
	var n []float64
	for _, t := range ts {
		n = append(n, float64(t.Len()))
	}
	return floats(n...)
}
