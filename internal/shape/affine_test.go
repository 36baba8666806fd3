package shape

import (
	"testing"

	"github.com/tensorken/tensorken/internal/property"
	"github.com/tensorken/tensorken/ir"
)

// at is the value of a form at a point, and whether the division is exact.
func at(f ir.AffineExpr, point []int) (v int, whole bool) {
	v = f.Off
	for a, c := range f.Coef {
		v += c * point[a]
	}
	return v / f.Div, v%f.Div == 0
}

func form(off, div int, coef ...int) ir.AffineExpr {
	return ir.AffineExpr{Off: off, Coef: coef, Div: div}
}

func TestForms(t *testing.T) {
	i, j := Axis(0, 1), Axis(1, 1)
	for _, c := range []struct {
		name      string
		got, want ir.AffineExpr
	}{
		{"Axis", Axis(1, 3), form(0, 1, 0, 3)},
		{"Constant", Constant(5), form(5, 1)},
		{"Combine", Combine(i, 2, j, 3, 4), form(4, 1, 2, 3)},
		{"Combine that cancels", Combine(i, 2, i, -2, 4), form(4, 1)},
		{"Combine of thirds", Combine(form(1, 3, 1), 1, j, 1, 0), form(1, 3, 1, 3)},
		{"Combine of thirds and halves", Combine(form(0, 3, 1), 1, form(0, 2, 1), 1, 1), form(6, 6, 5)},
		{"Combine of thirds to whole", Combine(form(0, 3, 1), 3, j, 1, 0), form(0, 1, 1, 1)},
		{"Affine", Affine(form(1, 2, 3), 2, 5), form(6, 1, 3)},
		{"Affine of no part", Affine(form(0, 2, 3), 0, 5), form(5, 1)},
		{"Divide", Divide(form(4, 1, 2), 6), form(2, 3, 1)},
		{"Divide whole", Divide(form(4, 1, 2), 2), form(2, 1, 1)},
		{"Divide of negative", Divide(form(-4, 1, -2), 6), form(-2, 3, -1)},
		{"SplitAxis", SplitAxis(form(1, 2, 3), 0, 1, 2, 4), form(1, 2, 0, 12, 3)},
		{"SplitAxis of another", SplitAxis(form(1, 2, 0, 3), 0, 2, 3, 4), form(1, 2, 0, 3)},
	} {
		if !Equal(c.got, c.want) {
			t.Errorf("%s = %v, want %v", c.name, c.got, c.want)
		}
	}
}

func TestEqual(t *testing.T) {
	for _, c := range []struct {
		f, g ir.AffineExpr
		want bool
	}{
		{form(1, 1, 2), form(1, 1, 2, 0), true},
		{form(1, 1), form(1, 1, 0, 0), true},
		{form(1, 1, 2), form(1, 1, 0, 2), false},
		{form(1, 1, 2), form(2, 1, 2), false},
		{form(1, 1, 2), form(1, 3, 2), false},
	} {
		if got := Equal(c.f, c.g); got != c.want {
			t.Errorf("Equal(%v, %v) = %v, want %v", c.f, c.g, got, c.want)
		}
		if got := Equal(c.g, c.f); got != c.want {
			t.Errorf("Equal(%v, %v) = %v, want %v", c.g, c.f, got, c.want)
		}
	}
}

func TestAlways(t *testing.T) {
	lens := []int{4, 3}
	for _, c := range []struct {
		guard  ir.Guard
		lo, hi int
		always bool
	}{
		{ir.Guard{AffineExpr: form(0, 1, 1), Len: 4}, 0, 3, true},
		{ir.Guard{AffineExpr: form(0, 1, 1), Len: 3}, 0, 3, false},
		{ir.Guard{AffineExpr: form(-1, 1, 1), Len: 9}, -1, 2, false},
		{ir.Guard{AffineExpr: form(3, 1, -1), Len: 4}, 0, 3, true},
		{ir.Guard{AffineExpr: form(2, 1, 2, -1), Len: 9}, 0, 8, true},
		{ir.Guard{AffineExpr: form(0, 2, 2), Len: 9}, 0, 6, false}, // the division may leave a rest
		{ir.Guard{AffineExpr: form(7, 1), Len: 8}, 7, 7, true},
	} {
		if lo, hi := Range(c.guard.AffineExpr, lens); lo != c.lo || hi != c.hi {
			t.Errorf("Range(%v, %v) = %d, %d, want %d, %d", c.guard.AffineExpr, lens, lo, hi, c.lo, c.hi)
		}
		if got := Always(c.guard, lens); got != c.always {
			t.Errorf("Always(%v, %v) = %v, want %v", c.guard, lens, got, c.always)
		}
	}
}

