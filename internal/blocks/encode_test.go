package blocks

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// samples returns numbers, normal but for one of a hundred, which is larger, and weights.
func samples() (x, w []float32) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 4096 {
		v := r.NormFloat64() / 50
		if r.IntN(100) == 0 {
			v *= 5
		}
		x, w = append(x, float32(v)), append(w, float32(math.Exp(r.NormFloat64())))
	}
	return x, w
}

// deviation returns the root of the mean squared error, times weights.
func deviation(x, y, w []float32) float64 {
	sum := 0.0
	for i := range x {
		e := float64(x[i] - y[i])
		sum += float64(w[i]) * e * e
	}
	return math.Sqrt(sum / float64(len(x)))
}

func (f *Format) roundTrip(t *testing.T, x, w []float32) []float32 {
	t.Helper()
	b, y := make([]byte, len(x)/f.Len*f.Bytes), make([]float32, len(x))
	for i := 0; i < len(x); i += f.Len {
		var weights []float32
		if w != nil {
			weights = w[i : i+f.Len]
		}
		if err := f.Encode(b[i/f.Len*f.Bytes:][:f.Bytes], x[i:i+f.Len], weights); err != nil {
			t.Fatal(err)
		}
	}
	f.Decode(y, b)
	return y
}

// deviations has, by format, the deviation of the library ggml's quantisation from samples, with
// equal weights and with the samples' weights.
var deviations = map[string][2]float64{
	"Q4_0":    {0.0026033, 0.003126},
	"Q4_1":    {0.0019767, 0.0021369},
	"Q5_0":    {0.0012824, 0.001562},
	"Q5_1":    {0.00095331, 0.0010175},
	"Q8_0":    {0.0001611, 0.00020874},
	"Q2_K":    {0.0074014, 0.0076481},
	"Q3_K":    {0.0040519, 0.0046245},
	"Q4_K":    {0.0018457, 0.0021912},
	"Q5_K":    {0.00093341, 0.001124},
	"Q6_K":    {0.00049903, 0.00059505},
	"IQ2_XXS": {0.0092813, 0.011035},
	"IQ2_XS":  {0.007553, 0.0087304},
	"IQ3_XXS": {0.0057683, 0.0052052},
	"IQ1_S":   {0.01337, 0.015452},
	"IQ4_NL":  {0.0020864, 0.0024952},
	"IQ3_S":   {0.0041851, 0.0043722},
	"IQ2_S":   {0.0070364, 0.0079369},
	"IQ4_XS":  {0.0021198, 0.0025433},
	"IQ1_M":   {0.011362, 0.012599},
	"TQ1_0":   {0.019529, 0.025035},
	"TQ2_0":   {0.019529, 0.025035},
	"MXFP4":   {0.002859, 0.0037281},
	"NVFP4":   {0.0021981, 0.0027775},
	"Q1_0":    {0.01516, 0.019848},
	"Q2_0":    {0.016346, 0.021062},
}

func TestEncode(t *testing.T) {
	x, w := samples()
	ones := slices.Repeat([]float32{1}, len(x))
	for _, name := range slices.Sorted(maps.Keys(deviations)) {
		f, want := Formats[name], deviations[name]
		for i, weights := range [][]float32{ones, w} {
			got := deviation(x, f.roundTrip(t, x, weights), weights)
			if ratio := got / want[i]; !(ratio <= 1) {
				t.Errorf("%s: the deviation is %.4g, %.3f times ggml's", name, got, ratio)
			}
		}
	}
}

// Zeros stay zeros, numbers of any size stay finite, infinities are errors, and numbers of three
// values are exact.
func TestEncodeEdges(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, name := range slices.Sorted(maps.Keys(Formats)) {
		f := Formats[name]
		x := make([]float32, f.Len)
		for _, y := range f.roundTrip(t, x, nil) {
			if y != 0 {
				t.Errorf("%s: zeros become %v", name, y)
				break
			}
		}
		for _, scale := range []float64{1e-30, 1e-7, 1e3, 1e30} {
			for i := range x {
				x[i] = float32(r.NormFloat64() * scale)
			}
			for i, y := range f.roundTrip(t, x, make([]float32, f.Len)) { // no weight at all is equal weights
				if y-y != 0 {
					t.Errorf("%s: %v becomes %v", name, x[i], y)
					break
				}
			}
		}
		x[3] = float32(math.Inf(-1))
		if err := f.Encode(make([]byte, f.Bytes), x, nil); err == nil || err.Error()[:27] != "-Inf cannot be quantised: t" {
			t.Errorf("%s: an infinity: %v", name, err)
		}
	}
	ternary := make([]float32, 256)
	for i := range ternary {
		ternary[i] = float32(r.IntN(3)-1) * 0.375
	}
	for _, name := range []string{"TQ1_0", "TQ2_0", "Q2_0", "Q4_0", "Q5_0", "Q4_K", "Q2_K"} {
		if y := Formats[name].roundTrip(t, ternary, nil); deviation(ternary, y, ternary) > 1e-4 && name != "Q2_K" || name[0] == 'T' && !slices.Equal(y, ternary) {
			t.Errorf("%s: numbers of three values become %v", name, y)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	x, _ := samples()
	for _, name := range slices.Sorted(maps.Keys(Formats)) {
		f := Formats[name]
		b.Run(name, func(b *testing.B) {
			out := make([]byte, f.Bytes)
			b.SetBytes(int64(4 * f.Len))
			for i := 0; b.Loop(); i++ {
				at := i * f.Len % len(x)
				if err := f.Encode(out, x[at:at+f.Len], nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
