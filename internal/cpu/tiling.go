package cpu

import "github.com/tensorken/tensorken/internal/loopnest"

// A tiling cuts the space of some axes into boxes: of length 1 along the outer
// axes, of a tile along one axis, and whole along the inner ones.
type tiling struct {
	axes  []int // outermost first
	lens  []int // their lengths
	split int   // the axis that is cut into tiles; -1 for none
	tile  int   // the length of a tile; the last one may be shorter
	count int   // of boxes
}

// newTiling makes boxes of at least least points, if there are as many, and of
// about limit at most.
func newTiling(s *space, axes []int, least, limit int) *tiling {
	t := &tiling{axes: axes, lens: make([]int, len(axes)), tile: 1, count: 1}
	for i, a := range axes {
		t.lens[i] = s.Axes[a].Len
	}
	inner := 1
	t.split = len(axes)
	for t.split > 0 && inner < least {
		t.split--
		inner *= t.lens[t.split]
	}
	if t.split == len(axes) {
		t.split--
		if t.split < 0 {
			return t
		}
		t.tile = 1
	} else {
		n := t.lens[t.split]
		t.tile = max(n, 1)
		if inner > limit && n > 0 {
			below := inner / n
			t.tile = even(n, max(1, limit/max(below, 1)))
		}
	}
	t.count = t.tiles()
	for _, n := range t.lens[:t.split] {
		t.count *= n
	}
	for _, n := range t.lens {
		if n == 0 {
			t.count = 0
		}
	}
	return t
}

// even returns the length of the parts that n is cut into: at most about limit,
// equal but for the last, and a multiple of 16 where that is a small change.
func even(n, limit int) int {
	if n <= limit {
		return max(n, 1)
	}
	parts := loopnest.CeilDiv(n, limit)
	size := loopnest.CeilDiv(n, parts)
	if size >= 64 {
		size = (size + 15) &^ 15
	}
	return size
}

// split cuts the boxes of a tiling into at most so many parts (split-K): the number
// of parts and of boxes in each. All parts take as long as one.
func split(t *tiling, most int) (parts, boxes int) {
	parts, boxes, _ = loopnest.Split(max(t.count, 1), most, func(_, boxes int) float64 { return float64(boxes) })
	return parts, boxes
}

func (t *tiling) tiles() int {
	if t.split < 0 {
		return 1
	}
	return loopnest.CeilDiv(t.lens[t.split], t.tile)
}

// maxPoints is the number of points of the largest box.
func (t *tiling) maxPoints() int {
	n := 1
	for i := max(t.split, 0); i < len(t.lens); i++ {
		if i == t.split {
			n *= t.tile
		} else {
			n *= t.lens[i]
		}
	}
	return n
}

// extent is the greatest length of a box along axis t.axes[i].
func (t *tiling) extent(i int) int {
	switch {
	case i < t.split:
		return 1
	case i == t.split:
		return t.tile
	}
	return t.lens[i]
}

// longAxes lists the axes along which a box may be longer than 1.
func (t *tiling) longAxes() []int {
	if t.split < 0 {
		return nil
	}
	if t.tile == 1 {
		return t.axes[t.split+1:]
	}
	return t.axes[t.split:]
}

// moveTo moves an activation to box i.
func (t *tiling) moveTo(f *activation, i int) {
	for j := len(t.axes) - 1; j > t.split; j-- {
		f.moveTo(t.axes[j], 0, t.lens[j])
	}
	if t.split < 0 {
		return
	}
	tiles := t.tiles()
	at := i % tiles * t.tile
	i /= tiles
	f.moveTo(t.axes[t.split], at, min(t.tile, t.lens[t.split]-at))
	for j := t.split - 1; j >= 0; j-- {
		f.moveTo(t.axes[j], i%t.lens[j], 1)
		i /= t.lens[j]
	}
}

// start is the number of points before box i, counted in the order of axes.
func (t *tiling) start(i int) int {
	if t.split < 0 {
		return 0
	}
	below := 1
	for _, n := range t.lens[t.split+1:] {
		below *= n
	}
	tiles := t.tiles()
	return (i/tiles*t.lens[t.split] + i%tiles*t.tile) * below
}

// points is the number of points of box i.
func (t *tiling) points(i int) int {
	if t.split < 0 {
		return 1
	}
	n := min(t.tile, t.lens[t.split]-i%t.tiles()*t.tile)
	for _, l := range t.lens[t.split+1:] {
		n *= l
	}
	return n
}

// size is the number of points of an activation's box.
func (t *tiling) size(f *activation) int {
	n := 1
	for _, a := range t.axes {
		n *= f.n[a]
	}
	return n
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

// moveTo moves an activation to box i.
func (ts tilings) moveTo(f *activation, i int) {
	for j := len(ts) - 1; j > 0; j-- {
		ts[j].moveTo(f, i%ts[j].count)
		i /= ts[j].count
	}
	ts[0].moveTo(f, i)
}
