package vector

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tensorken/tensorken/internal/clock"
)

// A Pool has the threads of a device: the executors of calls, and workers that help them.
type Pool struct {
	Tune    Tuning
	threads int
	Closed  atomic.Bool
	helpers []*Worker // whose goroutines join the calls of Run

	mu          sync.Mutex // guards idle
	released    sync.Cond
	idle        []*Executor // the one used last is the last
	concurrency Concurrency
}

// Start makes a pool of some threads.
func (d *Pool) Start(threads int) {
	d.threads = threads
	d.released.L = &d.mu
	for range threads {
		d.idle = append(d.idle, &Executor{Pool: d})
	}
	for range threads - 1 {
		d.helpers = append(d.helpers, &Worker{number: len(d.helpers) + 1, patience: patienceOf(threads - 1)})
	}
}

// SerialExecutor returns an executor that runs kernels on its own worker alone.
func (d *Pool) SerialExecutor() *Executor {
	return &Executor{Pool: &Pool{Tune: d.Tune.Serial(), threads: 1}}
}

// Close makes later calls fail. Runs under way end as usual.
func (d *Pool) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.Closed.Store(true)
	d.idle = nil
	d.released.Broadcast()
}

// Trim drops the memory that workers keep, once they have done their jobs.
func (d *Pool) Trim() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, x := range d.idle {
		x.Own.drop()
		x.Shared = nil
	}
	for _, w := range d.helpers {
		w.working.Lock()
		w.drop()
		w.working.Unlock()
	}
}

var ErrClosed = errors.New("cpu: device is closed")

// Acquire waits for an executor, preferably the one whose memory was used last.
func (d *Pool) Acquire() (*Executor, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(d.idle) == 0 && !d.Closed.Load() {
		d.released.Wait()
	}
	if d.Closed.Load() {
		return nil, ErrClosed
	}
	last := len(d.idle) - 1
	x := d.idle[last]
	d.idle = d.idle[:last]
	d.concurrency.Enter(d.threads - last)
	return x, nil
}

// Release gives an executor back. It drops all pointers to buffers, so that they
// may be collected.
func (d *Pool) Release(x *Executor) {
	clear(x.Bind[:cap(x.Bind)])
	x.Own.forget()
	x.bad.found = false
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.Closed.Load() {
		d.idle = append(d.idle, x)
		d.released.Signal()
	}
}

// A Concurrency is the recent number of concurrent calls of Run. They share the
// threads: a helper that wakes up for a job of a few microseconds would keep another
// call's goroutine waiting.
type Concurrency struct {
	Calls atomic.Int64
	until atomic.Int64 // when calls is forgotten, in nanoseconds since start
}

// ConcurrencyTime is how long the number is remembered.
const ConcurrencyTime = time.Millisecond

var began = clock.Now()

// Enter counts a call of Run, one of n under way.
func (c *Concurrency) Enter(n int) {
	if n == 1 {
		return
	}
	now := int64(clock.Since(began))
	if int64(n) >= c.Calls.Load() || now > c.until.Load() {
		c.Calls.Store(int64(n))
		c.until.Store(now + int64(ConcurrencyTime))
	}
}

// size is at least 1.
func (c *Concurrency) size() int {
	if c.Calls.Load() > 1 && int64(clock.Since(began)) > c.until.Load() {
		c.Calls.Store(1)
	}
	return max(1, int(c.Calls.Load()))
}
