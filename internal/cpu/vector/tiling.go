package vector

import (
	"slices"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/ir"
)

// A Tiling cuts the space of some axes into boxes: of length 1 along the outer
// axes, of a part of one axis, and whole along the inner ones.
type Tiling struct {
	Axes   []int // outermost first
	lens   []int // their lengths
	box    []int // lengths of a box; the last one along an axis may be shorter
	counts []int // boxes along each axis
	Count  int   // boxes
}

// NewTiling makes boxes of at least least points, if there are as many, and of
// about limit at most, cut by multiples of 16 where that is a small change.
func NewTiling(s *Space, axes []int, least, limit int) *Tiling {
	return NewTilingBy(s, axes, least, limit, 16)
}

// NewTilingBy cuts an axis by multiples of unit where that is a small change.
func NewTilingBy(s *Space, axes []int, least, limit, unit int) *Tiling {
	r := len(axes)
	t := &Tiling{Axes: axes, lens: make([]int, r), box: make([]int, r), counts: make([]int, r), Count: 1}
	inner := 1
	for i, a := range slices.Backward(axes) {
		n := s.Axes[a].Len
		t.lens[i], t.box[i] = n, 1
		if inner < least {
			t.box[i] = max(n, 1)
			if n > 0 && inner > limit/n {
				t.box[i] = Even(n, max(1, limit/inner), unit)
			}
			inner *= n
		}
		t.counts[i] = ir.CeilDiv(n, t.box[i])
		t.Count *= t.counts[i]
	}
	return t
}

// NewStrips cuts an axis into boxes of some length. The last may be shorter.
func NewStrips(s *Space, axis, length int) *Tiling {
	n := s.Axes[axis].Len
	count := ir.CeilDiv(n, length)
	return &Tiling{Axes: []int{axis}, lens: []int{n}, box: []int{min(n, length)}, counts: []int{count}, Count: count}
}

// NewBoxes cuts axes into boxes of some lengths by axis. The last along an axis may be shorter.
func NewBoxes(s *Space, axes, box []int) *Tiling {
	t := NewTiling(s, axes, 1, 1)
	t.Count = 1
	for i, a := range axes {
		t.box[i] = box[a]
		t.counts[i] = ir.CeilDiv(t.lens[i], box[a])
		t.Count *= t.counts[i]
	}
	return t
}

// NewTilingOf makes boxes of whole units, powers of two that all axes together are a multiple of, and of at most
// about limit points.
func NewTilingOf(s *Space, axes []int, limit, unit int) *Tiling {
	t := NewTiling(s, axes, 1, 1)
	t.Count = 1
	inner, cut := 1, false
	for i, n := range slices.Backward(t.lens) {
		step := unit / min(unit, inner&-inner) // along the axis, of a whole unit
		switch {
		case cut:
			t.box[i] = 1
		case n%step != 0:
			t.box[i] = n
		default:
			t.box[i] = Even(n/step, max(1, limit/(inner*step)), 1) * step
		}
		cut = cut || t.box[i] < n
		inner *= t.box[i]
		t.counts[i] = ir.CeilDiv(n, t.box[i])
		t.Count *= t.counts[i]
	}
	return t
}

// Even returns the length of the parts that n is cut into: at most about limit,
// equal but for the last, and a multiple of unit where that is a small change.
func Even(n, limit, unit int) int {
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

// Split cuts the boxes of a tiling into at most most parts that run in parallel
// (split-K). It returns the number of parts and of boxes in each.
func Split(t *Tiling, most int) (parts, boxes int) {
	parts, boxes, _ = loopnest.Split(max(t.Count, 1), most, func(_, boxes int) float64 { return float64(boxes) })
	return parts, boxes
}

// MaxPoints is the number of points of the largest box.
func (t *Tiling) MaxPoints() int {
	n := 1
	for _, l := range t.box {
		n *= l
	}
	return n
}

// LongAxes lists the axes along which a box may be longer than 1.
func (t *Tiling) LongAxes() []int {
	var axes []int
	for i, a := range t.Axes {
		if t.box[i] > 1 {
			axes = append(axes, a)
		}
	}
	return axes
}

// Groups returns how the points of a box lie: in groups of n points that are stride apart; the groups are far
// apart. ok is false if they lie in another way.
func (t *Tiling) Groups(coef []int) (n, stride, groups, far int, ok bool) {
	n, stride, groups = 1, 1, 1
	for i, a := range slices.Backward(t.Axes) {
		b, c := t.box[i], coef[a]
		switch {
		case b == 1:
		case n == 1 && groups == 1:
			n, stride = b, c
		case groups == 1 && c == stride*n:
			n *= b
		case groups == 1:
			groups, far = b, c
		case c == far*groups:
			groups *= b
		default:
			return 0, 0, 0, 0, false
		}
	}
	return n, stride, groups, far, true
}

// Stride is the distance between neighbouring points of a box, if it is the same for all.
func (t *Tiling) Stride(coef []int) (stride int, ok bool) {
	stride = 1
	n := 0 // points along the axes that were seen
	for i, a := range slices.Backward(t.Axes) {
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

// MoveTo moves an activation to box i, and returns the number of points before it,
// counted in the order of axes.
func (t *Tiling) MoveTo(f *Activation, i int) (start int) {
	below := 1
	for j := len(t.Axes) - 1; j >= 0; j-- {
		at := i % t.counts[j] * t.box[j]
		i /= t.counts[j]
		f.MoveTo(t.Axes[j], at, min(t.box[j], t.lens[j]-at))
		start += at * below
		below *= t.lens[j]
	}
	return start
}

// Size is the number of points of an activation's box.
func (t *Tiling) Size(f *Activation) int {
	n := 1
	for _, a := range t.Axes {
		n *= f.N[a]
	}
	return n
}

// Needed is the number of boxes up to a limit, if the tiling has one axis.
func (t *Tiling) Needed(f *Activation) int {
	if len(t.Axes) != 1 {
		return t.Count
	}
	return min(t.Count, ir.CeilDiv(f.limit[t.Axes[0]], t.box[0]))
}

// Tilings are the products of boxes of several groups of axes. The boxes of the
// last group vary fastest.
type Tilings []*Tiling

func (ts Tilings) Count() int {
	n := 1
	for _, t := range ts {
		n *= t.Count
	}
	return n
}

// LongAxes lists the axes along which a box may be longer than 1.
func (ts Tilings) LongAxes() []int {
	var axes []int
	for _, t := range ts {
		axes = append(axes, t.LongAxes()...)
	}
	return axes
}

// size is the number of points of an activation's box.
func (ts Tilings) size(f *Activation) int {
	n := 1
	for _, t := range ts {
		n *= t.Size(f)
	}
	return n
}

// MoveTo moves an activation to box i.
func (ts Tilings) MoveTo(f *Activation, i int) {
	for j := len(ts) - 1; j > 0; j-- {
		ts[j].MoveTo(f, i%ts[j].Count)
		i /= ts[j].Count
	}
	ts[0].MoveTo(f, i)
}

// Positions lists the positions of the points along some axes, in order, from first on. It
// overwrites a list.
func Positions(list []int, first int, f *Activation, axes []int, stride *[ir.MaxAxes]int) []int {
	list = append(list[:0], first)
	for _, a := range slices.Backward(axes) {
		n := len(list)
		for i := 1; i < f.N[a]; i++ {
			for _, p := range list[:n] {
				list = append(list, p+i*stride[a])
			}
		}
	}
	return list
}
