package cpu

import (
	"slices"

	"github.com/tensorken/tensorken/ir"
)

// newReduction returns a runner of reductions, or of a contraction without a micro-kernel,
// and the number of bindings that the runner adds to the kernel's.
func newReduction(s *space) (r runner, extra int) {
	kept, reduced := s.List(ir.Parallel, ir.Batch, ir.M, ir.N), s.List(ir.Reduced, ir.K)
	shape := reductionShape{
		kept: kept, reduced: reduced,
		nk: s.Size(kept), nr: s.Size(reduced),
		columnMajor: s.columnMajor(kept, reduced),
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
func (r *reductionShape) fits(s *space) bool {
	lanes := r.nr
	if r.columnMajor {
		lanes *= min(r.nk, 16)
	}
	if lanes > s.tune.maxWholeReduction || r.nk < 16 && r.nk*r.nr > 4*s.tune.maxWholeReduction {
		return false
	}
	return lanes <= 2*s.tune.maxBlock || s.reuses()
}

// columnMajor reports whether kept axes should have the inner lanes: if more is
// read with stride 1 along them, or if few points are reduced and each load has a
// short stride along a long kept axis, as windows do.
func (s *space) columnMajor(kept, reduced []int) bool {
	loads := s.Loads(s.Stores(0, false)...)
	if s.prefersInnermost(loads, kept, reduced) {
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
func newBlock(s *space, r reductionShape) *pointwiseRunner {
	least, limit := s.tune.minBlock/max(r.nr, 1), 2*s.tune.maxBlock/max(r.nr, 1)
	if r.columnMajor {
		least, limit = max(least, 16), max(limit, 32)
	}
	w := &pointwiseRunner{tiles: tilings{newTiling(s, r.kept, least, limit)}}
	lanes := slices.Concat(w.tiles.longAxes(), r.reduced)
	if r.columnMajor {
		lanes = slices.Concat(r.reduced, w.tiles.longAxes())
	}
	extent := s.extents(w.tiles...)
	for _, a := range r.reduced {
		extent[a] = s.Axes[a].Len
	}
	w.program = assemble(s, schedule{lanes: lanes, extent: extent, roots: s.Stores(0, false), columnMajor: r.columnMajor}).program
	w.program.wholeAxes = r.reduced
	w.work = s.work(s.Stores(0, false))
	w.blocksPerTask = s.tune.grain(w.tiles.count(), w.work)
	return w
}
