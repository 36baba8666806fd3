package storage

import (
	"sync/atomic"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/clock"
	"github.com/tensorken/tensorken/internal/memory"
)

// A stream is the work submitted to a driver's device, with its failures.
type stream struct {
	Driver driver.Device
	Limits driver.Limits
	Queue  *memory.Queue
	Pool   *memory.Pool

	// Guarded by the queue. A concurrent driver uses neither.
	reports reports
	epoch   *syncEpoch // nil where the driver is concurrent
}

func (s *stream) init(drv driver.Device) {
	s.Driver, s.Limits, s.Queue = drv, drv.Limits(), memory.NewQueue(drv)
	s.Pool = memory.NewPool(s.Queue, s.sync)
	if !s.Limits.Concurrent {
		s.epoch = new(syncEpoch)
	}
}

// A syncEpoch is the work submitted between two syncs. An asynchronous failure
// cannot be attributed to one call, so it poisons every buffer written in its epoch.
type syncEpoch struct{ failure atomic.Pointer[fault] }

// fault is the failure of the epoch, or nil.
func (e *syncEpoch) fault() *fault {
	if e == nil {
		return nil
	}
	return e.failure.Load()
}

func (e *syncEpoch) failed() error { return e.fault().report() }

// sync waits for the submitted work. The caller holds the queue.
func (s *stream) sync() error {
	err := s.Driver.Sync()
	if s.epoch == nil { // the call that met a failure has returned it
		return err
	}
	if err != nil {
		s.epoch.failure.Store(newFault(err))
		s.abandonReports(err)
	}
	s.epoch = new(syncEpoch)
	return err
}

// download fills dst with the bytes of a buffer from an offset on. The caller holds
// the queue.
func (s *stream) download(dst []byte, src driver.Buffer, offset int) error {
	err := s.Driver.Download(dst, src, offset)
	if s.epoch == nil {
		return err
	}
	if err != nil {
		if failed := s.sync(); failed != nil {
			return failed
		}
		return err // of the download alone
	}
	s.epoch = new(syncEpoch)
	return nil
}

// RunTimed runs calls and times them: each on its own, with the wait for it, where the
// device is no driver.Profiler.
func (s *stream) RunTimed(calls []driver.Call) (t driver.Timing, waited bool, err error) {
	if own, ok := s.Driver.(driver.Profiler); ok {
		t, err = own.RunTimed(calls)
		return t, false, err
	}
	spans := make(driver.Timed, len(calls))
	for i := range calls {
		start := clock.Now()
		if err = s.Driver.Run(calls[i : i+1]); err == nil {
			err = s.sync()
		}
		if err != nil {
			return nil, true, err
		}
		spans[i] = driver.Span{Start: start, Duration: clock.Since(start)}
	}
	return spans, true, nil
}
