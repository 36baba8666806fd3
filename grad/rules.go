package grad

import (
	"math"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// A call is an operation applied to operands. It holds the operands itself,
// because a node that has been computed forgets them.
type call struct {
	*graph.Node
	src    []*graph.Node
	custom *graph.CustomResult // of a CallResult
	active bool                // the result has a derivative by an argument of the tape
	flows  bool                // and not through StopGradients alone
}

// A rule says how an operation is differentiated, in one of two ways that both
// modes read, or by a function for each mode: with respect to one operand, reverse mode multiplies the
// cotangent by the partial derivative or applies the transpose; forward mode
// multiplies the tangent by the partial derivative or applies the operation.
//
// Rules make nodes, so their results can be differentiated again. They are called
// only for operands that depend on an argument.
type rule struct {
	// partial returns the derivative of c by each element of operand i, in
	// the operand's shape; nil is zero. An element of the result changes by the
	// sum of partial derivative times tangent over the elements, of all operands,
	// that it is made of; spread says which.
	partial func(c *call, i int) *graph.Node
	// transpose returns the cotangent of operand i of a linear operation from
	// the result's, ct. It is not called for conditions and indices.
	transpose func(c *call, ct *graph.Node, i int) *graph.Node
	// modes are for an operation of one operand that has neither.
	modes *modes
}

// modes has the derivative of an operation of one operand in each mode.
type modes struct {
	reverse func(c *call, ct *graph.Node) *graph.Node // the operand's cotangent from the result's
	forward func(c *call, t *graph.Node) *graph.Node  // the result's tangent from the operand's
	linear  func(c *call) bool                        // whether the operation itself is
}

// kernelModes refuses to differentiate a kernel of the user's.
var kernelModes = modes{reverse: underivable, forward: underivable, linear: func(*call) bool { return false }}

func underivable(c *call, _ *graph.Node) *graph.Node {
	misuse(graph.KernelOf(c.Node).Op, "it has no derivative: call it in a function of grad.Custom or grad.CustomJVP, or stop the gradients of its operands", c.src[0])
	return nil
}

// rules has a row for every operation that ir.Table says is differentiable.
var rules = [ir.Ops]rule{
	ir.Exp:   {partial: func(c *call, _ int) *graph.Node { return c.Node }},
	ir.Expm1: {partial: func(c *call, _ int) *graph.Node { return graph.Unary(ir.Exp, c.src[0]) }},
	ir.Log:   {partial: func(c *call, _ int) *graph.Node { return reciprocal(c.src[0]) }},
	ir.Log1p: {partial: func(c *call, _ int) *graph.Node { return reciprocal(plus(c.src[0], 1)) }},
	ir.Log2:  {partial: func(c *call, _ int) *graph.Node { return div(like(c.Node, math.Log2E), c.src[0]) }},
	ir.Sin:   {partial: func(c *call, _ int) *graph.Node { return graph.Unary(ir.Cos, c.src[0]) }},
	ir.Cos:   {partial: func(c *call, _ int) *graph.Node { return neg(graph.Unary(ir.Sin, c.src[0])) }},
	ir.Atan:  {partial: partialAtan},
	ir.Sqrt:  {partial: func(c *call, _ int) *graph.Node { return div(like(c.Node, 0.5), c.Node) }},
	ir.Tanh:  {partial: func(c *call, _ int) *graph.Node { return sub(like(c.Node, 1), square(c.Node)) }},
	ir.Erf:   {partial: partialErf},
	ir.Erfc:  {partial: func(c *call, i int) *graph.Node { return neg(partialErf(c, i)) }},
	ir.Mul:   {partial: func(c *call, i int) *graph.Node { return c.src[1-i] }},
	ir.Div:   {partial: partialDiv},
	ir.Rem:   {partial: partialRem},
	ir.Pow:   {partial: partialPow},
	ir.Atan2: {partial: func(c *call, i int) *graph.Node { // x/(x²+y²), and -y/(x²+y²)
		p := overSquares(c.src[1-i], c.src[i])
		if i == 1 {
			p = neg(p)
		}
		return p
	}},
	ir.Max: {partial: partialMax},
	ir.Min: {partial: partialMax},

	ir.ReduceMax: {partial: partialReduceMax},
	ir.Prod:      {partial: partialProd},
	ir.Scatter:   {partial: partialScatter},
	ir.Scan:      {modes: &scanModes},
	ir.HostCall:  {modes: &kernelModes}, // of the user's kernels: others are not active

	ir.Argument:     {transpose: transposeSame},
	ir.StopGradient: {transpose: func(*call, *graph.Node, int) *graph.Node { return nil }},
	ir.ToDevice:     {transpose: transposeToDevice},
	ir.CoOutput:     {transpose: transposeSame},
	ir.Neg:          {transpose: func(_ *call, ct *graph.Node, _ int) *graph.Node { return neg(ct) }},
	ir.Cast:         {transpose: func(c *call, ct *graph.Node, _ int) *graph.Node { return graph.Cast(ct, c.src[0].DType) }},
	ir.Add:          {transpose: transposeSame},
	ir.Sub:          {transpose: transposeSub},
	ir.Where:        {transpose: transposeWhere},
	ir.Sum:          {transpose: func(c *call, ct *graph.Node, _ int) *graph.Node { return graph.Expand(ct, c.src[0].Shape) }},
	ir.Reshape:      {transpose: func(c *call, ct *graph.Node, _ int) *graph.Node { return graph.Reshape(ct, c.src[0].Shape) }},
	ir.Permute:      {transpose: func(c *call, ct *graph.Node, _ int) *graph.Node { return graph.Permute(ct, inverse(c.Ints)) }},
	ir.Expand:       {transpose: transposeExpand},
	ir.Pad:          {transpose: transposePad},
	ir.Crop:         {transpose: transposeCrop},
	ir.Flip:         {transpose: func(c *call, ct *graph.Node, _ int) *graph.Node { return graph.Flip(ct, c.Ints) }},
	ir.Window:       {transpose: transposeWindow},
	ir.Unwindow:     {transpose: transposeUnwindow},
	ir.Cat:          {transpose: transposeCat},
	ir.Gather:       {transpose: transposeGather},
}

// vjp returns the cotangent of c's operand i from c's own, ct; nil is zero.
func (c *call) vjp(ct *graph.Node, i int) *graph.Node {
	r := &rules[c.Op]
	switch {
	case r.transpose != nil:
		return r.transpose(c, ct, i)
	case r.modes != nil:
		return r.modes.reverse(c, ct)
	}
	if p := c.partial(i); p != nil {
		return c.timesPartial(spread(c, ct, i), p, i, true)
	}
	return nil
}

// timesPartial is the product of the partial derivative p by operand i, and a tangent or, in reverse, a
// cotangent v. See [graph.Weigh] and [graph.Maskable] for the products that are by weights.
func (c *call) timesPartial(v, p *graph.Node, i int, reverse bool) *graph.Node {
	weighs := c.Op == ir.Mul && c.Kind == ir.Where
	switch {
	case weighs && i == 1:
		return graph.Weigh(p, v)
	case weighs && !reverse:
		return graph.Weigh(v, p)
	case weighs: // a masked element of p has a weight of 0, and so a cotangent of 0 in the end
		return graph.MulBy(ir.Gather, v, p)
	case reverse && c.Kind == ir.Gather:
		c.maskable(p)
		return graph.Weigh(v, p)
	}
	return times(v, p)
}

// maskable marks the operations that make p from c and its operands, so that derivatives of higher order
// are masked too.
func (c *call) maskable(p *graph.Node) {
	if p == c.Node || slices.Contains(c.src, p) || p.Op.Class() != ir.Elementwise || p.Kind != 0 {
		return
	}
	graph.Maskable(p)
	for i := range p.Src().Len() {
		c.maskable(p.Operand(i))
	}
}

// partial returns the derivative of c by operand i; nil is zero.
func (c *call) partial(i int) *graph.Node {
	f := rules[c.Op].partial
	if f == nil {
		misuse(c.Op.String(), "grad/rules.go has no rule for it", c.src[i])
	}
	return f(c, i)
}

// spread brings a cotangent of c's result to the shape of operand i: each element
// of the operand gets the cotangent of the element that it contributes to.
func spread(c *call, ct *graph.Node, i int) *graph.Node {
	switch {
	case c.Op.Class() == ir.Reduction:
		return graph.Expand(ct, c.src[0].Shape)
	case c.Op == ir.Scatter && i == 2:
		return c.gather(ct)
	}
	return ct
}

// The functions below make the operations that rules use.

// like returns a tensor like x with all elements equal to v. Kernels compute 16-bit floats in float32,
// so a number that 16 bits lack comes to them as a float32.
func like(x *graph.Node, v float64) *graph.Node {
	if d := x.DType; d.IsHalf() && ir.Float(d, v).Float64(d) != v {
		return graph.Cast(graph.Fill(ir.Float32, v, x.Shape), d)
	}
	return graph.Fill(x.DType, v, x.Shape)
}

func neg(x *graph.Node) *graph.Node { return graph.Unary(ir.Neg, x) }

func add(x, y *graph.Node) *graph.Node { return graph.Binary(ir.Add, x, y) }

func sub(x, y *graph.Node) *graph.Node { return graph.Binary(ir.Sub, x, y) }

func div(x, y *graph.Node) *graph.Node { return graph.Binary(ir.Div, x, y) }

func eq(x, y *graph.Node) *graph.Node { return graph.Binary(ir.Eq, x, y) }

func and(x, y *graph.Node) *graph.Node { return graph.Binary(ir.And, x, y) }

func plus(x *graph.Node, v float64) *graph.Node { return add(x, like(x, v)) }

func reciprocal(x *graph.Node) *graph.Node { return div(like(x, 1), x) }

func square(x *graph.Node) *graph.Node { return graph.Binary(ir.Mul, x, x) }

// times is the product of x and y, without a factor that is the constant 1.
func times(x, y *graph.Node) *graph.Node {
	switch one := ir.Float(x.DType, 1); {
	case x.Op == ir.Const && x.Num == one:
		return y
	case y.Op == ir.Const && y.Num == one:
		return x
	}
	return graph.Binary(ir.Mul, x, y)
}
