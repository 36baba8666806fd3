package drivertest

import (
	"fmt"
	"math"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/exec"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// A smallLooper is a looper with limits under which loops are made of small tensors. It
// counts them.
type smallLooper struct {
	driver.Looper
	bytes        int // of temporaries
	loops, parts int // parts are loops whose blocks are parts of a matrix
}

func (l *smallLooper) LoopLimits() ir.LoopLimits {
	return ir.LoopLimits{Bytes: l.bytes, Rows: 4, Columns: 2, Conflict: 20, Serial: l.Looper.LoopLimits().Serial}
}

func (l *smallLooper) CompileLoop(x *ir.Loop) (driver.Program, error) {
	l.loops++
	if x.Block < x.Matrix {
		l.parts++
	}
	return l.Looper.CompileLoop(x)
}

// loops computes attention, and what its derivatives are made of, in loops over blocks of
// rows: parts of a matrix or, of every second layout, two matrices.
func (s *suite) loops() {
	drv, ok := s.drv.(driver.Looper)
	if !ok {
		s.Skipf("%s runs no loops", s.drv.Name())
	}
	s.each(floatTypes, func(s *suite, d ir.DType) {
		small, large := &smallLooper{Looper: drv, bytes: 1 << 11}, &smallLooper{Looper: drv, bytes: 1 << 14}
		for i, l := range layouts {
			if l.rank > 3 || spared(d, i) {
				continue
			}
			batch := 2
			s.dev = exec.New(small)
			if i/2%2 == 1 {
				batch = 4
				s.dev = exec.New(large)
			}
			s.attention(l.name, d, l.make(s, d, []int{batch, 20, 4}), l.make(s, d, []int{batch, 23, 4}), l.make(s, d, []int{batch, 23, 5}))
		}
		if small.parts == 0 || large.loops == large.parts {
			s.Errorf("%d of %d loops cut matrices of %d bytes, %d of %d with %d bytes", small.parts, small.loops, small.bytes, large.parts, large.loops, large.bytes)
		}
	})
}

// attention checks softmax(q·kᵀ + mask)·v, with masks of several kinds, and sums over rows
// as the derivatives by k and v have.
func (s *suite) attention(what string, d ir.DType, q, k, v *graph.Node) {
	batch, rows, columns := q.Shape[0], q.Shape[1], k.Shape[1]
	dims := []int{batch, rows, columns}
	scores := product(q, k)
	fill := func(x float64) *graph.Node { return graph.Fill(d, x, dims) }
	row, column := graph.Iota(dims, 1), graph.Iota(dims, 2)
	after := graph.Binary(ir.Lt, row, column)
	third := graph.Binary(ir.Lt, graph.Fill(ir.Int32, 2, dims), row) // rows without any element
	masked := map[string]*graph.Node{
		"plain":    scores,
		"scaled":   graph.Binary(ir.Mul, scores, fill(0.5)),
		"causal":   graph.Where(after, fill(math.Inf(-1)), scores),
		"no rows":  graph.Where(third, fill(math.Inf(-1)), scores),
		"additive": graph.Binary(ir.Add, scores, graph.Expand(s.tensor(d, 1, rows, columns), dims)),
	}
	for name, x := range masked {
		e := graph.Unary(ir.Exp, graph.Binary(ir.Sub, x, graph.Expand(graph.Reduce(ir.ReduceMax, x, []int{2}), dims)))
		p := graph.Binary(ir.Div, e, graph.Expand(graph.Reduce(ir.Sum, e, []int{2}), dims))
		out := product(p, graph.Permute(v, []int{0, 2, 1}))
		ct := s.tensor(d, out.Shape...)
		turned := func(x *graph.Node) *graph.Node { return graph.Permute(x, []int{0, 2, 1}) }
		dv := product(turned(p), turned(ct))
		dp := product(ct, v)
		ds := graph.Binary(ir.Mul, p, graph.Binary(ir.Sub, dp, graph.Expand(graph.Reduce(ir.Sum, graph.Binary(ir.Mul, p, dp), []int{2}), dims)))
		dq, dk := product(ds, turned(k)), product(turned(ds), turned(q))
		later := product(graph.Binary(ir.Mul, p, graph.Expand(graph.Reduce(ir.Sum, out, []int{2}), dims)), turned(k)) // which needs all of out
		s.check(fmt.Sprint(name, " ", what), out)
		s.check(fmt.Sprint(name, " derivatives ", what), out, dv, dq, dk)
		s.check(fmt.Sprint(name, " later ", what), graph.Binary(ir.Mul, later, graph.Expand(graph.Reduce(ir.Sum, dv, []int{0, 1, 2}), later.Shape)))
		s.check(fmt.Sprint(name, " stored ", what), out, p, dk)
	}
}
