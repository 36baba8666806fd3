package tensor_test

import (
	"fmt"
	"testing"

	"github.com/tensorken/tensorken/tensor"
)

func TestSelections(t *testing.T) {
	a := iota(2, 3)
	past := bools(true, false, true, false, false, true).Reshape(2, 3)
	run(t, []check{
		same("Select", a.Select(1, -1), 2, 5),
		same("MaskedSelect", a.MaskedSelect(past), 0, 2, 5),
		same("MaskedSelect broadcasts", a.MaskedSelect(bools(false, true, true)), 1, 2, 4, 5),
		same("MaskedSelect broadcasts the tensor", a.Select(0, 1).MaskedSelect(past), 3, 5, 5),
		same("MaskedSelect of nothing", a.MaskedSelect(bools(false))),
		of("MaskedFill", a.MaskedFill(past, -1), []int{2, 3}, -1, 1, -1, 3, 4, -1),
		of("MaskedFill with NaN below", floats(nan, 1).MaskedFill(bools(true, false), 0), []int{2}, 0, 1),
		of("GatherND", a.GatherND(ints(0, -1, 1, 0).Reshape(2, 2)), []int{2}, 2, 3),
		of("GatherND of rows", a.GatherND(ints(1, 0, 1).Reshape(3, 1, 1)), []int{3, 1, 3}, 3, 4, 5, 0, 1, 2, 3, 4, 5),
		of("ScatterND", a.ScatterND(ints(0, 0, 1, 1, 0, 0).Reshape(3, 2), floats(7, 8, 9)), []int{2, 3}, 9, 1, 2, 3, 8, 5),
		of("NaN elsewhere", floats(nan, 1, inf, 2).Reshape(2, 2).Index(ints(0, 1), ints(1, 1)), []int{2}, 1, 2),
		{"Set of bools", bools(true, true, true).Set(false, ints(0, -1)), tensor.Bool, []int{3}, []float64{0, 1, 0}},
		typed("AddAt of uint8", tensor.New([]uint8{1, 255}).AddAt(2, ints(1, 1)), tensor.Uint8, 1, 3),
		of("Set of an untyped constant", a.Set(tensor.Eye(2), all, span(0, 2)), []int{2, 3}, 1, 0, 2, 0, 1, 5),
		of("Set of nothing", a.Set(9, span(1, 1)), []int{2, 3}, 0, 1, 2, 3, 4, 5),
		of("Set of an all-false mask", a.Set(floats().Reshape(0, 3), bools(false, false)), []int{2, 3}, 0, 1, 2, 3, 4, 5),
	})
}

// TestSetSharesPlans sets several positions and numbers by one plan.
func TestSetSharesPlans(t *testing.T) {
	cache := iota(7, 4, 3)
	if err := tensor.Eval(cache); err != nil {
		t.Fatal(err)
	}
	var before int
	for i := range 6 {
		next := cache.Set(i, all, i%4).Set(floats(1, 2, 3), i)
		if err := tensor.Eval(next); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			before = tensor.Info().Plans
		}
	}
	if got := tensor.Info().Plans; got != before {
		t.Errorf("setting 6 positions took %d plans, want 1", got-before+1)
	}
}

func ExampleTensor_Set() {
	x := tensor.Arange(6).Reshape(2, 3)
	fmt.Println(x.Set(0, x.Gt(3)))
	fmt.Println(x.Set(9, tensor.All, tensor.Span(-1, tensor.End, -2)))
	// Output:
	// [[0 1 2]
	//  [3 0 0]]
	// [[9 1 9]
	//  [9 4 9]]
}

func ExampleTensor_OIndex() {
	x := tensor.Arange(9).Reshape(3, 3)
	ends := tensor.New([]int32{0, 2})
	fmt.Println(x.OIndex(ends, ends)) // rows 0 and 2 of columns 0 and 2
	fmt.Println(x.Index(ends, ends))  // elements [0 0] and [2 2]
	// Output:
	// [[0 2]
	//  [6 8]]
	// [0 8]
}

// TestLongMask selects by masks that several workers count, dense and sparse.
func TestLongMask(t *testing.T) {
	const n = 1<<17 + 13
	x := iota(n)
	for _, apart := range []int{2, 97} {
		mask := make([]bool, n)
		var want []float64
		for i := range mask {
			if mask[i] = i*i%apart == 1; mask[i] {
				want = append(want, float64(i))
			}
		}
		run(t, []check{same(fmt.Sprint("1 of ", apart), x.Index(tensor.New(mask)), want...)})
	}
}
