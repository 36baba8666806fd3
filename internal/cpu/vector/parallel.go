package vector

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/tensorken/tensorken/internal/clock"
)

// A job is work in numbered tasks, which may be done in any order. Every
// worker of the executor calls begin once, and then task.
type job interface {
	Begin(x *Executor, w *Worker)
	Task(x *Executor, w *Worker, i int)
}

// Do runs n tasks of a job. The number of workers and their tasks depend on timing; results
// of a task do not.
func (x *Executor) Do(j job, n, work int) (err error) {
	d := x.Pool
	threads := min(n, work/d.Tune.ParallelThreshold)
	if threads > 1 {
		threads = min(threads, d.threads/d.concurrency.size())
	}
	if threads > 1 {
		return x.spread(j, n, threads)
	}
	defer RecoverTo(&err)
	w := &x.Own
	j.Begin(x, w)
	for i := range n {
		j.Task(x, w, i)
	}
	x.note(w)
	return nil
}

// spread shares n tasks with idle helpers. It waits for the tasks and not for
// the helpers: one that starts late, because its core slept, finds nothing left
// to do and touches nothing.
func (x *Executor) spread(j job, n, threads int) error {
	p := &parallelFor{executor: x, job: j, n: n, next: make([]counter, threads), done: make(chan struct{})}
	for i := range p.next {
		p.next[i].Store(int64(p.end(i - 1)))
	}
	asked, joined := x.Pool.helpers, 1
	for i, w := range asked {
		if w.offer(p) {
			joined++
		}
		if joined == threads {
			asked = asked[:i+1]
			break
		}
	}
	p.work(&x.Own)
	if !spin(func() bool { return p.finished.Load() == int64(n) }) {
		<-p.done
	}
	for _, w := range asked {
		w.job.CompareAndSwap(p, nil) // withdraw the job from a helper that has not started
	}
	if err := p.err.Load(); err != nil {
		return *err
	}
	return nil
}

// offer asks a helper to join a job, and reports false if it has another.
func (w *Worker) offer(p *parallelFor) bool {
	if w.job.Load() != nil || !w.job.CompareAndSwap(nil, p) {
		return false
	}
	if w.running.CompareAndSwap(false, true) {
		go w.workerLoop()
	}
	return true
}

// workerLoop joins the jobs that a helper is offered, until there has been none
// for a while. At most one goroutine runs it for a helper.
func (w *Worker) workerLoop() {
	for {
		if spin(func() bool { return w.job.Load() != nil }) {
			if p := w.job.Load(); p != nil {
				p.work(w)
				w.forget()
				w.job.CompareAndSwap(p, nil)
			}
			continue
		}
		w.running.Store(false)
		if w.job.Load() == nil || !w.running.CompareAndSwap(false, true) {
			return
		}
	}
}

// spinTime is how long a goroutine polls before it sleeps. Most kernels follow
// each other in less, and waking a core takes as long on some machines. In that time it yields few
// times: to yield takes a lock of Go's scheduler, for which many workers would wait.
const (
	spinTime  = 100 * time.Microsecond
	yieldTime = spinTime / 4
)

// spin polls ready, and reports whether it was true in time.
func spin(ready func() bool) bool {
	start := clock.Now()
	for yielded := time.Duration(0); ; {
		for range 100 {
			if ready() {
				return true
			}
		}
		switch t := clock.Since(start); {
		case t >= spinTime:
			return false
		case t >= yielded+yieldTime:
			runtime.Gosched()
			yielded = clock.Since(start)
		}
	}
}

// A parallelFor is a job on several workers. Each has a share of consecutive tasks, the same in each
// job of as many workers: it finds its earlier results in its caches, and reads long runs of memory.
// A worker that is done takes tasks from the others' shares.
type parallelFor struct {
	executor *Executor
	job      job
	n        int
	next     []counter    // by share: the task to be started next
	finished atomic.Int64 // tasks that are done, or given up
	done     chan struct{}
	err      atomic.Pointer[error]
}

// A counter has a cache line of its own, so that its worker need not wait for the others.
type counter struct {
	atomic.Int64
	_ [CacheLine - 8]byte
}

// end returns the end of a share.
func (p *parallelFor) end(share int) int { return (share + 1) * p.n / len(p.next) }

// work runs tasks until none is left.
func (p *parallelFor) work(w *Worker) {
	began := false
	for i := range p.next {
		share, done := (w.number+i)%len(p.next), 0
		for next, end := &p.next[share], int64(p.end(share)); next.Load() < end; {
			task := next.Add(1) - 1
			if task >= end {
				break
			}
			if err := p.task(w, int(task), began); err != nil {
				failed := err
				p.err.Store(&failed)
			}
			p.executor.note(w)
			began = true
			done++
		}
		if done > 0 && p.finished.Add(int64(done)) == int64(p.n) {
			close(p.done)
		}
	}
}

// task runs task i, if none has failed.
func (p *parallelFor) task(w *Worker, i int, began bool) (err error) {
	defer RecoverTo(&err)
	if p.err.Load() != nil {
		return nil
	}
	if !began {
		p.job.Begin(p.executor, w)
	}
	p.job.Task(p.executor, w, i)
	return nil
}
