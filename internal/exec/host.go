package exec

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
)

// A HostError is the failure of a HostCall on the elements that it was given.
type HostError struct {
	Func *graph.HostFunc
	Err  error
}

func (e *HostError) Error() string { return e.Func.Op + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *HostError) Unwrap() error { return e.Err }

// A hostCall is a HostCall of a capture.
type hostCall struct {
	node *graph.Node
	src  []*graph.Node
}

// addHostCall returns the number of n, a HostCall, which becomes a leaf without elements.
func (c *capture) addHostCall(n *graph.Node, src graph.Operands) int32 {
	c.calls = append(c.calls, hostCall{n, src.Append(nil)})
	strides := shape.RowMajor(n.Shape)
	return c.addLeaf(n, &graph.Value{Store: FromHost(nil), Strides: strides}, shape.Strided{Strides: strides})
}

// runHostCalls computes the operands of HostCalls, all in one plan, and then the calls.
func (d *Device) runHostCalls(calls []hostCall) error {
	if len(calls) == 0 {
		return nil
	}
	var operands []*graph.Node
	for i := range calls {
		operands = append(operands, calls[i].src...)
	}
	if err := Eval(d, operands); err != nil {
		return err
	}
	for i := range calls {
		if err := calls[i].run(d); err != nil {
			return err
		}
	}
	return nil
}

// run computes the call and gives the node its value.
func (c *hostCall) run(d *Device) error {
	n, f := c.node, c.node.Call().(*graph.HostFunc)
	in := make([]graph.HostArray, len(c.src))
	for i, s := range c.src {
		data, err := View(d, s)
		if err != nil {
			return err
		}
		in[i] = graph.HostArray{DType: s.DType, Shape: s.Shape, Data: data}
	}
	out, err := Allocate(n.Len(), n.DType.Size())
	if err != nil {
		return err
	}
	switch err := f.Run(graph.HostArray{DType: n.DType, Shape: n.Shape, Data: out}, in); {
	case errors.Is(err, driver.ErrMemory):
		return err // another try may succeed
	case err != nil:
		err = &HostError{f, err}
		n.SetValue(&graph.Value{Err: err})
		return err
	}
	n.SetValue(&graph.Value{Store: FromHost(out), Strides: shape.RowMajor(n.Shape)})
	return nil
}

// explainHostCalls returns the plans of the calls' operands, and a line for each call.
func explainHostCalls(def *Device, calls []hostCall) string {
	var text strings.Builder
	for i := range calls {
		c := &calls[i]
		text.WriteString(Explain(def, c.src))
		fmt.Fprintf(&text, "on the host: %s of", c.node.Call().(*graph.HostFunc).Op)
		for _, s := range c.src {
			fmt.Fprintf(&text, " %v %v", s.DType, s.Shape)
		}
		fmt.Fprintf(&text, "\n")
	}
	return text.String()
}
