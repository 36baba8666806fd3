package drivertest

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/exec"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// A smallLooper is a looper with limits under which loops are made of small tensors. It
// counts them.
type smallLooper struct {
	shared
	bytes        int // of temporaries
	skips        bool
	loops, parts int // parts are loops whose blocks are parts of a matrix
	skipping     int // loops that leave out scores
}

func (l *smallLooper) LoopLimits() ir.LoopLimits {
	return ir.LoopLimits{Bytes: l.bytes, Rows: 4, Columns: 2, Conflict: 20, Serial: l.Looper.LoopLimits().Serial, Skips: l.skips, Lengths: l.Looper.LoopLimits().Lengths}
}

func (l *smallLooper) CompileLoop(x *ir.Loop) (driver.Program, error) {
	l.loops++
	if x.Block < x.Matrix {
		l.parts++
	}
	if slices.ContainsFunc(x.Body, func(s ir.Stage) bool {
		return slices.ContainsFunc(s.Kernel.Args, func(a ir.Arg) bool { return a.Undefined })
	}) {
		l.skipping++
	}
	return l.Looper.CompileLoop(x)
}

// A shared is a driver's device that the suite closes, whatever computes over it.
type shared struct{ driver.Looper }

func (shared) Close() error { return nil }

// over returns a device over d that is closed with the subtest.
func (s *suite) over(d driver.Device) *exec.Device {
	dev := exec.New(d)
	s.Cleanup(func() {
		if err := errors.Join(dev.Trim(), dev.Close()); err != nil {
			s.Error(err)
		}
	})
	return dev
}

// loops computes attention, and the operations of its derivatives, in loops over blocks of
// rows: parts of a matrix or, in every second layout, two matrices.
func (s *suite) loops() {
	drv, ok := s.drv.(driver.Looper)
	if !ok {
		s.Skipf("%s runs no loops", s.drv.Name())
	}
	s.part("Calls", func(s *suite) { s.loopCalls(drv) })
	s.each(floatTypes, func(s *suite, d ir.DType) {
		small, large := &smallLooper{shared: shared{drv}, bytes: 1 << 11, skips: true}, &smallLooper{shared: shared{drv}, bytes: 1 << 14, skips: true}
		onSmall, onLarge := s.over(small), s.over(large)
		for i, l := range layouts {
			if l.rank > 3 || d != ir.Float32 && i%2 == 1 {
				continue
			}
			batch := 2
			s.dev = onSmall
			if i/2%2 == 1 {
				batch = 4
				s.dev = onLarge
			}
			s.attention(l.name, d, i, l.make(s, d, []int{batch, 20, 4}), l.make(s, d, []int{batch, 23, 4}), l.make(s, d, []int{batch, 23, 5}))
		}
		if small.parts == 0 || large.loops == large.parts {
			s.Errorf("%d of %d loops cut matrices of %d bytes, %d of %d with %d bytes", small.parts, small.loops, small.bytes, large.parts, large.loops, large.bytes)
		}
		// Other types have few layouts, and programs for browsers skip nothing.
		if d == ir.Float32 && runtime.GOOS != "js" && (small.skipping == 0 || large.skipping == 0) {
			s.Errorf("%d of %d loops skip scores, and %d of %d", small.skipping, small.loops, large.skipping, large.loops)
		}
	})
}

// An attender is a looper that runs kernels of attention, and no loops. It counts them.
type attender struct {
	shared
	kernels int
}

func (a *attender) LoopLimits() ir.LoopLimits {
	limits := a.Looper.LoopLimits()
	limits.Columns, limits.Scores = 2, math.MaxInt
	return limits
}

func (a *attender) Compile(k *ir.Kernel) (driver.Program, error) {
	if k.Template == ir.Attention {
		a.kernels++
	}
	return a.Looper.Compile(k)
}

// attentionKernels computes attention, and the operations of its derivatives, by kernels of
// the template.
func (s *suite) attentionKernels() {
	drv, ok := s.drv.(driver.Looper)
	if !ok || drv.LoopLimits().Attention == 0 {
		s.Skipf("%s runs no kernels of attention", s.drv.Name())
	}
	s.each(floatTypes, func(s *suite, d ir.DType) {
		a := &attender{shared: shared{drv}}
		s.dev = s.over(a)
		for i, l := range layouts {
			if l.rank <= 3 && (i == 0 || i%8 == 0 && d == ir.Float32) {
				s.attention(l.name, d, i, l.make(s, d, []int{2, 34, 24}), l.make(s, d, []int{2, 69, 24}), l.make(s, d, []int{2, 69, 40}))
			}
		}
		computes, fits := d.ComputeType() == ir.Float32, drv.LoopLimits().AttentionBytes >= 32<<10
		if !computes && a.kernels > 0 || computes && fits && a.kernels == 0 {
			s.Errorf("%d kernels are of attention, want some: %v", a.kernels, computes)
		}
	})
}

