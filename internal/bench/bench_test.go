package bench

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/tensorken/tensorken/tensor"
)

func TestMeasure(t *testing.T) {
	const n = 8
	for _, c := range []struct {
		op            string
		flops, inputs float64 // operations, and elements of the inputs
		results       map[string]float64
	}{
		{"exp", n * n, n * n, map[string]float64{Contiguous: n * n, NonContiguous: n * n}},
		{"add", n * n, 2 * n * n, map[string]float64{Contiguous: n * n, NonContiguous: n * n}},
		{"mul", n * n, 2 * n * n, map[string]float64{Contiguous: n * n, NonContiguous: n * n}},
		{"sum", n * n, n * n, map[string]float64{Contiguous: n, NonContiguous: n / 2}},
		{"sum_to_scalar", n * n, n * n, map[string]float64{Contiguous: 1, NonContiguous: 1}},
		{"matmul", 2 * n * n * n, 2 * n * n, map[string]float64{Contiguous: n * n, NonContiguous: n * n}},
	} {
		for _, layout := range Layouts {
			cell := Cell{Op: find(t, c.op), N: n, Layout: layout}
			r, err := Measure(t.Context(), cell, tensor.CPU(), time.Millisecond)
			if err != nil {
				t.Errorf("Measure(%s %s): %v", c.op, layout, err)
				continue
			}
			if r.Op != c.op || r.N != n || r.Layout != layout || r.Seconds <= 0 {
				t.Errorf("Measure(%s %s) = %+v", c.op, layout, r)
			}
			flops, bytes := r.FlopsPerS*r.Seconds, r.BytesPerS*r.Seconds
			wantBytes := 4 * (c.inputs + c.results[layout])
			if !equal(flops, c.flops) || !equal(bytes, wantBytes) {
				t.Errorf("Measure(%s %s) counts %v operations and %v bytes, want %v and %v", c.op, layout, flops, bytes, c.flops, wantBytes)
			}
		}
	}
	if _, err := Measure(t.Context(), Cell{Op: Ops[0], N: 3}, tensor.CPU(), 0); err == nil {
		t.Error("Measure with an odd size: no error")
	}
}

func equal(a, b float64) bool { return math.Abs(a-b) < 1e-9*b }

func find(t *testing.T, name string) Op {
	for _, op := range Ops {
		if op.Name == name {
			return op
		}
	}
	t.Fatalf("there is no operation %s", name)
	return Op{}
}

// TestMedian runs a function of known duration.
func TestMedian(t *testing.T) {
	runs, syncs := 0, 0
	run := func() error { runs++; time.Sleep(time.Millisecond); return nil }
	sync := func() error { syncs++; return nil }
	s, err := median(t.Context(), 40*time.Millisecond, 3, run, sync)
	if err != nil || s < 1e-3 || s > 20e-3 {
		t.Errorf("median of 1 ms = %v, %v", s, err)
	}
	if runs < 3 || syncs < 3 || syncs > runs {
		t.Errorf("median ran %d times and waited %d times", runs, syncs)
	}

	runs = 0
	if _, err := median(t.Context(), 0, 3, run, sync); err != nil || runs != 4 {
		t.Errorf("median without time ran %d times, want 4: %v", runs, err)
	}
	failure := errors.New("broken")
	if _, err := median(t.Context(), 0, 3, func() error { return failure }, sync); err != failure {
		t.Errorf("median of what fails = %v, want %v", err, failure)
	}
	if _, err := median(t.Context(), 0, 3, run, func() error { return failure }); err != failure {
		t.Errorf("median where waiting fails = %v, want %v", err, failure)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := median(ctx, time.Hour, 3, run, sync); err != context.Canceled {
		t.Errorf("median when cancelled = %v, want %v", err, context.Canceled)
	}
}

// Runs that begin in the warm-up do not count, not even one that ends after it.
func TestWarmUp(t *testing.T) {
	const budget = 20 * time.Millisecond
	runs := 0
	seconds, err := median(t.Context(), budget, 1, func() error {
		switch runs++; runs {
		case 1: // compiles
		case 2:
			time.Sleep(10 * budget)
		default:
			time.Sleep(budget)
		}
		return nil
	}, func() error { return nil })
	if most := (5 * budget).Seconds(); err != nil || seconds > most {
		t.Errorf("the median is %v s (%v), want %v or less", seconds, err, most)
	}
}
