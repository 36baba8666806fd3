package cpu

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/tensorken/tensorken/ir"
)

// An executor has the memory and the workers of one call of Run. It keeps the memory
// for the next call.
type executor struct {
	pool   *pool
	own    worker    // of the goroutine that called Run
	bind   []binding // of the kernel that is running
	shared []byte    // scratch of the kernel, for all workers

	mu  sync.Mutex
	bad badIndex // that any worker of the kernel has met
}

// note takes over the bad index that a worker has met, if any.
func (x *executor) note(w *worker) {
	if !w.bad.found {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.bad.note(w.bad.rank, w.bad.instr, w.bad.value)
	w.bad.found = false
}

// report writes the kernel's bad index to its status argument, unless there is
// one already.
func (x *executor) report(status *[ir.StatusLen / 2]int64) {
	if x.bad.found && status[0] == 0 {
		*status = [...]int64{int64(1 + x.bad.instr), x.bad.value, int64(x.bad.rank)}
	}
	x.bad.found = false
}

// A worker has the memory with which one goroutine computes, from job to job.
type worker struct {
	activations [3]activation
	arena       []byte
	runs        []int // of windows, see multiplication
	columns     []int
	bad         badIndex
	pairs       []uint64 // of a Sort, in arena

	// Of the loops that it runs:
	serial *executor // runs kernels on this worker alone
	temps  []byte

	number int // of a helper, from 1 on

	// Of a helper: the job to join, nil for none, and whether its goroutine runs.
	job     atomic.Pointer[parallelFor]
	running atomic.Bool
}

// enter prepares the worker's first activation for a program.
func (w *worker) enter(x *executor, p *program) {
	w.activations[0].enter(p, x.bind, w.scratch(p.scratch), &w.bad)
}

// scratch returns at least n bytes, aligned to a cache line.
func (w *worker) scratch(n int) unsafe.Pointer {
	w.arena = grow(w.arena, n)
	return base(w.arena)
}

// forget drops all pointers to buffers.
func (w *worker) forget() {
	for i := range w.activations {
		f := &w.activations[i]
		clear(f.reg[:cap(f.reg)])
		f.bind = nil
	}
	w.bad.found = false
	w.trim()
	if w.serial != nil {
		clear(w.serial.bind[:cap(w.serial.bind)])
		w.serial.own.forget()
	}
}

// grow returns b, or if it is short of n aligned bytes, a longer slice.
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

// keptTemps is the most memory, in bytes, that a worker keeps for the next loop. Blocks of
// rows that are not very long take less.
const keptTemps = 4 << 20

// trim drops the memory of a loop whose rows were so long that few fit.
func (w *worker) trim() {
	if len(w.temps) > keptTemps {
		w.temps = nil
	}
}
