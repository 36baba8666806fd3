package cpu

import (
	"math"
	"unsafe"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/cpu/vector"
	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// A loopRunner runs a loop. Parts are tasks: a worker runs all kernels of a block by
// itself, so that the temporaries of the block stay in its cache.
type loopRunner struct {
	*ir.Loop
	body, last []stage
	temps      []int // where temporaries are in a worker's memory
	bytes      int   // of all temporaries
	work       int
}

// A stage is a kernel of a loop, ready to run.
type stage struct {
	*executable
	args []ir.StageArg
}

// LoopLimits implements driver.Looper.
func (d *device) LoopLimits() ir.LoopLimits {
	return ir.LoopLimits{Bytes: d.Tune.LoopBytes, Rows: d.Tune.LoopRows, Columns: d.Tune.LoopColumns, Conflict: d.Tune.Conflict, Lengths: true}
}

// CompileLoop implements driver.Looper.
func (d *device) CompileLoop(l *ir.Loop) (p driver.Program, err error) {
	if d.Closed.Load() {
		return nil, vector.ErrClosed
	}
	defer vector.RecoverTo(&err)
	r := &loopRunner{Loop: l}
	for _, t := range l.Temps {
		r.temps = append(r.temps, r.bytes)
		r.bytes += vector.Align(t.Len * t.DType.Size())
	}
	e := &executable{args: l.Args, reach: make([]shape.Reach, len(l.Args)), status: -1, runner: r}
	r.body, r.last = d.stages(l, l.Body, l.Block, e), d.stages(l, l.Last, l.Matrix%l.Block, e)
	for i := range l.Body {
		s := &vector.Space{Nest: loopnest.Canonical(l.Body[i].Kernel), Tune: &d.Tune}
		all := ir.Axes()
		for a := range s.Axes {
			all |= 1 << a
		}
		work := s.Work(append(s.Stores(all, true), s.Stores(all, false)...))
		if l.Body[i].Kernel.Template == ir.Contraction {
			work /= simd.Products[ir.Float32].Speed
		}
		r.work += work * ir.CeilDiv(l.Rows, l.Block)
	}
	return e, nil
}

// stages compiles the kernels of blocks of n rows, and extends the reach of the loop's
// arguments to theirs.
func (d *device) stages(l *ir.Loop, list []ir.Stage, n int, e *executable) []stage {
	one := &device{Pool: vector.Pool{Tune: d.Tune.Serial()}}
	out := make([]stage, 0, len(list))
	for _, s := range list {
		x := stage{one.compile(s.Kernel), s.Args}
		for i, a := range s.Args {
			r := x.reach[i]
			if a.Temp || a.Index < 0 || r.Lo == r.Hi {
				continue
			}
			to := &e.reach[a.Index]
			if to.Lo == to.Hi {
				to.Lo, to.Hi = math.MaxInt, math.MinInt
			}
			for row := range l.Starts(n) {
				at := a.Offset(row)
				to.Lo, to.Hi = min(to.Lo, r.Lo+at), max(to.Hi, r.Hi+at)
			}
		}
		out = append(out, x)
	}
	return out
}

func (r *loopRunner) Run(x *vector.Executor) error {
	defer x.Own.Trim()
	return x.Do(r, r.Rows/r.Matrix*r.Parts(), r.work)
}

func (r *loopRunner) Begin(x *vector.Executor, w *vector.Worker) {
	if w.Serial == nil {
		w.Serial = x.Pool.SerialExecutor()
	}
	if r.bytes > len(w.Temps) {
		if err := hostmem.Check(r.bytes, 1); err != nil {
			panic(err)
		}
	}
	w.Temps = vector.Grow(w.Temps, r.bytes)
}

// Task computes a part, block by block.
func (r *loopRunner) Task(x *vector.Executor, w *vector.Worker, i int) {
	from := i/r.Parts()*r.Matrix + i%r.Parts()*r.Part
	to := min(from+r.Part, (i/r.Parts()+1)*r.Matrix)
	for k := range r.Clears {
		c := &r.Clears[k]
		size := r.Args[c.Arg.Index].DType.Size()
		clear(unsafe.Slice((*byte)(unsafe.Add(x.Bind[c.Arg.Index].P, c.Arg.Offset(from)*size)), c.Len*size))
	}
	for row := from; row < to; row += r.Block {
		stages := r.body
		if to-row < r.Block {
			stages = r.last
		}
		for k := range stages {
			stages[k].run(x, w, r, row)
		}
	}
}

// run runs a kernel on the block that starts at a row.
func (s *stage) run(x *vector.Executor, w *vector.Worker, r *loopRunner, row int) {
	y := w.Serial
	y.Bind = vector.Resize(y.Bind, len(s.args)+s.extraBindings)
	for i := range s.args {
		a, b := &s.args[i], &y.Bind[i]
		switch {
		case a.Temp:
			*b = vector.Binding{P: unsafe.Add(vector.Base(w.Temps), r.temps[a.Index])}
		case a.Index < 0:
			*b = vector.Binding{}
			vector.Put(unsafe.Pointer(&b.Bits), ir.Int32, ir.Int(ir.Int32, int64(a.Offset(row))))
		default:
			*b = x.Bind[a.Index]
			if b.P != nil {
				b.Advance(s.executable.args[i].DType, a.Offset(row))
			}
		}
	}
	if err := s.runner.Run(y); err != nil {
		panic(err)
	}
}
