package graph

import (
	"fmt"
	"sync/atomic"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/ir"
)

// A HostFunc is the function of a HostCall: a Go function of whole tensors, or a kernel of the user's.
type HostFunc struct {
	Op   string // the operation for which errors are reported, such as "linalg.Solve"
	Key  any    // see HostCall
	site *CallSite
	made int64 // the number of functions before

	// Run fills out from the operands. The elements are little-endian and in row-major order; Run
	// does not write the operands'.
	Run func(out HostArray, in []HostArray) error

	// Again says that a backward pass which computes its own function again, see grad.Checkpoint, computes this one again
	// too, rather than hold an argument that is a view of the result.
	Again bool

	Kernel     *Kernel    // nil for a Go function alone
	Collective Collective // nil for a function of one process
}

// A Collective is a HostFunc that devices with collectives of their own compute in their memory.
type Collective interface {
	// Ready reports whether all ranks compute calls by devices of their own from now on, as d is one. It does not wait.
	Ready(d driver.Collective) bool
	// Join begins a call: it reports whether all ranks compute it by such devices, as d is one. It may wait
	// for the other ranks. In a plan the caller holds d's queue, so no other rank may need d.
	Join(d driver.Collective) (bool, error)
	// Start, after each Join, starts to fill out from the operands. The caller holds the device's queue.
	Start(d driver.Collective, out DeviceArray, in []DeviceArray) error
	// Fail, after a Join without a Start, says why, to the other ranks too: they wait for this one.
	Fail(err error)
}

// A DeviceArray is the elements of a tensor on a device, in row-major order.
type DeviceArray struct {
	DType ir.DType
	Shape []int
	driver.Arg
}

// A Kernel is a HostFunc in the languages of devices. A device whose language it lacks calls Run.
type Kernel struct {
	Texts map[string]string // by language
	ir.RawKernel
	// Batch makes the node for a batch from operands with the examples along a new first axis; nil
	// if the kernel has no rule.
	Batch func(src []*Node) *Node
}

// A HostArray is the elements of a tensor on the host.
type HostArray struct {
	DType ir.DType
	Shape []int
	Data  []byte
}

// Pos is the file and line of the call, as [Caller] gives it.
func (f *HostFunc) Pos() string { return f.site.Pos() }

// OrderOf is greater for a HostCall that was made later, and 0 for other nodes: calls that can run run in this order,
// for ranks make equal collectives in one order.
func OrderOf(n *Node) int64 {
	if f, ok := n.Call().(*HostFunc); ok {
		return f.made
	}
	return 0
}

// made counts the functions.
var made atomic.Int64

// Same reports whether two functions are known to compute the same of equal operands.
func (f *HostFunc) Same(g *HostFunc) bool {
	return f == g || f.Key != nil && f.Key == g.Key && f.Op == g.Op
}

// HostCall is the result of a Go function of an operation. Its operands have one real type and
// equal leading axes; the result has these axes, then one of a given length. Functions of
// one operation with equal keys, which are comparable, are interchangeable; one with a nil
// key is like no other.
func HostCall(op string, length int, key any, run func(out HostArray, in []HostArray) error, src ...*Node) *Node {
	first := src[0]
	for _, s := range src {
		if s.DType != first.DType || len(s.Shape) != len(first.Shape) || s.DType != ir.Float32 && s.DType != ir.Float64 {
			panic(fmt.Sprintf("graph: HostCall of %v %v and %v %v", first.DType, first.Shape, s.DType, s.Shape))
		}
	}
	batch := first.Shape[:len(first.Shape)-1]
	return KernelCall(&HostFunc{Op: op, Key: key, Run: run}, first.DType, append(batch[:len(batch):len(batch)], length), src...)
}

// KernelCall is the result, of a type and shape, of a function that no other node has.
func KernelCall(f *HostFunc, d ir.DType, shape []int, src ...*Node) *Node {
	f.site, f.made = NewCallSite(), made.Add(1)
	n := makeNode(ir.HostCall, d, shape, nil, src...)
	n.setCall(f)
	return n
}

// CollectiveIn returns a collective of a graph to be compiled, like n, with its number in the plan.
func CollectiveIn(n *Node, number int) *Node {
	c := makeNode(ir.HostCall, n.DType, n.Shape, []int{number})
	c.RematLevel = n.RematLevel
	return c
}

// KernelOf is the function of a node if it is a kernel of the user's, else nil.
func KernelOf(n *Node) *HostFunc {
	if f, ok := n.Call().(*HostFunc); ok && f.Kernel != nil {
		return f
	}
	return nil
}
