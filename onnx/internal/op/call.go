package op

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/onnx/internal/proto"
	"github.com/tensorken/tensorken/tensor"
)

// A Func computes an operator's results: as many as the node names, or more. It panics by [Call.Fail]
// or as methods of tensors do.
type Func func(*Call) []Value

// A Row is an operator of the table: the function that computes it for a range of versions.
type Row struct {
	Domain string // "" is the standard's own
	Name   string
	Since  int // the first version of the operator set for which F is right
	Until  int // the last; 0: all that this package knows
	F      Func
	// Random says that two calls with equal inputs may differ: results are not folded.
	Random bool
	// Again says that it calls [Runner.Again]: it reads all names before it.
	Again bool
}

// A Runner is the interpreter, as operators use it.
type Runner interface {
	// Body runs a graph of an attribute in the scope of the node.
	Body(g *proto.Graph, in []Value) []Value
	// Again returns the value of a name that the node reads, if some other names had other values.
	Again(name string, with map[string]Value) Value
	// Bytes returns the elements of a tensor. While a plan is recorded, one that is not known ends the
	// recording: see package onnx.
	Bytes(v Value) []byte
	// RNG returns a source of random bits for a node without a seed.
	RNG() *tensor.RNG
}

// A Call is a run of an operator.
type Call struct {
	Op, Domain string
	Opset      int // the version of the operator set of the domain
	In         []Value
	Outputs    []string // names, "" for results that nothing uses
	Attrs      []*proto.Attr
	Frame      map[string]*proto.Attr // attributes of the function whose body has the node
	Runner     Runner
}

// A Failure is the reason why an operator cannot be computed. Functions panic with it, and the
// interpreter adds the node.
type Failure struct{ Reason string }

func (f *Failure) Error() string { return f.Reason }

// Fail ends the call.
func (c *Call) Fail(format string, args ...any) {
	panic(&Failure{fmt.Sprintf(format, args...)})
}

// Has reports whether input i is given.
func (c *Call) Has(i int) bool { return i < len(c.In) && c.In[i].Kind != Absent }

// Wants reports whether something uses result i.
func (c *Call) Wants(i int) bool { return i < len(c.Outputs) && c.Outputs[i] != "" }

// Value returns input i, which must be given.
func (c *Call) Value(i int) Value {
	if !c.Has(i) {
		c.Fail("input %d is missing", i)
	}
	return c.In[i]
}

// Tensor returns input i, which must be a tensor of numbers.
func (c *Call) Tensor(i int) tensor.Tensor {
	v := c.Value(i)
	if v.Kind != TensorKind {
		c.Fail("input %d is a %v, want a tensor of numbers", i, v)
	}
	return v.Tensor
}

// Ranked returns input i, which must have some number of axes at least.
func (c *Call) Ranked(i, axes int) tensor.Tensor {
	t := c.Tensor(i)
	if t.Rank() < axes {
		c.Fail("input %d has shape %v, want %d axes at least", i, t.Shape(), axes)
	}
	return t
}

// Tensors returns all inputs.
func (c *Call) Tensors() []tensor.Tensor {
	ts := make([]tensor.Tensor, len(c.In))
	for i := range ts {
		ts[i] = c.Tensor(i)
	}
	return ts
}

// numbers returns the elements of input i on the host.
func (c *Call) numbers(i int) (tensor.DType, []ir.Number) {
	t := c.Tensor(i)
	d := t.DType()
	b := c.Runner.Bytes(c.In[i])
	out := make([]ir.Number, t.Len())
	for j := range out {
		out[j] = ir.Decode(d, b[j*d.Size():])
	}
	return d, out
}

// Ints returns the elements of input i on the host: a shape, axes, positions. A plan is recorded for
// these values, or split where they are computed.
func (c *Call) Ints(i int) []int {
	d, ns := c.numbers(i)
	out := make([]int, len(ns))
	for j, n := range ns {
		out[j] = int(n.Int64(d))
		if d.IsFloat() {
			out[j] = int(n.Float64(d))
		}
	}
	return out
}

// Floats is Ints of numbers of any type.
func (c *Call) Floats(i int) []float64 {
	d, ns := c.numbers(i)
	out := make([]float64, len(ns))
	for j, n := range ns {
		out[j] = n.Float64(d)
	}
	return out
}

// Int64s returns the elements of input i on the host.
func (c *Call) Int64s(i int) []int64 {
	d, ns := c.numbers(i)
	out := make([]int64, len(ns))
	for j, n := range ns {
		out[j] = n.Int64(d)
	}
	return out
}

// Scalar returns the only element of input i on the host.
func (c *Call) Scalar(i int) float64 {
	x := c.Floats(i)
	if len(x) != 1 {
		c.Fail("input %d has shape %v, want one element", i, c.In[i].Dims())
	}
	return x[0]
}

// ScalarInt returns the only element of input i on the host.
func (c *Call) ScalarInt(i int) int {
	x := c.Ints(i)
	if len(x) != 1 {
		c.Fail("input %d has shape %v, want one element", i, c.In[i].Dims())
	}
	return x[0]
}

// Attr returns an attribute, nil if the node does not have it.
func (c *Call) Attr(name string) *proto.Attr {
	i := slices.IndexFunc(c.Attrs, func(a *proto.Attr) bool { return a.Name == name })
	if i < 0 {
		return nil
	}
	if a := c.Attrs[i]; a.Ref == "" {
		return a
	}
	return c.Frame[c.Attrs[i].Ref]
}

// Int returns an integer attribute, or its default.
func (c *Call) Int(name string, otherwise int) int {
	if a := c.Attr(name); a != nil {
		return int(a.I)
	}
	return otherwise
}

