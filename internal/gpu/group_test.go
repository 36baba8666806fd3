package gpu

import "testing"

// A buffer forgets the bind groups of others that are freed, and may be bound twice in one.
func TestGroupsAreForgotten(t *testing.T) {
	d, f := fake(t, 0)
	p := prepare(t, d, &increment)
	a := alloc(t, d, 4).(*buffer)
	for range 1000 {
		b := alloc(t, d, 4)
		if err := d.Run(chain(p, 1, a, b)); err != nil {
			t.Fatal(err)
		}
		b.Free()
	}
	if len(a.groups) > 8 {
		t.Errorf("a buffer keeps %d groups, of which %d are alive", len(a.groups), d.groups.Len())
	}
	if err := d.Run(chain(p, 1, a, alloc(t, d, 4))); err != nil {
		t.Fatal(err)
	}
	a.join(a.groups[len(a.groups)-1]) // as a buffer that is bound twice
	a.Free()
	if _, groups, _ := f.Live(); groups != 0 {
		t.Errorf("%d groups are alive without buffers", groups)
	}
}
