package tensor

import (
	"bytes"
	"fmt"
	"slices"
	"unsafe"

	"github.com/tensorken/tensorken/internal/exec"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
)

// FromBytes returns a tensor of elements of type d in row-major order, little-endian. A
// bool is a byte, 0 for false. It panics with an [*Error] if b does not have as many bytes
// as the shape needs. For scalars, shape is empty.
//
// FromBytes takes b without a copy: do not change it afterwards. Two kinds of data are
// copied, because the CPU could not use them: elements that are not aligned to their size,
// and bools other than 0 and 1. FromBytes is for readers of files; [New] takes slices of
// elements.
func FromBytes(d DType, lengths []int, b []byte) Tensor {
	if !d.Valid() {
		fail("FromBytes", "no such type as "+d.String())
	}
	s := slices.Clone(lengths)
	checkShape("FromBytes", s)
	if need := graph.Len(s) * d.Size(); need != len(b) {
		fail("FromBytes", fmt.Sprintf("%s cannot make shape %v of %v, which needs %d", shape.Count(len(b), "byte"), s, d, need))
	}
	switch {
	case uintptr(unsafe.Pointer(unsafe.SliceData(b)))%uintptr(d.Size()) != 0:
		b = append(allocate("FromBytes", len(b), Uint8)[:0], b...)
	case d == Bool && !areBools(b):
		b = append(allocate("FromBytes", len(b), Uint8)[:0], b...)
		for i, x := range b {
			b[i] = min(x, 1)
		}
	}
	return newStored(d, s, b)
}

// areBools reports whether all bytes are 0 or 1.
func areBools(b []byte) bool { return bytes.Count(b, []byte{0})+bytes.Count(b, []byte{1}) == len(b) }

// Bytes returns t's elements in row-major order, little-endian, as [FromBytes] takes them.
// It computes t if necessary; see [Eval] for the errors.
//
// Do not change the bytes. On the CPU they are t's own memory if t is stored in row-major
// order, which is true of all results except views; otherwise they are a copy. They stay
// valid without t. [Data] returns a copy, which the caller may change.
func (t Tensor) Bytes() ([]byte, error) { return t.read("Bytes", exec.View) }
