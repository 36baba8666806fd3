package pytree

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/tensorken/tensorken/internal/goldentext"
)

// Leaf types cannot be compared, like tensors.
type ten struct {
	_ [0]func()
	n *int
}

func mk(i int) ten { return ten{n: &i} }

func (t ten) String() string {
	if t.n == nil {
		return "absent"
	}
	return fmt.Sprint(*t.n)
}

func (t ten) Size() int { return 0 }

type sizer interface{ Size() int }

type lin struct{ Weight, Bias ten }

func (l lin) Size() int { return 1 }

type norm struct {
	Weight ten
	Mean   ten `tensor:"running_mean,state"`
	Eps    float64
}

type base struct{ Core ten }

type Pub struct{ Outer ten }

type block struct {
	LN1   lin `tensor:"ln_1"`
	Attn  struct{ CAttn, CProj lin }
	Extra *lin
}

type all struct {
	base
	Pub
	WeightIH ten
	H        []block
	Pair     [2]ten
	ByName   map[string]ten
	ByInt    map[int8]*lin
	Layers   []sizer
	Any      any
	Skip     ten  `tensor:"-"`
	skip     ten  `tensor:"-"`
	Norm     norm `tensor:",state"`
	Act      func(ten) ten
	Dims     []int
	count    int
}

func makeAll() *all {
	shared := &lin{Weight: mk(9)}
	return &all{
		base: base{mk(1)}, Pub: Pub{mk(2)}, WeightIH: mk(3),
		H:      []block{{LN1: lin{mk(4), mk(5)}, Extra: shared}, {Extra: shared}},
		Pair:   [2]ten{mk(6), mk(7)},
		ByName: map[string]ten{"b": mk(11), "a": mk(10)},
		ByInt:  map[int8]*lin{10: {Weight: mk(14)}, 9: {Weight: mk(13)}, -1: {Weight: mk(12)}},
		Layers: []sizer{lin{mk(15), ten{}}, &lin{mk(16), ten{}}, mk(17), nil},
		Any:    map[string]any{"x": mk(18), "n": 3},
		Skip:   mk(100), skip: mk(101),
		Norm: norm{mk(19), mk(20), 1e-5},
		Dims: []int{1, 2}, count: 5,
	}
}

