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

// A hostStep computes a HostCall, or a Cast, on the host.
type hostStep struct {
	call
	device   *Device // that computes an operand without a value
	operands []operand
}

func (h *hostStep) run(_ *Journal, values []*graph.Node, _ []ir.Number) ([]*graph.Node, error) {
	data, err := onHost(h.device, h.node, among(values, h.operands))
	if err != nil {
		return nil, err
	}
	return []*graph.Node{h.result(data)}, nil
}

func (h *hostStep) placeholders() []*graph.Node { return []*graph.Node{h.result(nil)} }

func (h *hostStep) result(data []byte) *graph.Node {
	n := h.node
	return graph.Buffer(n.DType, n.Shape, &graph.Value{Store: FromHost(data), Strides: shape.RowMajor(n.Shape)})
}

func (h *hostStep) equal(s step) bool {
	o, ok := s.(*hostStep)
	return ok && h.node.Op == o.node.Op && h.node.DType == o.node.DType && slices.Equal(h.node.Shape, o.node.Shape) &&
		equalOperands(h.operands, o.operands) && (h.node.Op == ir.Cast || hostFunc(h.node).Same(hostFunc(o.node)))
}

func hostFunc(n *graph.Node) *graph.HostFunc { return n.Call().(*graph.HostFunc) }

// onHost returns the elements of a HostCall, or of a Cast, of computed operands.
func onHost(d *Device, n *graph.Node, src []*graph.Node) ([]byte, error) {
	in := make([]graph.HostArray, len(src))
	for i, s := range src {
		data, err := View(d, s)
		if err != nil {
			return nil, err
		}
		in[i] = graph.HostArray{DType: s.DType, Shape: s.Shape, Data: data}
	}
	out, err := Allocate(n.Len(), n.DType.Size())
	if err != nil {
		return nil, err
	}
	if n.Op == ir.Cast {
		return cast(out, n.DType, in[0]), nil
	}
	f := hostFunc(n)
	err = f.Run(graph.HostArray{DType: n.DType, Shape: n.Shape, Data: out}, in)
	if err != nil && !errors.Is(err, driver.ErrMemory) { // after which another try may succeed
		err = &HostError{f, err}
	}
	return out, err
}

// cast fills out with elements as another type.
func cast(out []byte, to ir.DType, in graph.HostArray) []byte {
	out = out[:0]
	for rest := in.Data; len(rest) > 0; rest = rest[in.DType.Size():] {
		out = ir.Decode(in.DType, rest).Convert(in.DType, to).Append(out, to)
	}
	return out
}

// A hostCast is a Cast of elements on the host from a type that the device lacks.
type hostCast struct {
	node, src *graph.Node
	value     *graph.Value // of node; its storage is empty until run
}

func newHostCast(n, src *graph.Node) hostCast {
	return hostCast{n, src, &graph.Value{Store: FromHost(nil), Strides: shape.RowMajor(n.Shape)}}
}

// run computes the Cast and gives the node its value.
func (x *hostCast) run(d *Device) error {
	out, err := onHost(d, x.node, []*graph.Node{x.src})
	if err != nil {
		return err
	}
	x.value.Store.(*storage).host = out
	x.node.SetValue(x.value)
	return nil
}

// castOnHost returns the node that a Cast of x converts on the host: x or, if x is an
// alias such as a copy to the device, the node that it stands for. It returns nil unless
// the elements are on the host, in row-major order and of a type that the device lacks.
func (c *capture) castOnHost(x *graph.Node) *graph.Node {
	if c.device == nil || c.device.limits.Has(x.DType) {
		return nil
	}
	src, v := c.state(x)
	for v == nil && isAlias(x) {
		x = src.At(0)
		src, v = c.state(x)
	}
	if v == nil || v.Err != nil || v.Store.(*storage).device != nil || !shape.IsRowMajor(x.Shape, v.Strides) {
		return nil
	}
	return x
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
		fmt.Fprintf(&text, "on the host: %s of", hostFunc(c.node).Op)
		for _, s := range c.src {
			fmt.Fprintf(&text, " %v %v", s.DType, s.Shape)
		}
		fmt.Fprintf(&text, "\n")
	}
	return text.String()
}
