// Package cases has operations on special values, such as NaN and the limits of integer
// types, on which devices must agree. Package drivertest and the command
// `tensorken gpu check` compute them; the package does not import testing.
package cases

import (
	"math"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// A Case is an operation on tensors of one axis.
type Case struct {
	Name   string
	Op     ir.Op
	Inputs []Input
	Make   func(x []*graph.Node) *graph.Node
}

// An Input is the elements of a tensor.
type Input struct {
	DType ir.DType
	Elems []ir.Number
}

// Special returns all operations on special values of type d: reductions, casts to others
// of some types, and elementwise operations, with two operands on all pairs of values.
func Special(d ir.DType, types []ir.DType) []Case {
	values := Input{d, Values(d)}
	var a, b, shifted, odd Input
	for i, v := range values.Elems {
		for _, w := range values.Elems {
			a.Elems, b.Elems = append(a.Elems, v), append(b.Elems, w)
		}
		shifted.Elems = append(shifted.Elems, values.Elems[(i+1)%len(values.Elems)])
		odd.Elems = append(odd.Elems, ir.Number(i&1))
	}
	a.DType, b.DType, shifted.DType, odd.DType = d, d, d, ir.Bool

	var list []Case
	for op := ir.Op(1); int(op) < ir.Ops; op++ {
		row := &ir.Table[op]
		elementwise := func(x []*graph.Node) *graph.Node { return graph.Elementwise(op, x...) }
		switch {
		case !row.Types.Has(d) || op == ir.Bitcast:
		case op == ir.Cast:
			for _, to := range types {
				if to != d {
					list = append(list, Case{"Cast to " + to.String(), op, []Input{{d, CastValues(d)}},
						func(x []*graph.Node) *graph.Node { return graph.Cast(x[0], to) }})
				}
			}
		case op == ir.Where:
			list = append(list, Case{row.Name, op, []Input{odd, values, shifted}, elementwise})
		case op == ir.Sin || op == ir.Cos:
			moderate := values.Elems[:len(values.Elems)-3] // no bound holds for great arguments
			list = append(list, Case{row.Name, op, []Input{{d, moderate}}, elementwise})
		case row.Class == ir.Elementwise && row.Arity == 1:
			list = append(list, Case{row.Name, op, []Input{values}, elementwise})
		case row.Class == ir.Elementwise && row.Arity == 2:
			list = append(list, Case{row.Name, op, []Input{a, b}, elementwise})
		case row.Class == ir.Reduction:
			list = append(list, Case{row.Name, op, []Input{values},
				func(x []*graph.Node) *graph.Node { return graph.Reduce(op, x[0], []int{0}) }})
		}
	}
	return list
}

// Values returns special values of type d.
func Values(d ir.DType) []ir.Number {
	switch {
	case d.IsFloat():
		return floats(d)
	case d == ir.Bool:
		return []ir.Number{0, 1}
	}
	return integers(d)
}

func floats(d ir.DType) []ir.Number {
	limits := map[ir.DType]struct{ least, greatest float64 }{ // least is not subnormal
		ir.Float16:  {0x1p-14, 65504},
		ir.BFloat16: {0x1p-126, 0x1.FEp127},
		ir.Float32:  {0x1p-126, math.MaxFloat32},
		ir.Float64:  {0x1p-1022, math.MaxFloat64},
	}[d]
	var out []ir.Number
	for _, v := range []float64{
		0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 2, 3, -3, 2.5, 10, 88, -100, 1e-4, -1e-4,
		math.NaN(), math.Inf(1), math.Inf(-1), limits.greatest, -limits.greatest, limits.least,
	} {
		out = append(out, ir.Float(d, v))
	}
	return out
}

func integers(d ir.DType) []ir.Number {
	lo, hi := ir.Limits(d)
	var out []ir.Number
	for _, v := range []int64{int64(lo), int64(lo) + 1, int64(hi), int64(hi) - 1, 0, 1, 2, 3, 7, -1, -2, -7, 31, 32, 33, 63, 64, 65, 100} {
		out = append(out, ir.Int(d, v))
	}
	return out
}

// CastValues returns the special values of type d, and numbers around the limits of
// the types that they are cast to.
func CastValues(d ir.DType) []ir.Number {
	if !d.IsFloat() {
		x := integers(d)
		for _, v := range []int64{1 << 24, 1<<24 + 1, 1<<53 + 1, -1<<24 - 1, 65504, 65520, 65536} {
			x = append(x, ir.Int(d, v))
		}
		return x
	}
	x := floats(d)
	for _, to := range ir.DTypes {
		if to.IsFloat() {
			continue
		}
		lo, hi := ir.Limits(to)
		for _, v := range []float64{lo.Float64(to), hi.Float64(to)} {
			for _, by := range []float64{-1, -0.5, 0, 0.5, 1, v} {
				x = append(x, ir.Float(d, v+by))
			}
		}
	}
	for _, v := range []float64{1.5, 2.5, -1.5, 0.999, -0.999, 1 + 0x1p-9, 1 + 0x1p-11, 65504, 65519.9, 65520, 0x1p-24, 0x1p-25, 1e10} {
		x = append(x, ir.Float(d, v))
	}
	return x
}
