package shape

import (
	"fmt"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/internal/property"
	"github.com/tensorken/tensorken/ir"
)

// A move is a movement operation from one shape to another. From says which
// element of its operand is at a position of its result, by the definition of
// the operation; it reports false for the fill.
type move struct {
	op       ir.Op
	ints     []int
	from, to []int
	source   func(pos []int) ([]int, bool)
}

func (m move) describe() Move { return Move{Op: m.op, Ints: m.ints, From: m.from, To: m.to} }

// drawMove gives a random movement of a tensor of that shape.
func drawMove(t *property.T, from []int) move {
	n := func(lo, hi int, name string) int { return property.IntRange(lo, hi).Draw(t, name) }
	m := move{from: from, to: slices.Clone(from)}
	m.op = property.SampledFrom([]ir.Op{ir.Permute, ir.Expand, ir.Crop, ir.Flip, ir.Pad, ir.Window, ir.Window, ir.Unwindow, ir.Reshape, ir.Reshape}).Draw(t, "op")
	switch m.op {
	case ir.Permute:
		m.ints = property.Permutation(All(len(from))).Draw(t, "order")
		for i, a := range m.ints {
			m.to[i] = from[a]
		}
		m.source = func(pos []int) ([]int, bool) {
			src := make([]int, len(pos))
			for i, a := range m.ints {
				src[a] = pos[i]
			}
			return src, true
		}
	case ir.Expand:
		for i, d := range from {
			if d == 1 {
				m.to[i] = n(1, 3, "repeat")
			}
		}
		m.source = func(pos []int) ([]int, bool) {
			src := slices.Clone(pos)
			for i, d := range from {
				src[i] %= d
			}
			return src, true
		}
	case ir.Crop:
		for i, d := range from {
			start, step := n(0, d-1, "start"), n(1, 3, "step")
			m.ints = append(m.ints, start, step)
			m.to[i] = (d-1-start)/step + 1
		}
		m.source = func(pos []int) ([]int, bool) {
			src := slices.Clone(pos)
			for i := range src {
				src[i] = m.ints[2*i] + m.ints[2*i+1]*pos[i]
			}
			return src, true
		}
	case ir.Flip:
		for a := range from {
			if property.Bool().Draw(t, "flip") {
				m.ints = append(m.ints, a)
			}
		}
		m.source = func(pos []int) ([]int, bool) {
			src := slices.Clone(pos)
			for _, a := range m.ints {
				src[a] = from[a] - 1 - pos[a]
			}
			return src, true
		}
	case ir.Pad:
		for i, d := range from {
			before, after, interior := n(0, 2, "before"), n(0, 2, "after"), n(0, 2, "interior")
			m.ints = append(m.ints, before, after, interior)
			m.to[i] = before + d + interior*(d-1) + after
		}
		m.source = func(pos []int) ([]int, bool) {
			src := slices.Clone(pos)
			for i, d := range from {
				j := -1
				for k := range d {
					if m.ints[3*i]+k*(m.ints[3*i+2]+1) == pos[i] {
						j = k
					}
				}
				if src[i] = j; j < 0 {
					return nil, false
				}
			}
			return src, true
		}
	default:
		return drawShearOrReshape(t, m)
	}
	return m
}

func drawShearOrReshape(t *property.T, m move) move {
	n := func(lo, hi int, name string) int { return property.IntRange(lo, hi).Draw(t, name) }
	if m.op != ir.Reshape && len(m.from) >= 2 {
		axes := property.Permutation(All(len(m.from))).Draw(t, "axes")
		i, k, s, d := axes[0], axes[1], n(1, 3, "s"), n(1, 3, "d")
		if m.op == ir.Window && d*(m.from[k]-1) >= m.from[i] {
			i, k, d = k, i, 1
		}
		m.ints = []int{i, k, s, d}
		if room := m.from[i] - 1 - (m.from[k]-1)*d; m.op == ir.Window && room >= 0 {
			m.to[i] = room/s + 1
			m.source = func(pos []int) ([]int, bool) {
				src := slices.Clone(pos)
				src[i] = pos[i]*s + pos[k]*d
				return src, true
			}
			return m
		}
		if m.op == ir.Unwindow {
			m.to[i] = max(1, (m.from[i]-1)*s+(m.from[k]-1)*d+1+n(-2, 2, "more"))
			m.source = func(pos []int) ([]int, bool) {
				for j := range m.from[i] {
					if j*s+pos[k]*d == pos[i] {
						src := slices.Clone(pos)
						src[i] = j
						return src, true
					}
				}
				return nil, false
			}
			return m
		}
	}
	m.op, m.ints = ir.Reshape, nil
	m.to = drawReshape(t, product(m.from))
	strides := RowMajor(m.from)
	m.source = func(pos []int) ([]int, bool) {
		rank := dot(pos, RowMajor(m.to))
		src := make([]int, len(m.from))
		for i := range src {
			src[i] = rank / strides[i] % m.from[i]
		}
		return src, true
	}
	return m
}