func describe(leaves []Leaf[ten]) string {
	var b strings.Builder
	for _, l := range leaves {
		fmt.Fprintf(&b, "%s=%v", l.Name, l.Value)
		if l.State {
			b.WriteString(" state")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func flatten(t *testing.T, v any) string {
	t.Helper()
	leaves, err := Flatten[ten](v)
	if err != nil {
		t.Fatalf("Flatten(%T) = %v", v, err)
	}
	return describe(leaves)
}

const wantAll = `core=1
outer=2
weight_ih=3
h.0.ln_1.weight=4
h.0.ln_1.bias=5
h.0.attn.c_attn.weight=absent
h.0.attn.c_attn.bias=absent
h.0.attn.c_proj.weight=absent
h.0.attn.c_proj.bias=absent
h.0.extra.weight=9
h.0.extra.bias=absent
h.1.ln_1.weight=absent
h.1.ln_1.bias=absent
h.1.attn.c_attn.weight=absent
h.1.attn.c_attn.bias=absent
h.1.attn.c_proj.weight=absent
h.1.attn.c_proj.bias=absent
pair.0=6
pair.1=7
by_name.a=10
by_name.b=11
by_int.-1.weight=12
by_int.-1.bias=absent
by_int.9.weight=13
by_int.9.bias=absent
by_int.10.weight=14
by_int.10.bias=absent
layers.0.weight=15
layers.0.bias=absent
layers.1.weight=16
layers.1.bias=absent
layers.2=17
any.x=18
norm.weight=19 state
norm.running_mean=20 state
`

func TestFlatten(t *testing.T) {
	a := makeAll()
	for _, v := range []any{a, *a, &a, map[string]any{"": a}} {
		if diff := goldentext.Diff(wantAll, flatten(t, v)); diff != "" {
			t.Errorf("Flatten(%T): -want +got\n%s", v, diff)
		}
	}
	for _, tt := range []struct {
		v    any
		want string
	}{
		{nil, ""},
		{3, ""},
		{mk(1), "=1\n"},
		{[]ten{mk(1), mk(2)}, "0=1\n1=2\n"},
		{(*lin)(nil), ""},
		{map[string]lin(nil), ""},
	} {
		leaves, err := Flatten[ten](tt.v)
		if got := describe(leaves); got != tt.want || err != nil {
			t.Errorf("Flatten(%#v) = %q, %v, want %q", tt.v, got, err, tt.want)
		}
	}
}

func TestTitles(t *testing.T) {
	for _, tt := range []struct{ names, want string }{
		{"a", `"a"`},
		{"", "the tensor"},
		{"0,h.1.w,-3", `element 0, "h.1.w", "-3"`},
		{"a,b,c,d,e,f", `"a", "b", "c", "d", "e", "f"`},
		{"a,b,c,d,e,f,g", `"a", "b", "c", "d", "e" and 2 more`},
	} {
		if got := Titles(strings.Split(tt.names, ",")); got != tt.want {
			t.Errorf("Titles(%s) = %s, want %s", tt.names, got, tt.want)
		}
	}
}

func TestSnake(t *testing.T) {
	for _, tt := range [][2]string{
		{"LnF", "ln_f"}, {"CAttn", "c_attn"}, {"WeightIH", "weight_ih"}, {"LN1", "ln1"}, {"MLP", "mlp"},
		{"Wte", "wte"}, {"CFc", "c_fc"}, {"Q", "q"}, {"KVHeads", "kv_heads"}, {"Conv1D", "conv1d"},
		{"IDs", "ids"}, {"URLs", "urls"}, {"UserIDs", "user_ids"}, {"IDsByName", "ids_by_name"}, {"IDs2", "ids2"}, {"Conv1Ds", "conv1ds"},
		{"XStart", "x_start"}, {"Conv2DBlock", "conv2d_block"}, {"Layer1Norm", "layer1_norm"}, {"X_Y", "x_y"}, {"ÄÖü", "ä_öü"},
	} {
		if got := snake(tt[0]); got != tt[1] {
			t.Errorf("snake(%q) = %q, want %q", tt[0], got, tt[1])
		}
	}
}

func TestRebuild(t *testing.T) {
	a := makeAll()
	leaves, err := Flatten[ten](a)
	if err != nil {
		t.Fatal(err)
	}
	values := make([]ten, len(leaves))
	var want strings.Builder
	for i, l := range leaves {
		values[i] = mk(1000 + i)
		fmt.Fprintf(&want, "%s=%d", l.Name, 1000+i)
		if l.State {
			want.WriteString(" state")
		}
		want.WriteByte('\n')
	}
	b, err := Rebuild(a, values)
	if err != nil {
		t.Fatal(err)
	}
	if diff := goldentext.Diff(want.String(), flatten(t, b)); diff != "" {
		t.Errorf("Rebuild: -want +got\n%s", diff)
	}
	if diff := goldentext.Diff(wantAll, flatten(t, a)); diff != "" {
		t.Errorf("Rebuild changed its argument: -want +got\n%s", diff)
	}
	if b.H[0].Extra != b.H[1].Extra || b.H[0].Extra == a.H[0].Extra {
		t.Errorf("Rebuild: shared pointer %p became %p and %p", a.H[0].Extra, b.H[0].Extra, b.H[1].Extra)
	}
	if b.Skip.String() != "100" || b.skip.String() != "101" || b.count != 5 || b.Norm.Eps != 1e-5 {
		t.Errorf("Rebuild did not carry %v %v %v %v", b.Skip, b.skip, b.count, b.Norm.Eps)
	}
	b.Dims[0] = 7
	b.Any.(map[string]any)["n"] = 4
	b.ByName["c"] = mk(1)
	if a.Dims[0] != 1 || a.Any.(map[string]any)["n"] != 3 || len(a.ByName) != 2 {
		t.Errorf("Rebuild's result shares with its argument: %v %v %v", a.Dims, a.Any, a.ByName)
	}
	if _, err := Rebuild(a, values[1:]); err == nil {
		t.Error("Rebuild with too few leaves: no error")
	}
	if _, err := Rebuild(a, append(values, mk(0))); err == nil {
		t.Error("Rebuild with too many leaves: no error")
	}
}

func TestUpdate(t *testing.T) {
	type node struct {
		W    ten
		Next *node
	}
	a := &node{W: mk(1)}
	a.Next = &node{W: mk(2), Next: a}
	old := a.Next
	if err := Update(a, []ten{mk(3), mk(4)}); err != nil {
		t.Fatal(err)
	}
	if got := flatten(t, a); got != "w=3\nnext.w=4\n" || a.Next.Next != a || a.Next == old || old.W.String() != "2" {
		t.Errorf("Update of a ring gave %q, %p of %p", got, a.Next.Next, a)
	}
	for _, p := range []any{nil, 3, *a, (*node)(nil)} {
		if err := Update(p, []ten{mk(3), mk(4)}); err == nil {
			t.Errorf("Update(%T): no error", p)
		}
	}
	if err := Update(a, []ten{mk(3)}); err == nil || a.W.String() != "3" {
		t.Errorf("Update with too few leaves = %v", err)
	}
}

// Values that Rebuild must not copy are carried.
func TestCarry(t *testing.T) {
	type opaque struct {
		sync.Mutex
		N int
		//lint:ignore U1000 its presence matters
		note any
	}
	type plain struct{ N int }
	type tree struct {
		W      ten
		File   *os.File
		Mutex  *opaque
		Config *plain
		Type   reflect.Type
		Err    error
	}
	a := tree{mk(1), os.Stdout, &opaque{N: 1}, &plain{1}, reflect.TypeFor[int](), os.ErrExist}
	b, err := Rebuild(a, []ten{mk(1)})
	if err != nil {
		t.Fatal(err)
	}
	if b.File != a.File || b.Mutex != a.Mutex || b.Type != a.Type || b.Err != a.Err {
		t.Errorf("Rebuild copied what it should carry: %+v of %+v", b, a)
	}
	if b.Config == a.Config || *b.Config != *a.Config {
		t.Errorf("Rebuild shares %p, is %p", a.Config, b.Config)
	}
}

func TestErrors(t *testing.T) {
	//lint:ignore U1000 its presence matters
	type hidden struct{ w ten }
	type hiddenAny struct{ w any }
	type hiddenAnys struct{ w map[string][]any }
	type twice struct {
		A ten
		B ten `tensor:"a"`
	}
	type renamed ten
	type self []any
	loop := self{nil}
	loop[0] = loop
	ring := map[string]any{}
	ring["a"], ring["b"] = ring, ring
	for _, tt := range []struct {
		v    any
		want string
	}{
		{hidden{}, "pytree.hidden: unexported field w holds pytree.ten: export it or tag it `tensor:\"-\"`"},
		{[]hidden{}, "unexported field w"},
		{map[string]*hidden{}, "unexported field w"},
		{any(hidden{}), "unexported field w"},
		{hiddenAny{lin{}}, "unexported field w"},
		{hiddenAny{nil}, ""},
		{hiddenAny{3}, ""},
		{hiddenAnys{map[string][]any{"a": {1, &lin{}}}}, "unexported field w"},
		{struct{ ten }{}, "unexported field ten"},
		{twice{}, `pytree.twice: fields A and B are both named "a"`},
		{struct {
			A ten `tensor:"a,stat"`
		}{}, `unknown option "stat" in the tag of field A`},
		{renamed{}, "pytree.renamed is another type than pytree.ten"},
		{map[float64]ten{}, "map[float64]pytree.ten has keys of type float64"},
		{map[float64]any{1: 2}, ""},
		{loop, "does it contain itself?"},
		{ring, "does it contain itself?"},
		{map[string]any{"a.b": mk(1), "a": map[string]any{"b": mk(2)}}, `two different leaves are named "a.b"`},
	} {
		_, err := Flatten[ten](tt.v)
		if !matches(err, tt.want) {
			t.Errorf("Flatten(%T) = %v, want %q", tt.v, err, tt.want)
		}
		_, err = Rebuild[ten](tt.v, nil)
		if tt.want[:min(3, len(tt.want))] != "two" && !matches(err, tt.want) {
			t.Errorf("Rebuild(%T) = %v, want %q", tt.v, err, tt.want)
		}
	}
}

func matches(err error, want string) bool {
	if err == nil || want == "" {
		return err == nil && want == ""
	}
	return strings.Contains(err.Error(), want)
}

func TestAlign(t *testing.T) {
	a, _ := Flatten[ten](lin{mk(1), mk(2)})
	for _, tt := range []struct {
		b    any
		want string
	}{
		{lin{mk(3), mk(4)}, "[3 4] <nil>"},
		{map[string]ten{"bias": mk(5)}, "[absent 5] <nil>"},
		{map[string]ten{"gain": mk(5)}, `[] "gain" is in the second tree but not in the first`},
	} {
		b, _ := Flatten[ten](tt.b)
		got, err := Align(a, b)
		if s := fmt.Sprint(got, err); s != tt.want {
			t.Errorf("Align(%v) = %s, want %s", tt.b, s, tt.want)
		}
	}
}

func BenchmarkFlatten(b *testing.B) {
	a := makeAll()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Flatten[ten](a); err != nil {
			b.Fatal(err)
		}
	}
}

func TestIsTree(t *testing.T) {
	for _, tt := range []struct {
		v    any
		want bool
	}{
		{nil, true},
		{mk(1), true},
		{lin{}, true},
		{(*lin)(nil), true},
		{[]ten(nil), true},
		{map[string]*[2]ten{}, true},
		{[]any{}, true},
		{struct{}{}, true},
		{[]struct{ P float64 }{}, true},
		{3, false},
		{"x", false},
		{new(int), false},
		{[]float32{1}, false},
		{map[string][]int{}, false},
		{func() ten { return ten{} }, false},
		{make(chan ten), false},
	} {
		if got := IsTree[ten](tt.v); got != tt.want {
			t.Errorf("IsTree(%T) = %v, want %v", tt.v, got, tt.want)
		}
	}
}

func TestMissing(t *testing.T) {
	leaves := func(names string) (ls []Leaf[ten]) {
		for name := range strings.FieldsSeq(names) {
			l := Leaf[ten]{Name: strings.TrimSuffix(name, "?")}
			if l.Name == name { // "?" is an absent leaf
				l.Value = mk(1)
			}
			ls = append(ls, l)
		}
		return ls
	}
	for _, c := range []struct{ a, b, want string }{
		{"", "", ""},
		{"x y", "x y", ""},
		{"x y", "y z x", ""},
		{"x y z", "y", "x z"},
		{"x y", "x? y?", "x y"},
		{"x? y", "y", ""},
		{"z x y", "", "z x y"},
	} {
		if got := strings.Join(Missing(leaves(c.a), leaves(c.b)), " "); got != c.want {
			t.Errorf("Missing(%s; %s) = %s, want %s", c.a, c.b, got, c.want)
		}
	}
}
