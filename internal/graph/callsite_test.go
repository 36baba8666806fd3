package graph

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/tensorken/tensorken/ir"
)

// lineBefore is the file and line before the one that it is called from.
func lineBefore() string {
	_, _, line, _ := runtime.Caller(1)
	return fmt.Sprintf("callsite_test.go:%d", line-1)
}

func TestCallSite(t *testing.T) {
	x := Fill(ir.Float32, 1, []int{2})
	if x.Call() != nil || NewAttribution() != nil {
		t.Errorf("before RecordSites a node has call %v", x.Call())
	}
	stop := RecordSites()
	y := Unary(ir.Neg, x)
	want := lineBefore()
	if got := y.CallSite().Pos(); got != want {
		t.Errorf("the site of a node is %q, want %q", got, want)
	}
	if got := WithOperands(y, x).CallSite().Pos(); got != want {
		t.Errorf("the site of a copy of a node is %q, want that of the node, %q", got, want)
	}
	var deep *Node
	nested(40, func() { deep = Unary(ir.Exp, x) })
	if got := deep.CallSite().Pos(); got == "" {
		t.Error("a node has no site if it is made by a function of the test in 40 others")
	}

	a := NewAttribution()
	begun := lineBefore()
	last := a.LastSite()
	z := Binary(ir.Add, Unary(ir.Exp, deep), x)
	own := lineBefore()
	a.Attribute(z, y, last)
	for _, n := range []*Node{z, z.Src().At(0)} {
		if got := n.CallSite().Pos(); got != want {
			t.Errorf("the site of a node attributed to another is %q, want %q", got, want)
		}
	}
	if got := deep.CallSite().Pos(); got == want {
		t.Errorf("Attribute gives site %q to a node that was made before", got)
	}
	a.Attribute(z, x, last) // x has none
	if got := z.CallSite().Pos(); got == own || got != want {
		t.Errorf("Attribute to a node without site changes the site to %q", got)
	}

	inherited := Unary(ir.Exp, Reshape(z, []int{1, 2}))
	if got := inherited.CallSite().Pos(); got != want {
		t.Errorf("the site of a node made of one of an attribution is %q, want that one's, %q", got, want)
	}
	if got := Unary(ir.Exp, a.Name(x)).CallSite().Pos(); got != begun {
		t.Errorf("the site of a node made of a name is %q, want that of the attribution, %q", got, begun)
	}
	a.End()
	later := Unary(ir.Exp, inherited)
	if got, want := later.CallSite().Pos(), lineBefore(); got != want {
		t.Errorf("the site of a node made after the attribution has ended is %q, want %q", got, want)
	}

	g := Gather(x, Fill(ir.Int32, 0, []int{2}), 0)
	if got, want := At(NewIndexSite("Take", []int{2}), g).CallSite().Pos(), lineBefore(); got == "" || got == want {
		t.Errorf("the site of a Gather is %q", got)
	}
	stop()
	if n := Unary(ir.Neg, x); n.Call() != nil || NewAttribution() != nil {
		t.Errorf("once stopped, a node has call %v", n.Call())
	}
	if got := x.CallSite().Pos(); got != "" {
		t.Errorf("the site of a node that was made before RecordSites is %q", got)
	}
}

func nested(n int, f func()) {
	if n == 0 {
		f()
		return
	}
	nested(n-1, f)
}

func BenchmarkCallSite(b *testing.B) {
	x := Fill(ir.Float32, 1, []int{2})
	for _, on := range []bool{false, true} {
		b.Run(fmt.Sprintf("recorded=%v", on), func(b *testing.B) {
			if on {
				defer RecordSites()()
			}
			for b.Loop() {
				Unary(ir.Neg, x)
			}
		})
	}
}
