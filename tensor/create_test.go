package tensor_test

import (
	"slices"
	"testing"

	"github.com/tensorken/tensorken/tensor"
)

func TestCreation(t *testing.T) {
	data := []float32{1, 2}
	copied := tensor.New(data)
	data[0] = 9
	shape := []int{2, 1}
	shaped := tensor.Zeros(shape...)
	shape[0] = 7
	i64 := tensor.New([]int64{1 << 40, -1})
	grid := tensor.Meshgrid(floats(1, 2), floats(3, 4, 5))
	type pixel uint8
	run(t, []check{
		same("New copies", copied, 1, 2),
		of("Zeros copies its shape", shaped, []int{2, 1}, 0, 0),
		of("New with a shape", tensor.New([]float32{1, 2}, 2, 1), []int{2, 1}, 1, 2),
		of("New of a scalar", tensor.New([]float32{1}, []int{}...), []int{}, 1),
		of("New of nothing", tensor.New([]float32{}, 0, 2), []int{0, 2}),
		typed("New of int64", i64, tensor.Int64, 1<<40, -1),
		typed("New of bool", bools(true), tensor.Bool, 1),
		typed("New of F16", tensor.New([]tensor.F16{tensor.ToF16(1.5)}), tensor.Float16, 1.5),
		typed("New of BF16", tensor.New([]tensor.BF16{tensor.ToBF16(1.5)}), tensor.BFloat16, 1.5),
		of("From", tensor.From([][]float32{{1, 2}, {3, 4}}), []int{2, 2}, 1, 2, 3, 4),
		{"From of arrays", tensor.From([2][1]int32{{1}, {2}}), tensor.Int32, []int{2, 1}, []float64{1, 2}},
		{"From of a number", tensor.From(int64(3)), tensor.Int64, []int{}, []float64{3}},
		{"From of nothing", tensor.From([][3]float64{}), tensor.Float64, []int{0, 3}, []float64{}},
		{"From of empty rows", tensor.From([][]bool{{}, {}}), tensor.Bool, []int{2, 0}, []float64{}},
		{"From of a named type", tensor.From([]pixel{7}), tensor.Uint8, []int{1}, []float64{7}},
		{"From of halves", tensor.From([]tensor.F16{tensor.ToF16(2)}), tensor.Float16, []int{1}, []float64{2}},
		of("Zeros", tensor.Zeros(), []int{}, 0),
		of("Ones", tensor.Ones(1, 2), []int{1, 2}, 1, 1),
		typed("ZerosLike", tensor.ZerosLike(ints(3)), tensor.Int32, 0),
		typed("OnesLike", tensor.OnesLike(bools(false)), tensor.Bool, 1),
		same("Full", tensor.Full(2.5, 2), 2.5, 2.5),
		of("Scalar", tensor.Scalar(-1), []int{}, -1),
		typed("Arange", tensor.Arange(4), tensor.Int32, 0, 1, 2, 3),
		same("Arange of a float", tensor.Arange(2.5), 0, 1, 2),
		same("Arange in fractions", tensor.Arange(0, 1, 0.25), 0, 0.25, 0.5, 0.75),
		same("Arange in a step beyond float32", tensor.Arange(0.5, 1, 1e300), 0.5),
		same("Arange of more places than float32 has", tensor.Arange(-1<<24, 1<<24+0.5).Slice(0, 1<<24-1, 1<<24+3), -1, 0, 1, 2),
		same("Linspace of more places", tensor.Linspace(-1, 1, 1<<25+1).Slice(0, 1<<24-1, 1<<24+3).Mul(1<<24), -1, 0, 1, 2),
		same("Arange of many more", tensor.Arange(0, 1<<26+0.5).Slice(0, 0, 4), 0, 1, 2, 3),
		same("Linspace of many more", tensor.Linspace(0, 1<<26, 1<<26+1).Slice(0, 0, 4), 0, 1, 2, 3),
		same("its ends", tensor.Linspace(0.1, 0.7, 1<<25).Slice(0, 0, 1<<25, 1<<25-1), 0.1, 0.7),
		same("Arange down", tensor.Arange(1, -0.5, -0.5), 1, 0.5, 0),
		same("Arange of nothing", tensor.Arange(1.0, 0.5)),
		typed("Arange in float64", tensor.Arange(0.1, 0.35, 0.1).Cast(tensor.Float64), tensor.Float64, 0.1, 0.2, 0.1+2*0.1),
		typed("Arange(0)", tensor.Arange(0), tensor.Int32),
		of("Eye", tensor.Eye(3), []int{3, 3}, 1, 0, 0, 0, 1, 0, 0, 0, 1),
		of("Eye(1)", tensor.Eye(1), []int{1, 1}, 1),
		of("Eye(0)", tensor.Eye(0), []int{0, 0}),
		same("Linspace", tensor.Linspace(1, 6, 6), 1, 2, 3, 4, 5, 6),
		same("Linspace, down", tensor.Linspace(1, -1, 5), 1, 0.5, 0, -0.5, -1),
		same("Linspace of one", tensor.Linspace(3, 9, 1), 3),
		same("Linspace of none", tensor.Linspace(3, 9, 0)),
		same("Linspace, far", tensor.Linspace(-3e38, 3e38, 5), -3e38, -1.5e38, 0, 1.5e38, 3e38),
		same("Linspace, far and many", tensor.Linspace(0, 3e38, 60001).Slice(0, 30000, 30002), 1.5e38, 1.50005e38),
		same("Linspace from a small number", tensor.Linspace(1e-30, 3e38, 3), 1e-30, 1.5e38, 3e38),
		typed("Linspace in float64", tensor.New([]float64{0}).Add(tensor.Linspace(-1.5e308, 1.5e308, 3)), tensor.Float64, -1.5e308, 0, 1.5e308),
		of("Meshgrid, first", grid[0], []int{2, 3}, 1, 1, 1, 2, 2, 2),
		of("Meshgrid, second", grid[1], []int{2, 3}, 3, 4, 5, 3, 4, 5),
	})
	eleven, err := tensor.Data[float32](tensor.Linspace(0, 1, 11))
	if want := []float32{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1}; err != nil || !slices.Equal(eleven, want) {
		t.Errorf("Linspace(0, 1, 11) = %v, %v, want %v", eleven, err, want)
	}
	for _, n := range []int{2, 3, 7, 100, 99999} {
		x := tensor.Linspace(-0.1, 0.7, n)
		if first, last := x.At(0).Item(), x.At(-1).Item(); first != float64(float32(-0.1)) || last != float64(float32(0.7)) {
			t.Errorf("Linspace(-0.1, 0.7, %d) goes from %v to %v", n, first, last)
		}
	}
}

