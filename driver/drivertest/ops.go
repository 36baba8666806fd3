package drivertest

import (
	"fmt"
	"math"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// elementwise computes every elementwise op on every type that it takes, its
// operands in every layout.
func (s *suite) elementwise() {
	for op := ir.Op(1); int(op) < ir.Ops; op++ {
		if op.Class() != ir.Elementwise || op == ir.Cast || op == ir.Bitcast {
			continue
		}
		s.eachIn(op.String(), typesOf(op), func(s *suite, d ir.DType) {
			for j, dims := range shapes {
				for i, l := range layouts {
					if len(dims) < l.rank || graph.Len(dims) > 1 && spared(d, i+j) {
						continue
					}
					src := []*graph.Node{l.make(s, d, dims)}
					for k := 1; k < ir.Table[op].Arity; k++ {
						src = append(src, s.some(i+7*k, d, dims))
					}
					if op == ir.Where {
						src[0], src[2] = s.some(i, ir.Bool, dims), src[0]
					}
					s.check(l.name, graph.Elementwise(op, src...))
				}
			}
			s.check("long", graph.Elementwise(op, s.longOperands(op, d)...))
		})
	}
}

// some is a tensor in the i-th layout that its rank allows.
func (s *suite) some(i int, d ir.DType, dims []int) *graph.Node {
	for ; ; i++ {
		if l := layouts[i%len(layouts)]; len(dims) >= l.rank {
			return l.make(s, d, dims)
		}
	}
}

// longOperands are operands of an op that fill more than one block.
func (s *suite) longOperands(op ir.Op, d ir.DType) []*graph.Node {
	var src []*graph.Node
	for k := range ir.Table[op].Arity {
		if op == ir.Where && k == 0 {
			src = append(src, s.tensor(ir.Bool, 20011))
			continue
		}
		src = append(src, s.tensor(d, 20011))
	}
	return src
}

// casts converts every type to every other, special values included.
func (s *suite) casts() {
	s.each(ir.DTypes, func(s *suite, d ir.DType) {
		for _, to := range ir.DTypes {
			if to == d {
				continue
			}
			name := "to " + to.String()
			s.check(name+" of special values", graph.Cast(s.of(d, castValues(d)...), to))
			s.check(name+" and back", graph.Cast(graph.Cast(s.tensor(d, 3, 5), to), d))
			for _, l := range layouts {
				s.check(name+" "+l.name, graph.Cast(l.make(s, d, []int{3, 4}), to))
			}
			if d.Size() == to.Size() && d != ir.Bool && to != ir.Bool && !d.IsHalf() {
				s.check("Bitcast "+name, graph.Bitcast(s.of(d, castValues(d)...), to))
				s.check("Bitcast "+name+" of a view", graph.Bitcast(s.leaf(d, []int{3, 4}), to))
			}
		}
	})
}

// castValues are numbers around the limits of the types.
func castValues(d ir.DType) []ir.Number {
	if !d.IsFloat() {
		x := specialInts(d)
		for _, v := range []int64{1 << 24, 1<<24 + 1, 1<<53 + 1, -1<<24 - 1, 65504, 65520, 65536} {
			x = append(x, ir.Int(d, v))
		}
		return x
	}
	x := specialFloats(d)
	for _, to := range ir.DTypes {
		if to.IsFloat() {
			continue
		}
		lo, hi := ir.Limits(to)
		for _, v := range []float64{float64(lo), float64(hi)} {
			for _, by := range []float64{-1, -0.5, 0, 0.5, 1, v} {
				x = append(x, ir.Float(d, v+by))
			}
		}
	}
	for _, v := range []float64{1.5, 2.5, -1.5, 0.999, -0.999, 1 + 0x1p-9, 1 + 0x1p-11, 65504, 65519.9, 65520, 0x1p-24, 0x1p-25, 1e10} {
		x = append(x, ir.Float(d, v))
	}
	return x
}

func specialFloats(d ir.DType) []ir.Number {
	greatest := map[ir.DType]float64{
		ir.Float16: 65504, ir.BFloat16: 0x1.FEp127, ir.Float32: math.MaxFloat32, ir.Float64: math.MaxFloat64,
	}[d]
	var out []ir.Number
	for _, v := range []float64{
		0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 2, 3, -3, 2.5, 10, 88, -100, 1e-4, -1e-4,
		math.NaN(), math.Inf(1), math.Inf(-1), greatest, -greatest, epsilon[d].least,
	} {
		out = append(out, ir.Float(d, v))
	}
	return out
}

func specialInts(d ir.DType) []ir.Number {
	lo, hi := ir.Limits(d)
	var out []ir.Number
	for _, v := range []int64{lo, lo + 1, hi, hi - 1, 0, 1, 2, 3, 7, -1, -2, -7, 31, 32, 33, 63, 64, 65, 100} {
		out = append(out, ir.Int(d, v))
	}
	return out
}

func specialValues(d ir.DType) []ir.Number {
	switch {
	case d.IsFloat():
		return specialFloats(d)
	case d == ir.Bool:
		return []ir.Number{0, 1}
	}
	return specialInts(d)
}

// special computes ops on all pairs of special values.
func (s *suite) special() {
	for op := ir.Op(1); int(op) < ir.Ops; op++ {
		arity := ir.Table[op].Arity
		if op.Class() != ir.Elementwise || op == ir.Cast || op == ir.Bitcast || arity > 2 {
			continue
		}
		s.eachIn(op.String(), typesOf(op), func(s *suite, d ir.DType) {
			s.signs = !ir.Table[op].AnyZero
			x := specialValues(d)
			if arity == 1 {
				if op == ir.Sin || op == ir.Cos {
					x = x[:len(x)-3] // no bound holds for great arguments
				}
				s.check("special values", graph.Unary(op, s.of(d, x...)))
				return
			}
			var a, b []ir.Number
			for _, v := range x {
				for _, w := range x {
					a, b = append(a, v), append(b, w)
				}
			}
			s.check("pairs of special values", graph.Binary(op, s.of(d, a...), s.of(d, b...)))
			for i, v := range x {
				c := graph.Scalar(d, v, []int{len(x)})
				s.check(fmt.Sprintf("special values and %s", v.Text(d)), graph.Binary(op, s.of(d, x...), c))
				s.check(fmt.Sprintf("%s and special values", v.Text(d)), graph.Binary(op, c, s.of(d, x...)))
				if spared(d, i) { // a constant makes a kernel of its own
					continue
				}
				c = graph.Const(d, v, []int{len(x)})
				s.check(fmt.Sprintf("special values and constant %s", v.Text(d)), graph.Binary(op, s.of(d, x...), c))
				s.check(fmt.Sprintf("constant %s and special values", v.Text(d)), graph.Binary(op, c, s.of(d, x...)))
			}
		})
	}
	s.subnormalDivisors()
	s.eachIn("Where", ir.DTypes, func(s *suite, d ir.DType) {
		s.signs = true
		x := specialValues(d)
		y := make([]ir.Number, len(x))
		copy(y, x[1:])
		cond := make([]ir.Number, len(x))
		for i := range cond {
			cond[i] = ir.Number(i & 1)
		}
		s.check("special values", graph.Where(s.of(ir.Bool, cond...), s.of(d, x...), s.of(d, y...)))
	})
}

// randomBits compares the counter-based generator with its definition.
func (s *suite) randomBits() {
	s.each([]ir.DType{ir.Uint32}, func(s *suite, d ir.DType) {
		word := func(n int) *graph.Node {
			x := make([]ir.Number, n)
			for i := range x {
				x[i] = ir.Number(s.Uint32())
			}
			return s.of(d, x...)
		}
		for _, n := range []int{1, 2, 1000, 5003} {
			s.check(fmt.Sprint(n), graph.Elementwise(ir.Threefry, word(n), word(n), word(n), word(n)))
		}
		position := graph.Cast(graph.Iota([]int{777}, 0), d)
		key := graph.Expand(word(1), []int{777})
		s.check("position", graph.Elementwise(ir.Threefry, key, key, graph.Const(d, 0, []int{777}), position))
	})
}
