package drivertest

import (
	"fmt"

	"github.com/tensorken/tensorken/internal/cases"
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

// casts converts every type to every other.
func (s *suite) casts() {
	s.each(ir.DTypes, func(s *suite, d ir.DType) {
		for _, to := range ir.DTypes {
			if to == d {
				continue
			}
			name := "to " + to.String()
			s.check(name+" and back", graph.Cast(graph.Cast(s.tensor(d, 3, 5), to), d))
			for _, l := range layouts {
				s.check(name+" "+l.name, graph.Cast(l.make(s, d, []int{3, 4}), to))
			}
			if d.Size() == to.Size() && d != ir.Bool && to != ir.Bool && !d.IsHalf() && !to.IsHalf() {
				s.check("Bitcast "+name, graph.Bitcast(s.of(d, cases.CastValues(d)...), to))
				s.check("Bitcast "+name+" of a view", graph.Bitcast(s.leaf(d, []int{3, 4}), to))
			}
		}
	})
}

// special computes all ops on special values. An op of two operands is also computed
// on a special value and a number or constant.
func (s *suite) special() {
	s.each(ir.DTypes, func(s *suite, d ir.DType) {
		for _, c := range cases.Special(d, ir.DTypes) {
			var x []*graph.Node
			for _, in := range c.Inputs {
				x = append(x, s.of(in.DType, in.Elems...))
			}
			s.signs = !ir.Table[c.Op].AnyZero
			s.check(c.Name, c.Make(x))
		}
	})
	for op := ir.Op(1); int(op) < ir.Ops; op++ {
		if op.Class() != ir.Elementwise || ir.Table[op].Arity != 2 {
			continue
		}
		s.eachIn(op.String(), typesOf(op), func(s *suite, d ir.DType) {
			s.signs = !ir.Table[op].AnyZero
			x := cases.Values(d)
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