// attention checks softmax(q·kᵀ + mask)·v, and sums over rows as the derivatives by k and v
// have: of the first layout with masks of several kinds, of others with one.
func (s *suite) attention(what string, d ir.DType, layout int, q, k, v *graph.Node) {
	batch, rows, columns := q.Shape[0], q.Shape[1], k.Shape[1]
	dims := []int{batch, rows, columns}
	scores := product(q, k)
	fill := func(x float64) *graph.Node { return graph.Fill(d, x, dims) }
	row, column := graph.Iota(dims, 1), graph.Iota(dims, 2)
	visible := graph.Unary(ir.Not, graph.Binary(ir.Lt, row, column))
	spoiled := func(x *graph.Node) *graph.Node { // from a column on that the causal mask hides from all rows
		late := graph.Binary(ir.Lt, graph.Fill(ir.Int32, float64(rows-1), x.Shape), graph.Iota(x.Shape, 1))
		return graph.Where(late, graph.Fill(d, math.NaN(), x.Shape), x)
	}
	third := graph.Binary(ir.Lt, graph.Fill(ir.Int32, 2, dims), row) // rows without any element
	masked := []struct {
		name string
		x    *graph.Node
		kind ir.Op // of the products
	}{
		{"plain", scores, 0},
		{"causal", graph.Where(visible, scores, fill(math.Inf(-1))), 0},
		{"strictly causal", graph.Where(graph.Binary(ir.Lt, column, row), scores, fill(math.Inf(-1))), 0}, // the first row is NaN
		{"scaled", graph.Binary(ir.Mul, scores, fill(0.5)), 0},
		{"additive", graph.Binary(ir.Add, scores, graph.Expand(s.tensor(d, 1, rows, columns), dims)), 0},
		{"no rows", graph.Where(third, fill(math.Inf(-1)), scores), 0},
		{"spoiled", graph.Where(visible, product(q, spoiled(k)), fill(math.Inf(-1))), ir.Where},
	}
	if layout > 0 {
		i := layout % len(masked)
		masked = masked[i : i+1]
	}
	for _, m := range masked {
		name, x, k, v := m.name, m.x, k, v
		product := func(a, b *graph.Node) *graph.Node { return productBy(m.kind, a, b) }
		if m.kind != 0 {
			k, v = spoiled(k), spoiled(v)
		}
		e := graph.Unary(ir.Exp, graph.Binary(ir.Sub, x, graph.Expand(graph.Reduce(ir.ReduceMax, x, []int{2}), dims)))
		p := graph.Binary(ir.Div, e, graph.Expand(graph.Reduce(ir.Sum, e, []int{2}), dims))
		out := product(p, graph.Permute(v, []int{0, 2, 1}))
		ct := s.tensor(d, out.Shape...)
		turned := func(x *graph.Node) *graph.Node { return graph.Permute(x, []int{0, 2, 1}) }
		dv := product(turned(p), turned(ct))
		dp := productBy(0, ct, v)
		ds := graph.MulBy(m.kind, p, graph.Binary(ir.Sub, dp, graph.Expand(graph.Reduce(ir.Sum, graph.MulBy(m.kind, p, dp), []int{2}), dims)))
		dq, dk := product(ds, turned(k)), product(turned(ds), turned(q))
		later := product(graph.Binary(ir.Mul, p, graph.Expand(graph.Reduce(ir.Sum, out, []int{2}), dims)), turned(k)) // which needs all of out
		s.check(fmt.Sprint(name, " ", what), out)
		s.check(fmt.Sprint(name, " derivatives ", what), out, dv, dq, dk)
		s.check(fmt.Sprint(name, " later ", what), graph.Binary(ir.Mul, later, graph.Expand(graph.Reduce(ir.Sum, dv, []int{0, 1, 2}), later.Shape)))
		s.check(fmt.Sprint(name, " stored ", what), out, p, dk)
	}
}

