// Package memory has a device's buffers and their owners. A Queue is the lock around calls of the driver
// (queue.go), and starts the calls that the driver holds (flush.go). A Pool counts buffers and keeps idle
// ones (pool.go), and runs Go's collector, which does not see them (gc.go). A Block is a buffer that
// several users have (block.go).
package memory

import (
	"runtime"
	"sync"

	"github.com/tensorken/tensorken/driver"
)

// A Queue is held around calls of the driver.
type Queue struct {
	lock
	drv driver.Device
	flusher
}

type lock interface {
	sync.Locker
	TryLock() bool
}

// noLock is the lock of a concurrent driver.
type noLock struct{}

func (noLock) Lock()         {}
func (noLock) Unlock()       {}
func (noLock) TryLock() bool { return true }

// NewQueue returns the queue of a driver's device.
func NewQueue(drv driver.Device) *Queue {
	q := &Queue{lock: noLock{}, drv: drv}
	if !drv.Limits().Concurrent {
		q.lock = new(sync.Mutex)
	}
	q.initFlusher()
	return q
}

// Run runs calls. The caller holds q.
func (q *Queue) Run(calls []driver.Call) error {
	err := q.drv.Run(calls)
	q.ran()
	return err
}

// maxTries is the number of times that lockBetween tries: enough for the host's part of many plans.
const maxTries = 10_000

// lockBetween is Lock for a goroutine that runs beside a loop of plans. It takes the lock between two
// plans: after a millisecond in Lock, the loop's next Unlock would yield the core (see sync.Mutex).
func (q *Queue) lockBetween() {
	if !q.tryBetween() {
		q.Lock()
	}
}

// tryBetween is lockBetween without the wait for a call that takes long.
func (q *Queue) tryBetween() bool {
	for range maxTries {
		if q.TryLock() {
			return true
		}
		runtime.Gosched()
	}
	return false
}
