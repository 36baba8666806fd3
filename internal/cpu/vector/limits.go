package vector

import (
	"slices"
	"unsafe"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/ir"
)

// An axisLimit says how many positions along an axis are needed in a call: others are hidden from all
// sums and stores, by a mask whose length is an argument for example.
type axisLimit struct {
	axis, step, off int
	number          number // may be nil
}

// A number evaluates an integer that is the same at all points.
type number func(bind []Binding) int

// FindLimits lists the limits of a kernel's axes, from the conditions of stores and of the elements that
// reductions add up or compare. A limit is the greatest over the other axes.
func (s *Space) FindLimits() (list []axisLimit) {
	for a, axis := range s.Axes {
		if (axis.Role == ir.K || axis.Role == ir.Reduced) && len(s.List(axis.Role)) > 1 {
			continue // boxes of several axes are not in the order of one
		}
		var needs []loopnest.Bounds
		for i := range s.Body {
			in := &s.Body[i]
			switch {
			case in.Op == ir.Store && in.Domain.Has(a) && len(in.Src) > 1:
				needs = append(needs, loopnest.Holds(s.Kernel, in.Src[1]))
			case in.Op == ir.Sum && in.Axes.Has(a):
				needs = append(needs, loopnest.Nonzero(s.Kernel, in.Src[0]))
			case in.Op == ir.ReduceMax && in.Axes.Has(a):
				needs = append(needs, loopnest.Finite(s.Kernel, in.Src[0]))
			case in.Op == ir.Store && in.Domain.Has(a), in.Axes.Has(a):
				needs = append(needs, nil)
			}
		}
		for _, b := range loopnest.Common(needs...).Fixed().List() {
			if l, ok := s.limit(&b, a); ok {
				list = append(list, l)
			}
		}
	}
	return list
}

// Limited reports whether one of some axes has a limit.
func (s *Space) Limited(axes []int) bool {
	return slices.ContainsFunc(s.Limits, func(l axisLimit) bool { return slices.Contains(axes, l.axis) })
}

// limit returns a bound as a limit of an axis, if it is one.
func (s *Space) limit(b *loopnest.Bound, axis int) (l axisLimit, ok bool) {
	l = axisLimit{axis: axis, step: -b.Slope(s.Kernel, axis), off: b.Off}
	for i, c := range b.Terms {
		switch in := &s.Body[i]; {
		case in.Op != ir.Index && c == 1 && l.number == nil:
			l.number = s.number(i)
			ok = l.number != nil
		case in.Op != ir.Index:
			return l, false
		case in.Axis != axis && c > 0:
			l.off += c * (s.Axes[in.Axis].Len - 1)
		}
	}
	return l, l.step > 0 && (ok || l.number == nil)
}

// number returns an integer that varies over no axis, nil if it is an expression that limits do
// not have.
func (s *Space) number(i int) number {
	in := &s.Body[i]
	if in.Type != ir.Int32 {
		return nil
	}
	switch in.Op {
	case ir.Const:
		n := int(in.Num.Int64(in.Type))
		return func([]Binding) int { return n }
	case ir.Scalar:
		return func(bind []Binding) int { return int(int32(bind[in.Arg].Bits)) }
	case ir.Load:
		if !s.IsLoad(i) {
			return nil
		}
		return func(bind []Binding) int { return int(*(*int32)(unsafe.Add(bind[in.Arg].P, in.View.Off*4))) }
	case ir.Add, ir.Sub:
		x, y, sign := s.number(in.Src[0]), s.number(in.Src[1]), 1
		if in.Op == ir.Sub {
			sign = -1
		}
		if x != nil && y != nil {
			return func(bind []Binding) int { return int(int32(x(bind) + sign*y(bind))) }
		}
	}
	return nil
}

// positions is the number of positions that are needed along the axis.
func (l *axisLimit) positions(bind []Binding) int {
	last := l.off
	if l.number != nil {
		last += max(-loopnest.MaxNumber, min(l.number(bind), loopnest.MaxNumber))
	}
	if last < 0 {
		return 0
	}
	return last/l.step + 1
}
