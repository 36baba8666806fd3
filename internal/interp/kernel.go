package interp

import (
	"errors"
	"fmt"
	"math"

	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// An Arg is an argument of a kernel: a whole buffer and the element at which views
// start, or a number.
type Arg struct {
	Data   []ir.Number
	Offset int
	Num    ir.Number
}

// Run runs a kernel that passes [ir.Verify], each instruction at every position of its
// axes. It fails if an instruction reads or writes outside its buffer, or if an element is
// written twice, or both read and written, also through different arguments.
func Run(k *ir.Kernel, args []Arg) error {
	if len(args) != len(k.Args) {
		return fmt.Errorf("interp: %d arguments for %d", len(args), len(k.Args))
	}
	r := run{
		kernel:    k,
		args:      args,
		results:   make([]result, len(k.Body)),
		histories: histories(args),
		old:       oldElements(k, args),
	}
	for i := range k.Body {
		if err := r.instruction(i); err != nil {
			return fmt.Errorf("interp: instruction %d: %v: %w", i, k.Body[i].Op, err)
		}
	}
	return r.writeStatus()
}

// A result is the value of an instruction at each position of its axes.
type result struct {
	shape []int // by axis: its length if the instruction varies over it, else 1
	elems []ir.Number
}

// at returns the value at a point.
func (r *result) at(point []int) ir.Number {
	i := 0
	for a, n := range r.shape {
		if i *= n; n != 1 {
			i += point[a]
		}
	}
	return r.elems[i]
}

// A run is a kernel under evaluation.
type run struct {
	kernel    *ir.Kernel
	args      []Arg
	results   []result
	histories [][]history   // by argument
	old       [][]ir.Number // by argument: before the kernel, if it is read and written
	reduced   []ir.Number   // operands of the reduction at hand
	bad       badIndex
}

// A badIndex is the first index out of range so far.
type badIndex struct {
	met         bool // whether there is one
	point       int  // numbered by ir.Kernel.CheckStrides
	instruction int
	index       int64
}

// shape returns the shape of the points along a set of axes.
func (r *run) shape(over ir.AxisSet) []int {
	shape := make([]int, len(r.kernel.Axes))
	for a, axis := range r.kernel.Axes {
		shape[a] = 1
		if over.Has(a) {
			shape[a] = axis.Len
		}
	}
	return shape
}

// An evalFunc computes instruction i at a point, with operands x.
type evalFunc func(r *run, i int, point []int, x []ir.Number) (ir.Number, error)

var evalFuncs = [ir.Ops]evalFunc{
	ir.Const: func(r *run, i int, _ []int, _ []ir.Number) (ir.Number, error) {
		return r.kernel.Body[i].Num, nil
	},
	ir.Scalar: func(r *run, i int, _ []int, _ []ir.Number) (ir.Number, error) {
		return r.args[r.kernel.Body[i].Arg].Num, nil
	},
	ir.Index: func(r *run, i int, point []int, _ []ir.Number) (ir.Number, error) {
		return ir.Int(ir.Int32, int64(point[r.kernel.Body[i].Axis])), nil
	},
	ir.InBounds: func(r *run, i int, point []int, _ []ir.Number) (ir.Number, error) {
		_, inside := guards(r.kernel.Body[i].View, point)
		return truth(inside), nil
	},
	ir.Load:    (*run).load,
	ir.Store:   (*run).store,
	ir.Scatter: (*run).scatter,
	ir.Scan:    (*run).done,
	ir.Sort:    (*run).done,
}

// starts has the functions that routines call before their first point.
var starts = [ir.Ops]func(r *run) error{
	ir.Scatter: (*run).startScatter,
	ir.Scan:    (*run).runScan,
	ir.Sort:    (*run).runSort,
}

// done is for routines that their start has computed.
func (r *run) done(int, []int, []ir.Number) (ir.Number, error) { return 0, nil }

// evalFuncOf returns the function of an op, nil if it has none.
func evalFuncOf(op ir.Op) evalFunc {
	switch op.Class() {
	case ir.Elementwise:
		return (*run).elementwise
	case ir.Reduction:
		return (*run).reduce
	}
	return evalFuncs[op]
}

// instruction computes instruction i at all positions of its axes.
func (r *run) instruction(i int) error {
	in := &r.kernel.Body[i]
	if start := starts[in.Op]; start != nil {
		if err := start(r); err != nil {
			return err
		}
	}
	do := evalFuncOf(in.Op)
	if do == nil {
		return errors.New("no op of kernels")
	}
	res := &r.results[i]
	res.shape = r.shape(in.Domain)
	points := 1
	for _, n := range res.shape {
		points *= n
	}
	res.elems = make([]ir.Number, 0, points)
	var x []ir.Number
	for _, point := range shape.Positions(res.shape) {
		x = x[:0]
		if in.Op.Class() != ir.Reduction { // its operand varies over more axes
			for _, j := range in.Src {
				x = append(x, r.results[j].at(point))
			}
		}
		v, err := do(r, i, point, x)
		if err != nil {
			return fmt.Errorf("at %v: %w", point, err)
		}
		res.elems = append(res.elems, v)
	}
	return nil
}

// operandType returns the operands' type that is passed to an op's function.
func (r *run) operandType(in *ir.Instr) ir.DType {
	return r.kernel.Body[in.Src[len(in.Src)-1]].Type
}

func (r *run) elementwise(i int, _ []int, x []ir.Number) (ir.Number, error) {
	in := &r.kernel.Body[i]
	if weighs(in.Op, in.Kind, in.Type, x) {
		return 0, nil
	}
	return Apply(in.Op, in.Type, r.operandType(in), x...), nil
}

// reduce combines its operand at all positions along the reduced axes.
func (r *run) reduce(i int, point []int, _ []ir.Number) (ir.Number, error) {
	in := &r.kernel.Body[i]
	x := r.reduced[:0]
	at := make([]int, len(point))
	for _, reduced := range shape.Positions(r.shape(in.Axes)) {
		for a := range at {
			at[a] = point[a] + reduced[a]
		}
		x = append(x, r.results[in.Src[0]].at(at))
	}
	r.reduced = x
	return Apply(in.Op, in.Type, r.operandType(in), x...), nil
}

// linear returns off + Σ coef·point.
func linear(off int, coef, point []int) int {
	for a, c := range coef {
		off += c * point[a]
	}
	return off
}

// guards reports whether all guards of a view hold at a point, and returns the part of
// the position that they compute.
func guards(v *ir.View, point []int) (position int, ok bool) {
	for _, g := range v.Guards {
		n := linear(g.Off, g.Coef, point)
		if n%g.Div != 0 || n/g.Div < 0 || n/g.Div >= g.Len {
			return 0, false
		}
		position += g.Stride * (n / g.Div)
	}
	return position, true
}

// element returns the element that instruction i refers to at a point. x are its operands;
// the first, if any, is an index.
func (r *run) element(i int, point []int, x []ir.Number) (element, error) {
	in := &r.kernel.Body[i]
	position, ok := guards(in.View, point)
	if !ok {
		return element{}, nil
	}
	position += linear(in.View.Off, in.View.Coef, point)
	if len(x) > 0 {
		v := x[0].Int64(r.kernel.Body[in.Src[0]].Type)
		if v < 0 || v >= int64(in.View.Len) {
			r.noteBad(i, point, v)
			return element{}, nil
		}
		position += int(v) * in.View.Stride
	}
	return r.locate(in.Arg, position)
}

func (r *run) load(i int, point []int, x []ir.Number) (ir.Number, error) {
	e, err := r.element(i, point, x)
	if err != nil || e.number == nil {
		return r.kernel.Body[i].View.Fill, err
	}
	if e.old != nil { // the Store sees whether something else reads or writes it
		return *e.old, nil
	}
	return e.read()
}

func (r *run) store(i int, point []int, x []ir.Number) (ir.Number, error) {
	in := &r.kernel.Body[i]
	e, err := r.element(i, point, nil)
	if err != nil {
		return 0, err
	}
	d := r.kernel.Args[in.Arg].DType
	if len(x) == 2 && x[1] == 0 { // nothing needs the element: it shows if something does
		return 0, e.write(ir.Float(d, math.NaN()))
	}
	return 0, e.write(x[0].Convert(in.Type, d))
}

// startScatter makes the result a copy of the base, or a constant, or keeps it.
func (r *run) startScatter() error {
	x, constant := ir.ScatterStart(r.kernel.Body)
	in := &r.kernel.Body[len(r.kernel.Body)-1]
	x = x.Convert(in.Type, r.kernel.Args[0].DType)
	for p := range r.kernel.Args[0].Len {
		to, err := r.locate(0, p)
		if err != nil {
			return err
		}
		switch {
		case constant:
		case r.kernel.Args[0].Kept:
			x = *to.number
		default:
			from, err := r.locate(1, p)
			if err != nil {
				return err
			}
			if x, err = from.read(); err != nil {
				return err
			}
		}
		if err := to.write(x); err != nil {
			return err
		}
	}
	return nil
}

// scatter combines an update with an element that startScatter wrote.
func (r *run) scatter(i int, point []int, x []ir.Number) (ir.Number, error) {
	in := &r.kernel.Body[i]
	e, err := r.element(i, point, x[:1])
	if err == nil && e.number != nil {
		*e.number = combine(in.Kind, in.Type, *e.number, x[1]).Convert(in.Type, r.kernel.Args[in.Arg].DType)
	}
	return 0, err
}

// noteBad records a bad index if it is the first by point and then by instruction.
func (r *run) noteBad(i int, point []int, index int64) {
	n, domain := 0, ir.IndexDomain(r.kernel.Body, i)
	for a, stride := range r.kernel.CheckStrides() {
		if domain.Has(a) {
			n += stride * point[a]
		}
	}
	if !r.bad.met || n < r.bad.point {
		r.bad = badIndex{true, n, i, index}
	}
}

// writeStatus writes a bad index to the status argument, unless that has one.
func (r *run) writeStatus() error {
	if !r.bad.met {
		return nil
	}
	for arg, a := range r.kernel.Args {
		if a.Kind != ir.Status {
			continue
		}
		s := r.args[arg]
		if s.Offset < 0 || s.Offset+ir.StatusLen > len(s.Data) {
			return fmt.Errorf("interp: a status of %d elements from %d", len(s.Data), s.Offset)
		}
		if s.Data[s.Offset] == 0 {
			for i, x := range []int64{1 + int64(r.bad.instruction), r.bad.index, int64(r.bad.point)} {
				s.Data[s.Offset+2*i] = ir.Int(ir.Int32, int64(int32(x)))
				s.Data[s.Offset+2*i+1] = ir.Int(ir.Int32, x>>32)
			}
		}
	}
	return nil
}
