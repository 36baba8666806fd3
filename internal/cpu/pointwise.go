package cpu

import (
	"github.com/tensorken/tensorken/ir"
)

// A pointwiseRunner runs a kernel without reductions.
type pointwiseRunner struct {
	program       *program
	tiles         tilings
	work          int // additions in all
	blocksPerTask int // blocks in a task
}

func newPointwise(s *space) *pointwiseRunner {
	return newPointwiseOver(s, s.List(ir.Parallel), s.Stores(0, false))
}

// newPointwiseOver runs some stores over some axes.
func newPointwiseOver(s *space, axes, stores []int) *pointwiseRunner {
	t := s.tune
	m := &pointwiseRunner{}
	if n := s.transposed(axes, s.Loads(stores...)); n > 0 {
		outer, inner := newTiling(s, axes[:n], t.transposeTile, t.transposeTile), newTiling(s, axes[n:], 2*t.transposeTile, 2*t.transposeTile)
		m.tiles = tilings{outer, inner}
	} else {
		most := t.maxBlock
		if s.singleOps(stores) {
			most = t.longBlock(s.Size(axes))
		}
		m.tiles = tilings{newTiling(s, axes, t.minBlock, most)}
	}
	m.program = assemble(s, schedule{lanes: m.tiles.longAxes(), extent: s.extents(m.tiles...), roots: stores}).program
	m.work = s.work(stores)
	m.blocksPerTask = t.grain(m.tiles.count(), m.work)
	return m
}

// singleOps reports whether each store is of one operation on loads that are used in
// place, all of elements of 4 bytes or more.
func (s *space) singleOps(stores []int) bool {
	for _, i := range stores {
		store := &s.Body[i]
		in := &s.Body[store.Src[0]]
		if in.Op.Class() != ir.Elementwise || s.Args[store.Arg].DType.Size() < 4 {
			return false
		}
		for _, j := range in.Src {
			switch x := &s.Body[j]; x.Op {
			case ir.Const, ir.Scalar:
			case ir.Load:
				if x.Domain != in.Domain || s.Args[x.Arg].DType.Size() < 4 {
					return false
				}
			default:
				return false
			}
		}
	}
	return true
}

// transposed returns n > 0 if a load has stride 1 along axes[n-1] and a large one
// along the last of axes. Blocks are then long along both, to use whole cache
// lines.
func (s *space) transposed(axes []int, loads []int) int {
	if len(axes) < 2 {
		return 0
	}
	for _, i := range loads {
		c := s.Body[i].View.Coef
		if last := axes[len(axes)-1]; max(c[last], -c[last]) < 16 || s.Axes[last].Len < s.tune.transposeTile {
			continue
		}
		for n := len(axes) - 1; n > 0; n-- {
			if a := axes[n-1]; (c[a] == 1 || c[a] == -1) && s.Axes[a].Len >= s.tune.transposeTile {
				return n
			}
		}
	}
	return 0
}

// grain is the number of blocks, of n, that are worth a task.
func (t *tuning) grain(n, work int) int {
	if n == 0 {
		return 1
	}
	return max(1, t.parallelThreshold/2*n/max(work, 1), ir.CeilDiv(n, 256))
}

func (m *pointwiseRunner) run(x *executor) error {
	return x.do(m, ir.CeilDiv(m.tiles.count(), m.blocksPerTask), m.work)
}

func (m *pointwiseRunner) begin(x *executor, w *worker) { w.enter(x, m.program) }

func (m *pointwiseRunner) task(_ *executor, w *worker, i int) {
	f := &w.activations[0]
	for t := i * m.blocksPerTask; t < min((i+1)*m.blocksPerTask, m.tiles.count()); t++ {
		if m.tiles.moveTo(f, t); m.tiles.size(f) > 0 {
			f.run()
		}
	}
}
