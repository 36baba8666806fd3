package capture

import (
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/storage"
	"github.com/tensorken/tensorken/ir"
)

// A Layout has the properties of an argument that a plan depends on.
type Layout struct {
	DType     ir.DType
	Shape     []int
	Strides   []int
	Odd       int             // the offset, in elements, past a multiple of 16 bytes or of a block
	Stored    ir.DType        // of the elements in memory: DType or a format
	Untyped   bool            // it is an untyped constant, which takes the type of a tensor that it meets
	Device    *storage.Device // that has the elements; nil is the host
	Committed graph.Device    // that the argument is committed to; nil if to none
}

// LayoutOf returns the layout of a computed node. It shares the slices.
func LayoutOf(n *graph.Node) Layout {
	v := n.Value()
	return Layout{n.DType, n.Shape, v.Strides, odd(n, v), typeOf(n, v), n.IsUntyped(), storage.Of(v).Home(), n.Device}
}

// odd is how many elements the offset is past a multiple of 16 bytes.
func odd(n *graph.Node, v *graph.Value) int { return v.Offset % typeOf(n, v).Unit() }

func typeOf(n *graph.Node, v *graph.Value) ir.DType { return storage.Of(v).TypeOn(nil, n.DType) }

// IsOf reports whether a computed node has the layout; nil has the zero one.
func (l Layout) IsOf(n *graph.Node) bool {
	if n == nil {
		return l.Shape == nil && l.DType == 0
	}
	v := n.Value()
	return l.DType == n.DType && l.Untyped == n.IsUntyped() && l.Device == storage.Of(v).Home() && l.Committed == n.Device && l.Odd == odd(n, v) && l.Stored == typeOf(n, v) && slices.Equal(l.Shape, n.Shape) && slices.Equal(l.Strides, v.Strides)
}

// Placeholder returns a computed node without elements for arguments of a layout, in a graph
// to be recorded.
func (l Layout) Placeholder() *graph.Node {
	n := graph.Buffer(l.DType, l.Shape, &graph.Value{Store: storage.Placeholder(l.Device, l.Stored), Offset: l.Odd, Strides: l.Strides})
	n.Device = l.Committed
	if l.Untyped {
		n.AsUntyped()
	}
	return n
}

// A Structure is a graph without the values of its Scalars.
type Structure struct {
	Scalars []*graph.Node
	Values  []ir.Number // of the Scalars

	key     string
	leaves  []*storage.Storage
	offsets []int // of the leaves
}

// StructureOf returns the structure of the graph of roots. Nodes in given, the operands of the
// graph, have the values of placeholders.
func StructureOf(roots []*graph.Node, given map[*graph.Node]*graph.Value) Structure {
	c := NewBody(nil, roots, given, 0)
	defer c.Release()
	s := Structure{Scalars: c.scalarNodes(), Values: slices.Clone(c.Scalars), key: string(c.Key)}
	for i := range c.Leaves {
		s.leaves, s.offsets = append(s.leaves, c.Leaves[i].Stored), append(s.offsets, c.Leaves[i].View.Offset)
	}
	return s
}

// AppendValues appends the values of the Scalars of a graph that differs from the structure in these
// alone. It reports false for any other graph.
func (s *Structure) AppendValues(values []ir.Number, roots []*graph.Node) ([]ir.Number, bool) {
	c := NewBody(nil, roots, nil, 0)
	defer c.Release()
	same := string(c.Key) == s.key && len(c.Leaves) == len(s.leaves)
	for i := 0; same && i < len(s.leaves); i++ {
		l := &c.Leaves[i]
		same = l.View.Offset == s.offsets[i] && storage.Same(l.Stored, s.leaves[i])
	}
	return append(values, c.Scalars...), same
}