// Where divisions are exact, combining forms combines their values.
func TestCombine(t *testing.T) {
	property.Check(t, func(t *property.T) {
		small := property.IntRange(-6, 6)
		draw := func(name string) ir.AffineExpr {
			return ir.AffineExpr{
				Off:  small.Draw(t, name),
				Coef: property.SliceOfN(small, 0, 3).Draw(t, name),
				Div:  property.IntRange(1, 4).Draw(t, name),
			}
		}
		f, g := draw("f"), draw("g")
		p, q, off, d := small.Draw(t, "p"), small.Draw(t, "q"), small.Draw(t, "off"), property.IntRange(1, 4).Draw(t, "d")
		point := property.SliceOfN(property.IntRange(0, 9), 3, 3).Draw(t, "point")
		x, ok := at(f, point)
		y, ok2 := at(g, point)
		if !ok || !ok2 {
			return
		}
		c := Combine(f, p, g, q, off)
		if got, whole := at(c, point); !whole || got != p*x+q*y+off {
			t.Fatalf("Combine(%v, %d, %v, %d, %d) at %v = %d, %v, want %d", f, p, g, q, off, point, got, whole, p*x+q*y+off)
		}
		if x%d == 0 {
			if got, whole := at(Divide(f, d), point); !whole || got != x/d {
				t.Fatalf("Divide(%v, %d) at %v = %d, %v, want %d", f, d, point, got, whole, x/d)
			}
		}
		wide := []int{point[0] / d, point[1], point[2], point[0] % d} // axis 0 by d is axes 0 and 3
		s := SplitAxis(f, 0, 4, 3, d)
		wide = append(wide, point[0]/d)
		wide[0] = -99 // read by nobody
		if got, whole := at(s, wide); !whole || got != x {
			t.Fatalf("SplitAxis(%v, 0, 4, 3, %d) at %v = %d, %v, want %d", f, d, wide, got, whole, x)
		}
	})
}

// Where divmod splits a form, it does so as whole numbers are divided; where
// it cannot, splitting an axis makes progress.
func TestDivmod(t *testing.T) {
	property.Check(t, func(t *property.T) {
		lens := property.SliceOfN(property.IntRange(1, 8), 2, 2).Draw(t, "lens")
		f := ir.AffineExpr{Off: property.IntRange(-9, 9).Draw(t, "off"), Coef: property.SliceOfN(property.IntRange(-8, 8), 2, 2).Draw(t, "coef"), Div: 1}
		n := property.IntRange(2, 12).Draw(t, "n")
		div, mod, split, ok := divmod(f, n, lens)
		if split != nil && (split.Inner <= 1 || split.Inner >= lens[split.Axis] || lens[split.Axis]%split.Inner != 0) {
			t.Fatalf("divmod(%v, %d, %v): split %v", f, n, lens, *split)
		}
		if !ok {
			return
		}
		for _, p := range points(lens) {
			v, _ := at(f, p)
			rest := (v%n + n) % n
			if q, _ := at(div, p); q != (v-rest)/n {
				t.Fatalf("divmod(%v, %d, %v): quotient %v at %v is %d, want %d", f, n, lens, div, p, q, (v-rest)/n)
			}
			if r, _ := at(mod, p); r != rest {
				t.Fatalf("divmod(%v, %d, %v): rest %v at %v is %d, want %d", f, n, lens, mod, p, r, rest)
			}
		}
	})
}
