package export

import (
	"maps"
	"math"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/onnx/internal/op"
)

// A match has the nodes that a pattern names.
type match map[string]*graph.Node

// A pattern reports whether it is made of a node. Other names of nodes, and numbers that are expanded, are
// looked through.
type pattern func(m match, n *graph.Node) bool

// as is any node, the same one for each name.
func as(name string) pattern {
	return func(m match, n *graph.Node) bool {
		if m[name] == nil {
			m[name] = n
		}
		return m[name] == n
	}
}

// anything is any node.
func anything(match, *graph.Node) bool { return true }

// number is a constant.
func number(_ match, n *graph.Node) bool {
	_, ok := constantOf(n)
	return ok
}

// tiny is a constant of floats that is 0 or at most the smallest positive number of float32 with all digits.
func tiny(_ match, n *graph.Node) bool {
	x, ok := constantOf(n)
	return ok && n.DType.IsFloat() && x.Float64(n.DType) >= 0 && x.Float64(n.DType) <= 0x1p-126
}

// equals is a constant of floats with a value, as the type rounds it.
func equals(v float64) pattern {
	return func(_ match, n *graph.Node) bool {
		x, ok := constantOf(n)
		return ok && n.DType.IsFloat() && x == ir.Float(n.DType, v)
	}
}

// of is an operation on operands, in either order if it commutes.
func of(o ir.Op, src ...pattern) pattern {
	return func(m match, n *graph.Node) bool {
		for n = alias(n); n.Op == ir.Expand && o != ir.Expand && n.Src().Len() > 0; {
			n = alias(n.Operand(0))
		}
		if n.Op != o || n.Src().Len() != len(src) {
			return false
		}
		try := func(flip int) bool {
			trial := maps.Clone(m)
			for i, p := range src {
				if !p(trial, alias(n.Operand((i+flip)%len(src)))) {
					return false
				}
			}
			maps.Copy(m, trial)
			return true
		}
		return try(0) || ir.Table[o].Commutative && try(1)
	}
}

// each is a pattern that every one of several finds.
func each(ps ...pattern) pattern {
	return func(m match, n *graph.Node) bool {
		for _, p := range ps {
			if !p(m, n) {
				return false
			}
		}
		return true
	}
}

// gateLimit is the number of which package tensor makes gates.
const gateLimit = 1000

// Patterns of compositions of package tensor.
var (
	reluPattern    = of(ir.Where, of(ir.Lt, as("x"), tiny), equals(0), as("x"))
	fastLogistic   = of(ir.Div, equals(1), of(ir.Add, of(ir.Exp, of(ir.Neg, as("x"))), equals(1)))
	decayPattern   = each(as("e"), of(ir.Exp, of(ir.Where, of(ir.Lt, equals(0), as("x")), of(ir.Neg, as("x")), as("x"))))
	logistic       = of(ir.Div, of(ir.Where, of(ir.Lt, equals(0), as("x")), equals(1), decayPattern), of(ir.Add, as("e"), equals(1)))
	geluPattern    = of(ir.Mul, of(ir.Max, as("x"), equals(-gateLimit)), of(ir.Mul, of(ir.Erfc, of(ir.Mul, as("x"), equals(-math.Sqrt2/2))), equals(0.5)))
	softmaxPattern = of(ir.Div, each(as("e"), of(ir.Exp, of(ir.Sub, as("x"), each(as("max"), of(ir.ReduceMax, as("x")))))), each(as("sum"), of(ir.Sum, as("e"))))
	// keyPattern is an integer in the order of a float x.
	keyPattern = of(ir.Where, of(ir.Lt, number, of(ir.And, of(ir.Bitcast, as("x")), number)), number, anything)
	signBit    = of(ir.Lt, of(ir.Bitcast, as("x")), number)
	// halfPattern is x rounded to a 16-bit type, greatestPattern the
	// greatest absolute value.
	halfPattern     = of(ir.Bitcast, of(ir.And, of(ir.Add, of(ir.Bitcast, as("x")), anything), each(as("mask"), number)))
	greatestPattern = of(ir.Bitcast, each(as("max"), of(ir.ReduceMax, of(ir.And, of(ir.Bitcast, as("x")), number))))
)

// compositions are operators of the standard with the meaning of a composition.
var compositions = [ir.Ops][]struct {
	pattern
	write func(w *writer, n *graph.Node, m match) (view, bool)
}{
	ir.Where: {{reluPattern, unary("Relu")}},
	ir.Div:   {{fastLogistic, unary("Sigmoid")}, {logistic, unary("Sigmoid")}, {softmaxPattern, softmax}},
	ir.Mul:   {{geluPattern, unary("Gelu")}},
	ir.Lt:    {{signBit, sign}},

	ir.Bitcast: {{halfPattern, half}, {greatestPattern, greatest}},
}

// pattern writes a node as a composition, if it is one.
func (w *writer) pattern(n *graph.Node) (view, bool) {
	for _, c := range compositions[n.Op] {
		m := match{}
		if !c.pattern(m, n) || w.done[m["x"]].v == nil {
			continue
		}
		if x, ok := c.write(w, n, m); ok {
			return x, true
		}
	}
	return view{}, false
}

// unary is an operator of one operand that onnxruntime has for float32.
func unary(name string) func(*writer, *graph.Node, match) (view, bool) {
	return func(w *writer, _ *graph.Node, m match) (view, bool) {
		x := w.done[m["x"]]
		x.v = w.op(name, x.v)
		return x, x.v.elem == op.Float
	}
}

func sign(w *writer, n *graph.Node, m match) (view, bool) {
	x := w.done[m["x"]]
	if zero, _ := constantOf(n.Operand(1)); zero != 0 || !m["x"].DType.IsFloat() {
		return x, false
	}
	x.v = w.isNegative(x.v)
	return x, true
}

func half(w *writer, _ *graph.Node, m match) (view, bool) {
	x := w.done[m["x"]]
	mask, _ := constantOf(m["mask"])
	to, ok := map[ir.Number]op.Elem{1<<32 - 1<<13: op.Float16, 1<<32 - 1<<16: op.BFloat16}[mask]
	if ok {
		x.v = w.cast(w.cast(x.v, to), op.Float)
	}
	return x, ok
}

func greatest(w *writer, _ *graph.Node, m match) (view, bool) {
	x := w.done[m["x"]]
	x.v = w.op("Abs", x.v)
	return w.reduce("ReduceMax", x, alias(m["max"]).Ints), m["x"].DType.IsFloat()
}

// softmax is the operator if one axis is summed, along which the maximum is taken.
func softmax(w *writer, _ *graph.Node, m match) (view, bool) {
	x, over := w.done[m["x"]], alias(m["sum"])
	for over.Op == ir.Expand {
		over = alias(over.Operand(0))
	}
	most := alias(m["max"])
	for most.Op == ir.Expand {
		most = alias(most.Operand(0))
	}
	if len(over.Ints) != 1 || len(most.Ints) != 1 || most.Ints[0] != over.Ints[0] || !x.varies(over.Ints[0]) {
		return x, false
	}
	x.v = w.call("Softmax", x.v.elem, x.v.shape, []*value{x.v}, intAttr("axis", x.axes[over.Ints[0]]))
	return x, true
}
