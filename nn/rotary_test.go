package nn_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// rate is the angle per position of pair i, by the definitions of Hugging Face's
// modeling_rope_utils for a text of n positions.
func rate(r nn.Rotary, width, i, n int) (rate, factor float64) {
	plain := func(base float64) float64 { return math.Pow(base, -2*float64(i)/float64(width)) }
	f := plain(r.Base)
	switch s := r.Scaling.(type) {
	case nil:
		return f, 1
	case nn.LinearScaling:
		return f / s.Factor, 1
	case nn.DynamicScaling:
		if n <= s.Length {
			return f, 1
		}
		d := float64(width)
		return plain(r.Base * math.Pow(s.Factor*float64(n)/float64(s.Length)-(s.Factor-1), d/(d-2))), 1
	case nn.Llama3Scaling:
		wave := 2 * math.Pi / f
		length := float64(s.Length)
		switch {
		case wave < length/s.HighFreq:
			return f, 1
		case wave > length/s.LowFreq:
			return f / s.Factor, 1
		}
		smooth := (length/wave - s.LowFreq) / (s.HighFreq - s.LowFreq)
		return (1-smooth)*f/s.Factor + smooth*f, 1
	case nn.YaRNScaling:
		dim := func(turns float64) float64 {
			return float64(width) * math.Log(float64(s.Length)/(turns*2*math.Pi)) / (2 * math.Log(r.Base))
		}
		fast, slow, factor := s.BetaFast, s.BetaSlow, s.Magnitude
		if fast == 0 {
			fast, slow = 32, 1
		}
		if factor == 0 {
			factor = 0.1*math.Log(s.Factor) + 1
		}
		low, high := dim(fast), dim(slow)
		if !s.Exact {
			low, high = math.Floor(low), math.Ceil(high)
		}
		low, high = math.Max(low, 0), math.Min(high, float64(width-1))
		ramp := math.Min(math.Max((float64(i)-low)/(high-low), 0), 1)
		return f/s.Factor*ramp + f*(1-ramp), factor
	}
	panic("no such scaling")
}

// rotaries has a Rotary of each kind.
var rotaries = map[string]nn.Rotary{
	"plain":              {Base: 10000},
	"interleaved":        {Base: 100, Interleaved: true},
	"partial":            {Base: 10000, Width: 4},
	"partial, neighbors": {Base: 10000, Width: 4, Interleaved: true},
	"linear":             {Base: 10000, Scaling: nn.LinearScaling{Factor: 4}},
	"dynamic":            {Base: 10000, Scaling: nn.DynamicScaling{Factor: 2, Length: 8}},
	"Llama 3":            {Base: 10000, Scaling: nn.Llama3Scaling{Factor: 8, LowFreq: 1, HighFreq: 4, Length: 64}},
	"YaRN":               {Base: 10000, Scaling: nn.YaRNScaling{Factor: 4, Length: 512}},
	"YaRN with settings": {Base: 500, Scaling: nn.YaRNScaling{Factor: 16, Length: 4096, BetaFast: 20, BetaSlow: 2, Magnitude: 1.5, Exact: true}},
}

func TestRotary(t *testing.T) {
	rng := tensor.NewRNG(1)
	const width = 12
	for name, r := range rotaries {
		for _, at := range [][]int{{0, 1, 2, 3, 4}, {30, 31}, {7, 300}} {
			x := rng.Normal(2, 3, len(at), width).Cast(tensor.Float64)
			var positions []int32
			n := 0
			for _, p := range at {
				positions, n = append(positions, int32(p)), max(n, p+1)
			}
			rotated := width
			if r.Width > 0 {
				rotated = r.Width
			}
			in := numbers(t, x)
			want := append([]float64{}, in...)
			for row := range len(in) / width {
				for i := range rotated / 2 {
					f, factor := rate(r, rotated, i, n)
					sin, cos := math.Sincos(float64(at[row%len(at)]) * f)
					a, b := row*width+i, row*width+i+rotated/2
					if r.Interleaved {
						a, b = row*width+2*i, row*width+2*i+1
					}
					want[a] = factor * (in[a]*cos - in[b]*sin)
					want[b] = factor * (in[b]*cos + in[a]*sin)
				}
			}
			wanted := tensor.New(want, x.Shape()...)
			near(t, fmt.Sprintf("%s at %v in float64", name, at), r.Apply(x, tensor.New(positions)), wanted, 1e-12)
			near(t, fmt.Sprintf("%s at %v", name, at), r.Apply(x.Cast(tensor.Float32), tensor.New(positions)), wanted.Cast(tensor.Float32), 1e-4)
			half := r.Apply(x.Cast(tensor.BFloat16), tensor.New(positions))
			near(t, fmt.Sprintf("%s at %v in bfloat16", name, at), half, wanted.Cast(tensor.BFloat16), 0.03)
		}
	}
	x := rng.Normal(2, 3, 4)
	near(t, "the zero Rotary", nn.Rotary{}.Apply(x, tensor.Arange(3)), x, 0)
}

// Scores of rotated queries and keys depend on the distance of their positions only.
func TestRotaryIsRelative(t *testing.T) {
	rng := tensor.NewRNG(1)
	q, k := rng.Normal(1, 8).Cast(tensor.Float64), rng.Normal(1, 8).Cast(tensor.Float64)
	for name, r := range rotaries {
		if _, ok := r.Scaling.(nn.DynamicScaling); ok {
			continue
		}
		score := func(i, j int) tensor.Tensor {
			return r.Apply(q, tensor.Arange(i, i+1)).MatMul(r.Apply(k, tensor.Arange(j, j+1)).T())
		}
		near(t, name, score(105, 100), score(5, 0), 1e-10)
	}
}

func TestRotaryMisuse(t *testing.T) {
	x, p := tensor.Ones(3, 6), tensor.Arange(3)
	for name, f := range map[string]func(){
		"a negative base":      func() { nn.Rotary{Base: -1}.Apply(x, p) },
		"an odd width":         func() { nn.Rotary{Base: 10, Width: 3}.Apply(x, p) },
		"a width that exceeds": func() { nn.Rotary{Base: 10, Width: 8}.Apply(x, p) },
		"integers":             func() { nn.Rotary{Base: 10}.Apply(tensor.New([]int32{1, 2}, 1, 2), p) },
		"no time":              func() { nn.Rotary{Base: 10}.Apply(tensor.Ones(6), p) },
		"too many positions":   func() { nn.Rotary{Base: 10}.Apply(x, tensor.Arange(4)) },
		"no factor":            func() { nn.Rotary{Base: 10, Scaling: nn.LinearScaling{}}.Apply(x, p) },
		"no length":            func() { nn.Rotary{Base: 10, Scaling: nn.YaRNScaling{Factor: 2}}.Apply(x, p) },
		"frequencies":          func() { nn.Rotary{Base: 10, Scaling: nn.Llama3Scaling{Factor: 2, Length: 9, LowFreq: 5}}.Apply(x, p) },
		"one pair":             func() { nn.Rotary{Base: 10, Width: 2, Scaling: nn.DynamicScaling{Factor: 2, Length: 9}}.Apply(x, p) },
	} {
		if err := tensor.Try(f); err == nil {
			t.Errorf("%s: no error", name)
		} else {
			t.Logf("%s: %v", name, err)
		}
	}
}
