package tensor

import (
	"fmt"
	"math"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// An indexMode says which tensors of an indexing are broadcast to each other, and where
// their axes are in the result.
type indexMode struct {
	broadcasts func(specItem) bool
	inFront    bool // even if the tensors are next to each other
}

var (
	inPlaceIfAdjacent = indexMode{broadcasts: func(specItem) bool { return true }}
	outer             = indexMode{broadcasts: func(specItem) bool { return false }}
	inFront           = indexMode{broadcasts: func(s specItem) bool { return !s.isMask() }, inFront: true}
)

// A selection says which elements of a region an indexing with tensors selects. The region's
// axes from the first to the last that has a tensor are one merged axis, along which a
// tensor of row-major positions, the sum of the terms, selects. So the region is not copied.
type selection struct {
	op          string
	region      []int // its shape
	first, last int   // the merged axes are from first up to but not including last
	axes        []resultAxis
	terms       []indexTerm
}

// A resultAxis is an axis of the result.
type resultAxis struct {
	length int
	kind   axisKind
	from   int // ofRegion: the region's axis
}

type axisKind uint8

const (
	ofRegion axisKind = iota
	ofTensor
	ofNothing // NewAxis
)

// An indexTerm is a tensor of positions along axes of the region.
type indexTerm struct {
	index *graph.Node
	item  specItem
	over  []int // for each axis of index, the result's axis along which it varies
}

// tensorIndices returns the indices that each item stands for, nil for one that is no
// tensor, the shape to which tensors are broadcast, and whether its axes come first. It
// computes masks.
func (x *indexing) tensorIndices(mode indexMode) (indices []*graph.Node, common []int, ahead bool) {
	indices = make([]*graph.Node, len(x.items))
	var joint []int // the items that are broadcast, counted without scalars
	scalars := 0    // tensors without axes, which are as ints
	for _, i := range x.tensors() {
		item := x.items[i]
		indices[i] = item.tensor
		if item.isMask() {
			indices[i] = maskPositions(x.op, item.tensor)
		}
		if len(indices[i].Shape) == 0 {
			scalars++
			continue
		}
		if !mode.broadcasts(item) {
			continue
		}
		s, ok := shape.Broadcast(common, indices[i].Shape)
		if !ok {
			fail(x.op, fmt.Sprintf("tensors of indices do not broadcast: %v and %v", common, indices[i].Shape), x.x)
		}
		common, joint = s, append(joint, i-scalars)
	}
	return indices, common, len(joint) > 0 && (mode.inFront || joint[len(joint)-1]-joint[0] >= len(joint))
}

// newSelection returns the elements that the tensors of x select, and the axes of the
// result.
func newSelection(x *indexing, mode indexMode) *selection {
	l := &selection{op: x.op, region: x.regionShape()}
	indices, common, ahead := x.tensorIndices(mode)
	start := -1 // of the axes of joint tensors
	if ahead {
		start = l.addTensorAxes(common)
	}
	for i, item := range x.items {
		switch {
		case item.tensor == nil && item.rank == 0:
			l.axes = append(l.axes, resultAxis{1, ofNothing, 0})
		case item.tensor == nil:
			l.axes = append(l.axes, resultAxis{l.region[item.axis], ofRegion, item.axis})
		case mode.broadcasts(item):
			rank := len(indices[i].Shape)
			if start < 0 && rank > 0 {
				start = l.addTensorAxes(common)
			}
			l.addTerm(indices[i], item, start+len(common)-rank)
		default:
			l.addTerm(indices[i], item, l.addTensorAxes(indices[i].Shape))
		}
	}
	if at := x.tensors(); len(at) > 0 {
		last := x.items[at[len(at)-1]]
		l.first, l.last = x.items[at[0]].axis, last.axis+last.rank
	}
	checkLen(x.op, l.shape(), x.x)
	return l
}

// addTensorAxes adds axes of lengths s, and returns the position of the first.
func (l *selection) addTensorAxes(s []int) int {
	start := len(l.axes)
	for _, n := range s {
		l.axes = append(l.axes, resultAxis{n, ofTensor, 0})
	}
	return start
}

// addTerm adds a term for an item. The axes of index are the result's axes starting at start.
func (l *selection) addTerm(index *graph.Node, item specItem, start int) {
	over := make([]int, len(index.Shape))
	for i := range over {
		over[i] = start + i
	}
	l.terms = append(l.terms, indexTerm{index, item, over})
}

// shape is the shape of the result.
func (l *selection) shape() []int { return l.lengths(shape.All(len(l.axes))) }

// lengths returns the lengths of axes of the result.
func (l *selection) lengths(axes []int) []int {
	s := make([]int, len(axes))
	for i, a := range axes {
		s[i] = l.axes[a].length
	}
	return s
}

// own returns the axes of the result but for new ones.
func (l *selection) own() []int {
	return l.where(func(a resultAxis) bool { return a.kind != ofNothing })
}

// gathered returns them in the order in which they are gathered: before the merged axis,
// selected from it, and after it.
func (l *selection) gathered() []int {
	before := l.where(func(a resultAxis) bool { return a.kind == ofRegion && a.from < l.first })
	after := l.where(func(a resultAxis) bool { return a.kind == ofRegion && a.from >= l.last })
	return slices.Concat(before, l.selected(), after)
}

// selected returns the axes of the result that run along the merged axis.
func (l *selection) selected() []int {
	return l.where(func(a resultAxis) bool {
		return a.kind == ofTensor || a.kind == ofRegion && l.first <= a.from && a.from < l.last
	})
}

func (l *selection) where(f func(resultAxis) bool) []int {
	var axes []int
	for i, a := range l.axes {
		if f(a) {
			axes = append(axes, i)
		}
	}
	return axes
}

// merged returns the shape of the region with a length for the merged axis.
func (l *selection) merged(n int) []int {
	return slices.Concat(l.region[:l.first], []int{n}, l.region[l.last:])
}

// width is the length of the merged axis.
func (l *selection) width() int { return graph.Len(l.region[l.first:l.last]) }

// stride is the distance, in positions of the merged axis, between neighbours along axes
// that end before axis end.
func (l *selection) stride(end int) float64 { return float64(graph.Len(l.region[end:l.last])) }

// positions returns the positions of the selected axes on the merged axis, as a tensor
// with one axis, and the site of errors for them.
func (l *selection) positions() (*graph.Node, *graph.IndexSite) {
	selected := l.selected()
	s := l.lengths(selected)
	n := []int{graph.Len(s)}
	if t := l.terms[0]; len(l.terms) == 1 && len(selected) == len(t.over) {
		if t.item.isMask() {
			return t.index, graph.NewIndexSite(l.op, t.index.Shape)
		}
		return graph.Reshape(fromEnd(t.index, l.width()), n), fromEndSite(l.op, t.index)
	}
	d := ir.Int32
	if l.width() > math.MaxInt32 {
		d = ir.Int64
	}
	sum := graph.Const(d, 0, s)
	for _, t := range l.terms {
		var axes []int
		for _, a := range t.over {
			axes = append(axes, slices.Index(selected, a))
		}
		i := scaled(graph.Cast(l.checked(t), d), l.stride(t.item.axis+t.item.rank))
		sum = add(sum, spreadAxes(i, axes, s))
	}
	for i, a := range selected {
		if axis := l.axes[a]; axis.kind == ofRegion {
			sum = add(sum, scaled(position(s, i, d), l.stride(axis.from+1)))
		}
	}
	return graph.Reshape(sum, n), graph.NewIndexSite(l.op, n)
}

// checked returns the int32 positions of a term. They come from a table, so that one that
// is out of range is found although sums of positions may be in range.
func (l *selection) checked(t indexTerm) *graph.Node {
	if t.item.isMask() {
		return t.index
	}
	n := l.region[t.item.axis]
	checkPositions(l.op, t.index, n)
	flat := graph.Reshape(fromEnd(t.index, n), []int{t.index.Len()})
	table := graph.Gather(graph.Iota([]int{n}, 0), flat, 0)
	return graph.Reshape(graph.At(fromEndSite(l.op, t.index), table), t.index.Shape)
}
