package exampletest

import (
	"fmt"
	"testing"
)

func TestOutput(t *testing.T) {
	if got, want := output(t, func() { fmt.Println("a", 1) }), "a 1\n"; got != want {
		t.Errorf("output = %q, want %q", got, want)
	}
}

func TestSimilar(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"[1 2.00001] x", "[1  2] x", true},
		{"[1  24.999998 ]", "[1 25]", true},
		{"[0]", "[-0]", true},
		{"map[a:1.00001]", "map[a:1]", true},
		{"{[2.00001] 1.00001}", "{[2] 1}", true},
		{"1.001", "1", false},
		{"1 2", "1", false},
		{"x", "y", false},
		{"true", "1", false},
		{"[NaN]", "[NaN]", true},
		{"[NaN]", "[1]", false},
	} {
		if got := similar(c.a, c.b); got != c.want {
			t.Errorf("similar(%q, %q) = %v, want %v", c.a, c.b, got, c.want)
		}
	}
}
