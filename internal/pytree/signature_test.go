package pytree

import (
	"testing"
)

func TestSignature(t *testing.T) {
	type inner struct {
		W     ten
		Eps   float64
		names []string
	}
	type model struct {
		A    *inner
		L    []inner
		M    map[string]any
		F    func() int
		any  any
		Self *model
		Sig  chan int
	}
	count := func(n int) func() int { return func() int { return n } }
	one, two := count(1), count(2)
	sig := make(chan int)
	base := func() model {
		return model{A: &inner{W: mk(1), Eps: 1e-5, names: []string{"x"}}, L: []inner{{}, {}}, M: map[string]any{"k": 3}, F: one, any: 7, Sig: sig}
	}
	for _, c := range []struct {
		name   string
		change func(*model)
		same   bool
	}{
		{"nothing", func(m *model) {}, true},
		{"leaves", func(m *model) { m.A.W, m.L[0].W = mk(5), mk(6) }, true},
		{"a number behind a pointer", func(m *model) { m.A.Eps = 1 }, false},
		{"a number in a slice", func(m *model) { m.L[1].Eps = 1 }, false},
		{"an unexported string", func(m *model) { m.A.names[0] = "y" }, false},
		{"an unexported interface", func(m *model) { m.any = 8 }, false},
		{"an unexported interface of what has no ==", func(m *model) { m.any = []int{1} }, false},
		{"a value of a map", func(m *model) { m.M["k"] = 4 }, false},
		{"the type of a value", func(m *model) { m.M["k"] = "3" }, false},
		{"a key", func(m *model) { m.M = map[string]any{"l": 3} }, false},
		{"a length", func(m *model) { m.L = m.L[:1] }, false},
		{"nil for a pointer", func(m *model) { m.A = nil }, false},
		{"nil for a slice", func(m *model) { m.L = nil }, false},
		{"nil for a map", func(m *model) { m.M = nil }, false},
		{"what a function captures", func(m *model) { m.F = two }, false},
		{"no function", func(m *model) { m.F = nil }, false},
		{"a channel", func(m *model) { m.Sig = make(chan int) }, false},
		{"a cycle", func(m *model) { m.Self = m }, false},
	} {
		a, b := base(), base()
		c.change(&b)
		if got := alike(a, b); got != c.same {
			t.Errorf("%s changed: signatures equal: %v, want %v", c.name, got, c.same)
		}
		if !alike(b, b) {
			t.Errorf("%s changed: its signature differs from itself", c.name)
		}
	}
}

// TestSignatureShared compares trees with the same leaves behind other pointers.
func TestSignatureShared(t *testing.T) {
	type pair struct{ A, B, C *lin }
	type node struct {
		W    ten
		Next *node
	}
	type both struct {
		Outer *lin
		Inner *ten // may point to the first field of Outer
	}
	fresh := func() *lin { return &lin{Weight: mk(1)} }
	x, y, z := fresh(), fresh(), fresh()
	ring := func(n int) *node {
		first := &node{}
		last := first
		for range n - 1 {
			last.Next = &node{}
			last = last.Next
		}
		last.Next = first
		return first
	}
	for _, c := range []struct {
		name string
		a, b any
		same bool
	}{
		{"all their own", pair{x, y, z}, pair{fresh(), fresh(), fresh()}, true},
		{"other order", pair{x, y, z}, pair{y, z, x}, true},
		{"both tied", pair{x, x, z}, pair{y, y, x}, true},
		{"tied and untied", pair{x, x, z}, pair{x, y, z}, false},
		{"tied with another", pair{x, x, z}, pair{x, y, y}, false},
		{"tied, nil", pair{x, x, nil}, pair{y, y, nil}, true},
		{"in a slice", []*lin{x, x}, []*lin{x, y}, false},
		{"in a map", map[string]*lin{"a": x, "b": x}, map[string]*lin{"a": x, "b": y}, false},
		{"in interfaces", []any{x, x}, []any{x, y}, false},
		{"rings", ring(2), ring(2), true},
		{"rings of other lengths", ring(1), ring(2), false},
		{"a first field", both{x, &x.Weight}, both{y, &y.Weight}, true},
	} {
		for _, p := range [][2]any{{c.a, c.b}, {c.b, c.a}} {
			if got := alike(p[0], p[1]); got != c.same {
				t.Errorf("%s: signatures of %+v and %+v equal: %v, want %v", c.name, p[0], p[1], got, c.same)
			}
		}
	}
}

var tenSigner = NewSigner(LeafTypeFor[ten]())

// alike reports whether the signatures of two trees are equal.
func alike(a, b any) bool { return tenSigner.Sign(&a).Equal(tenSigner.Sign(&b)) }
