package product

import (
	"cmp"
	"slices"
	"unsafe"

	"github.com/tensorken/tensorken/internal/cpu/vector"
	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/ir"
)

// Windows are a left factor that reads each element several times, as in a convolution: at
// coordinate y+ky, where y is a position along an axis of rows and ky along an axis of the
// depth. A block holds each element once, with a lane for each coordinate, and the product
// reads the windows in it through lists of positions. Dukhan calls this an indirect
// convolution.
type windows struct {
	space       *vector.Space // has an axis more for each coordinate
	coordinates []coordinate
	instr       int
	rows, depth *vector.Tiling

	program *vector.Program
	root    int            // the register that holds the block
	lanes   []int          // of the block
	memory  *vector.Affine // of windows that are read where they are: the position in the buffer
	strides []int          // and the stride along each axis
}

// A coordinate is a sum of positions along at least two axes, times coefficients.
type coordinate struct {
	coef []int
	own  int // an axis of no other coordinate
	axis int // of the coordinate itself
}

// minReuse is how often, on average, windows read each element, so that it pays to find them.
const minReuse = 1.5

// findWindows returns instruction i as windows, or nil if it is something else.
func findWindows(s *vector.Space, i int) *windows {
	if s.Work([]int{i}) == 0 {
		return nil
	}
	w := &windows{instr: i}
	need := s.Needs([]int{i}, nil)
	for j := range s.Body {
		in := &s.Body[j]
		switch {
		case !need[j]:
		case in.Op == ir.Index || len(in.Src) > 0 && in.View != nil:
			return nil
		case in.View != nil && !w.addCoordinates(in.View.Guards):
			return nil
		}
	}
	if len(w.coordinates) == 0 {
		return plainWindows(s, i)
	}
	k := *s.Kernel
	k.Axes, k.Body = slices.Clone(k.Axes), slices.Clone(k.Body)
	if !w.addAxes(&k) {
		return nil
	}
	w.space = &vector.Space{Nest: &loopnest.Nest{Kernel: &k, Rank: append(slices.Clone(s.Rank), make([]int, len(w.coordinates))...)}, Tune: s.Tune, Limits: s.Limits}
	for j := range k.Body {
		in := &k.Body[j]
		if !need[j] {
			continue
		}
		if in.View != nil && !w.rewrite(in) {
			return nil
		}
		in.Domain = w.space.Varies(j)
	}
	if loopnest.Points(s.Axes, s.Body[i].Domain) < minReuse*loopnest.Points(k.Axes, k.Body[i].Domain) {
		return nil
	}
	return w
}

// addCoordinates adds the coordinates of guards. It returns false if a guard divides.
func (w *windows) addCoordinates(guards []ir.Guard) bool {
	for _, g := range guards {
		if g.Div != 1 {
			return false
		}
		if w.find(g.Coef) == nil && len(g.Coef)-count(g.Coef, 0) > 1 {
			w.coordinates = append(w.coordinates, coordinate{coef: g.Coef})
		}
	}
	return true
}

func count(list []int, x int) int {
	n := 0
	for _, y := range list {
		if x == y {
			n++
		}
	}
	return n
}

// find returns the coordinate with some coefficients, or nil.
func (w *windows) find(coef []int) *coordinate {
	for i := range w.coordinates {
		if slices.Equal(w.coordinates[i].coef, coef) {
			return &w.coordinates[i]
		}
	}
	return nil
}

// addAxes adds an axis to a kernel for each coordinate. It returns false if a coordinate has no
// axis of its own, or if there are too many axes.
func (w *windows) addAxes(k *ir.Kernel) bool {
	if len(k.Axes)+len(w.coordinates) >= ir.MaxAxes {
		return false
	}
	axes := len(k.Axes)
	for i := range w.coordinates {
		c := &w.coordinates[i]
		c.own = -1
		n := 1
		for a := range axes {
			if x := c.coef[a]; x != 0 {
				n += max(x, -x) * (k.Axes[a].Len - 1)
				if !slices.ContainsFunc(w.coordinates, func(o coordinate) bool { return &o.coef[0] != &c.coef[0] && o.coef[a] != 0 }) {
					c.own = a
				}
			}
		}
		if c.own < 0 {
			return false
		}
		c.axis = len(k.Axes)
		k.Axes = append(k.Axes, ir.Axis{Len: n, Role: ir.M})
	}
	return true
}

// rewrite makes an instruction read its elements at coordinates. It returns false if the
// elements depend on an axis of a coordinate in another way.
func (w *windows) rewrite(in *ir.Instr) bool {
	axes := len(w.space.Axes)
	v := *in.View
	in.View = &v
	v.Guards = slices.Clone(v.Guards)
	for i := range v.Guards {
		g := &v.Guards[i]
		c := w.find(g.Coef)
		g.Coef = append(slices.Clone(g.Coef), make([]int, axes-len(g.Coef))...)
		if c != nil {
			clear(g.Coef)
			g.Coef[c.axis] = 1
		}
	}
	if in.Op == ir.InBounds {
		return w.separates(v.Guards, nil)
	}
	v.Coef = append(slices.Clone(v.Coef), make([]int, axes-len(v.Coef))...)
	for _, c := range w.coordinates {
		stride := v.Coef[c.own] / c.coef[c.own]
		for a, x := range c.coef {
			v.Coef[a] -= stride * x
		}
		v.Coef[c.axis] = stride
	}
	return w.separates(v.Guards, v.Coef)
}