// loopCalls runs a loop over matrices of 7 rows, in parts of 4 and blocks of 2. A block is
// doubled, and the products of its columns with their doubles are added to the sum of its
// part.
func (s *suite) loopCalls(drv driver.Looper) {
	const rows, matrix, part, block, columns = 14, 7, 4, 2, 3
	whole := []ir.RowStep{{Mod: rows, Div: 1, Mul: columns}}
	sums := []ir.RowStep{{Mod: rows, Div: matrix, Mul: 2 * columns * columns}, {Mod: matrix, Div: part, Mul: columns * columns}}
	stages := func(n int) []ir.Stage {
		return []ir.Stage{
			{Kernel: doubleKernel(n * columns), Args: []ir.StageArg{{Temp: true}, {Index: 0, Steps: whole}}},
			{Kernel: addProductKernel(n, columns), Args: []ir.StageArg{{Index: 0, Steps: whole}, {Temp: true}, {Index: 1, Steps: sums}}},
		}
	}
	const parts = 4
	out := ir.Arg{Kind: ir.Out, DType: ir.Float32, Len: parts * columns * columns, Part: true}
	l := &ir.Loop{
		Args: []ir.Arg{{Kind: ir.In, DType: ir.Float32}, out}, Temps: []ir.Temp{{DType: ir.Float32, Len: block * columns}},
		Clears: []ir.Clear{{Arg: ir.StageArg{Index: 1, Steps: sums}, Len: columns * columns}},
		Rows:   rows, Matrix: matrix, Part: part, Block: block, Body: stages(block), Last: stages(matrix % block),
	}
	p, err := drv.CompileLoop(l)
	if err != nil {
		s.Fatal(err)
	}
	x := s.small(rows * columns)
	want := make([]float64, out.Len)
	for row := range rows {
		at := (row/matrix*2 + row%matrix/part) * columns * columns
		for i := range columns {
			for j := range columns {
				a, b := x[row*columns+i].Float64(ir.Float32), x[row*columns+j].Float64(ir.Float32)
				want[at+i*columns+j] += 2 * a * b
			}
		}
	}
	from, to := s.uploaded(encode(ir.Float32, x)), s.uploaded(make([]byte, 4*out.Len))
	defer from.Free()
	defer to.Free()
	if err := drv.Run([]driver.Call{{Program: p, Args: []driver.Arg{{Buffer: from}}}}); err == nil {
		s.Error("a loop runs without one of its arguments")
	}
	calls := []driver.Call{{Program: p, Args: []driver.Arg{{Buffer: from}, {Buffer: to}}}, {Program: p, Args: []driver.Arg{{Buffer: from}, {Buffer: to}}}}
	if timer, ok := s.drv.(driver.Profiler); ok {
		t, err := timer.RunTimed(calls)
		if err != nil {
			s.Fatal(err)
		}
		if spans, err := t.Spans(); err != nil || len(spans) != len(calls) || spans[1].Start.Before(spans[0].Start.Add(spans[0].Duration)) {
			s.Errorf("spans of %d loops: %v, %v", len(calls), spans, err)
		}
	} else if err := drv.Run(calls); err != nil {
		s.Fatal(err)
	}
	got := make([]byte, 4*out.Len)
	if err := drv.Download(got, to, 0); err != nil {
		s.Fatal(err)
	}
	for i, y := range decode(ir.Float32, got) {
		if y.Float64(ir.Float32) != want[i] { // sums of small integers
			s.Errorf("element %d of the sums is %v, want %v", i, y.Float64(ir.Float32), want[i])
		}
	}
}

// doubleKernel doubles n elements.
func doubleKernel(n int) *ir.Kernel {
	view := &ir.View{Coef: []int{1}}
	return &ir.Kernel{
		Template: ir.Pointwise,
		Args:     []ir.Arg{{Kind: ir.Out, DType: ir.Float32, Len: n, Align: true}, {Kind: ir.In, DType: ir.Float32}},
		Axes:     []ir.Axis{{Len: n, Role: ir.Parallel}},
		Body: []ir.Instr{
			{Op: ir.Load, Type: ir.Float32, Arg: 1, View: view, Domain: ir.Axes(0)},
			{Op: ir.Add, Type: ir.Float32, Src: []int{0, 0}, Domain: ir.Axes(0)},
			{Op: ir.Store, Type: ir.Float32, Src: []int{1}, Arg: 0, View: view, Domain: ir.Axes(0)},
		},
	}
}

// addProductKernel adds the product of a transposed matrix and another one, both of so many
// rows and columns, to a third.
func addProductKernel(rows, columns int) *ir.Kernel {
	result := &ir.View{Coef: []int{columns, 1, 0}}
	return &ir.Kernel{
		Template: ir.Contraction,
		Args: []ir.Arg{
			{Kind: ir.In, DType: ir.Float32}, {Kind: ir.In, DType: ir.Float32, Align: true},
			{Kind: ir.Out, DType: ir.Float32, Len: columns * columns, Part: true},
		},
		Axes: []ir.Axis{{Len: columns, Role: ir.M}, {Len: columns, Role: ir.N}, {Len: rows, Role: ir.K}},
		Body: []ir.Instr{
			{Op: ir.Load, Type: ir.Float32, Arg: 0, View: &ir.View{Coef: []int{1, 0, columns}}, Domain: ir.Axes(0, 2)},
			{Op: ir.Load, Type: ir.Float32, Arg: 1, View: &ir.View{Coef: []int{0, 1, columns}}, Domain: ir.Axes(1, 2)},
			{Op: ir.Mul, Type: ir.Float32, Src: []int{0, 1}, Domain: ir.Axes(0, 1, 2)},
			{Op: ir.Sum, Type: ir.Float32, Src: []int{2}, Axes: ir.Axes(2), Domain: ir.Axes(0, 1)},
			{Op: ir.Load, Type: ir.Float32, Arg: 2, View: result, Domain: ir.Axes(0, 1)},
			{Op: ir.Add, Type: ir.Float32, Src: []int{4, 3}, Domain: ir.Axes(0, 1)},
			{Op: ir.Store, Type: ir.Float32, Src: []int{5}, Arg: 2, View: result, Domain: ir.Axes(0, 1)},
		},
	}
}