func TestProperties(t *testing.T) {
	x := tensor.Zeros(2, 3)
	shape := x.Shape()
	shape[0] = 7
	if got := x.Shape(); !slices.Equal(got, []int{2, 3}) {
		t.Errorf("after a change of what Shape gave, it gives %v", got)
	}
	if x.Rank() != 2 || x.Len() != 6 || x.Dim(-1) != 3 || x.DType() != tensor.Float32 || !x.IsValid() {
		t.Errorf("Rank %d, Len %d, Dim(-1) %d, DType %v, IsValid %v", x.Rank(), x.Len(), x.Dim(-1), x.DType(), x.IsValid())
	}
	if s := tensor.Scalar(1).Shape(); s == nil || len(s) != 0 {
		t.Errorf("the shape of a scalar is %#v, want []int{}", s)
	}
	if (tensor.Tensor{}).IsValid() {
		t.Error("the zero Tensor is valid")
	}
	if d := x.Device(); d != nil {
		t.Errorf("Zeros is on %v", d)
	}
	y := x.To(tensor.CPU()).Add(1)
	if y.Device() != tensor.CPU() || y.Device() != tensor.Default() {
		t.Errorf("To(CPU()).Add(1) is on %v", y.Device())
	}
	if got := values(t, y.Add(tensor.Ones(2, 3))); got[0] != 2 {
		t.Errorf("committed plus uncommitted: %v", got)
	}
}
