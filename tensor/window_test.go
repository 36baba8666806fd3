package tensor_test

import (
	"slices"
	"testing"

	"github.com/tensorken/tensorken/tensor"
)

func TestConv(t *testing.T) {
	line := floats(1, 2, 3, 4, 5).Reshape(1, 1, 5)
	diff := floats(-1, 0, 1).Reshape(1, 1, 3)
	opt := func(stride, padding, dilation, groups int) *tensor.ConvOptions {
		return &tensor.ConvOptions{Stride: []int{stride}, Padding: []int{padding}, Dilation: []int{dilation}, Groups: groups}
	}
	two := tensor.Stack(1, floats(1, 2, 3), floats(4, 5, 6)).Reshape(1, 3, 2).Transpose(1, 2)
	run(t, []check{
		of("1", line.Conv(diff, nil), []int{1, 1, 3}, 2, 2, 2),
		of("1, padded", line.Conv(diff, opt(1, 1, 1, 1)), []int{1, 1, 5}, 2, 2, 2, 2, -4),
		of("1, stride 2", line.Conv(diff, opt(2, 0, 1, 1)), []int{1, 1, 2}, 2, 2),
		of("1, dilation 2", line.Conv(diff, opt(1, 0, 2, 1)), []int{1, 1, 1}, 4),
		of("channels", two.Conv(tensor.Ones(1, 2, 2), nil), []int{1, 1, 2}, 12, 16),
		of("groups", two.Conv(floats(1, 10).Reshape(2, 1, 1), opt(1, 0, 1, 2)), []int{1, 2, 3}, 1, 2, 3, 40, 50, 60),
		of("groups of two outputs", two.Conv(floats(1, 2, 3, 4).Reshape(4, 1, 1), opt(1, 0, 1, 2)), []int{1, 4, 3},
			1, 2, 3, 2, 4, 6, 12, 15, 18, 16, 20, 24),
		of("2", iota(1, 1, 3, 3).Conv(tensor.Ones(1, 1, 2, 2), nil), []int{1, 1, 2, 2}, 8, 12, 20, 24),
		of("2, options an axis", iota(1, 1, 3, 3).Conv(tensor.Ones(1, 1, 1, 2), &tensor.ConvOptions{Stride: []int{2, 1}, Padding: []int{0, 1}}),
			[]int{1, 1, 2, 4}, 0, 1, 3, 2, 6, 13, 15, 8),
		of("3", iota(1, 1, 2, 2, 2).Conv(tensor.Ones(1, 1, 2, 2, 2), nil), []int{1, 1, 1, 1, 1}, 28),
		of("no batch", tensor.Ones(0, 1, 3).Conv(tensor.Ones(2, 1, 2), nil), []int{0, 2, 2}),
	})
	// The first row, computed by hand.
	y := iota(2, 3, 4, 5).Conv(iota(5, 3, 2, 2), nil)
	run(t, []check{
		same("correlate, first row", y.Index(0, 0, 0), 2191, 2257, 2323, 2389),
		of("correlate, last", y.Index(-1, -1, -1, -1), []int{}, 62305),
	})
}

func TestPools(t *testing.T) {
	x := iota(1, 1, 4, 4)
	padding := &tensor.ConvOptions{Stride: []int{2}, Padding: []int{1}}
	run(t, []check{
		of("MaxPool", x.MaxPool(2, nil), []int{1, 1, 2, 2}, 5, 7, 13, 15),
		of("MaxPool, padded", x.Neg().MaxPool(3, padding), []int{1, 1, 2, 2}, 0, -1, -4, -5),
		of("MaxPool, stride 1", floats(3, 1, 2).Reshape(1, 1, 3).MaxPool(2, &tensor.ConvOptions{Stride: []int{1}}), []int{1, 1, 2}, 3, 2),
		of("MaxPool drops the rest", iota(1, 1, 5).MaxPool(2, nil), []int{1, 1, 2}, 1, 3),
		{"MaxPool of int32", ints(-3, -2).Reshape(1, 1, 2).MaxPool(2, padding), tensor.Int32, []int{1, 1, 2}, []float64{-3, -2}},
		of("AvgPool", x.AvgPool(2, nil), []int{1, 1, 2, 2}, 2.5, 4.5, 10.5, 12.5),
		of("MaxPool of [1 2]", x.MaxPool(0, &tensor.ConvOptions{Window: []int{1, 2}}), []int{1, 1, 4, 2}, 1, 3, 5, 7, 9, 11, 13, 15),
		of("AvgPool counts padding", tensor.Ones(1, 1, 2).AvgPool(2, padding), []int{1, 1, 2}, 0.5, 0.5),
	})
}

// Convolutions of integers by long rows of weights are exact.
func TestConvOfIntegers(t *testing.T) {
	for _, d := range []tensor.DType{tensor.Int8, tensor.Uint8, tensor.Int16, tensor.Int32, tensor.Int64} {
		for _, taps := range []int{1, 6, 17, 33} {
			for _, channels := range []int{1, 3} {
				draw := func(seed uint64, shape ...int) tensor.Tensor {
					return tensor.NewRNG(seed).Ints(3, shape...).Cast(d).Keep()
				}
				x, w := draw(1, 2, channels, 40), draw(2, 3, channels, taps)
				got, err := tensor.Data[float64](x.Cast(tensor.Int32).Conv(w.Cast(tensor.Int32), nil).Cast(tensor.Float64))
				if err != nil {
					t.Fatal(err)
				}
				want, err := tensor.Data[float64](x.Cast(tensor.Float64).Conv(w.Cast(tensor.Float64), nil))
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("%v, %d channels, %d weights: %v, want %v; %v", d, channels, taps, got, want, err)
				}
			}
		}
	}
}
