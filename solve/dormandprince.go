package solve

import (
	"cmp"
	"math"

	"github.com/tensorken/tensorken/tensor"
)

// The method of Dormand and Prince, of order 5. Its last stage is the first one of the
// next step; errorWeights times the stages is the difference to a method of order 4, and
// dense the weights of Shampine's solution inside a step.
//
// Source: Hairer, Nørsett, Wanner, "Solving Ordinary Differential Equations I", 1993,
// sections II.4 to II.6.
var (
	dormandPrince = tableau{
		a: [][]float64{
			{},
			{1. / 5},
			{3. / 40, 9. / 40},
			{44. / 45, -56. / 15, 32. / 9},
			{19372. / 6561, -25360. / 2187, 64448. / 6561, -212. / 729},
			{9017. / 3168, -355. / 33, 46732. / 5247, 49. / 176, -5103. / 18656},
			{35. / 384, 0, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84},
		},
		b: []float64{35. / 384, 0, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84, 0},
		c: []float64{0, 1. / 5, 3. / 10, 4. / 5, 8. / 9, 1, 1},
	}
	errorWeights = []float64{71. / 57600, 0, -71. / 16695, 71. / 1920, -17253. / 339200, 22. / 525, -1. / 40}
	dense        = []float64{
		-12715105075. / 11282082432, 0, 87487479700. / 32700410799, -10690763975. / 1880347072,
		701980252875. / 199316789632, -1453857185. / 822651844, 69997945. / 29380423,
	}
)

// Options are the settings of [ODE] and [Dense].
type Options struct {
	// RTol and ATol bound the error of a step: of each element x it may be
	// ATol + RTol·|x|, in the root mean square of all. 0 is 1e-5 and 1e-7.
	RTol, ATol float64
	MaxSteps   int // between the first and the last time; 0 is 100,000
}

// A segment is one step of a solution, from t to t + h.
type segment struct {
	t, h float64
	y    []tensor.Tensor   // at t
	k    [][]tensor.Tensor // the stages
}

// at returns the solution at a time in the segment.
func (s segment) at(t float64) []tensor.Tensor {
	x := (t - s.t) / s.h
	w := make([]float64, len(dense))
	for i, b := range dormandPrince.b {
		first, last := 0., 0.
		switch i {
		case 0:
			first = 1
		case len(w) - 1:
			last = 1
		}
		w[i] = x*b + x*(1-x)*(first-b+x*(2*b-first-last+(1-x)*dense[i]))
	}
	return combine(s.y, s.h, w, s.k)
}

// An integrator makes the steps of a solution. Each is one plan, the same for all.
type integrator struct {
	op       string
	f        field
	o        Options
	t, h     float64
	y, slope []tensor.Tensor // at t
	steps    int
}

func newIntegrator(op string, f field, y0 []tensor.Tensor, ts []float64, o *Options) *integrator {
	in := &integrator{op: op, f: f, t: ts[0], y: y0}
	if o != nil {
		in.o = *o
	}
	in.o = Options{cmp.Or(in.o.RTol, 1e-5), cmp.Or(in.o.ATol, 1e-7), cmp.Or(in.o.MaxSteps, 100_000)}
	if !(in.o.RTol > 0 && in.o.ATol > 0 && in.o.MaxSteps > 0) || math.IsInf(max(in.o.RTol, in.o.ATol), 1) {
		misuse(op, "RTol %v, ATol %v and MaxSteps %d: want positive ones, or 0 for the default", in.o.RTol, in.o.ATol, in.o.MaxSteps)
	}
	if len(ts) > 1 {
		in.h = in.firstStep(ts[len(ts)-1] - ts[0])
	}
	return in
}

