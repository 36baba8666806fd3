package cpu

import (
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"unsafe"
)

// A worker is what one goroutine computes with. Its memory is kept from run
// to run.
type worker struct {
	frames [3]frame
	arena  []byte
	bad    badIndex
}

// scratch returns at least n bytes, aligned to a cache line.
func (w *worker) scratch(n int) unsafe.Pointer {
	w.arena = grow(w.arena, n)
	return base(w.arena)
}

// grow returns b, or if it is short of n aligned bytes, a longer one.
func grow(b []byte, n int) []byte {
	if n+63 > len(b) {
		return make([]byte, max(n+63, 1<<16, min(2*len(b), 1<<20)))
	}
	return b
}

// base is the first address in b that is a multiple of 64.
func base(b []byte) unsafe.Pointer {
	p := unsafe.Pointer(unsafe.SliceData(b))
	return unsafe.Add(p, -uintptr(p)&63)
}

// A job is work in numbered tasks, which may be done in any order. Every
// worker calls begin once, and then task.
type job interface {
	begin(w *worker)
	task(w *worker, i int)
}

// do does n tasks of a job. How they are shared out depends on the moment,
// what each of them computes does not.
func (d *device) do(j job, n, work int) (err error) {
	threads := min(len(d.workers), n, work/d.tune.small)
	d.active = max(d.active, threads, 1)
	if threads <= 1 {
		defer recoverTo(&err)
		w := d.workers[0]
		j.begin(w)
		for i := range n {
			j.task(w, i)
		}
		return nil
	}
	return d.spread(j, n, threads)
}

func (d *device) spread(j job, n, threads int) error {
	var (
		next  atomic.Int64
		group sync.WaitGroup
		errs  = make([]error, threads)
	)
	run := func(t int) {
		defer recoverTo(&errs[t])
		w := d.workers[t]
		j.begin(w)
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			j.task(w, i)
		}
	}
	for t := 1; t < threads; t++ {
		group.Go(func() { run(t) })
	}
	run(0)
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// recoverTo turns a panic into an error.
func recoverTo(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("cpu: kernel failed: %v\n%s", r, debug.Stack())
	}
}
