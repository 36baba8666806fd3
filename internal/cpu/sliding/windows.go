// Package sliding runs sums and maxima of windows on the host that are no matrix product, because all
// positions share the few weights of a window: depthwise convolutions, convolutions by groups of few
// channels, their derivatives, and pools. Read windows.go first, then filter.go.
package sliding

import (
	"slices"

	"github.com/tensorken/tensorken/internal/cpu/vector"
	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// Windows are an operand whose windows slide along axes of positions: each of its coordinates is a
// position, times a step, plus taps. A block holds each element once, in planes, one for each
// remainder by the steps, so that neighbouring positions are neighbours in memory at every tap.
type windows struct {
	space     *vector.Space // has the axes of the coordinates' quotients and remainders
	instr     int
	slides    []slide
	positions []int // axes, the last one innermost
	taps      []int // axes

	lanes    []int // of the block
	whole    []int // of them, those that it spans
	extent   []int // greatest lengths, by axis
	elements int   // of the greatest block
	program  *vector.Program
	root     int // the register that holds the block
}

// A slide is a coordinate: step · position + Σ coefficient · tap. It is also div · quotient +
// remainder + low, where div is the step, or 1.
type slide struct {
	position, step, div int
	taps                []tap
	low, high           int // of the sum of taps
	quotient, remainder int // axes; remainder is -1 if div is 1
}

// reach is the number of quotients of n positions.
func (c *slide) reach(n int) int { return (n-1)*c.step/c.div + (c.high-c.low)/c.div + 1 }

// slidesFar reports whether there are more positions than taps. Otherwise taps and positions should
// change places.
func (x *windows) slidesFar(s *vector.Space) bool {
	positions, taps := 1, 1
	for _, c := range x.slides {
		positions *= s.Axes[c.position].Len
		for _, t := range c.taps {
			taps *= s.Axes[t.axis].Len
		}
	}
	return positions > taps
}

// A tap is an axis along which a window extends, and its coefficient.
type tap struct{ axis, coef int }

// findWindows returns instruction i as windows that slide along kept or reduced axes, with taps
// along the others, or nil if it is something else. split says that coordinates are divided by the steps.
func findWindows(s *vector.Space, i int, along, across ir.AxisSet, split bool) *windows {
	var list coordinates
	need := s.Needs([]int{i}, nil)
	for j := range s.Body {
		in := &s.Body[j]
		switch {
		case !need[j]:
		case in.Op == ir.Index || len(in.Src) > 0 && in.View != nil:
			return nil
		case in.View != nil:
			list.addGuards(in.View.Guards)
		}
	}
	for j := range s.Body {
		if in := &s.Body[j]; need[j] && in.Op == ir.Load {
			list.addUnguarded(in.View.Coef, along, across)
		}
	}
	k := *s.Kernel
	k.Axes, k.Body = slices.Clone(k.Axes), slices.Clone(k.Body)
	x := &windows{instr: i}
	for _, c := range list {
		if !x.addSlide(&k, c, along, across, split) {
			return nil
		}
	}
	if len(x.slides) == 0 || len(k.Axes) > ir.MaxAxes || !x.slidesFar(s) {
		return nil
	}
	x.space = &vector.Space{Nest: &loopnest.Nest{Kernel: &k, Rank: append(slices.Clone(s.Rank), make([]int, len(k.Axes)-len(s.Axes))...)}, Tune: s.Tune, Limits: s.Limits}
	for j := range k.Body {
		if in := &k.Body[j]; need[j] {
			if in.View != nil && !x.rewrite(in) {
				return nil
			}
			in.Domain = x.space.Varies(j)
		}
	}
	if loopnest.Points(s.Axes, s.Body[i].Domain) < leastReuse*loopnest.Points(k.Axes, k.Body[i].Domain) {
		return nil
	}
	return x
}

// leastReuse is how often, on average, windows that slide read each element, so that a block of them
// pays.
const leastReuse = 1.2

// coordinates are coefficients of sums of positions along at least two axes.
type coordinates [][]int

// addGuards adds the coordinates of guards.
func (c *coordinates) addGuards(guards []ir.Guard) {
	for _, g := range guards {
		known := slices.ContainsFunc(*c, func(coef []int) bool { return slices.Equal(coef, g.Coef) })
		if !known && varied(g.Coef) > 1 {
			*c = append(*c, g.Coef)
		}
	}
}

// varied is the number of axes that coefficients depend on.
func varied(coef []int) int {
	n := 0
	for _, c := range coef {
		if c != 0 {
			n++
		}
	}
	return n
}

// addUnguarded adds coordinates that need no guard: of each tap with the position whose stride has
// the greatest common divisor with its own, and of these the one with the least stride.
func (c *coordinates) addUnguarded(coef []int, along, across ir.AxisSet) {
	known := func(a int) bool {
		return slices.ContainsFunc(*c, func(coef []int) bool { return coef[a] != 0 })
	}
	for _, t := range across.List() {
		best, divisor := -1, 0
		for _, a := range along.List() {
			d := shape.GCD(coef[a], coef[t])
			if coef[t] != 0 && coef[a] > 0 && !known(a) && (d > divisor || d == divisor && coef[a] < coef[best]) {
				best, divisor = a, d
			}
		}
		if best >= 0 && !known(t) {
			sum := make([]int, len(coef))
			sum[best], sum[t] = coef[best]/divisor, coef[t]/divisor
			*c = append(*c, sum)
		}
	}
}

// addSlide adds a coordinate and its axes. It returns false if it is not one position and taps.
func (x *windows) addSlide(k *ir.Kernel, coef []int, along, across ir.AxisSet, split bool) bool {
	c := slide{position: -1, remainder: -1, div: 1}
	for a, n := range coef {
		switch {
		case n == 0:
		case across.Has(a):
			c.taps = append(c.taps, tap{a, n})
			reach := n * (k.Axes[a].Len - 1)
			c.low, c.high = c.low+min(reach, 0), c.high+max(reach, 0)
		case !along.Has(a) || c.position >= 0 || n < 0:
			return false
		default:
			c.position, c.step = a, n
		}
	}
	if c.position < 0 || slices.ContainsFunc(x.slides, func(o slide) bool { return o.position == c.position }) {
		return false
	}
	axis := func(n int) int {
		k.Axes = append(k.Axes, ir.Axis{Len: n, Role: ir.Parallel})
		return len(k.Axes) - 1
	}
	if split {
		c.div = c.step
	}
	c.quotient = axis(c.reach(k.Axes[c.position].Len))
	if c.div > 1 {
		c.remainder = axis(c.div)
	}
	x.slides = append(x.slides, c)
	return true
}

// rewrite makes an instruction read its elements at quotients and remainders. It returns false if
// the elements depend on an axis of a coordinate in another way.
func (x *windows) rewrite(in *ir.Instr) bool {
	v := *in.View
	in.View = &v
	lists := make([][]int, 0, len(v.Guards)+1)
	offs := make([]*int, 0, len(v.Guards)+1)
	add := func(coef *[]int, off *int) {
		*coef = append(slices.Clone(*coef), make([]int, len(x.space.Axes)-len(*coef))...)
		lists, offs = append(lists, *coef), append(offs, off)
	}
	v.Guards = slices.Clone(v.Guards)
	for i := range v.Guards {
		add(&v.Guards[i].Coef, &v.Guards[i].Off)
	}
	if in.Op != ir.InBounds {
		add(&v.Coef, &v.Off)
	}
	for _, c := range x.slides {
		for i, coef := range lists {
			stride := coef[c.position] / c.step
			coef[c.position] -= stride * c.step
			for _, t := range c.taps {
				coef[t.axis] -= stride * t.coef
			}
			if coef[c.position] != 0 || slices.ContainsFunc(c.taps, func(t tap) bool { return coef[t.axis] != 0 }) {
				return false
			}
			coef[c.quotient] = stride * c.div
			if c.remainder >= 0 {
				coef[c.remainder] = stride
			}
			*offs[i] += stride * c.low
		}
		if c.remainder >= 0 && in.Op == ir.Load { // the last quotients have remainders that no window reads
			g := ir.Guard{AffineExpr: ir.AffineExpr{Coef: make([]int, len(x.space.Axes)), Div: 1}, Len: c.step*(x.space.Axes[c.position].Len-1) + c.high - c.low + 1}
			g.Coef[c.quotient], g.Coef[c.remainder] = c.step, 1
			v.Guards = append(v.Guards, g)
		}
	}
	return true
}

// cut sets the lanes of blocks for boxes of tilings, along shared axes and positions, and returns their
// greatest number of elements.
// A block spans the whole of taps that are no part of a coordinate.
func (x *windows) cut(shared, positions, taps []int, boxes ...*vector.Tiling) (elements int) {
	x.positions, x.taps, x.lanes, x.whole = positions, taps, nil, nil
	x.extent = x.space.Extents(boxes...)
	lane := shape.All(len(x.space.Axes))
	var planes []int
	for _, c := range x.slides {
		lane[c.position] = c.quotient
		x.extent[c.quotient] = c.reach(x.extent[c.position])
		if c.remainder >= 0 {
			x.extent[c.remainder] = c.div
			planes = append(planes, c.remainder)
		}
	}
	domain := x.space.Body[x.instr].Domain
	for _, a := range taps {
		if domain.Has(a) {
			x.extent[a] = x.space.Axes[a].Len
			x.whole = append(x.whole, a)
		}
	}
	elements = 1
	for _, a := range slices.Concat(shared, x.whole, planes, positions) {
		if a = lane[a]; domain.Has(a) && x.extent[a] > 1 {
			x.lanes = append(x.lanes, a)
			elements *= x.extent[a]
		}
	}
	x.elements = elements
	return elements
}

func (x *windows) assemble() {
	a := vector.Assemble(x.space, vector.Schedule{Lanes: x.lanes, Extent: x.extent, Roots: []int{x.instr}, Value: true})
	x.program, x.root = a.Program, a.Root
	x.program.WholeAxes = x.whole
}

// load computes the block of the box at which an activation is, and sets its strides along
// positions and all axes of no coordinate.
func (x *windows) load(f *vector.Activation, stride *[ir.MaxAxes]int) {
	for _, c := range x.slides {
		f.MoveTo(c.quotient, f.At[c.position]*c.step/c.div, c.reach(f.N[c.position]))
		if c.remainder >= 0 {
			f.MoveTo(c.remainder, 0, c.div)
		}
	}
	f.Run()
	size := 1
	for _, a := range slices.Backward(x.lanes) {
		stride[a] = size
		size *= f.N[a]
	}
	for _, c := range x.slides {
		stride[c.position] = stride[c.quotient]
	}
}

// tapsAt lists the positions in the block of the taps, in order, relative to a window's first
// element. It overwrites a list.
func (x *windows) tapsAt(list []int, stride *[ir.MaxAxes]int) []int {
	list = list[:0]
	var at [ir.MaxAxes]int
	for {
		p := 0
		for _, a := range x.taps {
			p += at[a] * stride[a]
		}
		for _, c := range x.slides {
			sum := -c.low
			for _, t := range c.taps {
				sum += t.coef * at[t.axis]
			}
			p += sum / c.div * stride[c.quotient]
			if c.remainder >= 0 {
				p += sum % c.div * stride[c.remainder]
			}
		}
		list = append(list, p)
		d := len(x.taps) - 1
		for ; d >= 0; d-- {
			a := x.taps[d]
			if at[a]++; at[a] < x.space.Axes[a].Len {
				break
			}
			at[a] = 0
		}
		if d < 0 {
			return list
		}
	}
}
