package drivertest

import (
	"bytes"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/ir"
)

// snapshots are of the work before them, and the last one alone has bytes.
func (s *suite) snapshots() {
	d, ok := s.drv.(driver.Snapshotter)
	if !ok {
		s.Skipf("%s has no snapshots", s.drv.Name())
	}
	const n = 1000
	zeros := make([]byte, 4*n)
	data := [][]byte{encode(ir.Float32, s.small(n)), encode(ir.Float32, s.small(n))}
	b := s.uploaded(zeros)
	var waits []func() ([]byte, error)
	for _, x := range data {
		from := s.uploaded(x)
		s.copyBuffer(b, from, n)
		wait, err := d.Snapshot(driver.Piece{Buffer: b, Bytes: 8}, driver.Piece{Buffer: b, Offset: 8, Bytes: 4*n - 8})
		if err != nil {
			s.Fatal(err)
		}
		waits = append(waits, wait)
		if err := d.Upload(b, 0, zeros); err != nil {
			s.Fatal(err)
		}
	}
	for i, want := range [][]byte{nil, data[1]} {
		if got, err := waits[i](); err != nil || !bytes.Equal(got, want) {
			s.Errorf("snapshot %d of 2 differs, error %v", i+1, err)
		}
	}
	s.contains("the buffer after snapshots", b, zeros)
}
