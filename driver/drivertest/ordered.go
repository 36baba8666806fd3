package drivertest

import (
	"fmt"
	"math"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/interp"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// scans combines elements of every type along every axis.
func (s *suite) scans() {
	for _, kind := range []ir.Op{ir.Add, ir.Mul, ir.Max, ir.Min} {
		s.eachIn(kind.String(), typesOf(ir.Scan), func(s *suite, d ir.DType) {
			for i, dims := range [][]int{{6}, {3, 5, 4}, {2, 700}, {700, 3}, {1, 1}, {2, 0, 3}} {
				if spared(d, i) && kind != ir.Add {
					continue
				}
				for axis := range dims {
					for k, l := range layouts {
						if len(dims) < l.rank || i != 1 && k > 0 || i == 1 && k%3 != axis {
							continue
						}
						s.check(fmt.Sprint(l.name, dims, axis), graph.Scan(kind, l.make(s, d, dims), axis))
					}
				}
			}
			for _, x := range rareRows(d) {
				s.check("special values", graph.Scan(kind, s.of(d, x...), 0))
			}
		})
	}
	s.part("long", func(s *suite) {
		one := func(dims ...int) *graph.Node { return graph.Const(ir.Int32, ir.Int(ir.Int32, 1), dims) }
		ones := func(dims ...int) *graph.Node { return graph.Expand(s.of(ir.Int32, ir.Int(ir.Int32, 1)), dims) }
		for _, dims := range [][]int{{70000}, {3, 9001}, {9001, 3}, {5000, 40}} {
			for axis := range dims {
				x := graph.Where(s.tensor(ir.Bool, dims...), one(dims...), graph.Const(ir.Int32, 0, dims))
				s.check(fmt.Sprint("long ", dims, axis), graph.Scan(ir.Add, x, axis))
			}
		}
		s.check("ones", graph.Scan(ir.Add, ones(5000), 0))
	})
}

// rareRows are rows of NaN, infinities and zeros.
func rareRows(d ir.DType) [][]ir.Number {
	if !d.IsFloat() {
		return nil
	}
	var rows [][]ir.Number
	for _, x := range [][]float64{{1, math.NaN(), 2, 3}, {math.Inf(-1), 3, 2, 4}, {math.NaN(), math.NaN()}, {-0.5, 0, 0.5}} {
		var row []ir.Number
		for _, v := range x {
			row = append(row, ir.Float(d, v))
		}
		rows = append(rows, row)
	}
	return rows
}

// sorts sorts elements of every type along every axis, all of them and the first few.
func (s *suite) sorts() {
	s.each(typesOf(ir.Sort), func(s *suite, d ir.DType) {
		for i, dims := range [][]int{{6}, {3, 5, 4}, {2, 700}, {700, 3}, {1, 1}, {2, 0, 3}} {
			for axis, n := range dims {
				for k, l := range layouts {
					if len(dims) < l.rank || i != 1 && k > 0 || i == 1 && k%3 != axis {
						continue
					}
					what := fmt.Sprint(l.name, dims, axis)
					s.check(what, graph.Sort(l.make(s, d, dims), axis, n))
					s.check(what+" some", graph.Sort(l.make(s, d, dims), axis, n/2))
				}
			}
		}
		for _, dims := range [][]int{{9000}, {3, 5000}} {
			last := len(dims) - 1
			x := s.tensor(d, dims...)
			s.check(fmt.Sprint("long ", dims), graph.Sort(x, last, dims[last]))
			s.check(fmt.Sprint("few of ", dims), graph.Sort(x, last, 10))
			s.check(fmt.Sprint("many of ", dims), graph.Sort(x, last, 300))
		}
		if d == ir.Float32 {
			s.check("whole blocks", graph.Sort(s.tensor(d, 8192), 0, 8192))
			s.check("many blocks", graph.Sort(s.tensor(d, 20_001), 0, 20_001))
		}
		bits := make([]ir.Number, 5000) // sorted by all digits
		for i := range bits {
			bits[i] = ir.Int(d, int64(s.Uint64()))
		}
		s.check("all bits", graph.Sort(s.of(d, bits...), 0, len(bits)))
		equal := graph.Expand(s.tensor(d, 1), []int{5000})
		s.check("equal", graph.Sort(equal, 0, 5000))
		s.check("first of equal", graph.Sort(equal, 0, 7))
	})
}

// inOrder is how far a Scan or a Sort may be off: each element of a Scan as much as
// the reduction of the elements up to it. A running product that was subnormal has lost
// digits, which greater factors after it do not bring back.
func inOrder(n *graph.Node, x *result, want *interp.Array) []float64 {
	off := make([]float64, len(want.Elems))
	axis := n.Ints[0]
	step := 1
	for _, d := range x.Shape[axis+1:] {
		step *= d
	}
	for first, pos := range shape.Positions(shape.With(x.Shape, axis, min(1, x.Shape[axis]))) {
		at, doubt, lost := shape.Rank(x.Shape, pos), 0.0, 0.0
		g := group{}
		for i := range x.Shape[axis] {
			e := at + i*step
			g.elems, g.off = append(g.elems, x.Elems[e]), append(g.off, x.off[e])
			doubt = max(doubt, x.off[e])
			if n.Op == ir.Scan && n.DType.IsFloat() {
				off[e] = fold(scatterFold[n.Kind], n.DType, n.DType, want.Elems[e], n.DType, g)
				if i == 0 {
					off[e] = x.off[e]
				}
				if n.Kind == ir.Mul {
					least := epsilon[n.DType].least
					if lost > 0 { // not 0 times ∞
						lost *= math.Abs(x.Elems[e].Float64(n.DType))
					}
					if math.Abs(want.Elems[e].Float64(n.DType)) < least {
						lost += least
					}
					off[e] += lost
				}
			}
		}
		if n.Op == ir.Sort && doubt > 0 {
			outer := first / step
			for v := range n.Shape[axis] {
				off[(outer*n.Shape[axis]+v)*step+first%step] = anything
			}
		}
	}
	return off
}