// Bool returns an integer attribute that is 0 or 1.
func (c *Call) Bool(name string, otherwise bool) bool {
	if a := c.Attr(name); a != nil {
		return a.I != 0
	}
	return otherwise
}

// Float returns a number attribute, or its default.
func (c *Call) Float(name string, otherwise float64) float64 {
	if a := c.Attr(name); a != nil {
		return float64(a.F)
	}
	return otherwise
}

// Number is Float of an attribute that is an integer in some versions.
func (c *Call) Number(name string, otherwise float64) float64 {
	if a := c.Attr(name); a != nil && (a.Type == proto.AttrInt || a.F == 0) {
		return float64(a.I)
	}
	return c.Float(name, otherwise)
}

// Choice returns a text attribute, the first of the choices by default. It fails for others.
func (c *Call) Choice(name string, choices ...string) string {
	s := c.String(name, choices[0])
	if !slices.Contains(choices, s) {
		c.Fail("there is no %s %q", name, s)
	}
	return s
}

// maxList is the greatest length of a list on the host that a number of a model asks for.
const maxList = 1 << 26

// perElement is the memory of an element of a list on the host, with a list of its own.
const perElement = 64

// Count returns n, the length of a list on the host, and fails if it is less than 0, huge, or more than
// the memory holds.
func (c *Call) Count(what string, n int) int {
	if n < 0 || n > maxList {
		c.Fail("%s of %d elements", what, n)
	}
	if err := hostmem.Check(n, perElement); err != nil {
		c.Fail("%s of %d elements: %v", what, n, err)
	}
	return n
}

// Aligned returns input 1 so that it broadcasts to input 0. Before version 7 an attribute says with which
// axis its first one is aligned.
func (c *Call) Aligned() tensor.Tensor {
	y := c.Tensor(1)
	if c.Domain != "" || c.Opset >= 7 || c.Attr("axis") == nil {
		return y
	}
	rank := c.Tensor(0).Rank()
	after := rank - c.Axis(c.Int("axis", 0), rank) - y.Rank()
	if after < 0 {
		c.Fail("axis is %d, for shapes %v and %v", c.Int("axis", 0), c.Tensor(0).Shape(), y.Shape())
	}
	return y.Reshape(append(y.Shape(), slices.Repeat([]int{1}, after)...)...)
}

// String returns a text attribute, or its default.
func (c *Call) String(name, otherwise string) string {
	if a := c.Attr(name); a != nil {
		return a.S
	}
	return otherwise
}

// Strings returns a list attribute of texts, nil if the node does not have it.
func (c *Call) Strings(name string) []string {
	if a := c.Attr(name); a != nil {
		return a.Strings
	}
	return nil
}

// IntsAttr returns a list attribute, nil if the node does not have it.
func (c *Call) IntsAttr(name string) []int {
	a := c.Attr(name)
	if a == nil {
		return nil
	}
	out := make([]int, len(a.Ints))
	for i, v := range a.Ints {
		out[i] = int(v)
	}
	return out
}

// IntsOr returns a list attribute, or n times a default.
func (c *Call) IntsOr(name string, n, otherwise int) []int {
	list := c.IntsAttr(name)
	switch {
	case len(list) == 0:
		return slices.Repeat([]int{otherwise}, n)
	case len(list) != n:
		c.Fail("%s is %v: want %d numbers", name, list, n)
	}
	return list
}

// IntsInputOrAttr returns a list that is input i, and was an attribute in older versions. ok is false
// if neither is given.
func (c *Call) IntsInputOrAttr(i int, name string) (list []int, ok bool) {
	if c.Has(i) {
		return c.Ints(i), true
	}
	return c.IntsAttr(name), c.Attr(name) != nil
}

// Graph returns a graph attribute.
func (c *Call) Graph(name string) *proto.Graph {
	a := c.Attr(name)
	if a == nil || a.G == nil {
		c.Fail("it has no graph %s", name)
	}
	return a.G
}

// Elem returns an attribute that is a type of elements, or its default. Before version 6 it is a name.
func (c *Call) Elem(name string, otherwise Elem) Elem {
	if s := c.String(name, ""); s != "" {
		i := slices.IndexFunc(elems[:], func(info elemInfo) bool { return strings.EqualFold(info.name, s) })
		if i < 0 {
			c.Fail("%s is %q, which is no type", name, s)
		}
		return Elem(i)
	}
	e := Elem(c.Int(name, int(otherwise)))
	if !e.Valid() {
		c.Fail("%s is %d, which is no type", name, int32(e))
	}
	return e
}

// DType returns the type of tensors that hold elements of type e.
func (c *Call) DType(e Elem) tensor.DType {
	d := e.DType()
	if d == 0 {
		c.Fail("tensors of %v are not supported here", e)
	}
	return d
}

// Axis resolves an axis of a tensor of a rank.
func (c *Call) Axis(axis, rank int) int {
	if axis < -rank || axis >= rank {
		c.Fail("axis %d of a tensor of rank %d", axis, rank)
	}
	if axis < 0 {
		axis += rank
	}
	return axis
}

// Axes resolves axes.
func (c *Call) Axes(axes []int, rank int) []int {
	out := make([]int, len(axes))
	for i, a := range axes {
		out[i] = c.Axis(a, rank)
		if slices.Contains(out[:i], out[i]) {
			c.Fail("the axes %v repeat %d", axes, a)
		}
	}
	return out
}

// Apply runs another operator of the same version on values and attributes, for compositions.
func (c *Call) Apply(f Func, in []Value, attrs ...*proto.Attr) []Value {
	d := *c
	d.In, d.Attrs = in, attrs
	return f(&d)
}
