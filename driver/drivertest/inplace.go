package drivertest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/internal/interp"
	"github.com/tensorken/tensorken/ir"
)

// inPlace runs kernels that replace elements which they read.
func (s *suite) inPlace() {
	if r, ok := s.drv.(*Reference); ok && r.Prepare == nil {
		s.Skip("the interpreter would be compared with itself")
	}
	s.each(ir.DTypes, func(s *suite, d ir.DType) {
		for i, l := range oldLayouts {
			for j, c := range oldBodies {
				if spared(d, i+j+int(d)) || l.len > 5000 && testing.Short() && d != ir.Float32 {
					continue
				}
				k := c.kernel(d, &l)
				s.runOld(fmt.Sprintf("%s, %s", c.name, l.name), k, l.len+2, 2, 0)
			}
		}
		for i, r := range oldRows {
			if spared(d, i+int(d)) {
				continue
			}
			if r.rows*r.cols < 3000 || slices.Contains(few(ir.Float32, ir.Uint8, ir.BFloat16), d) {
				s.runOld("rows, "+r.name, r.kernel(d, false), r.rows*r.cols+1, 1, 0)
			}
			if d == ir.Float32 {
				s.runOld("softmax of rows, "+r.name, r.kernel(d, true), r.rows*r.cols+1, 1, 1e-5)
			}
		}
		for _, n := range [][3]int{{5, 9, 1}, {1, 5, 1}, {1000, 1, 64}, {40, 3, 7}, {3, 600, 130}, {300, 500, 200}, {400, 600, 130}, {6, 0, 4}} {
			for _, kind := range []ir.Op{ir.Add, ir.Max, ir.Min, ir.Mul, ir.Copy} {
				long := n[1] > 100 && (kind != ir.Add && kind != ir.Copy || !slices.Contains(few(ir.Float32, ir.Uint8, ir.Float16), d))
				if ir.Table[kind].Types.Has(d) && !long {
					s.scatterInPlace(kind, d, n[0], n[1], n[2])
				}
			}
		}
		if c := d.ComputeType(); ir.Sum.ResultDType(c, c) == c {
			for _, n := range [][3]int{{1, 1, 3}, {5, 6, 7}, {64, 64, 16}, {33, 70, 5}, {1, 130, 64}, {4, 4, 2000}, {3, 3, 0}} {
				s.runOld(fmt.Sprint("a product of ", n), oldProduct(d, n[0], n[1], n[2]), max(n[0], n[1])*n[2]+1, 2, 0)
			}
		}
	})
}

// runOld runs a kernel some times, and compares floats within off; an argument that it only reads has in
// elements.
func (s *suite) runOld(what string, k *ir.Kernel, in, times int, off float64) {
	if err := ir.Verify(k); err != nil {
		s.Fatalf("%s: %v in\n%v", what, err, k)
	}
	list := make([]interp.Arg, len(k.Args))
	for i, a := range k.Args {
		switch {
		case a.Kind == ir.In:
			list[i].Data = s.units(a.DType, in)
		case a.Kind == ir.Status:
			list[i].Data = make([]ir.Number, ir.StatusLen)
		default:
			list[i].Data = s.units(a.DType, a.Len+3)
			if a.Part {
				list[i].Offset = 3
			}
		}
	}
	s.runWithin(what, off, slices.Repeat([]call{{k, list}}, times)...)
}

