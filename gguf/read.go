package gguf

import (
	"fmt"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/tensor"
)

// DType returns the type of the tensor that is read: float32, if its type is quantised.
func (t Info) DType() tensor.DType { return types[t.Type].dtype }

// Len returns the number of elements.
func (t Info) Len() int { return graph.Len(t.Shape) }

// Type returns the type and its name.
func (e entry) Type() (tensor.DType, string) { return e.DType(), e.Info.Type.String() }

// Shape returns the lengths of the axes.
func (e entry) Shape() []int { return e.Info.Shape }

// Read returns the elements where the file has them mapped, else it reads them. Blocks stay as they are in the file.
func (e entry) Read() (tensor.Tensor, error) {
	d, f := e.DType(), types[e.Info.Type].block
	if f != nil {
		d = f.DType()
	}
	if t, ok, err := tensor.Internal.FromFile(graph.Token{}, d, e.Info.Shape, e.file, e.Offset); ok || err != nil {
		return t, err
	}
	data, err := tensor.Internal.Allocate(graph.Token{}, e.Bytes)
	if err == nil {
		err = e.file.ReadAll(data, e.Offset)
	}
	if err != nil {
		return tensor.Tensor{}, err
	}
	if f != nil {
		return tensor.Internal.FromBlocks(graph.Token{}, "gguf", f.DType(), e.Info.Shape, data), nil
	}
	return tensor.FromBytes(e.DType(), e.Info.Shape, data), nil
}

// Raw reads the bytes of a tensor as they are in the file.
func (f *File) Raw(name string) ([]byte, error) {
	e, ok := f.tensors[name]
	if !ok {
		return nil, fail(f.path, fmt.Errorf("there is no tensor named %q", name))
	}
	b, err := hostmem.Make(e.Bytes, 1)
	if err == nil {
		err = e.file.ReadAll(b, e.Offset)
	}
	if err != nil {
		return nil, fail(f.path, fmt.Errorf("%q: %w", name, err))
	}
	return b, nil
}

// Verify reads a tensor and returns the fault of its elements, or "": a scale of a block, or an
// element, is a NaN or infinite.
func (f *File) Verify(name string) (fault string, err error) {
	b, err := f.Raw(name)
	if err != nil {
		return "", err
	}
	t := f.tensors[name].Info
	if format := types[t.Type].block; format != nil {
		if i := format.NotFinite(b); i >= 0 {
			return fmt.Sprintf("a scale of block %d, at byte %d of the file, is not finite", i, t.Offset+int64(i*format.Bytes)), nil
		}
		return "", nil
	}
	if !t.DType().IsFloat() || len(b) == 0 {
		return "", nil
	}
	x, err := tensor.Data[float32](tensor.FromBytes(t.DType(), []int{t.Len()}, b).Sub(tensor.FromBytes(t.DType(), []int{t.Len()}, b)).Cast(tensor.Float32))
	if err != nil {
		return "", err
	}
	for i, v := range x {
		if v != 0 {
			return fmt.Sprintf("element %d, at byte %d of the file, is not finite", i, t.Offset+int64(i*t.DType().Size())), nil
		}
	}
	return "", nil
}

// Size returns the size of the elements in a file, in bytes, by type and shape.
func (t Info) Size() int { return t.Type.bytes(t.Len()) }