// separates reports whether coefficients and guards depend on the axes of coordinates only
// through the coordinates.
func (w *windows) separates(guards []ir.Guard, coef []int) bool {
	for _, c := range w.coordinates {
		for a, x := range c.coef {
			if x == 0 {
				continue
			}
			if coef != nil && coef[a] != 0 || slices.ContainsFunc(guards, func(g ir.Guard) bool { return g.Coef[a] != 0 }) {
				return false
			}
		}
	}
	return true
}

// plainWindows returns instruction i as windows if it is a load of overlapping windows without
// guards, which are read where they are.
func plainWindows(s *vector.Space, i int) *windows {
	if !s.Plain(i) {
		return nil
	}
	in := &s.Body[i]
	reach := 1.0
	for a, c := range in.View.Coef {
		reach += float64(max(c, -c)) * float64(s.Axes[a].Len-1)
	}
	if loopnest.Points(s.Axes, in.Domain) < minReuse*reach {
		return nil
	}
	return &windows{instr: i, space: s, memory: &vector.Affine{}, strides: in.View.Coef}
}

// orderRows returns axes of rows so that the last is not very short, because tiles have rows
// along the last axis only.
func orderRows(s *vector.Space, rows []int) []int {
	const short = 4
	if n := len(rows); n < 2 || s.Axes[rows[n-1]].Len >= short {
		return rows
	}
	longest := slices.MaxFunc(rows, func(a, b int) int { return cmp.Compare(s.Axes[a].Len, s.Axes[b].Len) })
	rows = slices.DeleteFunc(slices.Clone(rows), func(a int) bool { return a == longest })
	return append(rows, longest)
}

// prepare makes the program that computes blocks for the boxes of some tilings. It
// reports false if blocks have more elements than the windows, as with large dilations.
func (w *windows) prepare(rows, depth *vector.Tiling) bool {
	w.rows, w.depth = rows, depth
	s := w.space
	extent := s.Extents(rows, depth)
	for _, c := range w.coordinates {
		for a, x := range c.coef {
			extent[c.axis] += max(x, -x) * (extent[a] - 1)
		}
	}
	in := &s.Body[w.instr]
	size := 1.0
	for a := range s.Axes {
		if in.Domain.Has(a) && extent[a] > 1 {
			w.lanes = append(w.lanes, a)
			size *= float64(extent[a])
		}
	}
	if w.memory == nil && size > 2*float64(rows.MaxPoints()*depth.MaxPoints()) {
		return false
	}
	if loads := s.Loads(w.instr); len(loads) > 0 {
		coef := s.Body[loads[0]].View.Coef
		slices.SortStableFunc(w.lanes, func(a, b int) int { return cmp.Compare(max(coef[b], -coef[b]), max(coef[a], -coef[a])) })
	}
	a := vector.Assemble(s, vector.Schedule{Lanes: w.lanes, Extent: extent, Roots: []int{w.instr}, Value: true})
	w.program, w.root = a.Program, a.Root
	if w.memory != nil {
		*w.memory = a.Affine(in.View.Off, in.View.Coef, 0)
	}
	return true
}

// needs implements reader.
func (w *windows) needs() (p *vector.Program, scratch int) { return w.program, w.program.Scratch }

// ahead implements reader: blocks of windows are computed.
func (w *windows) ahead(*vector.Activation, int) prefetch { return prefetch{} }

// read implements reader. The lists of positions are the worker's.
func (w *windows) read(f *vector.Activation, work *vector.Worker, _, _ int) (m leftPanel) {
	var stride [ir.MaxAxes]int
	first := 0
	if w.memory != nil {
		in := &w.space.Body[w.instr]
		copy(stride[:], w.strides)
		m.left.at = unsafe.Add(f.Bind[in.Arg].P, w.memory.Pos(f)*w.space.Args[in.Arg].DType.Size())
	} else {
		first = w.block(f, &stride)
		m.left.at = f.Reg[w.root]
	}
	// A run is the rows along the last axes, as far as they have one stride.
	m.runRows, m.left.row = 1, 1
	outer := w.rows.Axes
	for ; len(outer) > 0; outer = outer[:len(outer)-1] {
		a := outer[len(outer)-1]
		switch {
		case f.N[a] == 1:
			continue
		case m.runRows == 1:
			m.left.row = stride[a]
		case stride[a] != m.runRows*m.left.row:
			goto found
		}
		m.runRows *= f.N[a]
	}
found:
	work.Runs = vector.Positions(work.Runs, first, f, outer, &stride)
	work.Columns = vector.Positions(work.Columns, 0, f, w.depth.Axes, &stride)
	m.runs, m.columns = work.Runs, work.Columns
	return m
}

// block computes the block and sets its strides along the axes of windows. It returns the
// position of the first window.
func (w *windows) block(f *vector.Activation, stride *[ir.MaxAxes]int) (first int) {
	var before [ir.MaxAxes]int // by coordinate, its value at the first window less the least one
	for i, c := range w.coordinates {
		at, n := 0, 1
		for a, x := range c.coef {
			if x == 0 {
				continue
			}
			at += x * f.At[a]
			d := x * (f.N[a] - 1)
			n += max(d, -d)
			before[i] += max(-d, 0)
		}
		f.MoveTo(c.axis, at-before[i], n)
	}
	f.Run()
	size := 1
	for _, a := range slices.Backward(w.lanes) {
		stride[a] = size
		size *= f.N[a]
	}
	for i, c := range w.coordinates {
		for a, x := range c.coef {
			stride[a] += x * stride[c.axis]
		}
		first += before[i] * stride[c.axis]
	}
	return first
}
