package cpu

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tensorken/tensorken/internal/clock"
)

// A pool has the threads of a device: the executors of calls, and workers that help them.
type pool struct {
	tune    tuning
	threads int
	closed  atomic.Bool
	helpers []*worker // whose goroutines join the calls of Run

	mu          sync.Mutex // guards idle
	released    sync.Cond
	idle        []*executor // the one used last is the last
	concurrency concurrency
}

// start makes a pool of some threads.
func (d *pool) start(threads int) {
	d.threads = threads
	d.released.L = &d.mu
	for range threads {
		d.idle = append(d.idle, &executor{pool: d})
	}
	for range threads - 1 {
		d.helpers = append(d.helpers, &worker{number: len(d.helpers) + 1})
	}
}

// serialExecutor returns an executor that runs kernels on its own worker alone.
func (d *pool) serialExecutor() *executor {
	return &executor{pool: &pool{tune: d.tune.serial(), threads: 1}}
}

// close makes later calls fail. Runs under way end as usual.
func (d *pool) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed.Store(true)
	d.idle = nil
	d.released.Broadcast()
}

var errClosed = errors.New("cpu: device is closed")

// acquire waits for an executor, preferably the one whose memory was used last.
func (d *pool) acquire() (*executor, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(d.idle) == 0 && !d.closed.Load() {
		d.released.Wait()
	}
	if d.closed.Load() {
		return nil, errClosed
	}
	last := len(d.idle) - 1
	x := d.idle[last]
	d.idle = d.idle[:last]
	d.concurrency.enter(d.threads - last)
	return x, nil
}

// release gives an executor back. It drops all pointers to buffers, so that they
// may be collected.
func (d *pool) release(x *executor) {
	clear(x.bind[:cap(x.bind)])
	x.own.forget()
	x.bad.found = false
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.closed.Load() {
		d.idle = append(d.idle, x)
		d.released.Signal()
	}
}

// A concurrency is the recent number of concurrent calls of Run. They share the
// threads: a helper that wakes up for a job of a few microseconds would keep another
// call's goroutine waiting.
type concurrency struct {
	calls atomic.Int64
	until atomic.Int64 // when calls is forgotten, in nanoseconds since start
}

// concurrencyTime is how long the number is remembered.
const concurrencyTime = time.Millisecond

var began = clock.Now()

// enter counts a call of Run, one of n under way.
func (c *concurrency) enter(n int) {
	if n == 1 {
		return
	}
	now := int64(clock.Since(began))
	if int64(n) >= c.calls.Load() || now > c.until.Load() {
		c.calls.Store(int64(n))
		c.until.Store(now + int64(concurrencyTime))
	}
}

// size is at least 1.
func (c *concurrency) size() int {
	if c.calls.Load() > 1 && int64(clock.Since(began)) > c.until.Load() {
		c.calls.Store(1)
	}
	return max(1, int(c.calls.Load()))
}
