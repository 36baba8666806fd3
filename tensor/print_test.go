package tensor_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tensorken/tensorken/tensor"
)

func counting(shape ...int) tensor.Tensor {
	n := 1
	for _, d := range shape {
		n *= d
	}
	data := make([]float32, n)
	for i := range data {
		data[i] = float32(i + 1)
	}
	return tensor.New(data, shape...)
}

func TestPrint(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, tt := range []struct {
		format string
		t      tensor.Tensor
		want   string
	}{
		{"%v", tensor.Tensor{}, "<absent>"},
		{"%v", tensor.Scalar(2), "2"},
		{"%v", tensor.New([]int32{0, 1, 2, 3}), "[0 1 2 3]"},
		{"%s", tensor.New([]float32{2}, 1), "[2]"},
		{"%v", tensor.New([]int32{10, 100}, 1, 2), "[10 100]"},
		{"%v", tensor.New([]bool{false, true, false, true}), "[false true false true]"},
		{"%v", tensor.New([]int32{0, 1, 2, 3, 4, 5}, 3, 2), "[0 1]\n[2 3]\n[4 5]"},
		{"%v", tensor.New([]int32{1, 5}, 2, 1), "[1]\n[5]"},
		{"%.2f", tensor.New([]float32{0, .2, .4, .6, .8, 1}, 2, 3), "[0.00 0.20 0.40]\n[0.60 0.80 1.00]"},
		{"%v", tensor.New([]bool{true, false, true, false}, 2, 2), "[true false]\n[true false]"},
		{"%v", tensor.New([]float32{-inf, 0, 0.69314724, 1.0986124, 1.3862945, 1.6094381}, 3, 2), "" +
			"[-inf       0        ]\n" +
			"[0.69314724 1.0986124]\n" +
			"[1.3862945  1.6094381]"},
		{"%v", tensor.New([]float32{nan, inf, float32(math.Copysign(0, -1)), 1e10, 1.5e-10, 16777216, .1}),
			"[NaN inf -0 10000000000 0.00000000015 16777216 0.1]"},
		{"%v", tensor.New([]float64{.1, 1. / 3}), "[0.1 0.3333333333333333]"},
		{"%v", tensor.New([]tensor.F16{tensor.ToF16(.1), tensor.ToF16(65504), tensor.ToF16(1. / 3)}), "[0.1 65500 0.3333]"},
		{"%v", tensor.New([]tensor.BF16{tensor.ToBF16(.1), tensor.ToBF16(3.14159)}), "[0.1 3.14]"},
		{"%v", tensor.New([]int64{math.MinInt64, math.MaxInt64}), "[-9223372036854775808 9223372036854775807]"},
		{"%v", tensor.New([]uint8{0, 255}), "[0 255]"},
		{"%v", tensor.New([]float32{}, 0, 3), "[] (shape [0 3])"},
		{"%v", tensor.New([]float32{}), "[] (shape [0])"},
		{"%6.1f", counting(2, 2), "[   1.0    2.0]\n[   3.0    4.0]"},
		{"%-6.1f", counting(2), "[1.0    2.0   ]"},
		{"%.2f", tensor.New([]float32{nan, -inf, 1}), "[NaN -inf 1.00]"},
		{"%.1f", tensor.New([]int32{1, 2}), "[1.0 2.0]"},
		{"%.2f", tensor.New([]bool{true}), "%!f(tensor.Tensor=[true])"},
		{"%.2e", counting(2), "[1.00e+00 2.00e+00]"},
		{"%g", tensor.New([]float32{.1}), "[0.1]"},
		{"%.2v", tensor.New([]float32{.123}), "[0.12]"},
		{"%03d", tensor.New([]int32{1, -2}), "[001 -02]"},
		{"%x", tensor.New([]uint8{10, 255}), "[a ff]"},
		{"%4v", tensor.New([]int32{1, 23}), "[   1   23]"},
		{"%d", counting(2), "%!d(tensor.Tensor=[1 2])"},
		{"%t", tensor.New([]bool{true}), "[true]"},
		{"%+.1f", counting(2), "[+1.0 +2.0]"},
		{"%+v", tensor.New([]int32{1, 2}), "[1 2] (int32 [2] on cpu, uncommitted)"},
		{"%+v", tensor.New([]float32{}, 0, 3), "[] (shape [0 3]) (float32 [0 3] on cpu, uncommitted)"},
		{"%v", counting(1001), "[1 2 3 … 999 1000 1001]"},
		{"%v", counting(1000), "[" + strings.Trim(fmt.Sprint(sequence(1000)), "[]") + "]"},
		{"%v", counting(40, 26), "" +
			"[1    2    3    … 24   25   26  ]\n" +
			"[27   28   29   … 50   51   52  ]\n" +
			"[53   54   55   … 76   77   78  ]\n" +
			"[…    …    …    … …    …    …   ]\n" +
			"[963  964  965  … 986  987  988 ]\n" +
			"[989  990  991  … 1012 1013 1014]\n" +
			"[1015 1016 1017 … 1038 1039 1040]"},
	} {
		if diff := cmp.Diff(tt.want, fmt.Sprintf(tt.format, tt.t)); diff != "" {
			t.Errorf("%s of %+v: -want +got\n%s", tt.format, tt.t, diff)
		}
	}
}

func sequence(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i + 1
	}
	return s
}

