package nn

import (
	"cmp"
	"math"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/limits"
	"github.com/tensorken/tensorken/tensor"
)

// A Rotary rotates pairs of elements of queries and keys by angles that grow with their
// positions, pair i by position·Base^(-2i/Width), so that scores depend on distances. The
// zero Rotary rotates nothing.
//
// Source: Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding", 2021.
type Rotary struct {
	Base float64 // rope_theta, as 10000; 0: no rotation
	// Width is the number of elements of a head that are rotated, the first; 0 is all.
	Width int
	// Interleaved says that a pair is two neighbours, as in GPT-J, and not elements i and
	// i+Width/2, as in models of Hugging Face.
	Interleaved bool
	Scaling     RotaryScaling // for texts longer than in the training; nil is off
}

// A RotaryScaling changes the rates of a [Rotary].
type RotaryScaling interface {
	// Rates returns the angle per position, [width/2], for each pair of the width elements
	// that r rotates, and the factor by which cosines and sines are multiplied. Positions
	// are floats of any shape.
	Rates(r Rotary, width int, positions tensor.Tensor) (rates tensor.Tensor, factor float64)
}

// Apply rotates x of shape [... time width] by positions, of a shape that broadcasts to
// [... time], such as tensor.Arange(time). Floats only.
func (r Rotary) Apply(x, positions tensor.Tensor) tensor.Tensor {
	defer named("Rotary")
	if r.Base == 0 {
		return x
	}
	return r.turn(x, r.angles(x, positions))
}

// A rotation has the cosines and sines of angles, [... time pairs].
type rotation struct{ cos, sin tensor.Tensor }

// angles returns the rotation of tensors like x.
func (r Rotary) angles(x, positions tensor.Tensor) rotation {
	if !(r.Base > 0) || math.IsInf(r.Base, 1) {
		fail("Rotary", "Base is %v: want a positive number such as 10000, or 0 for no rotation", r.Base)
	}
	if !x.DType().IsFloat() || x.Rank() < 2 {
		fail("Rotary", "the input is %v %v, want floats [... time width]", x.DType(), x.Shape())
	}
	if n := positions.Shape(); len(n) == 0 || n[len(n)-1] != x.Dim(-2) && n[len(n)-1] != 1 {
		fail("Rotary", "positions are %v for the input %v, want [%d]: one for each time", n, x.Shape(), x.Dim(-2))
	}
	width := r.width(x)
	wide := tensor.Float32 // positions and angles have more digits than 16-bit types
	if x.DType() == tensor.Float64 {
		wide = tensor.Float64
	}
	positions = positions.Cast(wide)
	rates, factor := rotaryRates(fixed(math.Log(r.Base)), width), 1.0
	if r.Scaling != nil {
		rates, factor = r.Scaling.Rates(r, width, positions)
	}
	a := positions.Unsqueeze(-1).Mul(rates)
	cos, sin := a.Cos(), a.Sin()
	if factor != 1 {
		cos, sin = cos.Mul(fixed(factor)), sin.Mul(fixed(factor))
	}
	// All layers read them: computed once, and not from the positions again.
	return rotation{cos.Cast(x.DType()).Keep(), sin.Cast(x.DType()).Keep()}
}

// width returns the number of elements of x's rows that are rotated.
func (r Rotary) width(x tensor.Tensor) int {
	width := r.Width
	if width == 0 {
		width = x.Dim(-1)
	}
	if width < 0 || width > x.Dim(-1) || width%2 != 0 {
		fail("Rotary", "Width is %d: want an even number of at most the %d elements of a head", width, x.Dim(-1))
	}
	return width
}

// turn rotates x: with a pair on an axis of its own, (a b) becomes (a·cos-b·sin b·cos+a·sin).
func (r Rotary) turn(x tensor.Tensor, by rotation) tensor.Tensor {
	width := r.width(x)
	part, axis, pair := x, -2, []int{2, -1}
	if width < x.Dim(-1) {
		part = x.Slice(-1, 0, width)
	}
	sign := tensor.Arange(2).Mul(fixed(2)).Sub(fixed(1)) // -1 for a, 1 for b
	if r.Interleaved {
		axis, pair = -1, []int{width / 2, 2}
	} else {
		pair[1], sign = width/2, sign.Unsqueeze(1)
	}
	s := part.Shape()
	pairs := part.Reshape(append(s[:len(s)-1:len(s)-1], pair...)...)
	cos, sin := by.cos.Unsqueeze(axis), by.sin.Unsqueeze(axis)
	y := pairs.Mul(cos).Add(pairs.Flip(axis).Mul(sin).Mul(sign)).Reshape(s...)
	if width < x.Dim(-1) {
		y = tensor.Cat(-1, y, x.Slice(-1, width, x.Dim(-1)))
	}
	return y
}

// rotaryRates returns base^(-2i/width) for each pair i.
func rotaryRates(logBase tensor.Tensor, width int) tensor.Tensor {
	return tensor.Arange(width / 2).Mul(fixed(-2 / float64(width))).Mul(logBase).Exp()
}

// fixed returns a number of a layer's settings. Layers of equal settings share the values that are computed from such numbers.
func fixed(v float64) tensor.Tensor {
	return tensor.Internal.Constant(graph.Token{}, tensor.Float32, v)
}

// LinearScaling divides positions by Factor.
//
// Source: Chen et al., "Extending Context Window of Large Language Models via Positional
// Interpolation", 2023.
type LinearScaling struct{ Factor float64 }

