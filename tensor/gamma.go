package tensor

import (
	"math"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// gammaSeries has 1-γ and then (-1)ᵏ·(ζ(k)-1) for k = 2, 3, …: the coefficients of
// digamma(2+z) in powers of z, which converge for |z| ≤ ½ as 4⁻ᵏ.
//
// Source: Abramowitz and Stegun, "Handbook of Mathematical Functions", 6.1.33.
var gammaSeries = []float64{
	0.42278433509846713939,
	0.64493406684822644, -0.20205690315959429, 0.082323233711138192, -0.036927755143369926,
	0.01734306198444914, -0.0083492773819228268, 0.0040773561979443394, -0.0020083928260822144,
	9.9457512781808534e-4, -4.9418860411946456e-4, 2.460865533080483e-4, -1.2271334757848915e-4,
	6.1248135058704829e-5, -3.0588236307020494e-5, 1.5282259408651872e-5, -7.6371976378997623e-6,
	3.8172932649998399e-6, -1.9082127165539389e-6, 9.5396203387279611e-7, -4.7693298678780646e-7,
	2.3845050272773299e-7, -1.1921992596531107e-7, 5.960818905125948e-8, -2.980350351465228e-8,
	1.4901554828365041e-8, -7.4507117898354295e-9, 3.7253340247884571e-9, -1.862659723513049e-9,
}

// bernoulli has B₂ₖ/2k for k = 1, 2, …: the coefficients of Stirling's series.
//
// Source: Abramowitz and Stegun, 6.1.40 and 6.3.18.
var bernoulli = []float64{
	1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132, -691.0 / 32760, 1.0 / 12, -3617.0 / 8160, 43867.0 / 14364,
}

// gammaSteps is the number of times that the argument is lowered by 1 to reach the series around 2.
// Beyond that is Stirling's series.
const gammaSteps = 6

// A gammaArgument is x ≥ 0, brought into the range of a series. Operands of a series that
// is not used are replaced, so that neither their values nor their derivatives can be
// NaN.
type gammaArgument struct {
	infinite *graph.Node // bools
	large    *graph.Node // bools: x is for Stirling's series, or infinite
	far      *graph.Node // x where large and finite
	x        *graph.Node // x where not large
	z        *graph.Node // x less an integer, from -½ to ½
	low      *graph.Node // bools: x is less than 1½, z is x less 1 or 0
	tiny     *graph.Node // bools: x is less than ½, and z is x
	lowered  []*graph.Node
	stepping []*graph.Node // bools for each of lowered: x - i - 1 is a factor of Gamma
}

func gammaReduce(x *graph.Node) gammaArgument {
	var g gammaArgument
	g.large = not(lt(x, fill(x, gammaSteps+2.5)))
	g.large = graph.Binary(ir.And, g.large, eq(x, x)) // NaN takes the other way
	g.infinite = eq(x, fill(x, math.Inf(1)))
	g.far = graph.Where(graph.Binary(ir.And, g.large, not(g.infinite)), x, fill(x, 10))
	g.x = graph.Where(g.large, fill(x, 2), x)
	g.tiny, g.low = lt(g.x, fill(x, 0.5)), lt(g.x, fill(x, 1.5))
	g.z = graph.Where(g.tiny, g.x, graph.Where(g.low, shifted(g.x, -1), shifted(g.x, -2)))
	for i := 1; i <= gammaSteps; i++ {
		step := lt(fill(x, float64(i)+1.5), g.x)
		g.z = graph.Where(step, shifted(g.x, -float64(i+2)), g.z)
		g.stepping = append(g.stepping, step)
		g.lowered = append(g.lowered, graph.Where(step, shifted(g.x, -float64(i)), fill(x, 1)))
	}
	return g
}

// reflected returns x below 0 as 1-x, which is positive, and the distance of such x from
// the nearest integer; for others x, and ½. The poles are the integers up to 0, which are
// reflected to 1.
func reflected(x *graph.Node) (below, pole, y, rest *graph.Node) {
	below = lt(x, fill(x, 0))
	pole = graph.Binary(ir.And, below, eq(floor(x), x))
	y = graph.Where(pole, fill(x, 1), graph.Where(below, shifted(neg(x), 1), x))
	far := eq(x, fill(x, math.Inf(-1)))
	_, rest = nearest(graph.Where(below, graph.Where(far, fill(x, -1), x), fill(x, 0.5)))
	return below, pole, y, rest
}

// Lgamma returns log|Γ(t)|, +Inf at 0 and at negative integers. Its derivative is
// [Tensor.Digamma]. It is accurate relative to its value for t > 0, also near its zeros 1
// and 2, and absolutely for t < 0. Floats only.
func (t Tensor) Lgamma() Tensor {
	return wide(t.floats("Lgamma"), func(x *graph.Node) *graph.Node {
		below, _, y, rest := reflected(x)
		v := lgammaPositive(y)
		sine := abs(graph.Unary(ir.Sin, scaled(rest, math.Pi))) // 0, of derivative 0, at poles: log's is NaN
		reflection := sub(shifted(neg(log(sine)), math.Log(math.Pi)), v)
		return derived("Lgamma", x, graph.Where(below, reflection, v), digamma)
	})
}

func lgammaPositive(x *graph.Node) *graph.Node {
	g := gammaReduce(x)
	around := make([]float64, len(gammaSeries)) // the integral of the series
	for i, c := range gammaSeries {
		around[i] = c / float64(i+1)
	}
	near := mul(g.z, polynomial(g.z, terms(x.DType, around, 16)))
	near = sub(near, graph.Unary(ir.Log1p, graph.Where(g.low, g.z, fill(x, 0))))
	factor := g.lowered[0]
	for _, f := range g.lowered[1:] {
		factor = mul(factor, f)
	}
	l := log(graph.Where(g.tiny, g.x, factor))
	near = add(near, graph.Where(g.tiny, neg(l), l))

	coefficients := make([]float64, len(bernoulli))
	for i, b := range bernoulli {
		coefficients[i] = b / float64(2*i+1)
	}
	r := reciprocal(g.far)
	far := mul(r, polynomial(mul(r, r), terms(x.DType, coefficients, 4)))
	stirling := shifted(mul(shifted(g.far, -0.5), shifted(log(g.far), -1)), (math.Log(2*math.Pi)-1)/2)
	limit := mul(x, x) // which is infinite, as is its derivative
	return graph.Where(g.infinite, limit, graph.Where(g.large, add(stirling, far), near))
}

// Digamma returns the derivative of log Γ(t): -Inf at 0, NaN at negative integers. Its
// error is relative to the value, or near zeros of the function to 1. Floats only.
func (t Tensor) Digamma() Tensor { return wide(t.floats("Digamma"), digamma) }

func digamma(x *graph.Node) *graph.Node {
	below, pole, y, rest := reflected(x)
	v := digammaPositive(y)
	angle := scaled(rest, math.Pi)
	cotangent := div(graph.Unary(ir.Cos, angle), graph.Unary(ir.Sin, angle))
	reflection := sub(v, scaled(cotangent, math.Pi))
	none := graph.Where(pole, rest, fill(x, 1)) // 0 at poles, where 0/0 and its derivative are NaN
	return graph.Where(pole, div(none, none), graph.Where(below, reflection, v))
}

func digammaPositive(x *graph.Node) *graph.Node {
	g := gammaReduce(x)
	zero := fill(x, 0)
	near := polynomial(g.z, terms(x.DType, gammaSeries, 18))
	near = sub(near, graph.Where(g.low, reciprocal(shifted(graph.Where(g.low, g.z, zero), 1)), zero))
	near = sub(near, graph.Where(g.tiny, reciprocal(graph.Where(g.tiny, g.x, fill(x, 1))), zero))
	for i, step := range g.stepping {
		near = add(near, graph.Where(step, reciprocal(g.lowered[i]), zero))
	}
	r := reciprocal(g.far)
	square := mul(r, r)
	far := sub(sub(log(g.far), scaled(r, 0.5)), mul(square, polynomial(square, terms(x.DType, bernoulli, 4))))
	return graph.Where(g.infinite, fill(x, math.Inf(1)), graph.Where(g.large, far, near))
}