// firstStep returns a first length towards an end that is so far away, by the sizes of
// y, its slope, and the change of the slope.
func (in *integrator) firstStep(far float64) float64 {
	in.slope = in.f(in.t, in.y)
	sizes := read(in.op, []tensor.Tensor{in.norm(in.y, in.y), in.norm(in.slope, in.y)}, in.slope)
	h := 0.01 * sizes[0] / sizes[1]
	if sizes[0] < 1e-5 || sizes[1] < 1e-5 {
		h = 1e-6
	}
	h = math.Copysign(min(h, math.Abs(far)), far)
	change := combine(in.f(in.t+h, combine(in.y, h, []float64{1}, [][]tensor.Tensor{in.slope})), -1.0, []float64{1}, [][]tensor.Tensor{in.slope})
	bend := read(in.op, []tensor.Tensor{in.norm(change, in.y)})[0] / math.Abs(h)
	longest := math.Pow(0.01/max(sizes[1], bend, 1e-15), 1./5)
	return math.Copysign(min(100*math.Abs(h), longest, math.Abs(far)), far)
}

// norm returns the root mean square of the elements of xs, each over the tolerance of y's
// element.
func (in *integrator) norm(xs, y []tensor.Tensor) tensor.Tensor {
	const unit = 0x1p40 // squares of numbers of up to 10¹⁹ units are in float32's range
	total, n := tensor.Tensor{}, 0
	for i, x := range xs {
		square := x.Div(y[i].Abs().Mul(in.o.RTol).Add(in.o.ATol)).Mul(1 / unit).Square().Sum()
		n += x.Len()
		if total.IsValid() {
			square = total.Add(square.Cast(total.DType()))
		}
		total = square
	}
	return total.Div(max(n, 1)).Sqrt().Mul(unit)
}

// step makes a step of at most so far, and returns it.
func (in *integrator) step(far float64) segment {
	for {
		if in.steps++; in.steps > in.o.MaxSteps {
			misuse(in.op, "more than %d steps, at time %v: the equation may be stiff, or its solution have a pole; MaxSteps allows more", in.o.MaxSteps, in.t)
		}
		h := in.h
		if math.Abs(h) > math.Abs(far) {
			h = far
		}
		if next := in.t + h; next == in.t || math.IsNaN(next) {
			misuse(in.op, "the step at time %v would be %v: the solution has a pole there, or its values are not finite", in.t, h)
		}
		k := dormandPrince.stages(in.f, in.t, h, in.y, in.slope)
		y := combine(in.y, h, dormandPrince.b, k)
		larger, zero := make([]tensor.Tensor, len(y)), make([]tensor.Tensor, len(y))
		for i := range y {
			larger[i], zero[i] = y[i].Abs().Maximum(in.y[i].Abs()), tensor.ZerosLike(y[i])
		}
		size := read(in.op, []tensor.Tensor{in.norm(combine(zero, h, errorWeights, k), larger)}, y, k)[0]
		factor := 0.9 * math.Pow(size, -1./5)
		if math.IsNaN(size) {
			factor = 0
		}
		in.h = h * min(max(factor, 0.2), 10)
		if !(size <= 1) {
			continue
		}
		s := segment{in.t, h, in.y, k}
		if in.t += h; h == far {
			in.t = s.t + far
		}
		in.y, in.slope = y, k[len(k)-1]
		return s
	}
}

// integrate returns the solution at the times, the first of which is y0's.
func integrate(op string, f field, y0 []tensor.Tensor, ts []float64, o *Options, keep func(segment)) [][]tensor.Tensor {
	in := newIntegrator(op, f, y0, ts, o)
	out, last := [][]tensor.Tensor{y0}, ts[len(ts)-1]
	for next := 1; next < len(ts); {
		s := in.step(last - in.t)
		if keep != nil {
			keep(s)
		}
		for ; next < len(ts) && math.Abs(ts[next]-ts[0]) <= math.Abs(in.t-ts[0]); next++ {
			y := in.y
			if ts[next] != in.t {
				y = s.at(ts[next])
			}
			out = append(out, y)
		}
	}
	if err := tensor.Eval(out); err != nil {
		panic(err)
	}
	return out
}
