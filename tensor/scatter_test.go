package tensor_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

func TestTake(t *testing.T) {
	a := iota(2, 3)
	run(t, []check{
		of("rows", a.Take(0, ints(1, 0, 1)), []int{3, 3}, 3, 4, 5, 0, 1, 2, 3, 4, 5),
		of("columns", a.Take(-1, ints(2)), []int{2, 1}, 2, 5),
		of("more axes", a.Take(1, ints(0, 1, 2, 0).Reshape(2, 2)), []int{2, 2, 2}, 0, 1, 2, 0, 3, 4, 5, 3),
		same("from the end", a.Take(0, ints(-1).At(0)), 3, 4, 5),
		of("uint32", a.Take(0, tensor.New([]uint32{1})), []int{1, 3}, 3, 4, 5),
		of("int64", a.Take(0, tensor.New([]int64{-2})), []int{1, 3}, 0, 1, 2),
		of("nothing", a.Take(0, tensor.New([]int32{})), []int{0, 3}),
		of("NaN elsewhere", floats(nan, 1).Take(0, ints(1)), []int{1}, 1),
		{"bools", bools(true, false).Take(0, ints(1, 0)), tensor.Bool, []int{2}, []float64{0, 1}},
		of("TakeAlong", a.TakeAlong(1, ints(2, 0).Reshape(2, 1)), []int{2, 1}, 2, 3),
		of("TakeAlong broadcasts", a.TakeAlong(1, ints(2, -2).Reshape(1, 2)), []int{2, 2}, 2, 1, 5, 4),
		of("TakeAlong is Max", a.TakeAlong(1, a.ArgMax(1).Unsqueeze(1)), []int{2, 1}, 2, 5),
		of("TakeAlong broadcasts the tensor", floats(7, 8).Reshape(1, 2).TakeAlong(1, ints(1, 0).Reshape(2, 1)), []int{2, 1}, 8, 7),
	})
}

func TestOneHot(t *testing.T) {
	run(t, []check{
		{"vector", ints(1, 0).OneHot(3), tensor.Int32, []int{2, 3}, []float64{0, 1, 0, 1, 0, 0}},
		{"matrix", ints(1, 0).Reshape(2, 1).OneHot(2), tensor.Int32, []int{2, 1, 2}, []float64{0, 1, 1, 0}},
		{"no class", ints(-1, 5).OneHot(2), tensor.Int32, []int{2, 2}, []float64{0, 0, 0, 0}},
		{"int8", tensor.New([]int8{2, -1}).OneHot(300).Sum(), tensor.Int64, []int{}, []float64{1}},
		{"uint8", tensor.New([]uint8{2}).OneHot(300).Sum(), tensor.Int64, []int{}, []float64{1}},
		{"int64", tensor.New([]int64{1<<32 + 1, 1}).OneHot(2), tensor.Int32, []int{2, 2}, []float64{0, 0, 0, 1}},
	})
}

func TestScatter(t *testing.T) {
	z := floats(0, 1, 2)
	i, u := ints(2, 0, 2), floats(10, 20, 30)
	run(t, []check{
		same("ScatterAdd", z.ScatterAdd(0, i, u), 20, 1, 42),
		same("ScatterMax", z.ScatterMax(0, i, u), 20, 1, 30),
		same("ScatterMin", z.ScatterMin(0, i, u.Neg()), -20, 1, -30),
		same("ScatterMul", z.ScatterMul(0, i, u), 0, 1, 600),
		same("from the end", z.ScatterAdd(0, ints(-1), floats(1)), 0, 1, 3),
		of("along rows", tensor.Zeros(2, 3).ScatterAdd(1, ints(0, 2, 1, 1).Reshape(2, 2), iota(2, 2).Add(1)), []int{2, 3}, 1, 0, 2, 0, 7, 0),
		of("index broadcasts", tensor.Zeros(2, 2).ScatterAdd(1, ints(1).Reshape(1, 1), iota(2, 1).Add(1)), []int{2, 2}, 0, 1, 0, 2),
		{"int32", ints(0, 0).ScatterAdd(0, ints(1, 1), ints(2, 3)), tensor.Int32, []int{2}, []float64{0, 5}},
	})
}

// Indices may be of all integers but uint64: results equal the results of int32 indices, on
// each device.
func TestIndexTypes(t *testing.T) {
	x, src := floats(1, 2, 3, 4, 5, 6).Reshape(3, 2), floats(7, 8, 9, 10).Reshape(2, 2)
	calls := map[string]func(i tensor.Tensor) tensor.Tensor{
		"Take":       func(i tensor.Tensor) tensor.Tensor { return x.Take(0, i) },
		"TakeAlong":  func(i tensor.Tensor) tensor.Tensor { return x.TakeAlong(0, i.Unsqueeze(1)) },
		"Index":      func(i tensor.Tensor) tensor.Tensor { return x.Index(i) },
		"OIndex":     func(i tensor.Tensor) tensor.Tensor { return x.OIndex(i, tensor.All) },
		"VIndex":     func(i tensor.Tensor) tensor.Tensor { return x.VIndex(i) },
		"GatherND":   func(i tensor.Tensor) tensor.Tensor { return x.GatherND(i.Unsqueeze(1)) },
		"ScatterND":  func(i tensor.Tensor) tensor.Tensor { return x.ScatterND(i.Unsqueeze(1), src) },
		"Set":        func(i tensor.Tensor) tensor.Tensor { return x.Set(0.5, i) },
		"AddAt":      func(i tensor.Tensor) tensor.Tensor { return x.AddAt(src, i) },
		"Put":        func(i tensor.Tensor) tensor.Tensor { return x.Put(0, i, src) },
		"ScatterAdd": func(i tensor.Tensor) tensor.Tensor { return x.ScatterAdd(0, i.Unsqueeze(1), src) },
		"ScatterSet": func(i tensor.Tensor) tensor.Tensor { return x.ScatterSet(0, i.Unsqueeze(1), src) },
		"Bincount":   func(i tensor.Tensor) tensor.Tensor { return i.Abs().Bincount(3) },
		"nn":         func(i tensor.Tensor) tensor.Tensor { return nn.Embedding{Weight: x}.Apply(i.Abs()) },
	}
	for name, f := range calls {
		for _, d := range []tensor.DType{tensor.Int8, tensor.Uint8, tensor.Int16, tensor.Uint16, tensor.Uint32, tensor.Int64} {
			i := ints(2, 0)
			if d.IsSigned() {
				i = ints(2, -1)
			}
			got, err := read(f(i.Cast(d)))
			if want, _ := read(f(i)); err != nil || !slices.Equal(got, want) {
				t.Errorf("%s of %v: %v, %v, want %v", name, d, got, err, want)
			}
		}
		for _, d := range []tensor.DType{tensor.Uint64, tensor.Float32} {
			if err := tensor.Try(func() { f(tensor.ZerosOf(d, 2)) }); err == nil || !strings.Contains(err.Error(), "Cast(tensor.Int32)") {
				t.Errorf("%s of %v: %v, want an error with a Cast", name, d, err)
			}
		}
	}
	if err := tensor.Eval(x.Take(0, tensor.New([]int8{-4}))); err == nil || !strings.Contains(err.Error(), "index -4 at [0]") {
		t.Errorf("Take of an int8 out of range: %v", err)
	}
}
