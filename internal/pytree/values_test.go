package pytree

import (
	"fmt"
	"testing"
)

// Values and Each meet the leaves in the order of Flatten, and each pointer once.
func TestValues(t *testing.T) {
	a := makeAll()
	want, err := Flatten[ten](a)
	if err != nil {
		t.Fatal(err)
	}
	var names, values, each string
	for _, l := range want {
		names += fmt.Sprintln(l.Value)
	}
	for _, tree := range []any{a, &a} {
		got, err := Values[ten](tree)
		if err != nil {
			t.Fatal(err)
		}
		values = ""
		for _, x := range got {
			values += fmt.Sprintln(x)
		}
		if values != names {
			t.Errorf("Values of a %T: %q, want %q", tree, values, names)
		}
	}
	if err := Each(&a, func(x *ten) { each += fmt.Sprintln(*x) }); err != nil || each != names {
		t.Errorf("Each: %q and error %v, want %q", each, err, names)
	}
	if err := Each(&a, func(x *ten) { *x = mk(7) }); err != nil || a.H[0].LN1.Weight.String() != "7" {
		t.Errorf("Each gives no pointers into the tree: %v, %v", a.H[0].LN1.Weight, err)
	}
	if got, err := Values[ten](nil); len(got) > 0 || err != nil {
		t.Errorf("Values of nil: %v and error %v, want none", got, err)
	}
}

// A pointer that a tree has several times, as the first or a later one, stays one pointer.
func TestSharedPointers(t *testing.T) {
	type pair struct{ A, B, C, D *lin }
	x, y := &lin{Weight: mk(1), Bias: mk(2)}, &lin{Weight: mk(3), Bias: mk(4)}
	p := pair{x, x, y, y}
	if got, err := Values[ten](p); len(got) != 4 || err != nil {
		t.Errorf("Values: %v and error %v, want 4 leaves", got, err)
	}
	q, err := Rebuild(p, []ten{mk(5), mk(6), mk(7), mk(8)})
	if err != nil {
		t.Fatal(err)
	}
	if q.A != q.B || q.C != q.D || q.A == q.C || q.A == x || q.C == y || q.A.Bias.String() != "6" || q.D.Weight.String() != "7" {
		t.Errorf("Rebuild: %v %v %v %v", q.A, q.B, q.C, q.D)
	}
}
