package drivertest

import (
	"bytes"
	"slices"
	"sync"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/exec"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// peers copies between two devices that the test opens.
func (s *suite) peers() {
	drv, ok := s.drv.(driver.PeerCopier)
	if !ok {
		s.Skipf("%s copies from other devices through the host", s.drv.Name())
	}
	second, err := s.open()
	if err != nil {
		s.Fatal(err)
	}
	other := newSuite(s.T, second, s.open)
	for i, n := range []int{1, 5, 1000, 1 << 18} {
		data, zeros := encode(ir.Float32, s.small(n)), make([]byte, 4*n)
		first, src, dst, out := other.uploaded(data), other.uploaded(zeros), s.uploaded(zeros), s.uploaded(zeros)
		if !drv.IsPeer(src) || drv.IsPeer(dst) {
			s.Fatalf("IsPeer is %v for a buffer of the other device and %v for an own one", drv.IsPeer(src), drv.IsPeer(dst))
		}
		other.copyBuffer(src, first, n)
		if err := drv.CopyPeer(dst, 0, src, 0, 4*n); err != nil {
			s.Fatalf("CopyPeer of %d bytes: %v", 4*n, err)
		}
		src.Free()
		again := other.uploaded(zeros) // maybe in the memory of src
		s.copyBuffer(out, dst, n)
		if i%2 == 1 {
			if err := second.Sync(); err != nil {
				s.Fatal(err)
			}
		}
		s.contains("a copy, copied again,", out, data)
		if n > 1 {
			if err := drv.CopyPeer(out, 4, first, 0, 4*n-4); err != nil {
				s.Fatalf("CopyPeer of %d bytes to byte 4: %v", 4*n-4, err)
			}
			s.contains("a copy of a part", out, slices.Concat(data[:4], data[:4*n-4]))
		}
		for _, b := range []driver.Buffer{first, dst, out, again} {
			b.Free()
		}
	}
	s.peerGraphs(other)
}

// copyBuffer copies n elements by a kernel.
func (s *suite) copyBuffer(dst, src driver.Buffer, n int) {
	p, err := s.drv.Compile(copyKernel(ir.Float32, n))
	if err == nil {
		err = s.drv.Run([]driver.Call{{Program: p, Args: []driver.Arg{{Buffer: dst}, {Buffer: src}}}})
	}
	if err != nil {
		s.Fatal(err)
	}
}

// contains fails unless a buffer begins with the bytes.
func (s *suite) contains(what string, b driver.Buffer, want []byte) {
	got := make([]byte, len(want))
	if err := s.drv.Download(got, b, 0); err != nil || !bytes.Equal(got, want) {
		s.Errorf("%s of %d bytes differs, error %v", what, len(want), err)
	}
}

// peerGraphs computes on two devices in turns, from several goroutines, in both directions.
func (s *suite) peerGraphs(other *suite) {
	x := s.of(ir.Float32, s.small(1000)...)
	data, err := exec.Read(s.dev, x)
	if err != nil {
		s.Fatal(err)
	}
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			a, b := s.dev, other.dev
			if g%2 == 1 {
				a, b = b, a
			}
			for round := range 10 {
				y := graph.ToDevice(x, a)
				for _, d := range []*exec.Device{b, a, b} {
					y = graph.ToDevice(graph.Unary(ir.Neg, y), d)
				}
				got, err := exec.Read(b, graph.Unary(ir.Neg, y))
				if err != nil || !bytes.Equal(got, data) {
					s.Errorf("goroutine %d, round %d: other elements after three moves, error %v", g, round, err)
					return
				}
			}
		})
	}
	all.Wait()
}
