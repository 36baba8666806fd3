package vector

import (
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/tensorken/tensorken/ir"
)

// An Executor has the memory and the workers of one call of Run. It keeps the memory
// for the next call.
type Executor struct {
	Pool   *Pool
	Own    Worker    // of the goroutine that called Run
	Bind   []Binding // of the kernel that is running
	Shared []byte    // scratch of the kernel, for all workers

	mu  sync.Mutex
	bad badIndex // that any worker of the kernel has met
}

// note takes over the bad index that a worker has met, if any.
func (x *Executor) note(w *Worker) {
	if !w.Bad.found {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.bad.note(w.Bad.rank, w.Bad.instr, w.Bad.value)
	w.Bad.found = false
}

// Report writes the kernel's bad index to its status argument, unless there is
// one already.
func (x *Executor) Report(status *[ir.StatusLen / 2]int64) {
	if x.bad.found && status[0] == 0 {
		*status = [...]int64{int64(1 + x.bad.instr), x.bad.value, int64(x.bad.rank)}
	}
	x.bad.found = false
}

// A Worker has the memory with which one goroutine computes, from job to job.
type Worker struct {
	Activations [3]Activation
	arena       []byte
	Runs        []int // of windows, see multiplication
	Columns     []int
	Weights     []int // of planes, see package sliding
	Last        int   // of a product, which rows it has read last in this job, -1 for none
	Bad         badIndex
	Pairs       []uint64 // of a Sort, in arena

	// Of the loops that it runs:
	Serial *Executor // runs kernels on this worker alone
	Temps  []byte

	number int // of a helper, from 1 on

	// Of a helper: held while it works, the job to join, nil for none, and whether its goroutine runs.
	working sync.Mutex
	offered atomic.Pointer[offer]
	running atomic.Bool
	// Of its goroutine: how long it polls if it isBusy, because jobs follow each other in less, and when
	// it has done the last.
	patience time.Duration
	isBusy   bool
	idle     time.Time
}

// Enter prepares the worker's first activation for a program.
func (w *Worker) Enter(x *Executor, p *Program) {
	w.Activations[0].Enter(p, x.Bind, w.Scratch(p.Scratch), &w.Bad)
}

// Scratch returns at least n bytes, aligned to a cache line.
func (w *Worker) Scratch(n int) unsafe.Pointer {
	w.arena = Grow(w.arena, n)
	return Base(w.arena)
}

// forget drops all pointers to buffers.
func (w *Worker) forget() {
	for i := range w.Activations {
		f := &w.Activations[i]
		clear(f.Reg[:cap(f.Reg)])
		f.Bind = nil
	}
	w.Bad.found = false
	w.Trim()
	if w.Serial != nil {
		clear(w.Serial.Bind[:cap(w.Serial.Bind)])
		w.Serial.Own.forget()
	}
}

// drop drops the memory that a worker keeps for the next job.
func (w *Worker) drop() {
	w.Activations, w.arena, w.Pairs, w.Serial, w.Temps = [len(w.Activations)]Activation{}, nil, nil, nil, nil
}

// Grow returns b, or if it is short of n aligned bytes, a longer slice.
func Grow(b []byte, n int) []byte {
	if n+63 > len(b) {
		return make([]byte, max(n+63, 1<<16, min(2*len(b), 1<<20)))
	}
	return b
}

// Base is the first address in b that is a multiple of 64.
func Base(b []byte) unsafe.Pointer {
	p := unsafe.Pointer(unsafe.SliceData(b))
	return unsafe.Add(p, -uintptr(p)&63)
}

// keptTemps is the most memory, in bytes, that a worker keeps for the next loop. Blocks of
// rows that are not very long take less.
const keptTemps = 4 << 20

// Trim drops the memory of a loop whose rows were so long that few fit.
func (w *Worker) Trim() {
	if len(w.Temps) > keptTemps {
		w.Temps = nil
	}
}
