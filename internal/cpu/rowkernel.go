package cpu

import (
	"slices"

	"github.com/tensorken/tensorken/ir"
)

// newRow prepares a kernel with reductions, also a contraction that has no
// faster way, and returns how many arguments of its own it needs.
func newRow(s *space) (r runner, extra int) {
	kept, reduced := s.roles(ir.Parallel, ir.Batch, ir.M, ir.N), s.roles(ir.Reduced, ir.K)
	shape := rowShape{
		kept: kept, reduced: reduced,
		nk: s.points(kept), nr: s.points(reduced),
		across: s.across(kept, reduced),
	}
	if shape.fits(s) {
		return newWhole(s, shape), 0
	}
	stream := newStream(s, shape)
	return stream, len(stream.results)
}

type rowShape struct {
	kept, reduced []int
	nk, nr        int  // points along them
	across        bool // lanes run along kept axes
}

// fits reports whether blocks are to hold whole reductions. Values computed
// before a reduction are then at hand after it. If there are none, or one
// reduction is work for more than one core, it is better streamed.
func (r *rowShape) fits(s *space) bool {
	lanes := r.nr
	if r.across {
		lanes *= min(r.nk, 16)
	}
	if lanes > s.tune.whole || r.nk < 16 && r.nk*r.nr > 4*s.tune.whole {
		return false
	}
	return lanes <= 2*s.tune.most || s.reuses()
}

// reuses reports whether anything over the reduced axes is computed after a
// reduction.
func (s *space) reuses() bool {
	reduced := ir.Axes(s.roles(ir.Reduced, ir.K)...)
	for i := range s.body {
		in := &s.body[i]
		if in.Op == ir.Store && in.Domain&reduced != 0 {
			return true
		}
	}
	return slices.Max(s.levels()) > 1
}

// levels gives for every instruction the number of reductions one after the
// other that it comes behind.
func (s *space) levels() []int {
	level := make([]int, len(s.body))
	for i := range s.body {
		in := &s.body[i]
		for _, j := range in.Src {
			level[i] = max(level[i], level[j])
		}
		if in.Op.Class() == ir.Reduction {
			level[i]++
		}
	}
	return level
}

// across reports whether lanes are to run along kept axes: if more is read
// with stride 1 there, or if few points are reduced and each load goes in
// short steps along a long kept axis, as windows do.
func (s *space) across(kept, reduced []int) bool {
	need := s.needs(s.stores(), nil)
	if s.nearer(need, kept, reduced) {
		return true
	}
	if len(kept) == 0 || len(reduced) == 0 || s.points(reduced) > 64 {
		return false
	}
	k, r := kept[len(kept)-1], reduced[len(reduced)-1]
	for i := range s.body {
		in := &s.body[i]
		if in.Op != ir.Load || !need[i] {
			continue
		}
		if c := in.View.Coef[k]; c < -4 || c > 4 {
			return false
		}
	}
	return s.axes[k].Len >= 4*s.axes[r].Len
}

// nearer reports whether those instructions that are needed read more with
// stride 1 along the last of axes a than along the last of b.
func (s *space) nearer(need []bool, a, b []int) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	var votes float64
	for i := range s.body {
		in := &s.body[i]
		if in.Op != ir.Load || !need[i] {
			continue
		}
		n := 1.0
		for axis, x := range s.axes {
			if in.Domain.Has(axis) {
				n *= float64(x.Len)
			}
		}
		if c := in.View.Coef[a[len(a)-1]]; c == 1 || c == -1 {
			votes += n
		}
		if c := in.View.Coef[b[len(b)-1]]; c == 1 || c == -1 {
			votes -= n
		}
	}
	return votes > 0
}

// A wholeRunner runs a kernel whose reductions fit into a block: like a map,
// with reductions among the steps.
type wholeRunner struct{ mapRunner }

func newWhole(s *space, r rowShape) *wholeRunner {
	enough, limit := s.tune.enough/max(r.nr, 1), 2*s.tune.most/max(r.nr, 1)
	if r.across {
		enough, limit = max(enough, 16), max(limit, 32)
	}
	w := &wholeRunner{mapRunner{tiles: tilings{newTiling(s, r.kept, enough, limit)}}}
	lanes := slices.Concat(w.tiles.block(), r.reduced)
	if r.across {
		lanes = slices.Concat(r.reduced, w.tiles.block())
	}
	extent := s.extents(w.tiles...)
	for _, a := range r.reduced {
		extent[a] = s.axes[a].Len
	}
	w.code = assemble(s, plan{lanes: lanes, extent: extent, roots: s.stores(), across: r.across}).code
	w.code.fixed = r.reduced
	w.work = r.nk * max(r.nr, 1) * max(s.cost(), 1)
	w.per = s.tune.grain(w.tiles.count(), w.work)
	return w
}
