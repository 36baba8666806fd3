package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"testing"

	"github.com/tensorken/tensorken/examples/internal/exampletest"
	"github.com/tensorken/tensorken/imageio"
	"github.com/tensorken/tensorken/internal/digits"
	"github.com/tensorken/tensorken/tensor"
)

// TestOutput trains for an epoch, and reads the pictures.
func TestOutput(t *testing.T) {
	if testing.Short() {
		t.Skip("trains for a second")
	}
	dir := t.TempDir()
	drawn, path := filepath.Join(dir, "digits.png"), filepath.Join(dir, "path.png")
	exampletest.SetFlags(t, map[string]string{"device": "cpu", "epochs": "1", "levels": "3", "plot": drawn, "path": path})
	exampletest.CheckWithin(t, main, 0.05)
	for _, name := range []string{drawn, path} {
		if x, err := imageio.Load(name, 0); err != nil || fmt.Sprint(x.Shape()) != "[380 456 1]" {
			t.Errorf("%s has the shape %v, %v, want 10 rows of 12 images", filepath.Base(name), x.Shape(), err)
		}
	}
}

// TestSample samples with a denoiser that knows the images.
func TestSample(t *testing.T) {
	exampletest.OpenDevice(t)
	want := tensor.NewRNG(1).Uniform(3, 1, 8, 8)
	noise := func(x, time tensor.Tensor) tensor.Tensor {
		p, q := mix(time)
		return x.Sub(want.Mul(2).Sub(1).Mul(p)).Div(q)
	}
	steps, err := sample(noise, 3, 5, tensor.NewRNG(2))
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(steps.Shape()) != "[6 3 8 8]" {
		t.Fatalf("the steps have the shape %v", steps.Shape())
	}
	if ok, err := tensor.AllClose(steps.At(-1), want.Squeeze(1), 1e-4, 1e-4); !ok || err != nil {
		t.Errorf("the result is not the image: %v", err)
	}
}

// TestMix checks that time 0 is the image, time 1 is noise, and the variance stays the same.
func TestMix(t *testing.T) {
	p, q := mix(tensor.Linspace(0, 1, 5))
	if ok, err := tensor.AllClose(p.Square().Add(q.Square()), tensor.Ones(5), 1e-6, 0); !ok || err != nil {
		t.Errorf("the squares of %v and %v do not add up to 1: %v", p, q, err)
	}
	if p.At(0).Item() != 1 || math.Abs(p.At(4).Item()) > 1e-6 {
		t.Errorf("the parts of the image are %v", p)
	}
}

// TestDevice compares the losses of two steps on the device that TENSORKEN_DEVICE names with
// the CPU's.
func TestDevice(t *testing.T) {
	images, labels, err := digits.Load()
	if err != nil {
		t.Fatal(err)
	}
	exampletest.SetFlags(t, map[string]string{"epochs": "1"})
	losses := func() float64 {
		l, average := newLoop(images.Slice(0, 0, 16), labels.Slice(0, 0, 16))
		l.Data.Batch, l.Out = 8, io.Discard
		if err := l.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		if n := average.Count.Item(); n != 2 {
			t.Errorf("the average is of %v models, want 2", n)
		}
		return l.History[0]["loss"]
	}
	want := losses()
	d := exampletest.OpenDevice(t)
	if got := losses(); !(math.Abs(got-want) <= 1e-4*want) {
		t.Errorf("the loss on %v is %v, on the CPU %v", d, got, want)
	}
}
