package graph

import (
	"fmt"

	"github.com/tensorken/tensorken/ir"
)

// A HostFunc is the function of a HostCall: a Go function of whole tensors.
type HostFunc struct {
	Op   string // the operation for which errors are reported, such as "linalg.Solve"
	Key  any    // see HostCall
	site *CallSite

	// Run fills out from the operands. All operands and the result have the same leading
	// axes, for a batch, and one axis more, whose length the function knows. The
	// elements are little-endian and in row-major order; Run does not write the operands'.
	Run func(out HostArray, in []HostArray) error
}

// A HostArray is the elements of a tensor on the host.
type HostArray struct {
	DType ir.DType
	Shape []int
	Data  []byte
}

// Pos is the file and line of the call, as [Caller] gives it.
func (f *HostFunc) Pos() string { return f.site.Pos() }

// Same reports whether two functions are known to compute the same of equal operands.
func (f *HostFunc) Same(g *HostFunc) bool {
	return f == g || f.Key != nil && f.Key == g.Key && f.Op == g.Op
}

// HostCall is the result of a Go function of an operation. Its operands have one type and
// equal leading axes; the result has these axes, then one of a given length. Functions of
// one operation with equal keys, which are comparable, are interchangeable; one with a nil
// key is like no other.
func HostCall(op string, length int, key any, run func(out HostArray, in []HostArray) error, src ...*Node) *Node {
	first := src[0]
	for _, s := range src {
		if s.DType != first.DType || len(s.Shape) != len(first.Shape) || !ir.Table[ir.HostCall].Types.Has(s.DType) {
			panic(fmt.Sprintf("graph: HostCall of %v %v and %v %v", first.DType, first.Shape, s.DType, s.Shape))
		}
	}
	batch := first.Shape[:len(first.Shape)-1]
	n := makeNode(ir.HostCall, first.DType, append(batch[:len(batch):len(batch)], length), nil, src...)
	n.setCall(&HostFunc{op, key, NewCallSite(), run})
	return n
}
