//go:build (linux || darwin || windows) && (amd64 || arm64)

package wgpu

import (
	"bytes"
	"testing"
	"time"
)

// Writes by way of stages and by the library are in the order of their calls, and stages come back.
func TestStagedWrites(t *testing.T) {
	d := native(t, Options{Validate: true, Timeout: time.Minute})
	d.staged = true
	const size = 2*maxStages*stageSize + 3*minStaged
	new := func(u Usage) Buffer {
		b, err := d.NewBuffer(size, u)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	b, to := new(Storage), new(Readback)
	want := make([]byte, size)
	for round := range 3 {
		for i, w := range []struct{ offset, size int }{
			{0, size}, {4, minStaged - 4}, {stageSize - 8, minStaged}, {minStaged, stageSize + 4}, {stageSize, 4},
			{12, 3*stageSize + minStaged - 4}, {size - stageSize, stageSize}, {size - 4, 4},
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
	if len(d.stages) != maxStages {
		t.Errorf("%d stages, want %d", len(d.stages), maxStages)
	}
	if err := d.wait("stages", func() bool {
		for _, s := range d.stages {
			if !s.mapped {
				return false
			}
		}
		return true
	}); err != nil {
		t.Error(err)
	}
}
