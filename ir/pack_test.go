package ir

import (
	"reflect"
	"slices"
	"testing"
)

// A packed kernel is equal, shares nothing that changes with a copy, and has few objects.
func TestPack(t *testing.T) {
	for _, c := range kernels {
		k, want := c.kernel(), c.kernel()
		p := *k
		p.Pack()
		if !reflect.DeepEqual(&p, want) {
			t.Errorf("%s: packed it is\n%v, want\n%v", c.name, &p, want)
		}
		if n := testing.AllocsPerRun(10, func() { p := *k; p.Pack() }); n > 5 {
			t.Errorf("%s: it has %v objects", c.name, n)
		}
		for i := range p.Body {
			in := &p.Body[i]
			in.Src = append(in.Src, -1)
			if in.View != nil {
				in.View.Coef = append(in.View.Coef, -1)
				in.View.Fill++
			}
		}
		for i, in := range p.Body {
			if n := len(in.Src) - 1; !slices.Equal(in.Src[:n], want.Body[i].Src) {
				t.Errorf("%s: instruction %d has the operands %v after others grew, want %v", c.name, i, in.Src[:n], want.Body[i].Src)
			}
		}
		if !reflect.DeepEqual(k, want) {
			t.Errorf("%s: Pack of a copy changes it to\n%v, want\n%v", c.name, k, want)
		}
	}
}
