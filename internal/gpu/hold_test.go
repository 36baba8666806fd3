package gpu

import (
	"strings"
	"testing"

	"github.com/tensorken/tensorken/internal/wgpu"
)

// counting returns a fake device, and counts of its submissions.
func counting(t *testing.T) (*device, *traffic) {
	d, _ := fake(t, 0)
	c := &traffic{Device: d.dev}
	d.dev = c
	return d, c
}

// Runs of few dispatches are submitted together, and with the copy of a Download.
func TestHold(t *testing.T) {
	d, c := counting(t)
	p := prepare(t, d, &increment)
	a, b := alloc(t, d, 4), alloc(t, d, 4)
	run := func(n int) {
		t.Helper()
		if err := d.Run(chain(p, n, a, b)); err != nil {
			t.Fatal(err)
		}
	}
	batches := []int{firstBatch, 2 * firstBatch, 4 * firstBatch, batch, batch}
	for i, n := range batches {
		for range n - 1 {
			run(1)
		}
		if c.submissions != i {
			t.Errorf("%d Runs of a dispatch after %d submissions make %d", n-1, i, c.submissions-i)
		}
		run(1)
		if c.submissions != i+1 || d.Holds() {
			t.Errorf("%d Runs of a dispatch after %d submissions make %d, want 1", n, i, c.submissions-i)
		}
	}
	run(3)
	if err := d.Download(make([]byte, 4), b, 0); err != nil {
		t.Fatal(err)
	}
	if c.submissions != len(batches)+1 {
		t.Errorf("a Run and a Download make %d submissions, want 1", c.submissions-len(batches))
	}
	run(3)
	alloc(t, d, 4).Free()
	if c.submissions != len(batches)+1 {
		t.Error("Free of a buffer that no call uses submits calls")
	}
	before := len(d.params)
	run(1)
	run(1)
	if got := len(d.params) - before; got != slot {
		t.Errorf("two calls with equal parameters have %d bytes of them, want %d", got, slot)
	}
	if err, want := d.Sync(), 7*firstBatch+2*batch+8; err != nil || c.dispatches != want {
		t.Errorf("%d dispatches were submitted, want %d, %v", c.dispatches, want, err)
	}
}

// After a wait the GPU idles: it gets few dispatches first, and then more in each submission.
func TestFirstSubmissions(t *testing.T) {
	d, c := counting(t)
	p := prepare(t, d, &increment)
	a, b := alloc(t, d, 4), alloc(t, d, 4)
	for _, wait := range []func() error{d.Sync, func() error { return d.Download(make([]byte, 4), a, 0) }} {
		if err := wait(); err != nil {
			t.Fatal(err)
		}
		c.submissions, c.dispatches = 0, 0
		if err := d.Run(chain(p, 15*firstBatch, a, b)); err != nil {
			t.Fatal(err)
		}
		if c.submissions != 4 || c.dispatches != 15*firstBatch { // 1, 2, 4 and 8 times firstBatch
			t.Errorf("%d submissions of %d dispatches, want 4 of %d", c.submissions, c.dispatches, 15*firstBatch)
		}
	}
}

// A failure to submit calls that were held is one of Sync. A Run that fails leaves the calls
// that were held before it.
func TestHoldFails(t *testing.T) {
	d, f := fake(t, 0)
	r := &refusing{Device: d.dev, kind: wgpu.Internal}
	d.dev = r
	p := prepare(t, d, &increment)
	a, b := alloc(t, d, 4), alloc(t, d, 4)
	if err := d.Run(chain(p, 1, a, b)); err != nil {
		t.Fatal(err)
	}
	if err := d.Run(chain(p, 2, a, a)); err == nil {
		t.Error("a call that reads and writes one buffer succeeds")
	}
	if d.Flush(); f.Dispatches != 1 {
		t.Errorf("Flush runs %d dispatches, want 1", f.Dispatches)
	}
	if err := d.Run(chain(p, 1, a, b)); err != nil {
		t.Fatal(err)
	}
	r.call = "Submit"
	if d.Flush(); d.Holds() {
		t.Error("calls that were refused are held")
	}
	for _, want := range []bool{true, false} {
		if err := d.Sync(); (err != nil && strings.Contains(err.Error(), "not today")) != want {
			t.Errorf("Sync gives error %v, want one of Submit: %v", err, want)
		}
	}
}
