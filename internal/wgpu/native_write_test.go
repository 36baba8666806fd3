//go:build (linux || darwin || windows) && (amd64 || arm64)

package wgpu

import (
	"bytes"
	"testing"
	"time"
)

// Writes by way of staging buffers and by the library are in the order of their calls, and the buffers come back.
func TestStagedWrites(t *testing.T) {
	d := native(t, Options{Validate: true, Timeout: time.Minute})
	if discrete := d.adapter.Kind == Discrete; d.staged != discrete {
		t.Errorf("writes by way of staging buffers: %v, of a discrete adapter: %v", d.staged, discrete)
	}
	d.staged = true
	const size = 2*maxStaging*stagingSize + 3*minStaged
	new := func(u Usage) Buffer {
		b, err := d.NewBuffer(size, u)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	b, to := new(Storage), new(Readback)
	want := make([]byte, size)
	rounds := 3
	if testing.Short() {
		rounds = 2
	}
	for round := range rounds {
		for i, w := range []struct{ offset, size int }{
			{0, size}, {4, minStaged - 4}, {stagingSize - 8, minStaged}, {minStaged, stagingSize + 4}, {stagingSize, 4},
			{12, 3*stagingSize + minStaged - 4}, {size - stagingSize, stagingSize}, {size - 4, 4},
		} {
			data := make([]byte, w.size)
			for k := range data {
				data[k] = byte(k>>12 ^ k ^ (17*round+i)*31)
			}
			copy(want[w.offset:], data)
			d.Write(b, int64(w.offset), data)
		}
		_, err := d.Submit([]Command{{Src: b, Dst: to, Size: size}})
		if err == nil {
			err = d.Map(to, size)
		}
		got := make([]byte, size)
		if err == nil {
			err = d.Read(to, got)
		}
		if err == nil {
			err = d.Poll()
		}
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			at := 0
			for got[at] == want[at] {
				at++
			}
			t.Fatalf("round %d: byte %d is %d, want %d", round, at, got[at], want[at])
		}
	}
	if n := len(d.staging); n == 0 || n > maxStaging { // a fast GPU needs few
		t.Errorf("%d staging buffers, want 1 to %d", n, maxStaging)
	}
	if err := d.wait("staging", func() bool {
		for _, s := range d.staging {
			if !s.mapped {
				return false
			}
		}
		return true
	}); err != nil {
		t.Error(err)
	}

	for range maxStaging {
		if s := d.mappedStaging(); s == nil {
			t.Fatal("no staging buffer")
		} else {
			s.mapped = false
		}
	}
	if s := d.mappedStaging(); s != nil || len(d.staging) != maxStaging {
		t.Errorf("%d staging buffers, of which one is mapped: %v; want %d and none", len(d.staging), s != nil, maxStaging)
	}
}

// A staging buffer without memory takes nothing.
func TestStagingWithoutMemory(t *testing.T) {
	d := native(t, Options{Validate: true, Timeout: time.Minute})
	b, err := d.NewBuffer(stagingSize, Storage)
	if err != nil {
		t.Fatal(err)
	}
	gone := &stagingBuffer{buffer: uintptr(b), mapped: true} // which is no buffer to be mapped
	if d.writeStaged(gone, b, 0, make([]byte, stagingSize)) || gone.mapped {
		t.Error("a staging buffer that is not mapped takes a write")
	}
}