// Rates returns r's rates, divided by Factor.
func (s LinearScaling) Rates(r Rotary, width int, _ tensor.Tensor) (tensor.Tensor, float64) {
	checkFactor("LinearScaling", s.Factor)
	return rotaryRates(fixed(math.Log(r.Base)), width).Div(fixed(s.Factor)), 1
}

// DynamicScaling raises the base where texts are longer than Length, the more the longer
// they are; in Hugging Face's files it is "dynamic". The keys of a [KVCache] stay as they
// were rotated.
type DynamicScaling struct {
	Factor float64
	Length int // the longest text of the training
}

// Rates returns the rates of the base times (Factor·n/Length - Factor + 1)^(width/(width-2))
// for n, the number of positions up to the last, and at least Length.
func (s DynamicScaling) Rates(r Rotary, width int, positions tensor.Tensor) (tensor.Tensor, float64) {
	checkScaling("DynamicScaling", s.Factor, s.Length)
	if width < 4 {
		fail("DynamicScaling", "the width %d is too small, want at least 4", width)
	}
	n := positions.Max().Reshape().Add(fixed(1)).Maximum(fixed(float64(s.Length)))
	growth := n.Mul(fixed(s.Factor / float64(s.Length))).Sub(fixed(s.Factor - 1)).Log().Mul(fixed(float64(width) / float64(width-2)))
	return rotaryRates(growth.Add(fixed(math.Log(r.Base))), width), 1
}

// Llama3Scaling divides by Factor the rates of pairs that turn less than LowFreq times in
// Length positions, and leaves those that turn more than HighFreq times; in between it
// interpolates. It is the scaling of Llama 3.1.
type Llama3Scaling struct {
	Factor            float64
	LowFreq, HighFreq float64 // 0: 1 and 4
	Length            int     // the longest text of the training
}

// Rates returns the scaled rates.
func (s Llama3Scaling) Rates(r Rotary, width int, _ tensor.Tensor) (tensor.Tensor, float64) {
	checkScaling("Llama3Scaling", s.Factor, s.Length)
	low := setting("Llama3Scaling", "LowFreq", cmp.Or(s.LowFreq, 1), limits.Positive)
	high := setting("Llama3Scaling", "HighFreq", cmp.Or(s.HighFreq, 4), limits.Positive)
	if !(low < high) {
		fail("Llama3Scaling", "LowFreq is %v, want less than HighFreq %v", low, high)
	}
	rates := rotaryRates(fixed(math.Log(r.Base)), width)
	turns := rates.Mul(fixed(float64(s.Length) / (2 * math.Pi)))
	kept := turns.Sub(fixed(low)).Div(fixed(high-low)).Clamp(fixed(0), fixed(1))
	return rates.Mul(between(1/s.Factor, kept)), 1
}

// YaRNScaling leaves the rates of pairs that turn more than BetaFast times in Length
// positions, divides by Factor the rates of pairs that turn less than BetaSlow times, and
// interpolates between them, by the number of the pair. It also multiplies cosines and sines
// by Magnitude.
//
// Source: Peng et al., "YaRN: Efficient Context Window Extension of Large Language Models",
// 2023.
type YaRNScaling struct {
	Factor             float64
	Length             int     // the longest text of the training
	BetaFast, BetaSlow float64 // 0: 32 and 1
	Magnitude          float64 // attention_factor; 0: 0.1·ln Factor + 1
	// Exact interpolates between the pairs that turn exactly that often, and not between
	// whole numbers of pairs: "truncate": false in Hugging Face's files.
	Exact bool
}

// Rates returns the scaled rates, and Magnitude.
func (s YaRNScaling) Rates(r Rotary, width int, _ tensor.Tensor) (tensor.Tensor, float64) {
	checkScaling("YaRNScaling", s.Factor, s.Length)
	if r.Base == 1 {
		fail("YaRNScaling", "Base is 1: all pairs have one rate")
	}
	pair := func(turns float64) float64 { // the number of the pair that turns so often
		return float64(width) * math.Log(float64(s.Length)/(turns*2*math.Pi)) / (2 * math.Log(r.Base))
	}
	setting("YaRNScaling", "Magnitude", s.Magnitude, limits.NotNegative)
	first := pair(setting("YaRNScaling", "BetaFast", cmp.Or(s.BetaFast, 32), limits.Positive))
	last := pair(setting("YaRNScaling", "BetaSlow", cmp.Or(s.BetaSlow, 1), limits.Positive))
	if !s.Exact {
		first, last = math.Floor(first), math.Ceil(last)
	}
	first, last = max(first, 0), min(last, float64(width-1))
	if first == last {
		last += 0.001
	}
	divided := tensor.Arange(width/2).Sub(fixed(first)).Div(fixed(last-first)).Clamp(fixed(0), fixed(1))
	rates := rotaryRates(fixed(math.Log(r.Base)), width)
	return rates.Mul(between(1/s.Factor, divided.Neg().Add(fixed(1)))), cmp.Or(s.Magnitude, 0.1*math.Log(max(s.Factor, 1))+1)
}

// between returns lo + (1-lo)·at.
func between(lo float64, at tensor.Tensor) tensor.Tensor { return at.Mul(fixed(1 - lo)).Add(fixed(lo)) }

// checkScaling panics unless a scaling has its settings.
func checkScaling(name string, factor float64, length int) {
	checkFactor(name, factor)
	if length < 1 {
		fail(name, "Length is %d, want the longest text of the training", length)
	}
}

func checkFactor(name string, factor float64) {
	if !(factor > 0) || math.IsInf(factor, 1) {
		fail(name, "Factor is %v, want a positive number", factor)
	}
}
