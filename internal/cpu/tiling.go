package cpu

import (
	"slices"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/ir"
)

// A tiling cuts the space of some axes into boxes: of length 1 along the outer
// axes, of a part of one axis, and whole along the inner ones.
type tiling struct {
	axes   []int // outermost first
	lens   []int // their lengths
	box    []int // lengths of a box; the last one along an axis may be shorter
	counts []int // boxes along each axis
	count  int   // boxes
}

// newTiling makes boxes of at least least points, if there are as many, and of
// about limit at most, cut by multiples of 16 where that is a small change.
func newTiling(s *space, axes []int, least, limit int) *tiling {
	return newTilingBy(s, axes, least, limit, 16)
}

// newTilingBy cuts an axis by multiples of unit where that is a small change.
func newTilingBy(s *space, axes []int, least, limit, unit int) *tiling {
	r := len(axes)
	t := &tiling{axes: axes, lens: make([]int, r), box: make([]int, r), counts: make([]int, r), count: 1}
	inner := 1
	for i, a := range slices.Backward(axes) {
		n := s.Axes[a].Len
		t.lens[i], t.box[i] = n, 1
		if inner < least {
			t.box[i] = max(n, 1)
			if n > 0 && inner > limit/n {
				t.box[i] = even(n, max(1, limit/inner), unit)
			}
			inner *= n
		}
		t.counts[i] = ir.CeilDiv(n, t.box[i])
		t.count *= t.counts[i]
	}
	return t
}

// even returns the length of the parts that n is cut into: at most about limit,
// equal but for the last, and a multiple of unit where that is a small change.
func even(n, limit, unit int) int {
	if n <= limit {
		return max(n, 1)
	}
	parts := ir.CeilDiv(n, limit)
	size := ir.CeilDiv(n, parts)
	if size >= 4*unit {
		size = ir.CeilDiv(size, unit) * unit
	}
	return size
}

// split cuts the boxes of a tiling into at most most parts that run in parallel
// (split-K). It returns the number of parts and of boxes in each.
func split(t *tiling, most int) (parts, boxes int) {
	parts, boxes, _ = loopnest.Split(max(t.count, 1), most, func(_, boxes int) float64 { return float64(boxes) })
	return parts, boxes
}

// maxPoints is the number of points of the largest box.
func (t *tiling) maxPoints() int {
	n := 1
	for _, l := range t.box {
		n *= l
	}
	return n
}

// longAxes lists the axes along which a box may be longer than 1.
func (t *tiling) longAxes() []int {
	var axes []int
	for i, a := range t.axes {
		if t.box[i] > 1 {
			axes = append(axes, a)
		}
	}
	return axes
}

// stride is the distance between neighbouring points of a box, if it is the same for all.
func (t *tiling) stride(coef []int) (stride int, ok bool) {
	stride = 1
	n := 0 // points along the axes that were seen
	for i, a := range slices.Backward(t.axes) {
		switch {
		case t.box[i] == 1:
			continue
		case n == 0:
			stride, n = coef[a], 1
		case coef[a] != stride*n:
			return 0, false
		}
		n *= t.box[i]
	}
	return stride, true
}

// moveTo moves an activation to box i, and returns the number of points before it,
// counted in the order of axes.
func (t *tiling) moveTo(f *activation, i int) (start int) {
	below := 1
	for j := len(t.axes) - 1; j >= 0; j-- {
		at := i % t.counts[j] * t.box[j]
		i /= t.counts[j]
		f.moveTo(t.axes[j], at, min(t.box[j], t.lens[j]-at))
		start += at * below
		below *= t.lens[j]
	}
	return start
}

// size is the number of points of an activation's box.
func (t *tiling) size(f *activation) int {
	n := 1
	for _, a := range t.axes {
		n *= f.n[a]
	}
	return n
}

// needed is the number of boxes up to a limit, if the tiling has one axis.
func (t *tiling) needed(f *activation) int {
	if len(t.axes) != 1 {
		return t.count
	}
	return min(t.count, ir.CeilDiv(f.limit[t.axes[0]], t.box[0]))
}

// Tilings are the products of boxes of several groups of axes. The boxes of the
// last group vary fastest.
type tilings []*tiling

func (ts tilings) count() int {
	n := 1
	for _, t := range ts {
		n *= t.count
	}
	return n
}

// longAxes lists the axes along which a box may be longer than 1.
func (ts tilings) longAxes() []int {
	var axes []int
	for _, t := range ts {
		axes = append(axes, t.longAxes()...)
	}
	return axes
}

// size is the number of points of an activation's box.
func (ts tilings) size(f *activation) int {
	n := 1
	for _, t := range ts {
		n *= t.size(f)
	}
	return n
}

// moveTo moves an activation to box i.
func (ts tilings) moveTo(f *activation, i int) {
	for j := len(ts) - 1; j > 0; j-- {
		ts[j].moveTo(f, i%ts[j].count)
		i /= ts[j].count
	}
	ts[0].moveTo(f, i)
}
