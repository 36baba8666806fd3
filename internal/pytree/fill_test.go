package pytree

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// fill gives the leaf of names[i] the value i+1.
func fill(p any, names ...string) (unused []string, err error) {
	unused = slices.Clone(names)
	set, err := Fill(p, names, func(name string, found, optional bool, x ten) (ten, error) {
		if !found {
			if x.n != nil && !optional {
				return x, fmt.Errorf("%q is missing", name)
			}
			return x, nil
		}
		unused = slices.DeleteFunc(unused, func(s string) bool { return s == name })
		return mk(slices.Index(names, name) + 1), nil
	})
	if err == nil {
		set()
	}
	return unused, err
}

func TestFill(t *testing.T) {
	type tied struct{ A, B *lin }
	type model struct {
		Wte ten
		H   []block
		M   map[string]ten
		N   map[string]lin
		I   map[int]any
		P   *lin
		L   []sizer
	}
	shared := &lin{mk(1), mk(2)}
	type list struct {
		W    ten
		Next *list
	}
	for _, tt := range []struct {
		p      any
		names  string
		want   string
		unused string
	}{
		{&lin{}, "weight bias", "weight=1 bias=2", ""},
		{&lin{}, "weight", "weight=1 bias=absent", ""},
		{&lin{}, "weight gain", "weight=1 bias=absent", "gain"},
		{new(ten), "", "=absent", ""},
		{&model{}, "wte h.0.ln_1.weight h.1.attn.c_proj.bias", "wte=1 h.0.ln_1.weight=2 h.1.attn.c_proj.bias=3", ""},
		{&model{}, "h.0.extra.weight", "wte=absent h.0.extra.weight=1", ""},
		{&model{}, "m.a.b m.c n.x.y.weight n.x.y.bias n.z.bias", "wte=absent m.a.b=1 m.c=2 n.x.y.weight=3 n.x.y.bias=4 n.z.bias=5", ""},
		{&model{}, "i.3 i.-2 i.03 i.x", "wte=absent i.-2=2 i.3=1", "i.03 i.x"},
		{&model{}, "p.bias", "wte=absent p.bias=1", ""},
		{&model{}, "l.0", "wte=absent l.0=1", ""},
		{&model{}, "l.0.weight", "wte=absent", "l.0.weight"},
		{&model{L: []sizer{&lin{}, lin{}, nil}}, "l.0.weight l.1.bias l.2", "wte=absent l.0.weight=1 l.1.bias=2 l.2=3", ""},
		{&model{M: map[string]ten{"a": mk(7)}}, "m.a m.b", "wte=absent m.a=1", "m.b"},
		{&tied{shared, shared}, "a.weight a.bias", "a.weight=1 a.bias=2", ""},
		{&tied{shared, shared}, "a.weight a.bias b.bias", "a.weight=1 a.bias=2", "b.bias"},
		{map[string]any{"a": new(ten), "b": &lin{}}, "a b.bias", "a=1 b.bias=2", ""},
		{&map[string]ten{}, "x y.z", "x=1 y.z=2", ""},
		{new(any), "", "", ""},
		{&list{}, "w next.next.w", "w=1 next.w=absent next.next.w=2", ""},
		{new([]ten), "0 1", "0=1 1=2", ""},
	} {
		unused, err := fill(tt.p, strings.Fields(tt.names)...)
		if err != nil {
			t.Errorf("Fill(%T, %s) = %v", tt.p, tt.names, err)
			continue
		}
		lines := strings.Split(strings.TrimSuffix(flatten(t, tt.p), "\n"), "\n")
		if len(strings.Fields(tt.want)) < len(lines) { // only those set and the top ones
			lines = slices.DeleteFunc(lines, func(s string) bool {
				return strings.Contains(s, ".") && strings.HasSuffix(s, "=absent")
			})
		}
		if got := strings.Join(lines, " "); got != tt.want || strings.Join(unused, " ") != tt.unused {
			t.Errorf("Fill(%T, %s) = %s unused %v, want %s unused %s", tt.p, tt.names, got, unused, tt.want, tt.unused)
		}
	}
}

func TestFillErrors(t *testing.T) {
	type deep struct {
		*Pub
		H []lin
	}
	for _, tt := range []struct {
		p           any
		names, want string
	}{
		{nil, "", "<nil> is not a pointer to a tree"},
		{lin{}, "weight", "pytree.lin is not a pointer"},
		{(*lin)(nil), "weight", "the *pytree.lin is nil, so nothing can be set in it"},
		{&deep{}, "h.0.weight h.2.weight", `"h" has element 2 but no element 1`},
		{&deep{}, "h.99999999999.weight", `"h" has element 99999999999 but no element 0`},
		{&lin{mk(7), mk(8)}, "weight", `"bias" is missing`},
	} {
		_, err := fill(tt.p, strings.Fields(tt.names)...)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Fill(%T, %s) = %v, want %s", tt.p, tt.names, err, tt.want)
		}
	}
	l := &lin{mk(7), mk(8)}
	if _, err := fill(l, "weight"); err == nil || l.Weight.String() != "7" {
		t.Errorf("a failed Fill set %v, %v", l.Weight, err)
	}
}