// scatterInPlace combines updates of rows of n elements with some rows that an argument has.
func (s *suite) scatterInPlace(kind ir.Op, d ir.DType, rows, updates, n int) {
	c := d.ComputeType()
	copies := kernel(&ir.Kernel{
		Template: ir.Routine,
		Axes:     []ir.Axis{{Len: updates, Role: ir.Parallel}, {Len: n, Role: ir.Parallel}},
		Args: []ir.Arg{
			{Kind: ir.Out, DType: d, Len: rows * n, Align: true}, {Kind: ir.In, DType: d}, {Kind: ir.In, DType: ir.Int32}, {Kind: ir.In, DType: d},
			{Kind: ir.Status, DType: ir.Int32},
		},
		Body: []ir.Instr{
			{Op: ir.Load, Type: ir.Int32, Arg: 2, View: &ir.View{Coef: []int{1, 0}}},
			{Op: ir.Load, Type: c, Arg: 3, View: &ir.View{Coef: []int{n, 1}}},
			{Op: ir.Scatter, Kind: kind, Type: c, Src: []int{0, 1}, Arg: 0, View: &ir.View{Coef: []int{0, 1}, Stride: n, Len: rows}},
		},
	})
	k, ok := copies.InPlace(0, 1)
	if !ok {
		s.Fatalf("InPlace refuses\n%v", copies)
	}
	for _, bad := range []bool{false, true} {
		at := make([]ir.Number, updates+1)
		for i := range at {
			at[i] = ir.Number(s.IntN(rows))
		}
		if bad {
			at[updates/2] = ir.Int(ir.Int32, int64(s.one(rows, -1)))
		}
		status := make([]ir.Number, ir.StatusLen)
		s.run(fmt.Sprintf("Scatter %v of %d to %d rows of %d, a bad index: %v", kind, updates, rows, n, bad),
			call{k, []interp.Arg{{Data: s.units(d, rows*n+3)}, {Data: at}, {Data: s.units(d, updates*n+1)}, {Data: status}}})
	}
}

// units are numbers whose few sums and products are exact in every type.
func (s *suite) units(d ir.DType, n int) []ir.Number {
	list := make([]ir.Number, n)
	for i := range list {
		if x := s.IntN(2); d.IsFloat() {
			list[i] = ir.Float(d, float64(x)-0.5)
		} else {
			list[i] = ir.Int(d, int64(x))
		}
	}
	return list
}

// An oldLayout is where the elements are that kernels read and replace, of len.
type oldLayout struct {
	name string
	axes []int
	view ir.View
	len  int
	part bool
}

var oldLayouts = []oldLayout{
	{"one", []int{1}, ir.View{Coef: []int{1}}, 1, false},
	{"fours", []int{64}, ir.View{Coef: []int{1}}, 64, false},
	{"odd", []int{67}, ir.View{Coef: []int{1}}, 67, false},
	{"a part", []int{67}, ir.View{Coef: []int{1}}, 67, true},
	{"whole workgroups", []int{4096}, ir.View{Coef: []int{1}}, 4096, false},
	{"many", []int{70001}, ir.View{Coef: []int{1}}, 70001, false},
	{"rows with gaps", []int{5, 12}, ir.View{Coef: []int{16, 1}}, 76, false},
	{"strided", []int{9, 7}, ir.View{Off: 1, Coef: []int{20, 3}}, 180, false},
	{"backwards", []int{130}, ir.View{Off: 129, Coef: []int{-1}}, 130, false},
	{"transposed", []int{40, 72}, ir.View{Coef: []int{1, 40}}, 40 * 72, false},
	{"no points", []int{0}, ir.View{Coef: []int{1}}, 1, false},
}

// pointwise is a kernel of some arguments that it reads and replaces, and a last that it reads.
func (l *oldLayout) pointwise(d ir.DType, olds int, body func(b *oldBody)) *ir.Kernel {
	k := &ir.Kernel{Template: ir.Pointwise}
	for _, n := range l.axes {
		k.Axes = append(k.Axes, ir.Axis{Len: n, Role: ir.Parallel})
	}
	for range olds {
		k.Args = append(k.Args, ir.Arg{Kind: ir.Out, DType: d, Len: l.len, Part: l.part, Align: !l.part})
	}
	k.Args = append(k.Args, ir.Arg{Kind: ir.In, DType: d})
	body(&oldBody{k, d, l})
	return kernel(k)
}

// An oldBody is a kernel under construction.
type oldBody struct {
	*ir.Kernel
	d ir.DType
	*oldLayout
}

func (b *oldBody) add(in ir.Instr) int {
	in.Type = b.d.ComputeType()
	b.Body = append(b.Body, in)
	return len(b.Body) - 1
}

