package cpu

import (
	"slices"

	"github.com/tensorken/tensorken/internal/cpu/vector"
	"github.com/tensorken/tensorken/ir"
)

// newReduction returns a runner of reductions, or of a contraction without a micro-kernel,
// and the number of bindings that the runner adds to the kernel's.
func newReduction(s *vector.Space) (r runner, extra int) {
	kept, reduced := s.List(ir.Parallel, ir.Batch, ir.M, ir.N), s.List(ir.Reduced, ir.K)
	shape := reductionShape{
		kept: kept, reduced: reduced,
		nk: s.Size(kept), nr: s.Size(reduced),
		columnMajor: columnMajor(s, kept, reduced),
	}
	if shape.fits(s) {
		return newBlock(s, shape), 0
	}
	stream := newStream(s, shape)
	return stream, len(stream.results)
}

type reductionShape struct {
	kept, reduced []int
	nk, nr        int  // points along them
	columnMajor   bool // kept axes have the inner lanes
}

// fits reports whether blocks should hold whole reductions, so that values computed
// before a reduction are in the cache after it. Streaming is faster if no such value
// is used, or if one reduction is work for several cores.
func (r *reductionShape) fits(s *vector.Space) bool {
	lanes := r.nr
	if r.columnMajor {
		lanes *= min(r.nk, 16)
	}
	if lanes > s.Tune.MaxWholeReduction || r.nk < 16 && r.nk*r.nr > 4*s.Tune.MaxWholeReduction {
		return false
	}
	return lanes <= 2*s.Tune.MaxBlock || s.Reuses()
}

// columnMajor reports whether kept axes should have the inner lanes: if more is
// read with stride 1 along them, or if few points are reduced and each load has a
// short stride along a long kept axis, as windows do.
func columnMajor(s *vector.Space, kept, reduced []int) bool {
	loads := s.Loads(s.Stores(0, false)...)
	if s.PrefersInnermost(loads, kept, reduced) {
		return true
	}
	if len(kept) == 0 || len(reduced) == 0 || s.Size(reduced) > 64 {
		return false
	}
	k, r := kept[len(kept)-1], reduced[len(reduced)-1]
	long := func(i int) bool { c := s.Body[i].View.Coef[k]; return c < -4 || c > 4 }
	return !slices.ContainsFunc(loads, long) && s.Axes[k].Len >= 2*s.Axes[r].Len
}

// newBlock runs a kernel whose reductions fit into a block as a pointwise kernel, with
// reductions among its ops.
func newBlock(s *vector.Space, r reductionShape) *vector.PointwiseRunner {
	least, limit := s.Tune.MinBlock/max(r.nr, 1), 2*s.Tune.MaxBlock/max(r.nr, 1)
	if r.columnMajor {
		least, limit = max(least, 16), max(limit, 32)
	}
	w := &vector.PointwiseRunner{Tiles: vector.Tilings{vector.NewTiling(s, r.kept, least, limit)}}
	lanes := slices.Concat(w.Tiles.LongAxes(), r.reduced)
	if r.columnMajor {
		lanes = slices.Concat(r.reduced, w.Tiles.LongAxes())
	}
	extent := s.Extents(w.Tiles...)
	for _, a := range r.reduced {
		extent[a] = s.Axes[a].Len
	}
	w.Program = vector.Assemble(s, vector.Schedule{Lanes: lanes, Extent: extent, Roots: s.Stores(0, false), ColumnMajor: r.columnMajor}).Program
	w.Program.WholeAxes = r.reduced
	w.Work = s.Work(s.Stores(0, false))
	w.BlocksPerTask = s.Tune.Grain(w.Tiles.Count(), w.Work)
	return w
}