// A space is the axes over which a chain of movements is read, some of which
// came from splitting others.
type space struct {
	lens   []int
	splits []Split
}

// point takes a position of the first axes to one of all.
func (s space) point(pos []int) []int {
	p := slices.Clone(pos)
	for _, sp := range s.splits {
		p = append(p, p[sp.Axis]/sp.Inner, p[sp.Axis]%sp.Inner)
		p[sp.Axis] = -1 << 20 // no form depends on it any more
	}
	return p
}

// checkMoves reads a random chain of movements, as far as forms can express
// it, and compares with their definitions at every position.
func checkMoves(t *property.T) {
	dims := drawShape(t, 100)
	var chain []move
	for range property.IntRange(1, 5).Draw(t, "moves") {
		m := drawMove(t, dims)
		if product(m.to) > 2000 {
			break
		}
		chain = append(chain, m)
		dims = m.to
	}
	s := space{lens: slices.Clone(dims)}
	forms := make([]ir.AffineExpr, len(dims))
	for a := range forms {
		forms[a] = Axis(a, 1)
	}
	var guards []ir.Guard
	var read []move
	for _, m := range slices.Backward(chain) {
		src := m.describe().Push(forms, s.lens)
		for split := src.Split; split != nil; split = src.Split {
			s.splits = append(s.splits, *split)
			hi, lo := len(s.lens), len(s.lens)+1
			s.lens = append(s.lens, s.lens[split.Axis]/split.Inner, split.Inner)
			for i := range forms {
				forms[i] = SplitAxis(forms[i], split.Axis, hi, lo, split.Inner)
			}
			for i := range guards {
				guards[i].AffineExpr = SplitAxis(guards[i].AffineExpr, split.Axis, hi, lo, split.Inner)
			}
			src = m.describe().Push(forms, s.lens)
		}
		if src.Opaque {
			break
		}
		read = append(read, m)
		forms, guards = src.At, append(guards, src.Guards...)
	}
	for _, pos := range points(dims) {
		want, inside := pos, true
		for _, m := range read {
			if want, inside = m.source(want); !inside {
				break
			}
		}
		p := s.point(pos)
		hold := true
		for _, g := range guards {
			v, whole := at(g.AffineExpr, p)
			hold = hold && whole && v >= 0 && v < g.Len
		}
		if hold != inside {
			t.Fatalf("guards of %v at %v: %v, want %v", names(read), pos, hold, inside)
		}
		for i, f := range forms {
			if v, whole := at(f, p); inside && (!whole || v != want[i]) {
				t.Fatalf("%v at %v: axis %d is %d, want %v", names(read), pos, i, v, want)
			}
		}
	}
}

func names(chain []move) (out []string) {
	for _, m := range chain {
		out = append(out, fmt.Sprintf("%v%v %v->%v", m.op, m.ints, m.from, m.to))
	}
	return out
}

func TestMoves(t *testing.T) {
	property.Check(t, func(t *property.T) {
		for range 20 {
			checkMoves(t)
		}
	})
}

// Every movement has a row, but Cat, which Part is for.
func TestMovementTable(t *testing.T) {
	for op := range ir.Op(ir.Ops) {
		row := Movements[op]
		switch {
		case op.Class() != ir.Movement || op == ir.Cat:
			if row != nil {
				t.Errorf("%v has a row", op)
			}
		case row == nil || row.Push == nil:
			t.Errorf("%v has no row, or one without Push", op)
		case row.Fills == (row.View != nil):
			t.Errorf("%v has a view and fills, or neither", op)
		}
	}
}

