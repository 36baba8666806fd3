package memory

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tensorken/tensorken/driver"
)

// counted is a lock that counts the calls of Lock and of TryLock, of which the first ones fail.
type counted struct {
	sync.Mutex
	fails        int32
	locks, tries atomic.Int32
}

func (q *counted) Lock() {
	q.locks.Add(1)
	q.Mutex.Lock()
}

func (q *counted) TryLock() bool { return q.tries.Add(1) > q.fails && q.Mutex.TryLock() }

// A collection beside a loop of plans takes the queue without waiting in Lock, unless the queue is held
// for long.
func TestLockBetween(t *testing.T) {
	for _, c := range []struct {
		name         string
		fails        int32 // of TryLock
		tries, locks int32
	}{
		{"free", 0, 1, 0},
		{"between plans", 10, 11, 0},
		{"long", maxTries, maxTries, 1},
	} {
		q := &counted{fails: c.fails}
		(&Queue{lock: q}).lockBetween()
		if q.Mutex.TryLock() {
			t.Errorf("%s: the queue is not locked", c.name)
		}
		if tries, locks := q.tries.Load(), q.locks.Load(); tries != c.tries || locks != c.locks {
			t.Errorf("%s: %d calls of TryLock and %d of Lock, want %d and %d", c.name, tries, locks, c.tries, c.locks)
		}
	}
}

// flushing is a device that notes a flush.
type flushing struct {
	driver.Device
	flushes atomic.Int32
}

func (d *flushing) Limits() (l driver.Limits) { return l }
func (d *flushing) Holds() bool               { return true }
func (d *flushing) Flush()                    { d.flushes.Add(1) }

// The timer of held calls does not wait while another goroutine has the queue, and flushes after that.
func TestFlushBesideRun(t *testing.T) {
	drv, lock := new(flushing), new(counted)
	q := &Queue{lock: lock, drv: drv}
	q.initFlusher()
	await := func(what string, n *atomic.Int32, least int32) {
		t.Helper()
		for start := time.Now(); n.Load() < least; time.Sleep(time.Microsecond) {
			if time.Since(start) > 10*time.Second {
				t.Fatalf("%d %s, want %d", n.Load(), what, least)
			}
		}
	}
	lock.Mutex.Lock()
	q.ran()
	await("tries", &lock.tries, 3)
	if n, locks := drv.flushes.Load(), lock.locks.Load(); n != 0 || locks != 0 {
		t.Errorf("%d flushes and %d calls of Lock while the queue is held", n, locks)
	}
	lock.Mutex.Unlock()
	await("flushes", &drv.flushes, 1)
	if n := lock.locks.Load(); n != 0 {
		t.Errorf("%d calls of Lock", n)
	}
}

// While many Runs come the device starts calls by itself.
func TestFlushOfMany(t *testing.T) {
	drv := new(flushing)
	q := NewQueue(drv)
	for _, c := range []struct{ runs, flushes int }{{manyRuns, 0}, {manyRuns - 1, 1}} {
		q.Lock()
		drv.flushes.Store(0)
		q.runs = c.runs
		q.tick()
		if n := int(drv.flushes.Load()); n != c.flushes {
			t.Errorf("%d flushes after %d Runs, want %d", n, c.runs, c.flushes)
		}
		q.timer.Stop()
		q.Unlock()
	}
}
