package shape

import (
	"fmt"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/ir"
	"pgregory.net/rapid"
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

// read is where the move reads, by the forms under test.
func (m move) read(at []ir.AffineExpr, lens []int) (src []ir.AffineExpr, guards []ir.Guard, split *Split, ok bool) {
	ok = true
	switch m.op {
	case ir.Permute:
		src = Permute(at, m.ints)
	case ir.Expand:
		src = Expand(at, m.from)
	case ir.Crop:
		src = Crop(at, m.ints)
	case ir.Flip:
		src = Flip(at, m.ints, m.from)
	case ir.Pad:
		src, guards = Pad(at, m.ints, m.from, lens)
	case ir.Window:
		src = Window(at, m.ints)
	case ir.Unwindow:
		src, guards = Unwindow(at, m.ints, m.from, lens)
	case ir.Reshape:
		src, split, ok = Reshape(at, m.from, m.to, lens)
	}
	return src, guards, split, ok
}

// drawMove gives a random movement of a tensor of that shape.
func drawMove(t *rapid.T, from []int) move {
	n := func(lo, hi int, name string) int { return rapid.IntRange(lo, hi).Draw(t, name) }
	m := move{from: from, to: slices.Clone(from)}
	m.op = rapid.SampledFrom([]ir.Op{ir.Permute, ir.Expand, ir.Crop, ir.Flip, ir.Pad, ir.Window, ir.Window, ir.Unwindow, ir.Reshape, ir.Reshape}).Draw(t, "op")
	switch m.op {
	case ir.Permute:
		m.ints = rapid.Permutation(All(len(from))).Draw(t, "order")
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
			if rapid.Bool().Draw(t, "flip") {
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

func drawShearOrReshape(t *rapid.T, m move) move {
	n := func(lo, hi int, name string) int { return rapid.IntRange(lo, hi).Draw(t, name) }
	if m.op != ir.Reshape && len(m.from) >= 2 {
		axes := rapid.Permutation(All(len(m.from))).Draw(t, "axes")
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
func checkMoves(t *rapid.T) {
	dims := drawShape(t, 100)
	var chain []move
	for range rapid.IntRange(1, 5).Draw(t, "moves") {
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
		src, more, split, ok := m.read(forms, s.lens)
		for split != nil {
			s.splits = append(s.splits, *split)
			hi, lo := len(s.lens), len(s.lens)+1
			s.lens = append(s.lens, s.lens[split.Axis]/split.Inner, split.Inner)
			for i := range forms {
				forms[i] = SplitAxis(forms[i], split.Axis, hi, lo, split.Inner)
			}
			for i := range guards {
				guards[i].AffineExpr = SplitAxis(guards[i].AffineExpr, split.Axis, hi, lo, split.Inner)
			}
			src, more, split, ok = m.read(forms, s.lens)
		}
		if !ok {
			break
		}
		read = append(read, m)
		forms, guards = src, append(guards, more...)
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
	rapid.Check(t, func(t *rapid.T) {
		for range 20 {
			checkMoves(t)
		}
	})
}

func FuzzMoves(f *testing.F) { f.Fuzz(rapid.MakeFuzz(checkMoves)) }

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
		_, split, ok := Reshape(forms, c.from, c.to, c.to)
		if ok != c.ok || (split == nil) != (c.split == nil) || split != nil && *split != *c.split {
			t.Errorf("Reshape from %v to %v: split %v, %v, want %v, %v", c.from, c.to, split, ok, c.split, c.ok)
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
		if got := Groups(c.from, c.to); !slices.Equal(got, c.want) {
			t.Errorf("Groups(%v, %v) = %v, want %v", c.from, c.to, got, c.want)
		}
	}
}
