package tensor

import (
	"bytes"
	"fmt"
	"slices"
	"unsafe"

	"github.com/tensorken/tensorken/internal/exec"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/mapped"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/internal/storage"
	"github.com/tensorken/tensorken/ir"
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

// FromBlocks returns a tensor of float32 elements stored in a quantized block format. The length of
// the last axis must be a multiple of the block length. FromBlocks takes b without a copy: do not change it afterwards.
func (internal) FromBlocks(_ graph.Token, op string, format ir.DType, lengths []int, b []byte) Tensor {
	s := slices.Clone(lengths)
	checkShape(op, s)
	f := format.Format()
	if len(s) == 0 || s[len(s)-1]%f.Len != 0 {
		fail(op, fmt.Sprintf("shape %v in %s: the last axis must have a multiple of %d elements", s, f.Name, f.Len))
	}
	if need := format.Bytes(graph.Len(s)); need != len(b) {
		fail(op, fmt.Sprintf("%s cannot make shape %v in %s, which needs %d", shape.Count(len(b), "byte"), s, f.Name, need))
	}
	return inFile(ir.Float32, s, format, nil, b)
}

// FromFile returns a tensor of elements, or of float32 in a block format, that are in a mapped file from an offset on. It
// reports false if the file does not have them there, or not as kernels read them: then they are read. It fails if the
// file was written since it was opened.
func (internal) FromFile(_ graph.Token, d DType, lengths []int, h *mapped.Handle, offset int64) (t Tensor, ok bool, err error) {
	file, err := h.Bytes()
	if err != nil {
		return t, false, err
	}
	// A vector of a wide factor that crosses a cache line costs a product as much as two. Narrow ones are packed first, and
	// blocks decoded.
	const line, word = 64, 8
	elements, format, align := d, DType(0), word
	switch {
	case d.Format() != nil:
		elements, format = ir.Float32, d
	case d.Size() >= 4:
		align = line
	}
	data := file.Slice(offset, d.Bytes(graph.Len(lengths)), align)
	if data == nil || d == Bool {
		return t, false, nil
	}
	s := slices.Clone(lengths)
	checkShape("FromFile", s)
	return inFile(elements, s, format, file, data), true, nil
}

// inFile returns a tensor of bytes of a mapped file, or of Go's memory if file is nil.
func inFile(d DType, s []int, format ir.DType, file *mapped.File, data []byte) Tensor {
	return Tensor{n: graph.Buffer(d, s, &graph.Value{Store: storage.FromFile(format, file, data), Strides: shape.RowMajor(s)})}
}

// MoveBlocks applies f, which may only select and reorder parts of equal length of an axis, to t. Quantized rows are passed
// as bytes: parts of the last axis must be whole blocks.
func (i internal) MoveBlocks(token graph.Token, op string, t Tensor, f func(Tensor) Tensor) Tensor {
	format, file, b := storage.Blocks(t.n)
	if b == nil {
		return f(t)
	}
	s := slices.Clone(t.n.Shape)
	s[len(s)-1] = format.Bytes(s[len(s)-1])
	moved := f(inFile(Uint8, s, 0, file, b))
	s = slices.Clone(moved.Shape())
	last := &s[len(s)-1]
	if *last%format.Format().Bytes != 0 {
		fail(op, fmt.Sprintf("a part of the last axis of %v in %s is not in whole blocks of %d elements", t.n.Shape, format.Format().Name, format.Format().Len))
	}
	*last = format.Elements(*last)
	data, err := moved.Bytes()
	if err != nil {
		panic(err)
	}
	return i.FromBlocks(token, op, format, s, data)
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
