package exec

import (
	"errors"
	"fmt"
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
