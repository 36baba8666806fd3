package shape

import (
	"slices"

	"github.com/tensorken/tensorken/ir"
)

// A Move is an operation of class [ir.Movement] with its attributes, from the shape of its
// operand to the shape of its result.
type Move struct {
	Op       ir.Op
	Ints     []int
	From, To []int
}

// A Source says where a movement reads its operand. Where a guard does not hold,
// it reads nothing and the result is the fill.
type Source struct {
	At     []ir.AffineExpr
	Guards []ir.Guard
	Opaque bool   // no affine coordinates exist, or none before Split
	Split  *Split // of an axis of the space, after which they may exist
}

// A Split replaces an axis of a space by two, the inner one of length Inner.
type Split struct{ Axis, Inner int }

// A Movement is the meaning of a movement operation.
type Movement struct {
	// Push maps the coordinates at which the result is read, over axes of lengths lens, to
	// coordinates of the operand.
	Push func(m Move, at []ir.AffineExpr, lens []int) Source
	// View implements [Move.View]; nil if the result is never a view.
	View func(m Move, v Strided, buf []int) (Strided, bool)
	// Compose returns the attributes of the one movement that equals inner followed by
	// outer, of the same operation, or nil.
	Compose func(outer, inner Move) []int
	// Fills says that some elements of the result are the fill.
	Fills bool
}

// Movements has a row for each operation of class [ir.Movement] but Cat, through
// which no operand is read: each is stored in its part of the result, see [Part].
var Movements = [ir.Ops]*Movement{
	ir.Copy:     {Push: pushCopy, View: viewCopy, Compose: composeNone},
	ir.Reshape:  {Push: pushReshape, View: viewReshape, Compose: composeNone},
	ir.Permute:  {Push: pushPermute, View: viewPermute, Compose: composePermute},
	ir.Expand:   {Push: pushExpand, View: viewExpand, Compose: composeNone},
	ir.Pad:      {Push: pushPad, Fills: true},
	ir.Crop:     {Push: pushCrop, View: viewCrop, Compose: composeCrop},
	ir.Flip:     {Push: pushFlip, View: viewFlip, Compose: composeFlip},
	ir.Window:   {Push: pushWindow, View: viewWindow},
	ir.Unwindow: {Push: pushUnwindow, Fills: true},
}

// Push is the table's function for m; without one, m is opaque.
func (m Move) Push(at []ir.AffineExpr, lens []int) Source {
	if row := Movements[m.Op]; row != nil {
		return row.Push(m, at, lens)
	}
	return Source{Opaque: true}
}

// Part returns the coordinates in a Cat along axis of an element of an operand
// that starts at position offset of it.
func Part(at []ir.AffineExpr, axis, offset int) []ir.AffineExpr {
	at = slices.Clone(at)
	at[axis] = Affine(at[axis], 1, offset)
	return at
}

func pushCopy(_ Move, at []ir.AffineExpr, _ []int) Source { return Source{At: at} }

func composeNone(_, _ Move) []int { return []int{} }

func pushPermute(m Move, at []ir.AffineExpr, _ []int) Source {
	src := make([]ir.AffineExpr, len(at))
	for i, a := range m.Ints {
		src[a] = at[i]
	}
	return Source{At: src}
}

func composePermute(outer, inner Move) []int {
	order := make([]int, len(outer.Ints))
	for i, a := range outer.Ints {
		order[i] = inner.Ints[a]
	}
	return order
}

func pushExpand(m Move, at []ir.AffineExpr, _ []int) Source {
	src := slices.Clone(at)
	for i, n := range m.From {
		if n == 1 {
			src[i] = Constant(0)
		}
	}
	return Source{At: src}
}

func pushCrop(m Move, at []ir.AffineExpr, _ []int) Source {
	src := slices.Clone(at)
	for i := range at {
		if start, step := m.Ints[2*i], m.Ints[2*i+1]; start != 0 || step != 1 {
			src[i] = Affine(at[i], step, start)
		}
	}
	return Source{At: src}
}

func composeCrop(outer, inner Move) []int {
	ints := make([]int, len(outer.Ints))
	for i := 0; i < len(ints); i += 2 {
		start, step := inner.Ints[i], inner.Ints[i+1]
		ints[i], ints[i+1] = start+step*outer.Ints[i], step*outer.Ints[i+1]
	}
	return ints
}

func pushFlip(m Move, at []ir.AffineExpr, _ []int) Source {
	src := slices.Clone(at)
	for _, a := range m.Ints {
		src[a] = Affine(at[a], -1, m.From[a]-1)
	}
	return Source{At: src}
}

func composeFlip(outer, inner Move) []int {
	axes := []int{}
	for a := range outer.To {
		if slices.Contains(outer.Ints, a) != slices.Contains(inner.Ints, a) {
			axes = append(axes, a)
		}
	}
	return axes
}

func pushPad(m Move, at []ir.AffineExpr, lens []int) Source {
	s := Source{At: slices.Clone(at)}
	for i := range at {
		before, after, interior := m.Ints[3*i], m.Ints[3*i+1], m.Ints[3*i+2]
		if before != 0 || after != 0 || interior != 0 {
			s.At[i] = Divide(Affine(at[i], 1, -before), interior+1)
			s.guard(i, m, lens)
		}
	}
	return s
}

func pushWindow(m Move, at []ir.AffineExpr, _ []int) Source {
	i, k, s, d := m.Ints[0], m.Ints[1], m.Ints[2], m.Ints[3]
	src := slices.Clone(at)
	src[i] = Combine(at[i], s, at[k], d, 0)
	return Source{At: src}
}

func pushUnwindow(m Move, at []ir.AffineExpr, lens []int) Source {
	i, k, s, d := m.Ints[0], m.Ints[1], m.Ints[2], m.Ints[3]
	src := Source{At: slices.Clone(at)}
	src.At[i] = Divide(Combine(at[i], 1, at[k], -d, 0), s)
	src.guard(i, m, lens)
	return src
}

// guard keeps the coordinate of axis i in the operand, unless it always is.
func (s *Source) guard(i int, m Move, lens []int) {
	if g := (ir.Guard{AffineExpr: s.At[i], Len: m.From[i]}); !Always(g, lens) {
		s.Guards = append(s.Guards, g)
	}
}
