package drivertest

import (
	"math"

	"github.com/tensorken/tensorken/internal/cases"
	"github.com/tensorken/tensorken/internal/exec"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// An identity holds for real numbers, so that compilers of other languages use
// it; of x and w, floating-point numbers, it does not hold.
type identity struct {
	name string
	// exact says that no product and no division leaves the last bits open.
	exact bool
	make  func(x, w *graph.Node) *graph.Node
}

func constant(x *graph.Node, v float64) *graph.Node { return graph.Fill(x.DType, v, x.Shape) }

var identities = func() []identity {
	op := func(op ir.Op) func(x, y *graph.Node) *graph.Node {
		return func(x, y *graph.Node) *graph.Node { return graph.Binary(op, x, y) }
	}
	of := func(op ir.Op) func(x *graph.Node) *graph.Node {
		return func(x *graph.Node) *graph.Node { return graph.Unary(op, x) }
	}
	add, sub, mul, div := op(ir.Add), op(ir.Sub), op(ir.Mul), op(ir.Div)
	eq, lt, minimum, maximum := op(ir.Eq), op(ir.Lt), op(ir.Min), op(ir.Max)
	neg, exp, log, sqrt := of(ir.Neg), of(ir.Exp), of(ir.Log), of(ir.Sqrt)
	less := func(x *graph.Node, v float64) *graph.Node { return lt(x, constant(x, v)) }
	mask := func(w *graph.Node) *graph.Node { return graph.Cast(less(w, 4), w.DType) }
	// pairs sums pairs of x and something else.
	pairs := func(x, y *graph.Node) *graph.Node {
		column := []int{x.Shape[0], 1}
		p := graph.Cat(1, []*graph.Node{graph.Reshape(x, column), graph.Reshape(y, column)})
		return graph.Reshape(graph.Reduce(ir.Sum, p, []int{1}), x.Shape)
	}
	return []identity{
		{"x-x", true, func(x, w *graph.Node) *graph.Node { return sub(x, x) }},
		{"x+(-x)", true, func(x, w *graph.Node) *graph.Node { return add(x, neg(x)) }},
		{"-x+x", true, func(x, w *graph.Node) *graph.Node { return add(neg(x), x) }},
		{"(x+w)-x", true, func(x, w *graph.Node) *graph.Node { return sub(add(x, w), x) }},
		{"x+(w-x)", true, func(x, w *graph.Node) *graph.Node { return add(x, sub(w, x)) }},
		{"(w-x)+x", true, func(x, w *graph.Node) *graph.Node { return add(sub(w, x), x) }},
		{"-x+(x+w)", true, func(x, w *graph.Node) *graph.Node { return add(neg(x), add(x, w)) }},
		{"(x+w)-(w+x)", true, func(x, w *graph.Node) *graph.Node { return sub(add(x, w), add(w, x)) }},
		{"-(x+w)+(w+x)", true, func(x, w *graph.Node) *graph.Node { return add(neg(add(x, w)), add(w, x)) }},
		{"(x+1e9)-1e9", true, func(x, w *graph.Node) *graph.Node { return sub(add(x, constant(x, 1e9)), constant(x, 1e9)) }},
		{"1-(1-x)", true, func(x, w *graph.Node) *graph.Node { return sub(constant(x, 1), sub(constant(x, 1), x)) }},
		{"x-w=x", true, func(x, w *graph.Node) *graph.Node { return eq(sub(x, w), x) }},
		{"x+w<x", true, func(x, w *graph.Node) *graph.Node { return lt(add(x, w), x) }},
		{"x+1e9<1e9", true, func(x, w *graph.Node) *graph.Node { return less(add(x, constant(x, 1e9)), 1e9) }},
		{"log(1+(w/1e9-1))", false, func(x, w *graph.Node) *graph.Node {
			return graph.Unary(ir.Log1p, sub(mul(w, constant(w, 0x1p-30)), constant(w, 1)))
		}},
		{"x+w-x where each is a sum", true, func(x, w *graph.Node) *graph.Node { return sub(pairs(x, w), x) }},
		{"x*w-w*x", false, func(x, w *graph.Node) *graph.Node { return sub(mul(x, w), mul(w, x)) }},
		{"x*w+x*(-w)", false, func(x, w *graph.Node) *graph.Node { return add(mul(x, w), mul(x, neg(w))) }},
		{"x*w+(-x)*w", false, func(x, w *graph.Node) *graph.Node { return add(mul(x, w), mul(neg(x), w)) }},
		{"x*w-x*(w+1)", false, func(x, w *graph.Node) *graph.Node { return sub(mul(x, w), mul(x, add(w, constant(w, 1)))) }},
		{"-(x*w)-x*(-w)", false, func(x, w *graph.Node) *graph.Node { return sub(neg(mul(x, w)), mul(x, neg(w))) }},
		{"w/16+z-z", false, func(x, w *graph.Node) *graph.Node {
			z := constant(w, 0x1p24)
			return sub(add(div(w, constant(w, 16)), z), z)
		}},
		{"x*1e-30*1e30", false, func(x, w *graph.Node) *graph.Node {
			return mul(mul(x, constant(x, 1e-30)), constant(x, 1e30))
		}},
		{"x*2¹⁰⁰*2¹⁰⁰", false, func(x, w *graph.Node) *graph.Node {
			return mul(mul(mul(x, constant(x, 0x1p-100)), constant(x, 0x1p100)), constant(x, 0x1p100))
		}},
		{"(x*w)/x", false, func(x, w *graph.Node) *graph.Node { return div(mul(x, w), x) }},
		{"(x/w)*w", false, func(x, w *graph.Node) *graph.Node { return mul(div(x, w), w) }},
		{"x/x", false, func(x, w *graph.Node) *graph.Node { return div(x, x) }},
		{"x*(1/x)", false, func(x, w *graph.Node) *graph.Node { return mul(x, div(constant(x, 1), x)) }},
		{"√x*√x", false, func(x, w *graph.Node) *graph.Node { return mul(sqrt(x), sqrt(x)) }},
		{"√(x*x)", false, func(x, w *graph.Node) *graph.Node { return sqrt(mul(x, x)) }},
		{"exp(log(x))", false, func(x, w *graph.Node) *graph.Node { return exp(log(x)) }},
		{"log(exp(x))", false, func(x, w *graph.Node) *graph.Node { return log(exp(x)) }},
		{"max(0, min(1, x))", true, func(x, w *graph.Node) *graph.Node {
			return maximum(constant(x, 0), minimum(constant(x, 1), x))
		}},
		{"0*x", true, func(x, w *graph.Node) *graph.Node { return mul(constant(x, 0), x) }},
		{"a mask times x", true, func(x, w *graph.Node) *graph.Node { return mul(mask(w), x) }},
		{"w or 0, times x", false, func(x, w *graph.Node) *graph.Node {
			return mul(graph.Where(less(w, 4), w, constant(w, 0)), x)
		}},
		{"0 or 1, times x", false, func(x, w *graph.Node) *graph.Node {
			return mul(graph.Where(less(w, 4), constant(w, 0), constant(w, 1)), x)
		}},
		{"padding times x", false, func(x, w *graph.Node) *graph.Node {
			n := len(w.Shape) - 1
			part := graph.Crop(w, []graph.Span{{Step: 1, Len: w.Shape[n] - 3}})
			return mul(graph.Pad(part, 0, []graph.Padding{{Before: 1, After: 2}}), x)
		}},
	}
}()

// zeros are the left factors of products whose zeros meet infinities and NaN
// in the other.
var zeros = []struct {
	name string
	make func(x *graph.Node) *graph.Node // 6×4 of 6×4 numbers
}{
	{"padding", func(x *graph.Node) *graph.Node {
		part := graph.Crop(x, []graph.Span{{Step: 1, Len: 6}, {Step: 1, Len: 2}})
		return graph.Pad(part, 0, []graph.Padding{{}, {Before: 1, After: 1}})
	}},
	{"a triangle", func(x *graph.Node) *graph.Node {
		return graph.Where(graph.Binary(ir.Lt, graph.Iota(x.Shape, 1), graph.Iota(x.Shape, 0)), x, constant(x, 0))
	}},
	{"a mask", func(x *graph.Node) *graph.Node {
		return graph.Cast(graph.Binary(ir.Eq, graph.Iota(x.Shape, 1), graph.Iota(x.Shape, 0)), x.DType)
	}},
	{"numbers of columns", func(x *graph.Node) *graph.Node { return graph.Cast(graph.Iota(x.Shape, 1), x.DType) }},
	{"zeros", func(x *graph.Node) *graph.Node { return constant(x, 0) }},
	{"one column again", func(x *graph.Node) *graph.Node {
		return graph.Expand(graph.Crop(x, []graph.Span{{Step: 1, Len: 6}, {Step: 1, Len: 1}}), x.Shape)
	}},
}

// subnormalDivisors computes remainders of division by numbers that a device
// may take for 0: they are NaN or less than the divisor.
func (s *suite) subnormalDivisors() {
	s.eachIn("Rem by subnormal numbers", floatTypes, func(s *suite, d ir.DType) {
		least := epsilon[d].least
		var a, b []ir.Number
		for _, x := range append(cases.Values(d), ir.Float(d, 3*least), ir.Float(d, 0.75*least), ir.Float(d, 1e3)) {
			for _, y := range []float64{epsilon[d].eps, 3 * epsilon[d].eps, 0.5, -0.75, 1 - epsilon[d].eps} {
				a, b = append(a, x), append(b, ir.Float(d, y*least))
			}
		}
		data, err := exec.Read(s.dev, graph.Binary(ir.Rem, s.of(d, a...), s.of(d, b...)))
		if err != nil {
			s.Fatal(err)
		}
		for i, r := range decode(d, data) {
			x, y, got := a[i].Float64(d), b[i].Float64(d), r.Float64(d)
			if math.Abs(got) >= math.Abs(y) {
				s.Errorf("the remainder of %v divided by %v is %v", x, y, got)
			}
		}
	})
}

// unreal computes identities of real numbers that infinities, NaN and roundings break.
func (s *suite) unreal() {
	types := []ir.DType{ir.Float32, ir.Float64}
	s.eachIn("identities", types, func(s *suite, d ir.DType) {
		var a, b []ir.Number
		for i, v := range []float64{math.Inf(1), math.Inf(-1), 1e10, 1e20, 1, math.NaN(), 3e38, 0, -5} {
			a, b = append(a, ir.Float(d, v)), append(b, ir.Float(d, float64(i%8+1)))
		}
		for _, c := range identities {
			n := c.make(s.of(d, a...), s.of(d, b...))
			if want, err := s.known.of(n); err == nil && c.exact {
				clear(want.off)
			}
			s.check(c.name, n)
		}
	})
	s.eachIn("products", types, func(s *suite, d ir.DType) {
		inf, nan := math.Inf(1), math.NaN()
		of := func(first ...float64) *graph.Node {
			x := make([]ir.Number, 24)
			for i := range x {
				x[i] = ir.Float(d, float64(i%7-2))
			}
			for i, v := range first {
				x[i] = ir.Float(d, v)
			}
			return s.known.stored(d, []int{6, 4}, x)
		}
		for _, c := range zeros {
			left := graph.Reshape(c.make(of(inf)), []int{1, 6, 4})
			right := graph.Reshape(of(nan, 1, 2, 3, 4, inf, 5, nan, 1, -2, 1, -2), left.Shape)
			few := graph.Crop(right, []graph.Span{{Step: 1, Len: 1}, {Step: 1, Len: 3}, {Step: 1, Len: 4}})
			s.check(c.name, product(left, right), product(left, few))
		}
		column := graph.Crop(of(inf), []graph.Span{{Step: 1, Len: 6}, {Step: 1, Len: 1}})
		terms := graph.Binary(ir.Mul, of(1, -2, 1), graph.Expand(column, []int{6, 4}))
		s.check("a factor of all terms", graph.Reduce(ir.Sum, terms, []int{1}))
	})
}
