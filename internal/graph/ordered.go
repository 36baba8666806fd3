package graph

import (
	"fmt"
	"math"
	"slices"

	"github.com/tensorken/tensorken/ir"
)

// Scan combines each element of x, by kind, with all before it along an axis.
func Scan(kind ir.Op, x *Node, axis int) *Node {
	if !ir.Table[ir.Scan].Types.Has(x.DType) {
		panic(fmt.Sprintf("graph: Scan of %v", x.DType))
	}
	n := makeNode(ir.Scan, x.DType, x.Shape, []int{axis}, x)
	n.Kind = kind
	return n
}

// Sort is the positions, along an axis of x, of the first count elements in ascending
// order; equal elements are in the order of their positions.
func Sort(x *Node, axis, count int) *Node {
	if d := x.Shape[axis]; !ir.Table[ir.Sort].Types.Has(x.DType) || count < 0 || count > d || d > math.MaxInt32 {
		panic(fmt.Sprintf("graph: Sort of %v %v: %d along axis %d", x.DType, x.Shape, count, axis))
	}
	shape := slices.Clone(x.Shape)
	shape[axis] = count
	return makeNode(ir.Sort, ir.Int32, shape, []int{axis}, x)
}
