package exampletest

import (
	"fmt"
	"image"
	"image/color"
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
		{"0.0012", "0.0013", true},
		{"0.0012", "0.0014", false},
		{"0.001", "0.0020", false},
		{"1.234e-05", "1.235e-05", true},
		{"1.2e-05", "1.2e-06", false},
		{"12", "13", false},
		{"1 2", "1", false},
		{"x", "y", false},
		{"true", "1", false},
		{"[NaN]", "[NaN]", true},
		{"[NaN]", "[1]", false},
		{"loss 1.00001, 2", "loss 1, 2", true},
	} {
		if got := similar(c.a, c.b, 1e-4); got != c.want {
			t.Errorf("similar(%q, %q) = %v, want %v", c.a, c.b, got, c.want)
		}
	}
	if !similar("1.009", "1", 0.01) || similar("1.011", "1", 0.01) {
		t.Error("similar with a tolerance of 0.01 accepts 1.011 for 1, or not 1.009")
	}
}

func TestDiffering(t *testing.T) {
	gray := func(levels ...uint8) image.Image {
		m := image.NewGray(image.Rect(0, 0, len(levels), 1))
		for x, level := range levels {
			m.SetGray(x, 0, color.Gray{level})
		}
		return m
	}
	if n := differing(gray(0, 10, 100, 255), gray(3, 14, 0, 255)); n != 2 {
		t.Errorf("%d pixels differ, want 2", n)
	}
}