// A view has the elements that the definition of the movement says.
func TestViews(t *testing.T) {
	property.Check(t, func(t *property.T) {
		m := drawMove(t, drawShape(t, 100))
		v := Strided{Offset: 7, Strides: RowMajor(m.from)}
		if property.Bool().Draw(t, "strided") {
			v.Strides = property.SliceOfN(property.SampledFrom([]int{0, 1, 3, 4, -2, 12}), len(m.from), len(m.from)).Draw(t, "strides")
		}
		got, ok := m.describe().View(v, nil)
		if !ok {
			if m.op != ir.Reshape && !Movements[m.op].Fills {
				t.Fatalf("%v%v of %v has no view", m.op, m.ints, m.from)
			}
			return
		}
		for _, pos := range points(m.to) {
			src, _ := m.source(pos)
			if at, want := got.Offset+dot(pos, got.Strides), v.Offset+dot(src, v.Strides); at != want {
				t.Fatalf("%v%v of %v at strides %v: %v is at %d, want %d", m.op, m.ints, m.from, v.Strides, pos, at, want)
			}
		}
	})
}

// Two movements of one operation equal their composition.
func TestCompose(t *testing.T) {
	property.Check(t, func(t *property.T) {
		inner := drawMove(t, drawShape(t, 100))
		outer := drawMove(t, inner.to)
		if product(outer.to) > 2000 || outer.op != inner.op || Movements[inner.op].Compose == nil {
			return
		}
		both := Move{Op: inner.op, From: inner.from, To: outer.to}
		both.Ints = Movements[inner.op].Compose(outer.describe(), inner.describe())
		got, ok := both.View(Strided{Strides: RowMajor(inner.from)}, nil)
		if !ok {
			t.Fatalf("%v%v has no view", both.Op, both.Ints)
		}
		for _, pos := range points(outer.to) {
			src, _ := outer.source(pos)
			src, _ = inner.source(src)
			if at, want := got.Offset+dot(pos, got.Strides), dot(src, RowMajor(inner.from)); at != want {
				t.Fatalf("%v after %v: %v is at %d, want %d", outer.describe(), inner.describe(), pos, at, want)
			}
		}
	})
}

func FuzzMoves(f *testing.F) { f.Fuzz(property.Fuzz(checkMoves)) }

func TestReshapeSplits(t *testing.T) {
	for _, c := range []struct {
		from, to []int
		split    *Split
		ok       bool
	}{
		{[]int{6}, []int{2, 3}, nil, true},
		{[]int{2, 3}, []int{6}, &Split{0, 3}, false},
		{[]int{4, 3}, []int{2, 6}, &Split{1, 3}, false},
		{[]int{1, 6, 1}, []int{6}, nil, true},
		{[]int{6}, []int{1, 1, 6}, nil, true},
		{[]int{2, 3}, []int{3, 2}, nil, false},
		{[]int{2, 3, 5}, []int{2, 15}, &Split{1, 5}, false},
		{[]int{}, []int{1, 1}, nil, true},
		{[]int{1}, []int{}, nil, true},
	} {
		forms := make([]ir.AffineExpr, len(c.to))
		for a := range forms {
			forms[a] = Axis(a, 1)
		}
		m := Move{Op: ir.Reshape, From: c.from, To: c.to}
		r := m.Push(forms, c.to)
		if r.Opaque == c.ok || (r.Split == nil) != (c.split == nil) || r.Split != nil && *r.Split != *c.split {
			t.Errorf("Reshape from %v to %v: split %v, opaque %v, want %v, %v", c.from, c.to, r.Split, r.Opaque, c.split, !c.ok)
		}
	}
}

func TestGroups(t *testing.T) {
	for _, c := range []struct {
		from, to []int
		want     []Group
	}{
		{[]int{2, 3}, []int{2, 3}, []Group{{[2]int{0, 1}, [2]int{0, 1}}, {[2]int{1, 2}, [2]int{1, 2}}}},
		{[]int{2, 3}, []int{6}, []Group{{[2]int{0, 2}, [2]int{0, 1}}}},
		{[]int{6, 2}, []int{2, 3, 2}, []Group{{[2]int{0, 1}, [2]int{0, 2}}, {[2]int{1, 2}, [2]int{2, 3}}}},
		{[]int{}, []int{1}, []Group{{[2]int{0, 0}, [2]int{0, 1}}}},
		{[]int{4, 3}, []int{2, 6}, []Group{{[2]int{0, 2}, [2]int{0, 2}}}},
	} {
		if got := slices.Collect(Groups(c.from, c.to)); !slices.Equal(got, c.want) {
			t.Errorf("Groups(%v, %v) = %v, want %v", c.from, c.to, got, c.want)
		}
	}
}
