package main

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/tensorken/tensorken/examples/internal/exampletest"
	"github.com/tensorken/tensorken/internal/digits"
	"github.com/tensorken/tensorken/tensor"
)

// TestOutput trains, and compares the output and picture with README.md.
func TestOutput(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cnn.png")
	exampletest.SetFlags(t, map[string]string{"device": "cpu", "plot": path})
	exampletest.CheckWithin(t, main, 0.1)
	exampletest.CheckPicture(t, path, "cnn.png", 0.5)
}

// TestAttention checks that the pixel with the largest derivative changes the score by more
// than the one with the smallest.
func TestAttention(t *testing.T) {
	exampletest.OpenDevice(t)
	x, y, err := digits.Load()
	if err != nil {
		t.Fatal(err)
	}
	each := oneOfEach(example{x, y})
	if ok, err := tensor.AllClose(each, x.Slice(0, 0, 10), 0, 0); !ok || err != nil {
		t.Errorf("the first ten digits are 0 to 9 in order, oneOfEach returns others: %v", err)
	}
	m := newCNN(tensor.NewRNG(1))
	rows := attention(m, each.Slice(0, 3, 5))
	if fmt.Sprint(rows.Shape()) != "[6 2 8 8]" || rows.Min().Item() < 0 || rows.Max().Item() != 1 {
		t.Fatalf("attention returns %v from %v to %v", rows.Shape(), rows.Min(), rows.Max())
	}
	digit := each.Slice(0, 3, 4)
	score := func(pixel int) float64 {
		const h = 1e-2
		e := tensor.Arange(64).Eq(pixel).Cast(tensor.Float32).Reshape(1, 1, 8, 8).Mul(h)
		best := int(m.Apply(digit).ArgMax(1).Item())
		return m.Apply(digit.Add(e)).Sub(m.Apply(digit.Sub(e))).At(0, best).Abs().Item()
	}
	saliency := rows.At(1, 0).Reshape(-1)
	most, least := int(saliency.ArgMax(0).Item()), int(saliency.ArgMin(0).Item())
	if !(score(most) > score(least)) {
		t.Errorf("pixel %d changes the score by %v, pixel %d by %v", most, score(most), least, score(least))
	}
}
