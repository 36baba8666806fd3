package cpu

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"
	"unsafe"
)

// A worker is what one goroutine computes with. Its memory is kept from run
// to run.
type worker struct {
	frames [3]frame
	arena  []byte
	bad    badIndex

	offer   atomic.Pointer[sharing] // a job to take part in
	present atomic.Bool             // a goroutine attends to offers
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

// spread shares tasks out. It waits for the tasks and not for the goroutines:
// one that starts late, because its core slept, finds nothing left to do and
// touches nothing.
func (d *device) spread(j job, n, threads int) error {
	s := &sharing{job: j, n: n, done: make(chan struct{})}
	for _, w := range d.workers[1:threads] {
		w.offer.Store(s)
		if w.present.CompareAndSwap(false, true) {
			go w.attend()
		}
	}
	s.work(d.workers[0])
	if !spin(func() bool { return s.finished.Load() == int64(n) }) {
		<-s.done
	}
	if err := s.err.Load(); err != nil {
		return *err
	}
	return nil
}

// attend does the jobs that the worker is offered, until there has been none
// for a while. At most one goroutine attends to a worker.
func (w *worker) attend() {
	for {
		if spin(func() bool { return w.offer.Load() != nil }) {
			w.offer.Swap(nil).work(w)
			continue
		}
		w.present.Store(false)
		if w.offer.Load() == nil || !w.present.CompareAndSwap(false, true) {
			return
		}
	}
}

// linger is how long a goroutine looks out for what comes next before it
// sleeps. Kernels follow each other closely, many take no longer than this,
// and waking a core takes as long on some machines.
const linger = 100 * time.Microsecond

// spin waits until ready says so, and reports whether it did in time.
func spin(ready func() bool) bool {
	for range 100 {
		if ready() {
			return true
		}
	}
	for start := time.Now(); time.Since(start) < linger; {
		for range 100 {
			if ready() {
				return true
			}
		}
		runtime.Gosched()
	}
	return false
}

// A sharing is a job on several goroutines.
type sharing struct {
	job      job
	n        int
	next     atomic.Int64 // the task that is taken next
	finished atomic.Int64 // tasks that are done, or given up
	done     chan struct{}
	err      atomic.Pointer[error]
}

// work does tasks until none is left.
func (s *sharing) work(w *worker) {
	began := false
	for i := int(s.next.Add(1)) - 1; i < s.n; i = int(s.next.Add(1)) - 1 {
		if err := s.task(w, i, began); err != nil {
			failed := err
			s.err.Store(&failed)
		}
		began = true
		if s.finished.Add(1) == int64(s.n) {
			close(s.done)
		}
	}
}

// task does task i, if none has failed.
func (s *sharing) task(w *worker, i int, began bool) (err error) {
	defer recoverTo(&err)
	if s.err.Load() != nil {
		return nil
	}
	if !began {
		s.job.begin(w)
	}
	s.job.task(w, i)
	return nil
}

// recoverTo turns a panic into an error.
func recoverTo(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("cpu: kernel failed: %v\n%s", r, debug.Stack())
	}
}