func TestPrintBoxes(t *testing.T) {
	matmul := tensor.New([]float32{282, 300, 687, 732, 1524, 1596, 2091, 2190, 1902, 2028, 2307, 2460,
		3792, 3972, 4359, 4566, 3522, 3756, 3927, 4188, 6060, 6348, 6627, 6942}, 3, 2, 2, 2)
	for _, tt := range []struct {
		t    tensor.Tensor
		want string
	}{
		{counting(2, 3, 4), `
┌                                              ┐
│ ┌                  ┐   ┌                   ┐ │
│ │ 1   2    3    4  │   │ 13   14   15   16 │ │
│ │ 5   6    7    8  │   │ 17   18   19   20 │ │
│ │ 9   10   11   12 │   │ 21   22   23   24 │ │
│ └                  ┘   └                   ┘ │
└                                              ┘`},
		{tensor.New([]float32{1, 2, 7, 8, 13, 14}, 3, 1, 2), `
┌                               ┐
│ [ 1  2]   [ 7  8]   [ 13  14] │
└                               ┘`},
		{counting(4, 3, 1, 2), `
┌                                   ┐
│ [ 1  2]     [ 3  4]     [ 5  6]   │
│ [ 7  8]     [ 9  10]    [ 11  12] │
│ [ 13  14]   [ 15  16]   [ 17  18] │
│ [ 19  20]   [ 21  22]   [ 23  24] │
└                                   ┘`},
		{matmul, `
┌                                   ┐
│ ┌           ┐     ┌             ┐ │
│ │ 282   300 │     │ 1524   1596 │ │
│ │ 687   732 │     │ 2091   2190 │ │
│ └           ┘     └             ┘ │
│ ┌             ┐   ┌             ┐ │
│ │ 1902   2028 │   │ 3792   3972 │ │
│ │ 2307   2460 │   │ 4359   4566 │ │
│ └             ┘   └             ┘ │
│ ┌             ┐   ┌             ┐ │
│ │ 3522   3756 │   │ 6060   6348 │ │
│ │ 3927   4188 │   │ 6627   6942 │ │
│ └             ┘   └             ┘ │
└                                   ┘`},
		{counting(2, 2, 2, 2, 2), `
┌                                                               ┐
│ ┌                           ┐   ┌                           ┐ │
│ │ ┌       ┐     ┌       ┐   │   │ ┌         ┐   ┌         ┐ │ │
│ │ │ 1   2 │     │ 5   6 │   │   │ │ 17   18 │   │ 21   22 │ │ │
│ │ │ 3   4 │     │ 7   8 │   │   │ │ 19   20 │   │ 23   24 │ │ │
│ │ └       ┘     └       ┘   │   │ └         ┘   └         ┘ │ │
│ │ ┌         ┐   ┌         ┐ │   │ ┌         ┐   ┌         ┐ │ │
│ │ │ 9    10 │   │ 13   14 │ │   │ │ 25   26 │   │ 29   30 │ │ │
│ │ │ 11   12 │   │ 15   16 │ │   │ │ 27   28 │   │ 31   32 │ │ │
│ │ └         ┘   └         ┘ │   │ └         ┘   └         ┘ │ │
│ └                           ┘   └                           ┘ │
└                                                               ┘`},
		{counting(1, 1, 1), `
┌      ┐
│ [ 1] │
└      ┘`},
		{counting(700, 1, 2), `
┌                                                                                 ┐
│ [ 1  2]   [ 3  4]   [ 5  6]   …   [ 1395  1396]   [ 1397  1398]   [ 1399  1400] │
└                                                                                 ┘`},
	} {
		got := "\n" + tt.t.String()
		if got != tt.want {
			t.Errorf("%v prints%s\nwant%s", tt.t.Shape(), got, tt.want)
		}
	}
}

// Tensors of every rank are aligned, without spaces or newlines at the end.
func TestPrintRanks(t *testing.T) {
	for rank := range 9 {
		shape := make([]int, rank)
		for i := range shape {
			shape[i] = i%3 + 1
		}
		s := counting(shape...).String()
		width := len([]rune(strings.SplitN(s, "\n", 2)[0]))
		for _, line := range strings.Split(s, "\n") {
			if len([]rune(line)) != width || strings.HasSuffix(line, " ") {
				t.Errorf("%v prints ragged lines:\n%s", shape, s)
				break
			}
		}
	}
}

func ExampleTensor_String() {
	fmt.Println(tensor.Arange(4))
	fmt.Println(tensor.New([]float32{1, 2, 3, 4, 5, 6}, 2, 3))
	fmt.Println(tensor.New([]int32{1, 2, 3, 4, 5, 6, 7, 8}, 2, 2, 2))
	// Output:
	// [0 1 2 3]
	// [1 2 3]
	// [4 5 6]
	// ┌                       ┐
	// │ ┌       ┐   ┌       ┐ │
	// │ │ 1   2 │   │ 5   6 │ │
	// │ │ 3   4 │   │ 7   8 │ │
	// │ └       ┘   └       ┘ │
	// └                       ┘
}

func ExampleTensor_Format() {
	t := tensor.New([]float32{1, 1.5, 2})
	fmt.Printf("%v %.2f\n%+v\n", t, t, t)
	// Output:
	// [1 1.5 2] [1.00 1.50 2.00]
	// [1 1.5 2] (float32 [3] on cpu, uncommitted)
}
