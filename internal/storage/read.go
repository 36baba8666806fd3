package storage

import (
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
)

// Read returns a computed node's elements in row-major order, little-endian.
func Read(n *graph.Node) (out []byte, err error) {
	s := n.Value().Store.(*Storage)
	err = s.file.Guard(func() (err error) {
		out, err = s.readOf(n)
		return err
	})
	return out, err
}

func (s *Storage) readOf(n *graph.Node) ([]byte, error) {
	v, size := n.Value(), n.DType.Size()
	out, err := Allocate(n.Len(), size)
	if err != nil {
		return nil, err
	}
	if len(out) == 0 {
		return out, nil
	}
	first, last := v.Offset, v.Offset // the range of elements that the view covers
	for i, stride := range v.Strides {
		if stride > 0 {
			last += stride * (n.Shape[i] - 1)
		} else {
			first += stride * (n.Shape[i] - 1)
		}
	}
	rowMajor := shape.IsRowMajor(n.Shape, v.Strides)
	data := out
	if s.format != 0 {
		data, at, err := s.decoded(first, last+1)
		if err != nil {
			return nil, err
		}
		gather(out, data, n.Shape, v.Strides, v.Offset-at, size)
		return out, nil
	}
	if s.device == nil {
		data = s.host[first*size : (last+1)*size]
	} else {
		if !rowMajor {
			if data, err = Allocate(last+1-first, size); err != nil {
				return nil, err
			}
		}
		if err := s.download(data, first*size); err != nil {
			return nil, err
		}
	}
	if !rowMajor {
		gather(out, data, n.Shape, v.Strides, v.Offset-first, size)
	} else if s.device == nil {
		copy(out, data)
	}
	return out, nil
}

// View is Read without a copy where the elements are in Go's memory and in
// row-major order. The caller does not write them.
func View(n *graph.Node) ([]byte, error) {
	v := n.Value()
	s := v.Store.(*Storage)
	if n.Len() == 0 || s.format != 0 || s.file != nil || !shape.IsRowMajor(n.Shape, v.Strides) {
		return Read(n)
	}
	var data []byte
	var err error
	if s.device == nil {
		data = s.host
	} else if data, err = s.view(); err != nil {
		return nil, err
	}
	if data == nil {
		return Read(n)
	}
	first, end := v.Offset*n.DType.Size(), (v.Offset+n.Len())*n.DType.Size()
	return data[first:end:end], nil
}

// SameElements reports whether two computed nodes are known to have the same elements: if they
// are views alike of one storage, or of equal ones on the host.
func SameElements(a, b *graph.Node) bool {
	v, w := a.Value(), b.Value()
	return v.Err == nil && w.Err == nil && v.Offset == w.Offset && a.DType == b.DType && slices.Equal(a.Shape, b.Shape) &&
		slices.Equal(v.Strides, w.Strides) && Same(Of(v), Of(w))
}

// gather copies elements at strides to row-major order.
func gather(dst, src []byte, dims, strides []int, offset, size int) {
	if len(dims) == 0 {
		copy(dst, src[offset*size:][:size])
		return
	}
	inner, step := dims[len(dims)-1], strides[len(dims)-1]*size
	index := make([]int, len(dims)-1)
	for len(dst) > 0 {
		at := offset
		for k, i := range index {
			at += strides[k] * i
		}
		at *= size
		for range inner {
			copy(dst[:size], src[at:])
			dst = dst[size:]
			at += step
		}
		for k := len(index) - 1; k >= 0; k-- {
			if index[k]++; index[k] < dims[k] {
				break
			}
			index[k] = 0
		}
	}
}

// StoreApart stores computed nodes as a plan stores results that differ: each has a buffer
// of its own, in row-major order from the start. So a plan that reads them has the key of
// one that reads such results in their place. It copies constants, which store one element,
// views, and the elements that a plan found equal and stored once.
func StoreApart(nodes []*graph.Node) error {
	owner := map[graph.Store]*graph.Node{}
	for _, n := range nodes {
		v := n.Value()
		if n.Len() == 0 || owner[v.Store] == n {
			continue
		}
		if owner[v.Store] == nil && Of(v).format == 0 && v.Offset == 0 && shape.IsRowMajor(n.Shape, v.Strides) {
			owner[v.Store] = n
			continue
		}
		data, err := Read(n)
		if err != nil {
			return err
		}
		s := &Storage{host: data}
		if d := Of(v).device; d != nil {
			if s, err = d.store(data); err != nil {
				return d.Failed(err)
			}
		}
		n.MoveValue(&graph.Value{Store: s, Strides: shape.RowMajor(n.Shape)})
		owner[s] = n
	}
	return nil
}

// store returns a storage of host data on the device.
func (d *Device) store(data []byte) (*Storage, error) {
	d.Queue.Lock()
	defer d.Queue.Unlock()
	on, err := d.upload(data, nil)
	if err != nil {
		return nil, err
	}
	return on.storage(nil), nil
}
