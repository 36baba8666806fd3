package tensor_test

import (
	"fmt"
	"math"

	"github.com/tensorken/tensorken/tensor"
)

func Example() {
	a := tensor.New([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	b := tensor.From([][]float32{{10}, {20}})
	fmt.Println(a.Add(b).Mul(2)) // b's column is added to each column of a
	fmt.Println(a.Div(a.Sum(1)).Sum(1))
	fmt.Println(a.MatMul(a.T()))
	// Output:
	// [[22 24 26]
	//  [48 50 52]]
	// [[1]
	//  [1]]
	// [[14 32]
	//  [32 77]]
}

func ExampleNew() {
	fmt.Println(tensor.New([]float32{1, 2, 3, 4}, 2, 2))
	fmt.Println(tensor.New([]bool{true, false}))
	// Output:
	// [[1 2]
	//  [3 4]]
	// [true false]
}

func ExampleFrom() {
	fmt.Println(tensor.From([][]int32{{1, 2, 3}, {4, 5, 6}}).Shape())
	// Output: [2 3]
}

func ExampleLinspace() {
	fmt.Println(tensor.Linspace(0, 1, 5))
	// Output: [0.00 0.25 0.50 0.75 1.00]
}

func ExampleMeshgrid() {
	g := tensor.Meshgrid(tensor.Arange(2), tensor.Arange(3))
	fmt.Println(g[0].Mul(10).Add(g[1]))
	// Output:
	// [[ 0  1  2]
	//  [10 11 12]]
}

func ExampleTensor_Sum() {
	a := tensor.New([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(a.Sum())            // of all elements, a scalar
	fmt.Println(a.Sum(0).Shape())   // the axis stays, with length 1
	fmt.Println(a.Sum(1).Squeeze()) // Squeeze drops the axis
	// Output:
	// 21
	// [1 3]
	// [6 15]
}

func ExampleTensor_Slice() {
	a := tensor.Arange(6)
	fmt.Println(a.Slice(0, 1, -1))
	fmt.Println(a.Slice(0, 0, tensor.End, 2))
	fmt.Println(a.Slice(0, -1, tensor.End, -1))
	// Output:
	// [1 2 3 4]
	// [0 2 4]
	// [5 4 3 2 1 0]
}

func ExampleTensor_Index() {
	a := tensor.Arange(6).Reshape(2, 3)
	fmt.Println(a.Index(1))
	fmt.Println(a.Index(tensor.All, -1))
	fmt.Println(a.Index(tensor.All, tensor.Span(0, tensor.End, 2)))
	fmt.Println(a.Index(tensor.All, tensor.New([]int32{2, 0})))
	fmt.Println(a.Index(tensor.NewAxis, tensor.Ellipsis, 0).Shape())
	// Output:
	// [3 4 5]
	// [2 5]
	// [[0 2]
	//  [3 5]]
	// [[2 0]
	//  [5 3]]
	// [1 2]
}

func ExampleTensor_Reshape() {
	fmt.Println(tensor.Arange(6).Reshape(3, -1))
	// Output:
	// [[0 1]
	//  [2 3]
	//  [4 5]]
}

func ExampleTensor_Take() {
	embedding := tensor.From([][]float32{{0, 0.5}, {1, 1.5}, {2, 2.5}})
	fmt.Println(embedding.Take(0, tensor.New([]int32{2, 0, -1})))
	// Output:
	// [[2.0 2.5]
	//  [0.0 0.5]
	//  [2.0 2.5]]
}

func ExampleTensor_ScatterAdd() {
	counts := tensor.Zeros(3).ScatterAdd(0, tensor.New([]int32{2, 0, 2}), tensor.Ones(3))
	fmt.Println(counts)
	// Output: [1 0 2]
}

func ExampleTensor_Conv() {
	signal := tensor.New([]float32{1, 2, 4, 8, 16}, 1, 1, 5)
	difference := tensor.New([]float32{-1, 1}, 1, 1, 2)
	fmt.Println(signal.Conv(difference, nil).Flatten(0))
	// Output: [1 2 4 8]
}

func ExampleEinsum() {
	a := tensor.Arange(4).Cast(tensor.Float32).Reshape(2, 2)
	fmt.Println(tensor.Einsum("ij,jk->ik", a, a))
	fmt.Println(tensor.Einsum("ii", a))
	// Output:
	// [[ 2  3]
	//  [ 6 11]]
	// 3
}

func ExampleWhere() {
	a := tensor.New([]float32{-1, 4, 9})
	fmt.Println(tensor.Where(a.Gt(0), a.Sqrt(), 0))
	// Output: [0 2 3]
}

func ExampleTensor_Softmax() {
	scores := tensor.New([]float32{0, float32(math.Log(3)), float32(math.Inf(-1))})
	fmt.Printf("%.2f\n", scores.Softmax(0))
	// Output: [0.25 0.75 0.00]
}

func ExampleData() {
	roots, err := tensor.Data[float32](tensor.New([]float32{1, 4, 9}).Sqrt())
	fmt.Println(roots, err)
	// Output: [1 2 3] <nil>
}

func ExampleNewRNG() {
	rng := tensor.NewRNG(1)
	x := rng.Normal(2, 3)
	again := tensor.NewRNG(1).Normal(2, 3)
	fmt.Println(x.Shape(), x.Eq(again).All(), x.Eq(rng.Normal(2, 3)).Any())
	// Output: [2 3] true false
}

func ExampleKeyRNG() {
	keys := tensor.NewRNG(1).Keys(2)
	a, b := tensor.KeyRNG(keys.At(0)), tensor.KeyRNG(keys.At(1))
	fmt.Println(a.Uniform(4).Eq(b.Uniform(4)).Any())
	// Output: false
}

func ExampleCatch() {
	norm := func(x tensor.Tensor) (n float64, err error) {
		defer tensor.Catch(&err)
		return x.Norm().Item(), nil
	}
	fmt.Println(norm(tensor.New([]float32{3, 4})))
	_, err := norm(tensor.New([]int32{3, 4}))
	fmt.Println(err.(*tensor.Error).Msg)
	// Output:
	// 5 <nil>
	// Norm of int32 [2]: not defined for int32: Cast first
}

func ExampleTry() {
	a := tensor.Ones(2, 3)
	err := tensor.Try(func() { a.MatMul(a) })
	fmt.Println(err.(*tensor.Error).Msg)
	// Output: MatMul of [2 3] and [2 3]: the inner lengths 3 and 2 differ: transpose with T or Reshape
}

func ExampleEval() {
	w := tensor.Ones(2)
	for range 3 {
		w = w.Mul(2)
		if err := tensor.Eval(w); err != nil { // or each iteration would compute all earlier ones
			panic(err)
		}
	}
	fmt.Println(w)
	// Output: [8 8]
}

func ExampleKernel() {
	// The longest run of positive numbers so far, which no other operation computes in one pass.
	runs := tensor.Kernel{
		Name:     "runs",
		Operands: []string{"x"},
		DType:    tensor.Int32,
		Go: func(out tensor.Array, in []tensor.Array) error {
			now, longest := int32(0), int32(0)
			for i, x := range tensor.Elements[float32](in[0]) {
				if now++; x <= 0 {
					now = 0
				}
				longest = max(longest, now)
				tensor.Elements[int32](out)[i] = longest
			}
			return nil
		},
		WGSL: `
@compute @workgroup_size(threads)
fn main() {
  var now = 0; var longest = 0;
  for (var i = 0u; i < n; i++) {
    now = select(0, now + 1, x[i] > 0);
    longest = max(longest, now);
    out[i] = longest;
  }
}`,
		Threads: 1,
		Grid:    [3]int{1, 1, 1},
	}
	fmt.Println(runs.Call(tensor.New([]float32{1, 2, -1, 3, 4, 5, -2, 6})))
	// Output: [1 2 2 2 2 3 3 3]
}