// load reads an argument where store writes: the last along its own rows.
func (b *oldBody) load(arg int) int {
	view := b.view
	if b.Args[arg].Kind == ir.In {
		view.Off, view.Coef = 0, ir.DenseStrides(b.Axes, 1<<len(b.Axes)-1)
	}
	return b.add(ir.Instr{Op: ir.Load, Arg: arg, View: &view})
}

func (b *oldBody) store(arg, x int) {
	b.add(ir.Instr{Op: ir.Store, Src: []int{x}, Arg: arg, View: &b.view})
}

func (b *oldBody) op(op ir.Op, src ...int) int {
	if !ir.Table[op].Types.Has(b.d) {
		op = ir.Min // of bools it is their product
	}
	return b.add(ir.Instr{Op: op, Src: src})
}

// oldBodies are kernels that read the elements that they replace. Products and maxima are of ones and
// zeros.
var oldBodies = []struct {
	name   string
	kernel func(d ir.DType, l *oldLayout) *ir.Kernel
}{
	{"one argument", func(d ir.DType, l *oldLayout) *ir.Kernel {
		return l.pointwise(d, 1, func(b *oldBody) { b.store(0, b.op(ir.Max, b.load(0), b.load(1))) })
	}},
	{"what it was", func(d ir.DType, l *oldLayout) *ir.Kernel {
		return l.pointwise(d, 1, func(b *oldBody) { b.store(0, b.load(0)) })
	}},
	{"read twice", func(d ir.DType, l *oldLayout) *ir.Kernel {
		return l.pointwise(d, 1, func(b *oldBody) {
			x, y := b.load(0), b.load(1)
			b.store(0, b.op(ir.Max, b.op(ir.Mul, x, y), x))
		})
	}},
	{"shared terms", func(d ir.DType, l *oldLayout) *ir.Kernel { // as Adam's, of a parameter and two moments
		return l.pointwise(d, 3, func(b *oldBody) {
			p, m, v, g := b.load(0), b.load(1), b.load(2), b.load(3)
			m = b.op(ir.Max, m, g)
			v = b.op(ir.Mul, v, b.op(ir.Mul, g, g))
			b.store(1, m)
			b.store(2, v)
			b.store(0, b.op(ir.Max, p, b.op(ir.Mul, m, v)))
		})
	}},
	{"exchanged", func(d ir.DType, l *oldLayout) *ir.Kernel {
		return l.pointwise(d, 2, func(b *oldBody) {
			x, y := b.load(0), b.load(1)
			b.store(0, y)
			b.store(1, x)
		})
	}},
	{"read after the store", func(d ir.DType, l *oldLayout) *ir.Kernel {
		return l.pointwise(d, 2, func(b *oldBody) {
			b.store(0, b.op(ir.Mul, b.load(1), b.load(2)))
			b.store(1, b.op(ir.Max, b.load(0), b.load(2)))
		})
	}},
	{"used after the store", func(d ir.DType, l *oldLayout) *ir.Kernel {
		return l.pointwise(d, 3, func(b *oldBody) {
			x, y := b.load(0), b.load(3)
			b.store(0, b.op(ir.Mul, x, y))
			b.store(1, b.op(ir.Max, x, y))
			b.store(2, x)
		})
	}},
}

// An oldRow is rows that a kernel reduces and replaces.
type oldRow struct {
	name       string
	rows, cols int
	across     bool // neighbours in memory belong to different rows
	gap        int  // elements between rows
}

var oldRows = []oldRow{
	{"one", 1, 7, false, 0},
	{"of two elements", 9, 2, false, 0},
	{"short", 37, 12, false, 4},
	{"odd", 5, 99, false, 1},
	{"many", 3001, 8, false, 0},
	{"held", 53, 1024, false, 0},
	{"long", 5, 10_000, false, 0},
	{"long and odd", 3, 4999, false, 0},
	{"few and very long", 2, 100_004, false, 0},
	{"across", 70, 33, true, 0},
	{"across, long", 130, 1100, true, 0},
	{"none", 0, 3, false, 0},
	{"empty", 3, 0, false, 1},
}

