package schedule

import (
	"fmt"
	"math"
	"testing"

	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/internal/shader/simt"
	"github.com/tensorken/tensorken/ir"
)

// An interval has the least and the greatest value of an integer.
type interval struct{ lo, hi float64 }

var unknown = interval{math.Inf(-1), math.Inf(1)}

func (x interval) isKnown() bool { return x != unknown }

func (x interval) union(y interval) interval { return interval{min(x.lo, y.lo), max(x.hi, y.hi)} }

// A rangeCheck finds the sums, products and conversions of a pass that may overflow: of numbers
// that depend on the thread, on loops and constants, as positions do.
type rangeCheck struct {
	pass     *shader.Pass
	vars     map[*shader.Var]interval
	assigned map[*shader.Var]bool
	errs     []string
}

func checkRanges(p *shader.Program) (errs []string) {
	for _, q := range p.Passes {
		r := &rangeCheck{pass: q, vars: map[*shader.Var]interval{}, assigned: map[*shader.Var]bool{}}
		r.block(q.Body, func(s *shader.Assign) { r.assigned[s.Var] = true }, nil)
		r.block(q.Body, nil, r)
		errs = append(errs, r.errs...)
	}
	return errs
}

// block walks statements: it calls assign with assignments, or has check evaluate the others.
func (r *rangeCheck) block(b *shader.Block, assign func(*shader.Assign), check *rangeCheck) {
	if b == nil {
		return
	}
	for _, s := range b.Stmts {
		if a, ok := s.(*shader.Assign); ok && assign != nil {
			assign(a)
		}
		if check != nil {
			check.stmt(s)
		}
		switch s := s.(type) {
		case *shader.If:
			r.block(s.Then, assign, check)
			r.block(s.Else, assign, check)
		case *shader.For:
			r.block(s.Body, assign, check)
		case *shader.Nested:
			r.block(s.Body, assign, check)
		}
	}
}

func (r *rangeCheck) stmt(s shader.Stmt) {
	switch s := s.(type) {
	case *shader.Declare:
		r.vars[s.Var] = r.of(s.Value)
	case *shader.Assign:
		r.of(s.Value)
	case *shader.Load:
		r.of(s.Index)
	case *shader.Store:
		r.of(s.Index)
	case *shader.StoreWords:
		r.of(s.Index)
	case *shader.CopyAsync:
		r.of(s.Index)
	case *shader.If:
		r.of(s.Cond)
	case *shader.For:
		x := r.vars[s.Var]
		if s.Init != nil {
			x = r.of(s.Init)
		}
		if limit := s.Cond.Args; len(limit) == 2 && (s.Cond.Op == shader.Lt || s.Cond.Op == shader.Le) {
			x = x.union(r.of(limit[1]))
		} else {
			x = unknown
		}
		r.vars[s.Var] = x
		r.of(s.Cond)
	}
}

// rangeOf has the ranges of the types of integers.
var rangeOf = map[shader.Type]interval{
	shader.U32: {0, math.MaxUint32}, shader.I32: {math.MinInt32, math.MaxInt32},
	shader.U64: {0, math.MaxUint64}, shader.I64: {math.MinInt64, math.MaxInt64},
}

// of is the interval of an expression; unknown if that depends on data.
func (r *rangeCheck) of(e *shader.Expr) interval {
	x := make([]interval, len(e.Args))
	known := true
	for i, a := range e.Args {
		x[i] = r.of(a)
		known = known && (x[i].isKnown() || e.Op == shader.Select && i == 0)
	}
	b, isInt := rangeOf[e.Type]
	if !isInt || !known {
		if isInt && e.Op == shader.Rem && e.Args[1].Op == shader.Const && !e.Type.IsSigned() {
			return interval{0, float64(e.Args[1].Bits) - 1}
		}
		return unknown
	}
	var y interval
	switch e.Op {
	case shader.Const:
		n := float64(e.Bits)
		switch e.Type {
		case shader.I32:
			n = float64(int32(e.Bits))
		case shader.I64:
			n = float64(int64(e.Bits))
		}
		return interval{n, n}
	case shader.Ref:
		if v, ok := r.vars[e.Var]; ok && !r.assigned[e.Var] {
			return v
		}
		return unknown
	case shader.Word: // an offset is small, or in the address
		if e.Param.Offset {
			return interval{0, 0}
		}
		return unknown
	case shader.Group:
		return interval{0, float64(r.pass.Groups() - 1)}
	case shader.Thread:
		return interval{0, float64(r.pass.Threads - 1)}
	case shader.Add:
		y = interval{x[0].lo + x[1].lo, x[0].hi + x[1].hi}
	case shader.Mul:
		list := []float64{x[0].lo * x[1].lo, x[0].lo * x[1].hi, x[0].hi * x[1].lo, x[0].hi * x[1].hi}
		y = interval{min(list[0], list[1], list[2], list[3]), max(list[0], list[1], list[2], list[3])}
	case shader.Sub:
		if y = (interval{x[0].lo - x[1].hi, x[0].hi - x[1].lo}); y.lo < b.lo { // where that cannot be, code does not run
			y.lo = 0
		}
	case shader.Div:
		if x[1].lo != x[1].hi {
			return interval{0, x[0].hi}
		}
		return interval{math.Trunc(x[0].lo / x[1].lo), math.Trunc(x[0].hi / x[1].lo)}
	case shader.Rem:
		return interval{min(0, x[0].lo), min(x[1].hi-1, max(0, x[0].hi))}
	case shader.Min:
		return interval{min(x[0].lo, x[1].lo), min(x[0].hi, x[1].hi)}
	case shader.Max:
		return interval{max(x[0].lo, x[1].lo), max(x[0].hi, x[1].hi)}
	case shader.Select:
		return x[1].union(x[2])
	case shader.Convert:
		if y = x[0]; y.lo < 0 && !e.Type.IsSigned() { // negative ones are great, as a comparison wants
			return unknown
		}
	default:
		return unknown
	}
	if y.lo < b.lo || y.hi > b.hi {
		r.errs = append(r.errs, fmt.Sprintf("%v is from %.0f to %.0f, no %v", e, y.lo, y.hi, e.Type))
		return unknown
	}
	return y
}

