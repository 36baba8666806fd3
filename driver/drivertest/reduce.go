package drivertest

import (
	"fmt"
	"math"
	"testing"

	"github.com/tensorken/tensorken/internal/cases"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// subsets lists all sets of axes.
func subsets(rank int) [][]int {
	var out [][]int
	for bits := range 1 << rank {
		axes := []int{}
		for a := range rank {
			if bits>>a&1 == 1 {
				axes = append(axes, a)
			}
		}
		out = append(out, axes)
	}
	return out
}

// reductions reduces every type over every set of axes in every layout.
func (s *suite) reductions() {
	for _, op := range reductions {
		s.eachIn(op.String(), typesOf(op), func(s *suite, d ir.DType) {
			for _, dims := range shapes {
				for i, axes := range subsets(len(dims)) {
					if op == ir.ArgMax && (len(axes) != 1 || dims[axes[0]] == 0) {
						continue
					}
					for j, l := range layouts {
						if len(dims) >= l.rank && (len(dims) < 2 || !spared(d, i+j)) {
							s.check(fmt.Sprint(l.name, dims, axes), graph.Reduce(op, l.make(s, d, dims), axes))
						}
					}
				}
			}
			x := cases.Values(d)
			for i := range x {
				s.check("special value "+x[i].Text(d), graph.Reduce(op, s.of(d, 0, x[i], ir.Int(d, 1), x[i]), []int{0}))
			}
		})
	}
}

// chains computes softmaxes along every axis in every layout.
func (s *suite) chains() {
	s.each(floatTypes, func(s *suite, d ir.DType) {
		for _, dims := range [][]int{{3, 4, 5}, {2, 70}, {70, 3}} {
			for axis := range dims {
				for i, l := range layouts {
					if spared(d, i+axis) {
						continue
					}
					s.softmax(l.name, l.make(s, d, dims), axis)
				}
			}
		}
	})
}

// softmax checks a softmax and its logarithm: several passes over a row.
func (s *suite) softmax(what string, x *graph.Node, axis int) {
	axes := []int{axis}
	s.softmaxOf(what, x, graph.Reduce(ir.ReduceMax, x, axes), axes)
}

// softmaxOf checks a softmax and its logarithm by the exponentials of x less shift.
func (s *suite) softmaxOf(what string, x, shift *graph.Node, axes []int) {
	shifted := graph.Binary(ir.Sub, x, graph.Expand(shift, x.Shape))
	e := graph.Unary(ir.Exp, shifted)
	sum := graph.Reduce(ir.Sum, e, axes)
	s.check("softmax "+what, graph.Binary(ir.Div, e, graph.Expand(sum, x.Shape)))
	s.check("log softmax "+what, graph.Binary(ir.Sub, shifted, graph.Expand(graph.Unary(ir.Log, sum), x.Shape)), graph.Unary(ir.Log, sum))
}

// longReductions reduces more elements than a block has.
func (s *suite) longReductions() {
	long := 100_003
	if testing.Short() {
		long = 10_007
	}
	for _, op := range reductions {
		s.eachIn(op.String(), []ir.DType{ir.Int32, ir.Float16, ir.Float32, ir.Float64}, func(s *suite, d ir.DType) {
			if !ir.Table[op].Types.Has(d) {
				return
			}
			for _, c := range []struct{ dims, axes []int }{
				{[]int{long}, []int{0}},
				{[]int{2, long / 2}, []int{1}},
				{[]int{long / 2, 2}, []int{0}},
				{[]int{3, 300, 40}, []int{1}},
				{[]int{3, 300, 40}, []int{0, 2}},
				{[]int{300, 3, 40}, []int{0, 1, 2}},
				{[]int{257, 129}, []int{0}},
				{[]int{257, 129}, []int{1}},
			} {
				if op == ir.ArgMax && len(c.axes) > 1 {
					continue
				}
				x := s.long(op, d, c.dims)
				s.check(fmt.Sprint(c.dims, c.axes), graph.Reduce(op, x, c.axes))
				s.check(fmt.Sprint("flipped ", c.dims, c.axes), graph.Reduce(op, graph.Flip(s.long(op, d, c.dims), shape.All(len(c.dims))), c.axes))
			}
		})
	}
	s.eachIn("wide", few(narrowInts...), (*suite).wideSums)
	s.part("softmax", (*suite).longSoftmaxes)
	s.part("special", func(s *suite) {
		for _, at := range []int{0, 1, 5000, long - 1} {
			for _, v := range []float64{math.NaN(), math.Inf(1), 1e30} {
				x := s.numbers(ir.Float32, long)
				for i := range x {
					x[i] = ir.Float(ir.Float32, float64(i%64)/64)
				}
				x[at] = ir.Float(ir.Float32, v)
				n := s.of(ir.Float32, x...)
				s.check(fmt.Sprint(v, " at ", at), graph.Reduce(ir.ReduceMax, n, []int{0}), graph.Reduce(ir.ArgMax, n, []int{0}), graph.Reduce(ir.Sum, n, []int{0}))
			}
		}
	})
}

// narrowInts are the types whose sums are computed in int64.
var narrowInts = []ir.DType{ir.Uint16, ir.Bool, ir.Uint8, ir.Int8, ir.Int16, ir.Int32, ir.Uint32}

// wideSums sums, in int64, equal extremes of a type that no int32 has the sum of, if the
// type has at least 16 bits.
func (s *suite) wideSums(d ir.DType) {
	lo, hi := ir.Limits(d)
	for _, c := range []struct{ dims, axes []int }{
		{[]int{70_001}, []int{0}},
		{[]int{2, 70_001}, []int{1}},
		{[]int{70_001, 2}, []int{0}},
		{[]int{400, 3, 60}, []int{0, 1, 2}},
		{[]int{33, 257}, []int{0}},
		{[]int{257, 33}, []int{1}},
	} {
		for _, v := range []ir.Number{lo, hi} {
			x := s.numbers(d, graph.Len(c.dims))
			for i := range x {
				x[i] = v
			}
			y := graph.Cast(graph.Reshape(s.of(d, x...), c.dims), ir.Int64)
			s.check(fmt.Sprint(v.Text(d), " ", c.dims, c.axes), graph.Reduce(ir.Sum, y, c.axes), graph.Scan(ir.Add, y, c.axes[0]))
		}
	}
}

// longSoftmaxes computes softmaxes whose rows no thread holds, with numbers that a maximum and sums in
// one pass over a row have to get right.
func (s *suite) longSoftmaxes() {
	inf := math.Inf(1)
	// set gives the places of a row that are chosen a number.
	set := func(number float64, chosen func(i int) bool) func(i int, x float64) float64 {
		return func(i int, x float64) float64 {
			if chosen(i) {
				return number
			}
			return x
		}
	}
	every := func(int) bool { return true }
	many, some, least := 2000, 70, 40
	if testing.Short() {
		many, some, least = 100, 10, 10
	}
	for _, c := range []struct {
		rows, cols int
		columns    bool // rows are columns of the tensor
	}{{many, 200, true}, {some, 2600, true}, {least, 9001, false}} {
		x := make([]ir.Number, c.rows*c.cols)
		for i := range x {
			x[i] = ir.Float(ir.Float32, 4*s.NormFloat64())
		}
		isLast := func(i int) bool { return i == c.cols-1 }
		for row, f := range []func(i int, x float64) float64{
			set(-inf, every),
			set(-inf, func(i int) bool { return 4*i < 3*c.cols }),
			set(-inf, func(i int) bool { return i > 0 }),
			set(inf, isLast),
			set(math.NaN(), isLast),
			func(i int, _ float64) float64 { return float64(i) },
			func(i int, _ float64) float64 { return float64(-i) },
			set(-math.MaxFloat32, every),
			set(-1e30, func(i int) bool { return i%2 == 0 }),
		} {
			for i := range c.cols {
				at := &x[row*c.cols+i]
				if c.columns {
					at = &x[i*c.rows+row]
				}
				*at = ir.Float(ir.Float32, f(i, at.Float64(ir.Float32)))
			}
		}
		n, axes := graph.Reshape(s.of(ir.Float32, x...), []int{c.rows, c.cols}), []int{1}
		if c.columns {
			n, axes = graph.Reshape(n, []int{c.cols, c.rows}), []int{0}
		}
		m := graph.Reduce(ir.ReduceMax, n, axes)
		s.softmaxOf("plain", n, m, axes)
		constant := func(v float64) *graph.Node {
			return graph.Const(ir.Float32, ir.Float(ir.Float32, v), m.Shape)
		}
		isLowest := graph.Binary(ir.Eq, m, constant(-inf))
		s.softmaxOf("without -Inf", n, graph.Where(isLowest, constant(0), m), axes)
		isInfinite := graph.Binary(ir.Eq, graph.Binary(ir.Max, m, graph.Unary(ir.Neg, m)), constant(inf))
		finite := graph.Where(isInfinite, constant(0), m)
		s.softmaxOf("without infinities", n, finite, axes)
		e := graph.Unary(ir.Exp, graph.Binary(ir.Sub, n, graph.Expand(finite, n.Shape)))
		number := func(v float64) *graph.Node { return graph.Const(ir.Float32, ir.Float(ir.Float32, v), n.Shape) }
		s.check("sums without +Inf, and times numbers",
			graph.Reduce(ir.Sum, graph.Where(graph.Binary(ir.Lt, n, number(5)), e, number(0)), axes),
			graph.Reduce(ir.Sum, graph.Binary(ir.Mul, e, n), axes))
	}
}

// long is a tensor whose product is of moderate size if that is asked for.
func (s *suite) long(op ir.Op, d ir.DType, dims []int) *graph.Node {
	x := make([]ir.Number, graph.Len(dims))
	for i := range x {
		x[i] = ir.Float(d, s.NormFloat64()/2)
		switch {
		case !d.IsFloat():
			x[i] = ir.Int(d, int64(int32(s.Uint32())))
		case op == ir.Prod:
			x[i] = ir.Int(d, 1)
			if s.chance(1 + len(x)/20) {
				x[i] = ir.Float(d, []float64{2, 0.5, -1}[s.IntN(3)])
			}
		}
	}
	return s.known.stored(d, dims, x)
}
