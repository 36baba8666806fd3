package capture

import (
	"encoding/binary"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/internal/storage"
	"github.com/tensorken/tensorken/ir"
)

// A Leaf is a view of stored elements.
type Leaf struct {
	Value   *graph.Value
	Stored  *storage.Storage // Value.Store; nil if the value failed
	View    shape.Strided
	shape   []int
	DType   ir.DType // in memory: a format, or the type of the nodes
	number  int32
	Donated bool               // a result may take the memory
	gone    *storage.GoneError // the error of later reads, once a plan has run; nil if the elements stay
	keeps   bool               // steps that follow may read the elements
	memory  int32              // the first of the leaves with the same storage, if its memory is given away; else the leaf
	before  int32              // the number from 1 of the leaf before with the same storage; 0: none
}

// maxSearch is the number of views of a storage that addLeaf searches for an equal one, so that
// n leaves take time proportional to n.
const maxSearch = 64

// addLeaf returns the number of n, a view of a stored value. A view equal to one of the last maxSearch leaves of its
// storage gets the number of that leaf. Otherwise it gets a number of its own, and its elements are read twice.
func (c *Capture) addLeaf(n *graph.Node, v *graph.Value, view shape.Strided) int32 {
	stored := storage.Of(v)
	last := c.views[stored]
	for at, left := last, maxSearch; at > 0 && left > 0; left-- {
		l := &c.Leaves[at-1]
		if l.Value.Err == v.Err && l.View.Offset == view.Offset && slices.Equal(l.shape, n.Shape) && slices.Equal(l.View.Strides, view.Strides) {
			return l.number
		}
		at = l.before
	}
	index := int32(len(c.Leaves))
	c.views[stored] = index + 1
	typ := stored.TypeOn(c.device, n.DType)
	l := Leaf{v, stored, view, n.Shape, typ, c.add(n, nil, index), false, nil, c.Keeps, index, last}
	if stored != nil && !c.Keeps {
		l.gone = stored.Donated()
		l.Donated = l.gone != nil && l.align() == 1 && typ == n.DType
	}
	k := append(c.Key, byte(ir.Buffer), byte(l.DType), l.align()|bit(l.Donated)<<1|bit(l.gone != nil)<<2)
	if l.gone != nil {
		l.memory = c.firstOf(stored, index)
		k = binary.AppendUvarint(k, uint64(index-l.memory))
	}
	c.Leaves = append(c.Leaves, l)
	k = binary.AppendUvarint(k, uint64(len(l.shape)))
	for i, d := range l.shape {
		k = binary.AppendUvarint(k, uint64(d))
		if d != 1 && v.Err == nil { // no kernel uses other strides
			k = binary.AppendVarint(k, int64(view.Strides[i]))
		}
	}
	c.Key = k
	return l.number
}

// firstOf returns the first leaf with a storage that is given away: index, if there was none.
func (c *Capture) firstOf(s *storage.Storage, index int32) int32 {
	if c.first == nil {
		c.first = map[*storage.Storage]int32{}
	}
	if k, ok := c.first[s]; ok {
		return k
	}
	c.first[s] = index
	return index
}

// LeafMemory returns, by leaf, the first of the leaves in the same memory; nil if none is given away.
func (c *Capture) LeafMemory() []int {
	if len(c.first) == 0 {
		return nil
	}
	memory := make([]int, len(c.Leaves))
	for i := range c.Leaves {
		memory[i] = int(c.Leaves[i].memory)
	}
	return memory
}

// bit is 1 for true.
func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// Bytes is the size of the leaf's elements, without gaps and repetitions.
func (l *Leaf) Bytes() int { return l.DType.Bytes(graph.Len(l.shape)) }

// align is 1 if the leaf's offset is a multiple of 16 bytes, or of a block.
func (l *Leaf) align() byte { return bit(l.DType.Aligned(l.View.Offset)) }

// Replace gives the leaf another value of the same layout.
func (l *Leaf) Replace(v *graph.Value) {
	l.View.Offset += v.Offset - l.Value.Offset
	l.Value = v
	l.Stored = storage.Of(v)
}

// Donation returns why the leaf's elements will be gone after a plan that reads them, nil if they stay.
func (l *Leaf) Donation() *storage.GoneError {
	e := l.Stored.Donated()
	if e == nil {
		e = l.gone // as recorded
	}
	if l.keeps || e != nil && e.Replaced && !l.Stored.OfStep {
		return nil
	}
	return e
}

// Donated returns the storages of leaves that are donated.
func (c *Capture) Donated() (list []*storage.Storage) {
	for i := range c.Leaves {
		if s := c.Leaves[i].Stored; s != nil && s.Donated() != nil {
			list = append(list, s)
		}
	}
	return list
}

// FreeDonated frees the leaves whose memory a plan may have had. A leaf that a transaction returns
// unchanged, as returns says, is kept.
func (c *Capture) FreeDonated(returns []bool) {
	for i := range c.Leaves {
		if e := c.Leaves[i].Donation(); e != nil && !(e.Replaced && i < len(returns) && returns[i]) {
			c.Leaves[i].Stored.Free(e)
		}
	}
}

// IsGone reports whether a leaf is gone.
func (c *Capture) IsGone() bool {
	return slices.ContainsFunc(c.Leaves, func(l Leaf) bool { return l.Stored != nil && l.Stored.IsGone() })
}
