package tensor_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tensorken/tensorken/internal/goldentext"
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
	negativeZero := float32(math.Copysign(0, -1))
	halves := []tensor.F16{tensor.ToF16(.1), tensor.ToF16(65504), tensor.ToF16(1. / 3)}
	for _, tt := range []struct {
		format string
		t      tensor.Tensor
		want   string
	}{
		{"%v", tensor.Tensor{}, "<absent>"},
		{"%v", tensor.Scalar(2), "2"},
		{"%v", tensor.New([]int32{0, 1, 2, 3}), "[0 1 2 3]"},
		{"%s", tensor.New([]float32{2}, 1), "[2]"},
		{"%v", tensor.New([]int32{10, 100}, 1, 2), "[[10 100]]"},
		{"%v", tensor.New([]int32{5}, 1, 1, 1), "[[[5]]]"},
		{"%v", tensor.New([]bool{false, true, false, true}), "[false true false true]"},
		{"%v", tensor.New([]int32{0, 1, 2, 3, 4, 5}, 3, 2), "[[0 1]\n [2 3]\n [4 5]]"},
		{"%v", tensor.New([]int32{1, 15}, 2, 1), "[[ 1]\n [15]]"},
		{"%v", tensor.New([]bool{true, false, true, false}, 2, 2), "[[ true false]\n [ true false]]"},

		// The format that numbers share.
		{"%v", tensor.New([]float32{-inf, 0, 0.69314724, 1.0986124, 1.3862945, 1.6094381}, 3, 2), "" +
			"[[  -inf 0.0000]\n" +
			" [0.6931 1.0986]\n" +
			" [1.3863 1.6094]]"},
		{"%v", tensor.New([]float32{nan, inf, negativeZero, 16777216, 1}), "[NaN inf -0 16777216 1]"},
		{"%v", tensor.New([]float32{nan, -inf, 0}), "[NaN -inf 0]"},
		{"%v", tensor.New([]float32{1, 1.5, -2.25}), "[1.00 1.50 -2.25]"},
		{"%v", tensor.New([]float32{0.0001, 99999992}), "[0.0001 99999992.0000]"},
		{"%v", tensor.New([]float32{0.5, 1234.5}), "[0.5 1234.5]"},
		{"%v", tensor.New([]float32{0.00012346, 0.5}), "[1.235e-04 5.000e-01]"}, // PyTorch: [1.2346e-04, 5.0000e-01]
		{"%v", tensor.New([]float32{0.00051234, 0.5}), "[0.0005 0.5000]"},       // a ratio below 1000, as PyTorch
		{"%v", tensor.New([]float32{0.12345678, 1234.5}), "[1.235e-01 1.234e+03]"},
		{"%v", tensor.New([]float32{0.001, 1500, nan, 0}), "[0.001 1500.000 NaN 0.000]"},
		{"%v", tensor.New([]float64{5e-324, 1e308}), "[5e-324 1e+308]"},
		{"%v", tensor.New([]float32{0.000099, 0.5}), "[9.9e-05 5.0e-01]"},
		{"%v", tensor.New([]float32{1e10, -1}), "[1e+10 -1e+00]"},
		{"%v", tensor.New([]float32{1.23456e-10, nan, 0}), "[1.235e-10 NaN 0.000e+00]"},
		{"%v", tensor.New([]float64{1e-300, 1e300}), "[1e-300 1e+300]"},
		{"%v", tensor.New([]float64{.1, 1. / 3}), "[0.1000 0.3333]"},
		{"%v", tensor.Scalar(math.Pi), "3.1416"},
		{"%v", tensor.New(halves), "[0.1000 65504.0000 0.3333]"},
		{"%v", tensor.New([]tensor.BF16{tensor.ToBF16(.1), tensor.ToBF16(3.14159)}), "[0.10 3.14]"},
		{"%v", tensor.New([]int64{math.MinInt64, math.MaxInt64}), "[-9223372036854775808 9223372036854775807]"},
		{"%v", tensor.New([]uint8{0, 255}), "[0 255]"},
		{"%v", tensor.New([]float32{}, 0, 3), "[] (shape [0 3])"},
		{"%v", tensor.New([]float32{}), "[] (shape [0])"},

		// Verbs, widths, precisions.
		{"%.2f", tensor.New([]float32{0, .2, .4, .6, .8, 1}, 2, 3), "[[0.00 0.20 0.40]\n [0.60 0.80 1.00]]"},
		{"%6.1f", counting(2, 2), "[[   1.0    2.0]\n [   3.0    4.0]]"},
		{"%-6.1f", counting(2), "[1.0    2.0   ]"},
		{"%.2f", tensor.New([]float32{nan, -inf, 1}), "[NaN -inf 1.00]"},
		{"%.1f", tensor.New([]int32{1, 2}), "[1.0 2.0]"},
		{"%.2f", tensor.New([]bool{true}), "%!f(tensor.Tensor=[true])"},
		{"%.2e", counting(2), "[1.00e+00 2.00e+00]"},
		{"%g", tensor.New([]float32{.1, 1. / 3, 1e10, negativeZero}), "[0.1 0.33333334 1e+10 -0]"},
		{"%g", tensor.New([]float64{.1, 1. / 3}), "[0.1 0.3333333333333333]"},
		{"%g", tensor.New(halves), "[0.1 65500 0.3333]"},
		{"%G", tensor.New([]tensor.BF16{tensor.ToBF16(.1)}), "[0.1]"},
		{"%.3g", tensor.New(halves), "[0.1 6.55e+04 0.333]"},
		{"%.2v", tensor.New([]float32{.123}), "[0.12]"},
		{"%7v", tensor.New([]float32{.123, 1}), "[  0.123   1.000]"},
		{"%03d", tensor.New([]int32{1, -2}), "[001 -02]"},
		{"%x", tensor.New([]uint8{10, 255}), "[a ff]"},
		{"%4v", tensor.New([]int32{1, 23}), "[   1   23]"},
		{"%d", counting(2), "%!d(tensor.Tensor=[1 2])"},
		{"%t", tensor.New([]bool{true}), "[true]"},
		{"%+.1f", counting(2), "[+1.0 +2.0]"},
		{"%+v", tensor.New([]int32{1, 2}), "[1 2] (int32 [2] on cpu, uncommitted)"},
		{"%+v", tensor.New([]float32{}, 0, 3), "[] (shape [0 3]) (float32 [0 3] on cpu, uncommitted)"},

		// Texts that are too long.
		{"%v", counting(24), "[" + strings.Trim(fmt.Sprint(sequence(24)), "[]") + "]"},
		{"%v", counting(30), "" +
			"[ 1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26\n" +
			" 27 28 29 30]"},
		{"%30v", counting(1, 3), "" +
			"[[                             1                              2\n" +
			"                               3]]"},
		{"%90v", counting(2), "[" + strings.Repeat(" ", 89) + "1\n " + strings.Repeat(" ", 89) + "2]"},
		{"%v", counting(1001), "[1 2 3 … 999 1000 1001]"},
		{"%v", counting(40, 26), "" +
			"[[   1    2    3 …   24   25   26]\n" +
			" [  27   28   29 …   50   51   52]\n" +
			" [  53   54   55 …   76   77   78]\n" +
			" …\n" +
			" [ 963  964  965 …  986  987  988]\n" +
			" [ 989  990  991 … 1012 1013 1014]\n" +
			" [1015 1016 1017 … 1038 1039 1040]]"},
		{"%v", counting(2, 2, 2), "[[[1 2]\n  [3 4]]\n\n [[5 6]\n  [7 8]]]"},
		{"%v", counting(1, 2, 1, 1, 2), "[[[[[1 2]]]\n\n  [[[3 4]]]]]"},
		{"%v", counting(1, 1, 1, 1, 1, 1, 1, 2), "[[[[[[[[1 2]]]]]]]]"},
		{"%v", counting(1, 1, 1, 1, 2, 1, 1, 1, 2), "[[1 2]\n [3 4]] (shape [1 1 1 1 2 1 1 1 2])"},
		{"%v", counting(1, 1, 1, 1, 1, 1, 1, 1, 1), "1 (shape [1 1 1 1 1 1 1 1 1])"},
	} {
		if diff := goldentext.Diff(tt.want, fmt.Sprintf(tt.format, tt.t)); diff != "" {
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

// Brackets alone tell several tensors of a line apart: a text does not depend on the text before
// it.
func TestPrintSeveral(t *testing.T) {
	m, v := counting(2, 2), counting(2)
	const rows = "[[1 2]\n [3 4]]"
	for _, tt := range []struct{ got, want string }{
		{fmt.Sprintln(m), rows + "\n"},
		{m.String(), rows},
		{fmt.Sprintln(m, m), rows + " " + rows + "\n"},
		{fmt.Sprintln(v, m, v), "[1 2] " + rows + " [1 2]\n"},
		{fmt.Sprintf("m:\n%v", m), "m:\n" + rows},
		{fmt.Sprint([]tensor.Tensor{v, m}), "[[1 2] " + rows + "]"},
		{fmt.Sprintf("%+v", struct{ W, B *tensor.Tensor }{&m, nil}), "{W:" + rows + " (float32 [2 2] on cpu, uncommitted) B:<nil>}"},
		{fmt.Sprint("m ", m.Sum(), " ", counting(1, 2)), "m 10 [[1 2]]"},
	} {
		if tt.got != tt.want {
			t.Errorf("got\n%s\nwant\n%s", tt.got, tt.want)
		}
	}
}

// Tensors of every rank are aligned, without spaces at the end, and none takes many lines.
func TestPrintRanks(t *testing.T) {
	for rank := range 20 {
		shape := make([]int, rank)
		for i := range shape {
			shape[i] = i%3 + 1
		}
		s, _, _ := strings.Cut(tensor.Scalar(1).Expand(shape...).String(), " (shape")
		lines := strings.Split(s, "\n")
		if len(lines) > 1000 {
			t.Errorf("%v prints %d lines", shape, len(lines))
		}
		for _, line := range lines {
			if strings.HasSuffix(line, " ") || strings.Contains(line, "1") && strings.Index(line, "1") != strings.Index(s, "1") {
				t.Errorf("%v prints ragged lines:\n%s", shape, s)
				break
			}
		}
	}
}

// Files and requests can say any number of axes.
func TestPrintAxes(t *testing.T) {
	shape := slices.Repeat([]int{1}, 3000)
	for _, c := range []struct{ axis, length int }{{0, 1}, {1500, 2}, {2999, 5000}} {
		shape[c.axis] = c.length
		start := time.Now()
		s := tensor.Scalar(1).Expand(shape...).String()
		if d := time.Since(start); len(s) > 10_000 || d > time.Second {
			t.Errorf("3,000 axes, of which axis %d has length %d, print %d bytes in %v", c.axis, c.length, len(s), d)
		}
		shape[c.axis] = 1
	}
}

func ExampleTensor_String() {
	fmt.Println(tensor.Arange(4))
	fmt.Println(tensor.New([]float32{1, 2, 3, 4, 5, 6}, 2, 3))
	fmt.Println(tensor.New([]int32{1, 2, 3, 4, 5, 6, 7, 8}, 2, 2, 2))
	// Output:
	// [0 1 2 3]
	// [[1 2 3]
	//  [4 5 6]]
	// [[[1 2]
	//   [3 4]]
	//
	//  [[5 6]
	//   [7 8]]]
}

func ExampleTensor_Format() {
	t := tensor.New([]float32{1, 1.5, 2})
	fmt.Printf("%v %.2f\n%+v\n", t, t, t)
	// Output:
	// [1.0 1.5 2.0] [1.00 1.50 2.00]
	// [1.0 1.5 2.0] (float32 [3] on cpu, uncommitted)
}
