package exec

import (
	"encoding/binary"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// A leaf is a view of stored elements.
type leaf struct {
	value   *graph.Value
	stored  *storage // value.Store; nil if the value failed
	view    shape.Strided
	shape   []int
	dtype   ir.DType
	number  int32
	donated bool       // a result may take the memory
	gone    *GoneError // what is known of the elements once a plan has run; nil if they stay
	keeps   bool       // steps that follow may read the elements
	memory  int32      // the first of the leaves with the same storage, if its memory is given away; else the leaf
}

// maxSearch is the number of first leaves that addLeaf searches for an equal one, so that
// n leaves take time proportional to n.
const maxSearch = 64

// addLeaf returns the number of n, a view of a stored value. A view equal to one of the
// first maxSearch leaves gets the number of that leaf. A view equal to a later leaf gets a
// number of its own, and its elements are read twice.
func (c *capture) addLeaf(n *graph.Node, v *graph.Value, view shape.Strided) int32 {
	stored, _ := v.Store.(*storage)
	for i := range c.leaves[:min(len(c.leaves), maxSearch)] {
		l := &c.leaves[i]
		if l.stored == stored && l.value.Err == v.Err && l.view.Offset == view.Offset &&
			slices.Equal(l.shape, n.Shape) && slices.Equal(l.view.Strides, view.Strides) {
			return l.number
		}
	}
	index := int32(len(c.leaves))
	l := leaf{v, stored, view, n.Shape, n.DType, c.add(n, nil, index), false, nil, c.keeps, index}
	if stored != nil && !c.keeps {
		l.gone = stored.donated.Load()
		l.donated = l.gone != nil && l.align() == 1
	}
	k := append(c.key, byte(ir.Buffer), byte(l.dtype), byte(l.align())|bit(l.donated)<<1|bit(l.gone != nil)<<2)
	if l.gone != nil {
		l.memory = c.firstOf(stored, index)
		k = binary.AppendUvarint(k, uint64(index-l.memory))
	}
	c.leaves = append(c.leaves, l)
	k = binary.AppendUvarint(k, uint64(len(l.shape)))
	for i, d := range l.shape {
		k = binary.AppendUvarint(k, uint64(d))
		if d != 1 && v.Err == nil { // no kernel uses other strides
			k = binary.AppendVarint(k, int64(view.Strides[i]))
		}
	}
	c.key = k
	return l.number
}

// firstOf returns the first leaf with a storage that is given away: index, if there was none.
func (c *capture) firstOf(s *storage, index int32) int32 {
	if c.first == nil {
		c.first = map[*storage]int32{}
	}
	if k, ok := c.first[s]; ok {
		return k
	}
	c.first[s] = index
	return index
}

// bit is 1 for true.
func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// bytes is the size of the leaf's elements, without gaps and repetitions.
func (l *leaf) bytes() int { return graph.Len(l.shape) * l.dtype.Size() }

// align is 1 if the leaf's offset is a multiple of 16 bytes.
func (l *leaf) align() int {
	if l.view.Offset*l.dtype.Size()%16 == 0 {
		return 1
	}
	return 0
}

// replace gives the leaf another value of the same layout.
func (l *leaf) replace(v *graph.Value) {
	l.view.Offset += v.Offset - l.value.Offset
	l.value = v
	l.stored, _ = v.Store.(*storage)
}

// donation returns why the leaf's elements will be gone after a plan that reads them, nil if they stay.
func (l *leaf) donation() *GoneError {
	e := l.stored.donated.Load()
	if e == nil {
		e = l.gone // as recorded
	}
	if l.keeps || e != nil && e.Replaced && !l.stored.ofStep {
		return nil
	}
	return e
}
