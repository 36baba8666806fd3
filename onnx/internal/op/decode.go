package op

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/internal/mapped"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/onnx/internal/proto"
	"github.com/tensorken/tensorken/tensor"
)

// External finds size bytes, the elements of a tensor that are in another file.
type External func(place []proto.Pair, size int) (io.ReaderAt, int64, error)

// Decode returns a tensor of a file: where the file has its elements mapped, else they are read into memory that
// is allocated when the file is known to have them.
func Decode(t *proto.Tensor, external External) (v Value, err error) {
	if v, ok := t.Decoded.(Value); ok {
		return v, nil
	}
	dims, n, err := dimsOf(t.Dims)
	if err != nil {
		return v, err
	}
	e := Elem(t.Type)
	switch {
	case e == String && !t.Apart:
		if len(t.Strings) != n {
			return v, fmt.Errorf("it has %d strings, and shape %v", len(t.Strings), dims)
		}
		return Texts(t.Strings, dims...), nil
	case e.DType() == 0:
		return v, fmt.Errorf("tensors of %v are not supported", e)
	}
	src, at, err := find(t, e, n, external)
	if err != nil {
		return v, err
	}
	if h, ok := src.(*mapped.Handle); ok && !e.Narrow() {
		if x, ok, err := tensor.Internal.FromFile(graph.Token{}, e.DType(), dims, h, at); err != nil {
			return v, err
		} else if ok {
			return Known(Of(x)), nil
		}
	}
	b, err := bytesOf(t, e, n, src, at)
	if err != nil {
		return v, err
	}
	if e.Narrow() {
		if err := hostmem.Check(n, 2*e.DType().Size()); err != nil { // the values, and a tensor's copy
			return v, err
		}
		return Known(As(e, unpack(e, b, n, dims))), nil
	}
	return Known(Of(tensor.FromBytes(e.DType(), dims, b))), nil
}

// dimsOf returns the shape of a tensor and the number of its elements.
func dimsOf(list []int64) (dims []int, n int, err error) {
	if len(list) > shape.MaxFileRank {
		return nil, 0, fmt.Errorf("it has %d axes, want at most %d", len(list), shape.MaxFileRank)
	}
	dims = make([]int, 0, len(list)) // not nil, which tensor.New takes for one axis
	for _, d := range list {
		if d < 0 || int64(int(d)) != d {
			return nil, 0, fmt.Errorf("its shape is %v", list)
		}
		dims = append(dims, int(d))
	}
	if err := shape.Check(dims); err != nil {
		return nil, 0, fmt.Errorf("its shape is %v: %w", list, err)
	}
	return dims, graph.Len(dims), nil
}

// sizeOf is the size of n elements, in bytes.
func sizeOf(e Elem, n int) int { return (n*e.Bits() + 7) / 8 }

// find returns the place of the elements of a tensor, nil if they are in lists.
func find(t *proto.Tensor, e Elem, n int, external External) (src io.ReaderAt, at int64, err error) {
	switch size := sizeOf(e, n); {
	case t.Apart && external == nil:
		err = fmt.Errorf("its elements are in another file, which has no place here")
	case t.Apart:
		return external(t.External, size)
	case t.Raw != nil && t.Raw.Len != int64(size):
		err = fmt.Errorf("it has %d bytes, and %d elements of %v need %d", t.Raw.Len, n, e, size)
	case t.Raw == nil && int64(n) > 8*t.Bytes():
		err = fmt.Errorf("its file has fewer than %d elements", n)
	case t.Raw != nil:
		src, at = t.Raw.Place()
	}
	return src, at, err
}

// bytesOf reads the elements of a tensor as raw_data has them.
func bytesOf(t *proto.Tensor, e Elem, n int, src io.ReaderAt, at int64) ([]byte, error) {
	size := sizeOf(e, n)
	b, err := tensor.Internal.Allocate(graph.Token{}, size)
	switch {
	case err != nil:
	case src != nil:
		if err = readAll(src, b, at); err != nil {
			err = fmt.Errorf("%d bytes at %d could not be read: %w", size, at, err)
		}
	default:
		step := max(e.Bits()/8, 1)
		err = t.Numbers(size/step, func(i int, bits uint64) {
			var x [8]byte
			binary.LittleEndian.PutUint64(x[:], bits)
			copy(b[i*step:], x[:step])
		})
	}
	return b, err
}

func readAll(src io.ReaderAt, b []byte, at int64) error {
	if h, ok := src.(*mapped.Handle); ok {
		return h.ReadAll(b, at)
	}
	n, err := src.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	return err
}

// DecodeSparse reads a sparse tensor as a dense one.
func DecodeSparse(t *proto.Sparse, external External) (v Value, err error) {
	dims, n, err := dimsOf(t.Dims)
	if err != nil {
		return v, err
	}
	if t.Values == nil || t.Indices == nil {
		return v, fmt.Errorf("a sparse tensor lacks values or indices")
	}
	values, err := Decode(t.Values, external)
	if err != nil {
		return v, err
	}
	if values.Kind != TensorKind {
		return v, fmt.Errorf("a sparse tensor of %v", values.Elem)
	}
	indices, err := Decode(t.Indices, external)
	if err != nil {
		return v, err
	}
	if indices.Elem != Int64 {
		return v, fmt.Errorf("a sparse tensor has indices of type %v, want int64", indices.Elem)
	}
	at, err := tensor.Data[int64](indices.Tensor)
	if err != nil {
		return v, err
	}
	const limit = 1 << 28 // a sparse tensor may be small in its file and huge when it is dense
	if n > limit {
		return v, fmt.Errorf("a sparse tensor of shape %v has too many elements", dims)
	}
	size := values.Tensor.DType().Size()
	from, err := values.Tensor.Bytes()
	if err != nil {
		return v, err
	}
	to, err := hostmem.Make(n, size)
	if err != nil {
		return v, err
	}
	count := len(from) / size
	strides := shape.RowMajor(dims)
	for i := range count {
		pos, inside := int64(0), true
		switch {
		case len(at) == count:
			pos = at[i]
		case len(at) == count*len(dims):
			for a, s := range strides {
				p := at[i*len(dims)+a]
				inside = inside && p >= 0 && p < int64(dims[a])
				pos += p * int64(s)
			}
		default:
			return v, fmt.Errorf("a sparse tensor has %d values and indices of shape %v", count, indices.Dims())
		}
		if !inside || pos < 0 || pos >= int64(n) {
			return v, fmt.Errorf("a sparse tensor of shape %v has an index out of range", dims)
		}
		copy(to[int(pos)*size:], from[i*size:][:size])
	}
	return Known(As(values.Elem, tensor.FromBytes(values.Tensor.DType(), slices.Clone(dims), to))), nil
}
