package tensor

import (
	"math"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// Erfc returns the complementary error function 1 - Erf(t), of full relative accuracy
// also for large t, where Erf rounds to 1. Floats only.
func (t Tensor) Erfc() Tensor { return t.unary(ir.Erfc) }

// polynomial returns c[0] + c[1]·x + c[2]·x² + …
func polynomial(x *graph.Node, c []float64) *graph.Node {
	y := fill(x, c[len(c)-1])
	for i := len(c) - 2; i >= 0; i-- {
		y = shifted(mul(y, x), c[i])
	}
	return y
}

// terms returns the terms of a series that a type needs: the first so many for float32.
func terms(d DType, c []float64, single int) []float64 {
	if d == ir.Float64 {
		return c
	}
	return c[:single]
}

// The coefficients of ErfInv: numerators and denominators for the middle, for the tails,
// and for tails that only float64 has.
var (
	erfInvMiddle = [2][]float64{
		{1.1975323115670912564578, 47.072688112383978012285, 697.06266534389598238465, 4854.8868893843886794648,
			16235.862515167575384252, 23782.041382114385731252, 11819.493347062294404278, 887.09406962545514830200},
		{1, 42.313330701600911252, 687.18700749205790830, 5394.1960214247511077, 21213.794301586595867,
			39307.895800092710610, 28729.085735721942674, 5226.4952788528545610}}
	erfInvTail = [2][]float64{
		{1.42343711074968357734, 4.63033784615654529590, 5.76949722146069140550, 3.64784832476320460504,
			1.27045825245236838258, 0.241780725177450611770, 0.0227238449892691845833, 7.74545014278341407640e-4},
		{1.4142135623730950488, 2.9036514445419946173, 2.3707661626024532366, 0.97547832001787427187,
			0.20945065210512749128, 0.021494160384252876777, 7.7441459065157709166e-4, 1.4859850019840355906e-9}}
	erfInvEnd = [2][]float64{
		{6.65790464350110377720, 5.46378491116411436990, 1.78482653991729133580, 0.296560571828504891230,
			0.0265321895265761230930, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7},
		{1.4142135623730950488, 0.84829084165951645881, 0.19364809469506591062, 0.02103693768272068968719,
			1.1128009970788598447e-3, 2.6110884050805936251e-5, 2.0103212076839430623e-7, 2.8910246058729655e-15}}
)

// ErfInv returns the inverse error function: ±Inf at ±1, NaN outside [-1, 1]. Floats
// only.
//
// Source: Wichura, "Algorithm AS 241: The Percentage Points of the Normal Distribution",
// 1988.
func (t Tensor) ErfInv() Tensor {
	return wide(t.floats("ErfInv"), func(x *graph.Node) *graph.Node {
		ratio := func(r *graph.Node, c [2][]float64) *graph.Node {
			return div(polynomial(r, c[0]), polynomial(r, c[1]))
		}
		return odd(x, func(x *graph.Node) *graph.Node {
			near := lt(x, fill(x, 0.85))
			a := graph.Where(near, x, fill(x, 0))
			middle := mul(a, ratio(shifted(scaled(mul(a, a), -0.25), 0.180625), erfInvMiddle))
			end := eq(x, fill(x, 1))
			b := graph.Where(graph.Binary(ir.Or, near, end), fill(x, 0.9), x)
			r := graph.Unary(ir.Sqrt, shifted(neg(graph.Unary(ir.Log1p, neg(b))), math.Ln2))
			tail := ratio(shifted(r, -1.6), erfInvTail)
			if x.DType == ir.Float64 {
				tail = graph.Where(lt(fill(x, 5), r), ratio(shifted(r, -5), erfInvEnd), tail)
			}
			pole := reciprocal(graph.Where(end, shifted(neg(x), 1), fill(x, 1))) // Inf, as is its derivative
			return graph.Where(near, middle, graph.Where(end, pole, tail))
		})
	})
}

// sincSeries has the coefficients of sin(y)/y in y².
var sincSeries = func() []float64 {
	c := make([]float64, 11)
	c[0] = 1
	for i := 1; i < len(c); i++ {
		c[i] = -c[i-1] / float64(2*i*(2*i+1))
	}
	return c
}()

// Sinc returns sin(πt)/(πt), 1 at 0. Its derivatives are accurate near 0, and its zeros
// are exact. Floats only.
func (t Tensor) Sinc() Tensor {
	return wide(t.floats("Sinc"), func(x *graph.Node) *graph.Node {
		near := lt(mul(x, x), fill(x, 0.09))
		a := graph.Where(near, x, fill(x, 0))
		b := graph.Where(near, fill(x, 1), x)
		high, low := fill(x, 0x1p125), fill(x, -0x1p125) // whole numbers, π times which is finite
		b = graph.Where(lt(high, b), high, graph.Where(lt(b, low), low, b))
		series := polynomial(scaled(mul(a, a), math.Pi*math.Pi), terms(x.DType, sincSeries, 8))
		n, rest := nearest(b)
		half := scaled(n, 0.5)
		sign := shifted(scaled(sub(half, floor(half)), -4), 1) // -1 for odd n
		far := div(mul(sign, graph.Unary(ir.Sin, scaled(rest, math.Pi))), scaled(b, math.Pi))
		return graph.Where(near, series, far)
	})
}

// nearest returns an integer next to x, and the rest of at most ½, which is exact.
func nearest(x *graph.Node) (n, rest *graph.Node) {
	n = Tensor{n: x}.Round().n
	return n, sub(x, n)
}
