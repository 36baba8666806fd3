package drivertest

import (
	"bytes"
	"testing"
	"time"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/clock"
	"github.com/tensorken/tensorken/ir"
)

// profiling runs calls that are timed, more of them than a device may submit at a time. A
// device's clock may be off from the host's by as much as slack.
func (s *suite) profiling() {
	const slack = time.Second
	drv, ok := s.drv.(driver.Profiler)
	if !ok {
		s.Skipf("%s has no clock", s.drv.Name())
	}
	n := 1 << 16
	if testing.Short() {
		n >>= 3
	}
	data := encode(ir.Float32, s.small(n))
	a, b := s.uploaded(data), s.uploaded(make([]byte, len(data)))
	defer a.Free()
	defer b.Free()
	p, err := drv.Compile(copyKernel(ir.Float32, n))
	if err != nil {
		s.Fatal(err)
	}
	begin := clock.Now()
	var timings []driver.Timing
	counts := []int{1, 0, 3, 700, 2}
	for _, count := range counts {
		var calls []driver.Call
		for i := range count {
			to, from := b, a
			if i%2 == 1 {
				to, from = a, b
			}
			calls = append(calls, driver.Call{Program: p, Args: []driver.Arg{{Buffer: to}, {Buffer: from}}})
		}
		t, err := drv.RunTimed(calls)
		if err != nil {
			s.Fatalf("RunTimed of %d calls: %v", count, err)
		}
		clear(calls) // the device keeps none
		timings = append(timings, t)
	}
	got := make([]byte, len(data))
	if err := drv.Download(got, b, 0); err != nil || !bytes.Equal(got, data) {
		s.Errorf("calls that are timed give other bytes: %v", err)
	}
	end := clock.Now()
	var last time.Time
	for i, t := range timings {
		spans, err := t.Spans()
		if err != nil || len(spans) != counts[i] {
			s.Fatalf("Spans of %d calls gives %d, %v", counts[i], len(spans), err)
		}
		var sum time.Duration
		for k, x := range spans {
			if x.Start.Before(last) || x.Duration < 0 {
				s.Fatalf("call %d of %d: it starts at %v and takes %v; the one before ends at %v", k, counts[i], x.Start, x.Duration, last)
			}
			last = x.Start.Add(x.Duration)
			sum += x.Duration
			if x.Start.Before(begin.Add(-slack)) || last.After(end.Add(slack)) {
				s.Fatalf("call %d of %d runs from %v to %v, and was run between %v and %v", k, counts[i], x.Start, last, begin, end)
			}
		}
		if counts[i] > 100 && sum == 0 {
			s.Errorf("%d copies of %d bytes take no time", counts[i], len(data))
		}
		if again, err := t.Spans(); err != nil || len(again) != len(spans) {
			s.Errorf("Spans for the second time gives %d, %v", len(again), err)
		}
	}
}

// uploaded returns a buffer that holds data.
func (s *suite) uploaded(data []byte) driver.Buffer {
	b, err := s.drv.Alloc(len(data))
	if err == nil {
		err = s.drv.Upload(b, 0, data)
	}
	if err != nil {
		s.Fatal(err)
	}
	return b
}
