package vector

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tensorken/tensorken/internal/clock"
)

// A counted job counts how often each of its tasks runs.
type counted struct {
	runs []atomic.Int32
	task func(i int)
}

func (c *counted) Begin(_ *Executor, w *Worker) { w.Scratch(1) }

func (c *counted) Task(_ *Executor, _ *Worker, i int) {
	c.runs[i].Add(1)
	if c.task != nil {
		c.task(i)
	}
}

func poolOf(threads int) *Pool {
	d := &Pool{Tune: DefaultTuning}
	d.Start(threads)
	return d
}

// do runs n tasks on all threads of a pool.
func do(t *testing.T, d *Pool, n int, task func(i int)) {
	x, err := d.Acquire()
	if err != nil {
		t.Error(err)
		return
	}
	defer d.Release(x)
	c := &counted{make([]atomic.Int32, n), task}
	if err := x.Do(c, n, 1<<30); err != nil {
		t.Error(err)
	}
	for i := range c.runs {
		if k := c.runs[i].Load(); k != 1 {
			t.Errorf("task %d of %d ran %d times, want once", i, n, k)
		}
	}
}

// Each task runs once, whichever helpers join, and whether they poll or sleep.
func TestTasksRunOnce(t *testing.T) {
	for _, threads := range []int{2, 3, 9, 16} {
		d := poolOf(threads)
		var calls sync.WaitGroup
		for call := range 3 {
			calls.Go(func() {
				for i := range 60 {
					do(t, d, 2+(7*i+call)%50, nil)
					if i%20 == 0 {
						time.Sleep(2 * patienceOf(threads))
					}
				}
			})
		}
		calls.Wait()
	}
}

// All helpers join a job, of whom the executor asks a few, and are gone some time after it.
func TestHelpersJoinAndSleep(t *testing.T) {
	const threads = 16
	before := runtime.NumGoroutine()
	d := poolOf(threads)
	var here atomic.Int32
	wait := func(what string, ready func() bool) {
		for start := clock.Now(); !ready(); runtime.Gosched() {
			if clock.Since(start) > 20*time.Second {
				t.Errorf("after 20 s %s: %d workers are at the job, %d goroutines run", what, here.Load(), runtime.NumGoroutine()-before)
				return
			}
		}
	}
	do(t, d, threads, func(int) {
		here.Add(1)
		wait("a helper has not joined", func() bool { return here.Load() == threads })
	})
	wait("helpers run", func() bool { return runtime.NumGoroutine() <= before })

	p := &parallelFor{shares: make([]share, threads), n: 1}
	p.ask(d.helpers, threads-1)
	if len(p.offers) != 4 {
		t.Errorf("the executor asked %d helpers of %d, want 4, which ask the others", len(p.offers), threads-1)
	}
	p.finished.Store(1)
	wait("helpers run", func() bool { return runtime.NumGoroutine() <= before })
}

// A helper of many polls for long where jobs follow each other, and for a short time otherwise.
func TestPatience(t *testing.T) {
	if got := patienceOf(1); got != spinTime {
		t.Errorf("one helper polls for up to %v, want %v", got, spinTime)
	}
	if got := patienceOf(15); got < 3*spinTime || got > 15*spinTime {
		t.Errorf("15 helpers poll for up to %v, want 3 to 15 times %v", got, spinTime)
	}
	w := &Worker{patience: time.Second}
	p := &parallelFor{n: 1}
	p.finished.Store(1)
	for i, busy := range []bool{false, true} {
		w.offered.Store(&offer{parallelFor: p})
		w.running.Store(true)
		go w.workerLoop()
		for start := clock.Now(); w.offered.Load() != nil && clock.Since(start) < 20*time.Second; runtime.Gosched() {
		}
		if !busy {
			for start := clock.Now(); w.running.Load() && clock.Since(start) < 20*time.Second; runtime.Gosched() {
			}
		}
		if running := w.running.Load(); running != busy {
			t.Errorf("after job %d the helper polls: %v, want %v", i, running, busy)
		}
	}
}

// After Trim no worker keeps memory, and jobs under way keep theirs.
func TestTrim(t *testing.T) {
	d := poolOf(3)
	var calls sync.WaitGroup
	for range 2 {
		calls.Go(func() {
			for range 100 {
				do(t, d, 20, func(int) {})
				d.Trim()
			}
		})
	}
	calls.Wait()
	x, err := d.Acquire()
	if err != nil {
		t.Fatal(err)
	}
	x.Own.Scratch(1)
	d.Release(x)
	d.helpers[0].Scratch(1)
	d.Trim()
	for _, w := range []*Worker{&x.Own, d.helpers[0]} {
		if len(w.arena) > 0 {
			t.Errorf("a worker keeps %d bytes, want none", len(w.arena))
		}
	}
}
