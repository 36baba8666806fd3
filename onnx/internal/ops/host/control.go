// Package host has the operators that decide on the host: control flow, sequences, strings, and results
// whose shape depends on elements. A table of each file lists its operators. Read control.go first.
package host

import (
	"math"
	"slices"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/onnx/internal/proto"
	"github.com/tensorken/tensorken/tensor"
)

// T is a tensor.
type T = tensor.Tensor

// Control has the operators that run graphs.
var Control = []op.Row{
	op.New("Gradient", op.Many(gradient)).Of("ai.onnx.preview.training").Replays(),
	op.New("If", branch),
	op.New("Loop", loop),
	op.New("Scan", scanBatches).To(8),
	op.New("Scan", scan).From(9),
	op.New("SequenceMap", sequenceMap),
}

// truth returns the only element of input i.
func truth(c *op.Call, v op.Value) bool {
	d := *c
	d.In = []op.Value{v}
	return d.Scalar(0) != 0
}

func branch(c *op.Call) []op.Value {
	if truth(c, c.Value(0)) {
		return c.Runner.Body(c.Graph("then_branch"), nil)
	}
	return c.Runner.Body(c.Graph("else_branch"), nil)
}

// loop runs its body up to a number of times, while a condition holds. The body has the number of the
// iteration, the condition and the carried values, and returns the condition, the carried values and
// elements of the results, which are stacked.
func loop(c *op.Call) []op.Value {
	body := c.Graph("body")
	limit := math.MaxInt
	if c.Has(0) {
		limit = c.ScalarInt(0)
	}
	going := op.Known(op.Of(tensor.OnesOf(tensor.Bool)))
	if c.Has(1) {
		going = c.Value(1)
	}
	carried := c.In[min(2, len(c.In)):]
	stacks := make([][]op.Value, max(len(body.Outputs)-1-len(carried), 0))
	for i := 0; i < limit && truth(c, going); i++ {
		in := append([]op.Value{op.KnownInts([]int{i}), going}, carried...)
		out := c.Runner.Body(body, in)
		if len(out) < 1+len(carried) {
			c.Fail("its graph has %d results, want %d at least", len(out), 1+len(carried))
		}
		going, carried = out[0], out[1:1+len(carried)]
		for k, v := range out[1+len(carried):] {
			stacks[k] = append(stacks[k], v)
		}
	}
	results := append([]op.Value{}, carried...)
	for k, list := range stacks {
		results = append(results, stack(c, list, 0, body.Outputs[1+len(carried)+k]))
	}
	return results
}

// gradient returns the derivatives of the sum of attribute y by the inputs that attribute xs names; those
// that zs names have the values of the other inputs.
func gradient(c *op.Call) []T {
	y, xs, zs := c.String("y", ""), c.Strings("xs"), c.Strings("zs")
	if len(xs) == 0 || len(xs)+len(zs) != len(c.In) {
		c.Fail("it has %d inputs, and xs and zs have %d and %d names", len(c.In), len(xs), len(zs))
	}
	return grad.Of(func(in []T) T {
		with := map[string]op.Value{}
		for i, name := range xs {
			with[name] = op.Of(in[i])
		}
		for i, name := range zs {
			with[name] = c.Value(len(xs) + i)
		}
		v := c.Runner.Again(y, with)
		if v.Kind != op.TensorKind {
			c.Fail("y is %q, %v, want a tensor that nodes before compute", y, v)
		}
		return v.Tensor.Sum()
	})(c.Tensors()[:len(xs)])
}

// stack joins tensors of one shape along a new axis. Of no tensors it has the declared type and shape.
func stack(c *op.Call, list []op.Value, axis int, as *proto.ValueInfo) op.Value {
	if len(list) > 0 {
		return c.Apply(op.Move(func(d *op.Call) T { return tensor.Stack(axis, d.Tensors()...) }), list)[0]
	}
	s := []int{0}
	if as.Type == nil || as.Type.Kind != proto.KindTensor {
		c.Fail("result %q has no iterations and no type", as.Name)
	}
	for _, d := range as.Type.Dims {
		s = append(s, int(max(d.Value, 0)))
	}
	e := op.Elem(as.Type.Elem)
	if e == op.String {
		return op.Texts(nil, s...)
	}
	return op.Known(op.As(e, tensor.ZerosOf(c.DType(e), s...)))
}

// scan runs its body for each element along an axis of the scanned inputs, which follow the states.
func scan(c *op.Call) []op.Value {
	body := c.Graph("body")
	scanned := c.Int("num_scan_inputs", 0)
	states := len(c.In) - scanned
	if scanned < 1 || states < 0 {
		c.Fail("num_scan_inputs is %d, and it has %d inputs", scanned, len(c.In))
	}
	results := len(body.Outputs) - states
	inAxes, inBack := c.IntsOr("scan_input_axes", scanned, 0), c.IntsOr("scan_input_directions", scanned, 0)
	outAxes, outBack := c.IntsOr("scan_output_axes", results, 0), c.IntsOr("scan_output_directions", results, 0)
	return scanOver(c, body, c.In[:states], c.In[states:], inAxes, inBack, outAxes, outBack)
}

