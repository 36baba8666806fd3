package vector

import (
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"github.com/tensorken/tensorken/internal/clock"
	"github.com/tensorken/tensorken/ir"
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
	p := &parallelFor{executor: x, job: j, n: n, shares: make([]share, threads)}
	for i := range p.shares {
		p.shares[i].next.Store(int64(p.end(i - 1)))
	}
	p.ask(x.Pool.helpers, threads-1)
	p.work(&x.Own)
	if !spin(p.isOver, spinTime) {
		done := make(chan struct{})
		if p.done.Store(&done); !p.isOver() {
			<-done
		}
	}
	if err := p.err.Load(); err != nil {
		return *err
	}
	return nil
}

// An offer asks a helper to join a job, and to ask the others of its team.
type offer struct {
	*parallelFor
	others []*Worker
}

// ask offers the job to n helpers: to an idle one of each team, which asks the others. A team has as
// many helpers as there are teams, so that nobody asks many: each time takes the line of another core.
func (p *parallelFor) ask(helpers []*Worker, n int) {
	team := int(math.Sqrt(float64(len(helpers) + 1)))
	p.alone.parallelFor = p
	p.offers = make([]offer, 0, ir.CeilDiv(len(helpers), team))
	for w := range slices.Chunk(helpers, team) {
		w = w[:min(n, len(w))]
		for i := range w {
			p.offers = append(p.offers, offer{p, w[i+1:]})
			if w[i].offer(&p.offers[len(p.offers)-1]) {
				n -= len(w) - i
				break
			}
			p.offers = p.offers[:len(p.offers)-1]
		}
	}
}

// offer asks a helper to join a job, and reports false if it has another.
func (w *Worker) offer(o *offer) bool {
	if !w.offered.CompareAndSwap(nil, o) {
		old := w.offered.Load()
		if old != nil && !old.isOver() || !w.offered.CompareAndSwap(old, o) {
			return false
		}
	}
	if !w.running.Load() && w.running.CompareAndSwap(false, true) {
		go w.workerLoop()
	}
	return true
}

// workerLoop joins the jobs that a helper is offered, until there has been none
// for a while. At most one goroutine runs it for a helper.
func (w *Worker) workerLoop() {
	debug.SetPanicOnFault(true) // see package mapped
	for {
		patience := spinTime
		if w.isBusy {
			patience = w.patience
		}
		if spin(func() bool { return w.offered.Load() != nil }, patience) {
			w.isBusy = clock.Since(w.idle) < w.patience
			w.join(w.offered.Load())
			w.idle = clock.Now()
			continue
		}
		w.running.Store(false)
		if w.offered.Load() == nil || !w.running.CompareAndSwap(false, true) {
			return
		}
	}
}

// join asks the others that are to join a job, and works on it.
func (w *Worker) join(o *offer) {
	if !o.isOver() {
		for _, x := range o.others {
			x.offer(&o.alone)
		}
		w.working.Lock()
		o.work(w)
		w.forget()
		w.working.Unlock()
	}
	w.offered.CompareAndSwap(o, nil)
}

// A goroutine polls for spinTime before it sleeps: a few times as long as it takes to wake a core on some machines, and as
// the host takes from one run of a plan to the next. In that time it yields few times: to yield takes a lock of Go's
// scheduler, for which many workers would wait.
//
// Where there are many helpers, and jobs have come in quick succession, a helper polls longer, see
// patienceOf: a core that the system gives to others for a moment would send all helpers to sleep, and
// the next job would wake one after another.
const (
	spinTime      = 250 * time.Microsecond
	yieldTime     = spinTime / 10
	spinPerHelper = 64 * time.Microsecond // a few times as long as it takes to wake one
)

// patienceOf returns how long each of some helpers polls where jobs follow each other.
func patienceOf(helpers int) time.Duration {
	return max(spinTime, time.Duration(helpers)*spinPerHelper)
}

// spin polls ready for some time, and reports whether it was true.
func spin(ready func() bool, most time.Duration) bool {
	start := clock.Now()
	for yielded := time.Duration(0); ; {
		for range 25 {
			if ready() {
				return true
			}
			clock.Pause()
		}
		switch t := clock.Since(start); {
		case t >= most:
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
	shares   []share
	done     atomic.Pointer[chan struct{}] // is closed with the last task, if spread waits for it
	err      atomic.Pointer[error]
	offers   []offer // by team
	alone    offer   // without others

	_        [CacheLine]byte // workers read the fields above while they count
	finished atomic.Int64    // tasks that are done, or given up
	_        [CacheLine]byte
}

// A share has a cache line of its own, so that its worker need not wait for the others.
type share struct {
	next atomic.Int64 // the task to be started next
	_    [CacheLine - 8]byte
}

// isOver reports whether all tasks are done.
func (p *parallelFor) isOver() bool { return p.finished.Load() == int64(p.n) }

// end returns the end of a share.
func (p *parallelFor) end(share int) int { return (share + 1) * p.n / len(p.shares) }

// work runs tasks until none is left.
func (p *parallelFor) work(w *Worker) {
	began := false
	for i := range p.shares {
		at, done := (w.number+i)%len(p.shares), 0
		for next, end := &p.shares[at].next, int64(p.end(at)); next.Load() < end; {
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
			if c := p.done.Load(); c != nil {
				close(*c)
			}
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
