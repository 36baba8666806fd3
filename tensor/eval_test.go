package tensor_test

import (
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/tensorken/tensorken/tensor"
)

func TestItem(t *testing.T) {
	for _, c := range []struct {
		x    tensor.Tensor
		want float64
	}{
		{tensor.Scalar(0.5), 0.5},
		{tensor.Ones(1, 1), 1},
		{bools(true), 1},
		{tensor.New([]uint8{255}), 255},
		{ints(-3), -3},
		{tensor.New([]uint32{maxU}), maxU},
		{tensor.New([]int64{1 << 40}), 1 << 40},
		{tensor.New([]float64{0.1}), 0.1},
		{tensor.New([]tensor.F16{tensor.ToF16(0.5)}), 0.5},
		{tensor.New([]tensor.BF16{tensor.ToBF16(-2)}), -2},
	} {
		if got := c.x.Item(); got != c.want {
			t.Errorf("Item of %+v = %v, want %v", c.x, got, c.want)
		}
	}
}

func TestData(t *testing.T) {
	x := iota(2, 2).T()
	first, err := tensor.Data[float32](x)
	if want := []float32{0, 2, 1, 3}; err != nil || !slices.Equal(first, want) {
		t.Errorf("Data = %v, %v, want %v", first, err, want)
	}
	first[0] = 9 // the caller's to keep
	if again, _ := tensor.Data[float32](x); again[0] != 0 {
		t.Errorf("after a change of what Data gave, it gives %v", again)
	}
	if empty, err := tensor.Data[float32](tensor.Zeros(0, 3)); err != nil || empty == nil || len(empty) != 0 {
		t.Errorf("Data of nothing = %#v, %v", empty, err)
	}
}

func TestEval(t *testing.T) {
	type pair struct{ A, B tensor.Tensor }
	x := pair{A: tensor.Ones(2).Add(1)}
	list := []tensor.Tensor{tensor.Ones(1).Mul(3), {}}
	if err := tensor.Eval(x, &x, list, map[string]any{"y": x.A.Exp()}, tensor.Tensor{}, x.A.Sum()); err != nil {
		t.Errorf("Eval: %v", err)
	}
	if err := tensor.Eval(); err != nil {
		t.Errorf("Eval of nothing: %v", err)
	}
	if got := x.A.Sum().Item(); got != 4 {
		t.Errorf("a sum after Eval is %v, want 4", got)
	}
	if got := tensor.Ones(3).Add(1).Keep().Sum().Item(); got != 6 {
		t.Errorf("a sum of what is kept is %v, want 6", got)
	}
}

func TestAllClose(t *testing.T) {
	for _, c := range []struct {
		a, b       tensor.Tensor
		rtol, atol float64
		want       bool
	}{
		{floats(1, 2), floats(1, 2), 0, 0, true},
		{floats(1, 2), floats(1, 2.1), 0, 0.05, false},
		{floats(1, 2), floats(1, 2.1), 0, 0.2, true},
		{floats(1, 2), floats(1, 2.1), 0.1, 0, true},
		{floats(1, 1), tensor.Scalar(1), 0, 0, true},
		{floats(inf, -inf), floats(inf, -inf), 0, 0, true},
		{floats(inf), floats(-inf), 1, 1, false},
		{floats(1), floats(inf), 1, 1, false},
		{floats(nan), floats(nan), 1, 1, false},
		{ints(5, math.MaxInt32), ints(6, math.MaxInt32), 0, 1, true},
		{ints(5), ints(7), 0, 1, false},
		{bools(true), bools(true), 0, 0, true},
		{bools(true), bools(false), 9, 9, false},
		{tensor.Zeros(0), tensor.Zeros(0), 0, 0, true},
	} {
		if got, err := tensor.AllClose(c.a, c.b, c.rtol, c.atol); got != c.want || err != nil {
			t.Errorf("AllClose(%v, %v, %v, %v) = %v, %v, want %v", c.a, c.b, c.rtol, c.atol, got, err, c.want)
		}
	}
}

// Tensors, and one graph of them, are used by many goroutines at once.
func TestConcurrency(t *testing.T) {
	shared := iota(8, 8).Add(1)
	sum := shared.MatMul(shared.T()).Sum()
	want := iota(8, 8).Add(1).MatMul(iota(8, 8).Add(1).T()).Sum().Item()
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for range 20 {
				if got := sum.Item(); got != want {
					t.Errorf("a shared sum is %v, want %v", got, want)
				}
				if got, want := shared.Mul(i).Sum().Item(), 2080*float64(i); got != want {
					t.Errorf("Mul(%d).Sum() = %v, want %v", i, got, want)
				}
			}
		})
	}
	group.Wait()
}

// chain is ten tiny operations on x.
func chain(x tensor.Tensor) tensor.Tensor {
	return x.Add(1).Mul(x).Sub(x).Mul(0.5).Exp().Add(x).Neg().Mul(x).ReLU().Sum()
}

func TestAllocations(t *testing.T) {
	x := iota(8)
	chain(x).Item()
	if n := testing.AllocsPerRun(100, func() { chain(x) }); n > 36 {
		t.Errorf("building ten operations takes %v allocations, want at most 36", n)
	}
	if n := testing.AllocsPerRun(100, func() { chain(x).Item() }); n > 60 {
		t.Errorf("building and evaluating ten operations takes %v allocations, want at most 60", n)
	}
	shape := testing.AllocsPerRun(100, func() { _, _, _ = x.Len(), x.Dim(0), x.Rank() })
	if shape != 0 {
		t.Errorf("Len, Dim and Rank take %v allocations", shape)
	}
}

func BenchmarkTinyChain(b *testing.B) {
	x := iota(8)
	b.ReportAllocs()
	for b.Loop() {
		chain(x).Item()
	}
}

func BenchmarkBuildChain(b *testing.B) {
	x := iota(8)
	b.ReportAllocs()
	for b.Loop() {
		chain(x)
	}
}