func scanOver(c *op.Call, body *proto.Graph, states, scanned []op.Value, inAxes, inBack, outAxes, outBack []int) []op.Value {
	n := -1
	for i, v := range scanned {
		inAxes[i] = c.Axis(inAxes[i], v.Tensor.Rank())
		if length := v.Tensor.Dim(inAxes[i]); n >= 0 && n != length {
			c.Fail("scanned inputs have %d and %d elements", n, length)
		} else {
			n = length
		}
	}
	stacks := make([][]op.Value, len(body.Outputs)-len(states))
	for step := range n {
		in := append([]op.Value{}, states...)
		for i, v := range scanned {
			at := step
			if inBack[i] == 1 {
				at = n - 1 - step
			}
			x := op.As(v.Elem, v.Tensor.Select(inAxes[i], at))
			if v.IsKnown() {
				x = op.Known(x)
			}
			in = append(in, x)
		}
		out := c.Runner.Body(body, in)
		states = out[:len(states)]
		for k, v := range out[len(states):] {
			if stacks[k] = append(stacks[k], v); outBack[k] == 1 {
				copy(stacks[k][1:], stacks[k])
				stacks[k][0] = v
			}
		}
	}
	results := append([]op.Value{}, states...)
	for k, list := range stacks {
		axis := outAxes[k]
		if axis < 0 && len(list) > 0 {
			axis += list[0].Tensor.Rank() + 1
		}
		results = append(results, stack(c, list, axis, body.Outputs[len(states)+k]))
	}
	return results
}

// scanBatches is the form of version 8: inputs have a batch first, and a length for each of it. Results after the end of
// a sequence are 0.
func scanBatches(c *op.Call) []op.Value {
	body := c.Graph("body")
	scanned := c.Int("num_scan_inputs", 0)
	states := len(c.In) - 1 - scanned
	if scanned < 1 || states < 0 {
		c.Fail("num_scan_inputs is %d, and it has %d inputs", scanned, len(c.In))
	}
	in := c.In[1:]
	results := len(body.Outputs) - states
	last := in[len(in)-1].Tensor
	lengths := slices.Repeat([]int{last.Dim(1)}, last.Dim(0))
	if c.Has(0) {
		lengths = c.Ints(0)
	}
	if len(lengths) != last.Dim(0) || len(lengths) > 0 && (slices.Min(lengths) < 0 || slices.Max(lengths) > last.Dim(1)) {
		c.Fail("sequence_lens are %v, for a batch of %d and %d elements", lengths, last.Dim(0), last.Dim(1))
	}
	var all [][]op.Value
	for b, n := range lengths {
		row := make([]op.Value, len(in))
		for i, v := range in {
			x := v.Tensor.Select(0, b)
			if i >= states {
				x = x.Slice(0, 0, n)
			}
			row[i] = op.As(v.Elem, x)
		}
		zeros := func(n int) []int { return make([]int, n) }
		out := scanOver(c, body, row[:states], row[states:], zeros(scanned), c.IntsOr("directions", scanned, 0), zeros(results), zeros(results))
		for k, v := range out[states:] {
			out[states+k] = op.As(v.Elem, v.Tensor.Pad(0, 0, last.Dim(1)-n))
		}
		all = append(all, out)
	}
	out := make([]op.Value, len(body.Outputs))
	for k := range out {
		var list []op.Value
		for _, r := range all {
			list = append(list, r[k])
		}
		out[k] = stack(c, list, 0, body.Outputs[k])
	}
	return out
}

// sequenceMap runs its body for each element of the first sequence, and elements of further ones.
func sequenceMap(c *op.Call) []op.Value {
	body := c.Graph("body")
	first := c.Value(0)
	out := make([]op.Value, len(body.Outputs))
	for k, info := range body.Outputs {
		out[k] = op.Value{Kind: op.SequenceKind}
		if info.Type != nil {
			out[k].Elem = op.Elem(info.Type.Elem)
		}
	}
	for i := range first.Sequence {
		in := make([]op.Value, len(c.In))
		for j, v := range c.In {
			if in[j] = v; v.Kind == op.SequenceKind {
				if i >= len(v.Sequence) {
					c.Fail("input %d has %d elements, and the first has %d", j, len(v.Sequence), len(first.Sequence))
				}
				in[j] = v.Sequence[i]
			}
		}
		for k, v := range c.Runner.Body(body, in) {
			out[k].Sequence, out[k].Elem = append(out[k].Sequence, v), v.Elem
		}
	}
	return out
}
