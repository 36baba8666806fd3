package pytree

import (
	"strings"
	"testing"
)

type cells struct {
	Layers  []lin `tensor:"*_l#"`
	Reverse []lin `tensor:"*_l#_reverse"`
	Width   int
}

func TestPatternFlatten(t *testing.T) {
	v := struct {
		A cells
		B struct {
			Pairs [2]block2 `tensor:"*#"`
		}
	}{A: cells{[]lin{{mk(1), mk(2)}, {mk(3), mk(4)}}, []lin{{mk(5), mk(6)}}, 7}}
	v.B.Pairs[1].Core = mk(8)
	want := `a.weight_l0=1
a.bias_l0=2
a.weight_l1=3
a.bias_l1=4
a.weight_l0_reverse=5
a.bias_l0_reverse=6
b.core0=absent
b.gain0=absent
b.core1=8
b.gain1=absent
`
	if got := flatten(t, v); got != want {
		t.Errorf("Flatten =\n%swant\n%s", got, want)
	}
}

// A block2 embeds a struct of leaves, and carries values that are no leaves.
type block2 struct {
	base
	Gain  ten
	Name  string
	Inner *lin `tensor:"-"`
}

func TestPatternFill(t *testing.T) {
	for _, tt := range []struct {
		p                   any
		names, want, unused string
	}{
		{&cells{}, "weight_l0 bias_l0 weight_l1", "weight_l0=1 bias_l0=2 weight_l1=3 bias_l1=absent", ""},
		{&cells{}, "weight_l0 weight_l0_reverse", "weight_l0=1 bias_l0=absent weight_l0_reverse=2 bias_l0_reverse=absent", ""},
		{&cells{}, "weight_l00 weight_l weight weight_l0_r gain_l0 weight_l0.x", "", "weight_l00 weight_l weight weight_l0_r gain_l0 weight_l0.x"},
		{&cells{Layers: make([]lin, 1)}, "bias_l0 bias_l1", "weight_l0=absent bias_l0=1", "bias_l1"},
		{&map[string]cells{}, "a.b.weight_l0", "a.b.weight_l0=1 a.b.bias_l0=absent", ""},
		{&struct{ P *cells }{}, "p.bias_l0_reverse", "p.weight_l0_reverse=absent p.bias_l0_reverse=1", ""},
	} {
		unused, err := fill(tt.p, strings.Fields(tt.names)...)
		got := strings.Join(strings.Fields(flatten(t, tt.p)), " ")
		if err != nil || got != tt.want || strings.Join(unused, " ") != tt.unused {
			t.Errorf("Fill(%T, %s) = %s, unused %v, %v; want %s, unused %s", tt.p, tt.names, got, unused, err, tt.want, tt.unused)
		}
	}
	if _, err := fill(&cells{}, "weight_l1"); !matches(err, "element 1 but no element 0") {
		t.Errorf("Fill of weight_l1 alone: %v", err)
	}
}

func TestPatternRebuild(t *testing.T) {
	v := cells{Layers: []lin{{mk(1), mk(2)}}}
	got, err := Rebuild(v, []ten{mk(3), mk(4)})
	if err != nil || got.Layers[0].Bias.String() != "4" || v.Layers[0].Bias.String() != "2" || got.Reverse != nil {
		t.Errorf("Rebuild = %v, %v, from %v", got, err, v)
	}
}

// A tree may be walked for leaves of another type.
func TestPatternOtherLeaves(t *testing.T) {
	v := struct {
		A cells
		B *norm
	}{A: cells{Layers: make([]lin, 1)}, B: &norm{}}
	if got, err := Values[norm](v); err != nil || len(got) != 1 {
		t.Errorf("Values[norm] = %v, %v, want one", got, err)
	}
}

func TestPatternErrors(t *testing.T) {
	const wantType = "want a slice of structs whose fields are pytree.ten"
	const wantPattern = `in the tag of field A: want one * at the beginning, for the name of a leaf, and one # for the index, as in "*_l#"`
	for _, c := range []struct {
		v    any
		want string
	}{
		{struct {
			A []ten `tensor:"*_l#"`
		}{}, wantType},
		{struct {
			A lin `tensor:"*_l#"`
		}{}, wantType},
		{struct {
			A []block `tensor:"*_l#"`
		}{}, wantType},
		{struct {
			A []*lin `tensor:"*_l#"`
		}{}, wantType},
		{struct {
			A []lin `tensor:"*_l"`
		}{}, `the pattern "*_l" ` + wantPattern},
		{struct {
			A []lin `tensor:"l#,state"`
		}{}, `the pattern "l#" ` + wantPattern},
		{struct {
			A []lin `tensor:"l#_*"`
		}{}, wantPattern},
		{struct {
			A []lin `tensor:"*_l#_#"`
		}{}, wantPattern},
		{struct {
			A []lin `tensor:"*_*#"`
		}{}, wantPattern},
		{struct {
			A ten `tensor:"*"`
		}{}, wantPattern},
	} {
		if _, err := Flatten[ten](c.v); !matches(err, c.want) {
			t.Errorf("Flatten(%T) = %v, want an error with %q", c.v, err, c.want)
		}
	}
}
