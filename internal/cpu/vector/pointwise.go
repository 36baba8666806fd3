package vector

import (
	"github.com/tensorken/tensorken/ir"
)

// A PointwiseRunner runs a kernel without reductions.
type PointwiseRunner struct {
	Program       *Program
	Tiles         Tilings
	Work          int // additions in all
	BlocksPerTask int // blocks in a task
}

func NewPointwise(s *Space) *PointwiseRunner {
	return NewPointwiseOver(s, s.List(ir.Parallel), s.Stores(0, false))
}

// NewPointwiseOver runs some stores over some axes.
func NewPointwiseOver(s *Space, axes, stores []int) *PointwiseRunner {
	t := s.Tune
	m := &PointwiseRunner{}
	if n := s.transposed(axes, s.Loads(stores...)); n > 0 {
		outer, inner := NewTiling(s, axes[:n], t.TransposeTile, t.TransposeTile), NewTiling(s, axes[n:], 2*t.TransposeTile, 2*t.TransposeTile)
		m.Tiles = Tilings{outer, inner}
	} else {
		most := t.MaxBlock
		if s.singleOps(stores) {
			most = t.LongBlock(s.Size(axes))
		}
		m.Tiles = Tilings{NewTiling(s, axes, t.MinBlock, most)}
	}
	m.Program = Assemble(s, Schedule{Lanes: m.Tiles.LongAxes(), Extent: s.Extents(m.Tiles...), Roots: stores}).Program
	m.Work = s.Work(stores)
	m.BlocksPerTask = t.Grain(m.Tiles.Count(), m.Work)
	return m
}

// singleOps reports whether each store is of one operation on loads that are used in
// place, all of elements of 4 bytes or more.
func (s *Space) singleOps(stores []int) bool {
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
func (s *Space) transposed(axes []int, loads []int) int {
	if len(axes) < 2 {
		return 0
	}
	for _, i := range loads {
		c := s.Body[i].View.Coef
		if last := axes[len(axes)-1]; max(c[last], -c[last]) < 16 || s.Axes[last].Len < s.Tune.TransposeTile {
			continue
		}
		for n := len(axes) - 1; n > 0; n-- {
			if a := axes[n-1]; (c[a] == 1 || c[a] == -1) && s.Axes[a].Len >= s.Tune.TransposeTile {
				return n
			}
		}
	}
	return 0
}

// Grain is the number of blocks, of n, that are worth a task.
func (t *Tuning) Grain(n, work int) int {
	if n == 0 {
		return 1
	}
	return max(1, t.ParallelThreshold/2*n/max(work, 1), ir.CeilDiv(n, 256))
}

func (m *PointwiseRunner) Run(x *Executor) error {
	return x.Do(m, ir.CeilDiv(m.Tiles.Count(), m.BlocksPerTask), m.Work)
}

func (m *PointwiseRunner) Begin(x *Executor, w *Worker) { w.Enter(x, m.Program) }

func (m *PointwiseRunner) Task(_ *Executor, w *Worker, i int) {
	f := &w.Activations[0]
	for t := i * m.BlocksPerTask; t < min((i+1)*m.BlocksPerTask, m.Tiles.Count()); t++ {
		if m.Tiles.MoveTo(f, t); m.Tiles.size(f) > 0 {
			f.Run()
		}
	}
}
