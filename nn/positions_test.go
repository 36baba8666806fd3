package nn_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

func TestSinusoids(t *testing.T) {
	const length, width = 50, 6
	var want []float64
	for p := range length {
		for i := range width / 2 {
			sin, cos := math.Sincos(float64(p) * math.Pow(10000, -2*float64(i)/width))
			want = append(want, sin, cos)
		}
	}
	wanted := tensor.New(want, length, width)
	near(t, "Sinusoids", nn.Sinusoids(length, width), wanted.Cast(tensor.Float32), 1e-5)
	near(t, "Sinusoids in float64", tensor.ZerosOf(tensor.Float64, length, width).Add(nn.Sinusoids(length, width)), wanted, 1e-12)
}

func TestALiBi(t *testing.T) {
	for heads, want := range map[int][]float64{
		1: {1. / 256},
		4: {1. / 4, 1. / 16, 1. / 64, 1. / 256},
		6: {1. / 4, 1. / 16, 1. / 64, 1. / 256, 1. / 2, 1. / 8},
	} {
		near(t, fmt.Sprintf("ALiBiSlopes of %d heads", heads), nn.ALiBiSlopes(heads), tensor.New(want).Cast(tensor.Float32), 1e-6)
	}
	want := tensor.From([][][]float32{{{-2. / 16, -1. / 16, 0, -1. / 16}, {-3. / 16, -2. / 16, -1. / 16, 0}}, {{-2. / 256, -1. / 256, 0, -1. / 256}, {-3. / 256, -2. / 256, -1. / 256, 0}}})
	near(t, "ALiBi", nn.ALiBi(2, 2, 4, 2), want, 1e-7)
}

// The buckets equal Hugging Face's T5 for distances from -140 to 140, as runs of a bucket
// and its count.
func TestRelativeBias(t *testing.T) {
	for _, c := range []struct {
		bidirectional bool
		buckets, most int
		runs          [][2]int
	}{
		{true, 32, 0, [][2]int{
			{15, 50}, {14, 27}, {13, 18}, {12, 14}, {11, 9}, {10, 7}, {9, 4}, {8, 4}, {7, 1}, {6, 1}, {5, 1}, {4, 1}, {3, 1}, {2, 1}, {1, 1}, {0, 1},
			{17, 1}, {18, 1}, {19, 1}, {20, 1}, {21, 1}, {22, 1}, {23, 1}, {24, 4}, {25, 4}, {26, 7}, {27, 9}, {28, 14}, {29, 18}, {30, 27}, {31, 50},
		}},
		{false, 32, 128, [][2]int{
			{31, 28}, {30, 14}, {29, 12}, {28, 10}, {27, 10}, {26, 8}, {25, 7}, {24, 6}, {23, 6}, {22, 5}, {21, 4}, {20, 4}, {19, 3}, {18, 3}, {17, 2}, {16, 3},
			{15, 1}, {14, 1}, {13, 1}, {12, 1}, {11, 1}, {10, 1}, {9, 1}, {8, 1}, {7, 1}, {6, 1}, {5, 1}, {4, 1}, {3, 1}, {2, 1}, {1, 1}, {0, 141},
		}},
		{true, 12, 50, [][2]int{{5, 121}, {4, 12}, {3, 5}, {2, 1}, {1, 1}, {0, 1}, {7, 1}, {8, 1}, {9, 5}, {10, 12}, {11, 121}}},
		{false, 10, 40, [][2]int{{9, 114}, {8, 9}, {7, 6}, {6, 4}, {5, 3}, {4, 1}, {3, 1}, {2, 1}, {1, 1}, {0, 141}}},
	} {
		l := nn.NewRelativeBias(tensor.NewRNG(1), c.buckets, 3)
		l.Bidirectional, l.MaxDistance = c.bidirectional, c.most
		var want []int32
		for _, r := range c.runs {
			for range r[1] {
				want = append(want, int32(r[0]))
			}
		}
		got, err := tensor.Data[int32](l.Buckets(2, 282, 140).Cast(tensor.Int32))
		if err != nil {
			t.Fatal(err)
		}
		for i, b := range want {
			if got[i] != b || got[282+1+i] != b { // the second query is one position on
				t.Errorf("%d buckets, bidirectional %v: distance %d is in %d and %d, want %d", c.buckets, c.bidirectional, i-140, got[i], got[282+1+i], b)
			}
		}
		bias := l.Apply(2, 282, 140)
		if s := fmt.Sprint(bias.Shape()); s != "[3 2 282]" {
			t.Fatalf("Apply has shape %s", s)
		}
		near(t, "a bias", bias.At(1, 1, 141), l.Weight.At(int(want[140]), 1), 0)
	}
}

func TestPositionsMisuse(t *testing.T) {
	rng := tensor.NewRNG(1)
	for name, f := range map[string]func(){
		"Sinusoids of an odd width": func() { nn.Sinusoids(3, 5) },
		"no heads":                  func() { nn.ALiBiSlopes(0) },
		"negative lengths":          func() { nn.ALiBi(2, -1, 3, 0) },
		"an absent weight":          func() { nn.RelativeBias{}.Apply(2, 2, 0) },
		"an odd number of buckets":  func() { nn.RelativeBias{Weight: rng.Normal(7, 2), Bidirectional: true}.Apply(2, 2, 0) },
		"a small MaxDistance":       func() { nn.RelativeBias{Weight: rng.Normal(8, 2), MaxDistance: 4}.Apply(2, 2, 0) },
	} {
		if err := tensor.Try(f); err == nil {
			t.Errorf("%s: no error", name)
		} else {
			t.Logf("%s: %v", name, err)
		}
	}
}