// scanned is the running sum of each row, and sorted has the positions of the first places of
// the sorted row.
func scanned(m, n int) *ir.Kernel {
	return kernel(ir.Routine, []ir.Axis{kept(m), reduced(n)}, []ir.Arg{out(f32, m*n), in(f32)},
		load(f32, 1, by(n, 1)), ir.Instr{Op: ir.Scan, Type: f32, Kind: ir.Add, Src: []int{0}, Arg: 0, View: by(n, 1)})
}

func sorted(m, n, places int) *ir.Kernel {
	return kernel(ir.Routine, []ir.Axis{kept(m), reduced(n)}, []ir.Arg{out(i32, m*places), in(i32)},
		load(i32, 1, by(n, 1)), ir.Instr{Op: ir.Sort, Type: i32, Src: []int{0}, Arg: 0, View: &ir.View{Coef: []int{places, 0}, Stride: 1, Len: places}})
}

// large are kernels with more than 2³¹ points or elements.
var large = []struct {
	name   string
	kernel *ir.Kernel
	target Target
}{
	{"chain", chain(1<<34, ir.BFloat16), wide},
	{"chain_odd", chain(1<<33+7, ir.Float16), wide},
	{"transposed", transposed(1<<17, 1<<16+1), wide},
	{"transposed_software", transposed(1<<17, 1<<16+1), Target{Family: Software, Wide: true}},
	{"dilated", dilated(1<<22, 2047), wide},
	{"take", take(1<<22, 1<<20, 1<<12), wide},
	{"softmax", softmax(1<<20, 1<<13, false), wide},
	{"softmax_short", softmax(1<<32, 6, false), wide},
	{"softmax_long", softmax(4, 1<<32+4, false), wide},
	{"softmax_columns", softmax(1<<20, 1<<13, true), wide},
	{"softmax_software", softmax(1<<13, 1<<20, false), Target{Family: Software, Wide: true}},
	{"powers", powers(3, 1<<33, 3, false), wide},
	{"powers_short", powers(1<<31, 3, 3, false), wide},
	{"dense", dense(1, 1<<17, 1<<16+4, 100, f32, false), wide},
	{"dense_flipped", dense(1, 1<<17, 1<<16+4, 100, f32, true), nvidia},
	{"dense_batch", dense(1<<20, 64, 64, 64, ir.Float64, true), wide},
	{"dense_shared", dense(3, 1<<16, 1<<16, 256, ir.BFloat16, true), hopper},
	{"dense_factors", dense(1, 128, 128, 1<<26, ir.BFloat16, true), hopper},
	{"dense_shared_floats", dense(1, 1<<16, 1<<16, 1<<16, f32, false), hopper},
	{"dense_software", dense(1, 1<<17, 1<<16+4, 100, f32, false), Target{Family: Software, Wide: true}},
	{"dot", dense(1, 1, 1, 1<<33, f32, true), wide},
	{"vector", dense(1, 1, 1<<32+4, 7, f32, true), wide},
	{"vector_few", dense(1, 1<<32+3, 3, 5, ir.BFloat16, false), wide},
	{"convolve", convolve(1<<12, 16, 300, 300, 32), wide},
	{"scatter", scatterAdd(1<<20, 1<<20, 1<<12, f32), wide},
	{"scatter_few", scatterAdd(1<<12, 300, 1<<20, f32), wide},
	{"scatter_one", scatterAdd(1<<33, 1000, 1, ir.Float16), wide},
	{"scan", scanned(1<<20, 1<<12), wide},
	{"scan_long", scanned(3, 1<<31), wide},
	{"scan_short", scanned(1<<32, 4), wide},
	{"sort", sorted(1<<20, 1<<12, 1<<12), wide},
	{"sort_long", sorted(3, 1<<30, 1<<30), wide},
	{"select", sorted(1<<12, 1<<21, 40), wide},
}

// Positions of large tensors do not overflow; in 32 bits alone they would.
func TestRanges(t *testing.T) {
	for i, c := range large {
		t.Run(c.name, func(t *testing.T) {
			if i%6 != 0 {
				notShort(t)
			}
			c.target.Wide = true
			p := compile(t, c.kernel, c.target)
			if err := simt.Verify(p); err != nil {
				t.Error(err)
			}
			for _, err := range checkRanges(p) {
				t.Error(err)
			}
			c.target.Positions = 1 << 60
			if len(checkRanges(compile(t, c.kernel, c.target))) == 0 {
				t.Error("no overflow is found where all positions have 32 bits")
			}
			for _, q := range p.Passes {
				validate(t, q, c.target)
			}
		})
	}
}
