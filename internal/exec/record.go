package exec

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// A Layout is what a plan depends on of an argument.
type Layout struct {
	DType     ir.DType
	Shape     []int
	Strides   []int
	Odd       int          // the offset, in elements, past a multiple of 16 bytes
	Untyped   bool         // it is an untyped constant, which takes the type of what it meets
	Device    graph.Device // that has the elements; nil is the host
	Committed graph.Device // that the argument is committed to; nil if to none
}

// LayoutOf returns the layout of a computed node. It shares the slices.
func LayoutOf(n *graph.Node) Layout {
	v := n.Value()
	l := Layout{DType: n.DType, Shape: n.Shape, Strides: v.Strides, Odd: odd(n, v), Untyped: n.IsUntyped(), Committed: n.Device}
	if v.Store != nil {
		l.Device = v.Store.Device()
	}
	return l
}

// odd is how many elements the offset is past a multiple of 16 bytes.
func odd(n *graph.Node, v *graph.Value) int { return v.Offset % (16 / min(16, n.DType.Size())) }

// IsOf reports whether a computed node has the layout; nil has the zero one.
func (l Layout) IsOf(n *graph.Node) bool {
	if n == nil {
		return l.Shape == nil && l.DType == 0
	}
	v := n.Value()
	var d graph.Device
	if v.Store != nil {
		d = v.Store.Device()
	}
	return l.DType == n.DType && l.Untyped == n.IsUntyped() && l.Device == d && l.Committed == n.Device && l.Odd == odd(n, v) && slices.Equal(l.Shape, n.Shape) && slices.Equal(l.Strides, v.Strides)
}

// Placeholder returns a computed node without elements for arguments of a layout, in a graph
// to be recorded.
func (l Layout) Placeholder() *graph.Node {
	s := &storage{}
	if l.Device != nil {
		s.device = l.Device.(*Device)
	}
	n := graph.Buffer(l.DType, l.Shape, &graph.Value{Store: s, Offset: l.Odd, Strides: l.Strides})
	n.Device = l.Committed
	if l.Untyped {
		n.AsUntyped()
	}
	return n
}

// A Recording is the program of a graph, made once for arguments of certain layouts. It runs
// without the graph being made again. Any number of goroutines may run it.
type Recording struct {
	program
	device *Device // that computes nodes committed to none
}

// Record makes the program of the graph of roots. Args are of [Layout.Placeholder], or nil;
// numbers are Scalars of the graph whose values Run gets. For old see [Step]: it has the
// arguments that the first roots replace, nil for none. Groups has numbers of roots: first
// come those whose memory is freed together, group by group.
func Record(def *Device, args, numbers, roots, old []*graph.Node, groups []int) (*Recording, error) {
	r := &Recording{device: def}
	b := newBuilder(&r.program, len(args), new(builder))
	b.replayed, b.numbers, b.slabs = true, numbers, map[*graph.Node]int{}
	for i, n := range args {
		if n != nil {
			b.index[n.Value().Store] = i
		}
	}
	first := 0
	for k, n := range groups {
		for _, root := range roots[first : first+n] {
			b.slabs[root] = cmp.Or(b.slabs[root], k+1)
		}
		first += n
	}
	return r, b.record(def, roots, old)
}

// Run computes the roots for arguments of the layouts that were recorded. It returns a
// computed node for each.
func (r *Recording) Run(j *Journal, args []*graph.Node, numbers []ir.Number) ([]*graph.Node, error) {
	results, err := r.run(j, args, numbers)
	if region := graph.CurrentRegion(); region != nil && err == nil {
		r.note(region, args, results)
	}
	return results, failure(r.device, err)
}

// note notes in a region what a run has stored for its results.
func (r *Recording) note(region *graph.Region, args, results []*graph.Node) {
	before := map[*storage]bool{}
	for _, n := range args {
		if n != nil {
			before[storageOf(n.Value())] = true
		}
	}
	for i, n := range results {
		if r.results[i].number >= 0 && !before[storageOf(n.Value())] {
			noteStored(region, n.Value())
		}
	}
}

// Repeats reports whether other arguments, numbers, roots and old for [Record] are of the
// same graph: one that differs in the values of numbers alone, and in leaves on the host
// that have equal elements.
func (r *Recording) Repeats(args, numbers, roots, old []*graph.Node) bool {
	again, err := Record(r.device, args, numbers, roots, old, nil)
	return err == nil && r.equal(&again.program)
}

// sameStorage reports whether two storages are one, or on the host with equal elements.
func sameStorage(s, t *storage) bool {
	if s == t {
		return true
	}
	return s != nil && t != nil && s.device == nil && t.device == nil && bytes.Equal(s.host, t.host)
}

// SameElements reports whether two computed nodes are known to have the same elements: if
// they are views alike of one storage, or of equal ones on the host.
func SameElements(a, b *graph.Node) bool {
	v, w := a.Value(), b.Value()
	if v.Err != nil || w.Err != nil || v.Offset != w.Offset || a.DType != b.DType || !slices.Equal(a.Shape, b.Shape) || !slices.Equal(v.Strides, w.Strides) {
		return false
	}
	s, _ := v.Store.(*storage)
	t, _ := w.Store.(*storage)
	return sameStorage(s, t)
}

// A Structure is a graph without the values of its Scalars.
type Structure struct {
	key     string
	leaves  []*storage
	offsets []int // of the leaves
	Scalars []*graph.Node
}

// StructureOf returns the structure of the graph of roots. Nodes in given, the operands of the
// graph, have the values of placeholders.
func StructureOf(roots []*graph.Node, given map[*graph.Node]*graph.Value) Structure {
	c := newBody(nil, roots, given, 0)
	defer c.release()
	s := Structure{key: string(c.key), Scalars: c.scalarNodes()}
	for i := range c.leaves {
		s.leaves, s.offsets = append(s.leaves, c.leaves[i].stored), append(s.offsets, c.leaves[i].view.Offset)
	}
	return s
}

// Equal reports whether two graphs differ in the values of Scalars alone.
func (s Structure) Equal(t Structure) bool {
	return s.key == t.key && slices.Equal(s.offsets, t.offsets) && slices.EqualFunc(s.leaves, t.leaves, sameStorage)
}
