package exec

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// A HostError is the failure of a HostCall on the elements that it was given.
type HostError struct {
	Func *graph.HostFunc
	Err  error
}

func (e *HostError) Error() string { return e.Func.Op + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *HostError) Unwrap() error { return e.Err }

// A call is a node of a capture that no plan computes: a HostCall or a Recur.
type call struct {
	node *graph.Node
	src  []*graph.Node
}

// addCall notes a call and returns the number of n, a result of it, which becomes a leaf
// without elements.
func (c *capture) addCall(of, n *graph.Node, src graph.Operands) int32 {
	if !slices.ContainsFunc(c.calls, func(x call) bool { return x.node == of }) {
		c.calls = append(c.calls, call{of, src.Append(nil)})
	}
	strides := shape.RowMajor(n.Shape)
	return c.addLeaf(n, &graph.Value{Store: FromHost(nil), Strides: strides}, shape.Strided{Strides: strides})
}

// runCalls computes the operands of calls, all in one plan, and then the calls.
func (d *Device) runCalls(calls []call) error {
	if len(calls) == 0 {
		return nil
	}
	var operands []*graph.Node
	for i := range calls {
		if calls[i].node.Op == ir.Recur {
			calls[i].storeCarries()
		}
		operands = append(operands, calls[i].src...)
	}
	if err := Eval(d, operands); err != nil {
		return err
	}
	for i := range calls {
		c := &calls[i]
		if c.isDone() {
			continue
		}
		run := c.runHost
		if c.node.Op == ir.Recur {
			run = c.runRecurrence
		}
		if err := run(d); err != nil {
			return err
		}
	}
	return nil
}

// isDone reports whether the call has run, for another one that reads it.
func (c *call) isDone() bool {
	v := c.node.Value()
	if v == nil || v.Err != nil || c.node.Op != ir.Recur {
		return v != nil
	}
	return len(v.Store.(*bundle).values) == len(graph.RecurrenceOf(c.node).Results())
}

// runHost computes a HostCall and gives the node its value.
func (c *call) runHost(d *Device) error {
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

// explainCalls returns the plans of the calls' operands, and what each call does.
func explainCalls(def *Device, calls []call) string {
	var text strings.Builder
	for i := range calls {
		c := &calls[i]
		text.WriteString(Explain(def, c.src))
		if c.node.Op == ir.Recur {
			text.WriteString(explainRecurrence(def, c))
			continue
		}
		fmt.Fprintf(&text, "on the host: %s of", c.node.Call().(*graph.HostFunc).Op)
		for _, s := range c.src {
			fmt.Fprintf(&text, " %v %v", s.DType, s.Shape)
		}
		fmt.Fprintf(&text, "\n")
	}
	return text.String()
}