// kernel replaces two arguments by functions of their rows, and stores a result of each row beside them.
// Softmax is one by exponentials; otherwise sums of units and of their squares are exact.
func (r *oldRow) kernel(d ir.DType, softmax bool) *ir.Kernel {
	view, beside := ir.View{Coef: []int{r.cols + r.gap, 1}}, ir.View{Coef: []int{1, 0}}
	if r.across {
		view.Coef = []int{1, r.rows}
	}
	n := max(1, r.rows*(r.cols+r.gap))
	out := ir.Arg{Kind: ir.Out, DType: d, Len: n, Align: true}
	b := &oldBody{&ir.Kernel{
		Template: ir.Reduce,
		Axes:     []ir.Axis{{Len: r.rows, Role: ir.Parallel}, {Len: r.cols, Role: ir.Reduced}},
		Args:     []ir.Arg{out, out, {Kind: ir.In, DType: d}, {Kind: ir.Out, DType: d, Len: max(1, r.rows)}},
	}, d, &oldLayout{view: view}}
	reduce := func(op ir.Op, x int) int {
		if c := d.ComputeType(); ir.Sum.ResultDType(c, c) != c {
			op = ir.ReduceMax
		}
		return b.add(ir.Instr{Op: op, Src: []int{x}, Axes: ir.Axes(1)})
	}
	x, y, z := b.load(0), b.load(1), b.load(2)
	most := reduce(ir.ReduceMax, x)
	e := b.op(ir.Sub, x, most)
	if softmax {
		e = b.op(ir.Exp, e)
	} else {
		e = b.op(ir.Mul, e, e)
	}
	total := reduce(ir.Sum, e)
	b.store(1, b.op(ir.Max, b.op(ir.Mul, x, z), y))
	if softmax {
		b.store(0, b.op(ir.Div, e, total))
	} else {
		b.store(0, b.op(ir.Sub, b.op(ir.Sub, total, e), reduce(ir.ReduceMax, b.op(ir.Sub, y, total))))
	}
	if softmax {
		total = b.op(ir.Log, total)
	}
	b.add(ir.Instr{Op: ir.Store, Src: []int{total}, Arg: 3, View: &beside})
	return kernel(b.Kernel)
}

// oldProduct adds the product of two matrices, of m rows and n columns, to one of two arguments that it
// exchanges.
func oldProduct(d ir.DType, m, n, depth int) *ir.Kernel {
	c := d.ComputeType()
	left, right, result := &ir.View{Coef: []int{depth, 0, 1}}, &ir.View{Coef: []int{0, depth, 1}}, &ir.View{Coef: []int{n, 1, 0}}
	out := ir.Arg{Kind: ir.Out, DType: d, Len: m * n, Align: true}
	return kernel(&ir.Kernel{
		Template: ir.Contraction,
		Axes:     []ir.Axis{{Len: m, Role: ir.M}, {Len: n, Role: ir.N}, {Len: depth, Role: ir.K}},
		Args:     []ir.Arg{out, out, {Kind: ir.In, DType: d}, {Kind: ir.In, DType: d}},
		Body: []ir.Instr{
			{Op: ir.Load, Type: c, Arg: 2, View: left},
			{Op: ir.Load, Type: c, Arg: 3, View: right},
			{Op: ir.Mul, Type: c, Src: []int{0, 1}},
			{Op: ir.Sum, Type: c, Src: []int{2}, Axes: ir.Axes(2)},
			{Op: ir.Load, Type: c, Arg: 1, View: result},
			{Op: ir.Add, Type: c, Src: []int{3, 4}},
			{Op: ir.Store, Type: c, Src: []int{5}, Arg: 0, View: result},
			{Op: ir.Load, Type: c, Arg: 0, View: result},
			{Op: ir.Store, Type: c, Src: []int{7}, Arg: 1, View: result},
		},
	})
}
