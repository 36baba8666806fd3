package data

import (
	"fmt"
	"math"
	"sync"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/pytree"
	"github.com/tensorken/tensorken/tensor"
)

// Of returns the set of examples along axis 0 of the tensors in a tree; all have the
// same length there. Tensors are computed when first needed. Batches of tensors
// committed to a device are made on it, others on the host.
func Of[T any](t T) Set[T] {
	leaves, err := pytree.Flatten[tensor.Tensor](t)
	if err != nil {
		misuse("Of", err.Error(), fmt.Sprintf("a %T", t))
	}
	m := &memory[T]{tree: t, n: -1}
	for _, l := range leaves {
		column := column{tensor: l.Value}
		m.columns = append(m.columns, &column)
		if !l.Value.IsValid() {
			continue
		}
		switch shape := l.Value.Shape(); {
		case len(shape) == 0:
			misuse("Of", pytree.Title(l.Name)+" is a scalar: there is no axis 0", fmt.Sprintf("a %T", t))
		case m.n >= 0 && m.n != shape[0]:
			misuse("Of", fmt.Sprintf("%s has %d examples, those before it %d", pytree.Title(l.Name), shape[0], m.n), fmt.Sprintf("a %T", t))
		default:
			m.n = shape[0]
			column.shape = shape[1:]
		}
	}
	if m.n < 0 {
		misuse("Of", "it has no tensor", fmt.Sprintf("a %T", t))
	}
	return m
}

// A memory is a set with the rows of tensors as examples.
type memory[T any] struct {
	tree    T
	n       int
	columns []*column // one for each leaf of the tree
}

// A column is a leaf of the tree: one tensor with all examples.
type column struct {
	tensor tensor.Tensor // may be absent
	shape  []int         // of an example

	once sync.Once
	data []byte // on the host
	err  error
}

func (m *memory[T]) Len() int { return m.n }

func (m *memory[T]) At(i int) (t T, err error) {
	if i < 0 || i >= m.n {
		return t, outOfRange(i, m.n)
	}
	return m.build(func(c *column) (tensor.Tensor, error) {
		if c.tensor.Device() != nil {
			return c.tensor.At(i), nil
		}
		return c.gather([]int{i}, c.shape)
	})
}

func (m *memory[T]) batch(index []int) (t T, err error) {
	for _, i := range index {
		if i < 0 || i >= m.n {
			return t, outOfRange(i, m.n)
		}
	}
	return m.build(func(c *column) (tensor.Tensor, error) {
		if c.tensor.Device() != nil {
			return take(c.tensor, index), nil
		}
		return c.gather(index, append([]int{len(index)}, c.shape...))
	})
}

// build returns a tree with the leaf f(c) for each column c.
func (m *memory[T]) build(f func(c *column) (tensor.Tensor, error)) (t T, err error) {
	leaves := make([]tensor.Tensor, len(m.columns))
	for i, c := range m.columns {
		if !c.tensor.IsValid() {
			continue
		}
		if leaves[i], err = f(c); err != nil {
			return t, err
		}
	}
	return pytree.Rebuild(m.tree, leaves)
}

// take returns rows of a tensor, on its device. Consecutive rows are a view, whose
// offset is an argument of the compiled program.
func take(t tensor.Tensor, index []int) tensor.Tensor {
	consecutive := len(index) > 0
	for k, i := range index {
		consecutive = consecutive && i == index[0]+k
	}
	if consecutive {
		return t.Slice(0, index[0], index[0]+len(index))
	}
	return t.Take(0, indices(index, t.Dim(0)))
}

// indices returns the indices of rows among n as a tensor: of int32 if they fit, with which
// GPUs compute faster.
func indices(index []int, n int) tensor.Tensor {
	if n > math.MaxInt32 {
		return tensor.New(convert[int64](index))
	}
	return tensor.New(convert[int32](index))
}

func convert[E int32 | int64](index []int) []E {
	out := make([]E, len(index))
	for k, i := range index {
		out[k] = E(i)
	}
	return out
}

// gather copies rows to a new tensor on the host.
func (c *column) gather(index []int, shape []int) (tensor.Tensor, error) {
	size := graph.Len(c.shape)
	starts := make([]int, len(index))
	for k, i := range index {
		starts[k] = i * size
	}
	return c.rows(starts, size, shape)
}

// rows copies runs of n elements, each from its start on, to a new tensor on the host.
func (c *column) rows(starts []int, n int, shape []int) (tensor.Tensor, error) {
	c.once.Do(func() { c.data, c.err = tensor.Internal.Bytes(graph.Token{}, "Data", c.tensor) })
	if c.err != nil {
		return tensor.Tensor{}, c.err
	}
	size := c.tensor.DType().Size()
	data, err := tensor.Internal.Allocate(graph.Token{}, len(starts)*n*size)
	if err != nil {
		return tensor.Tensor{}, err
	}
	data = data[:0]
	for _, i := range starts {
		data = append(data, c.data[i*size:(i+n)*size]...)
	}
	return tensor.FromBytes(c.tensor.DType(), shape, data), nil
}

// stack makes a batch of examples on the host. Its other values come from the first
// example.
func stack[T any](examples []T) (batch T, err error) {
	if len(examples) == 0 {
		return batch, fmt.Errorf("a batch of no %T", batch)
	}
	var first []pytree.Leaf[tensor.Tensor]
	var columns [][]byte
	for k, e := range examples {
		leaves, err := pytree.Flatten[tensor.Tensor](e)
		if err != nil {
			return batch, err
		}
		if k == 0 {
			first, columns = leaves, make([][]byte, len(leaves))
		}
		if err := checkAlike(first, leaves); err != nil {
			return batch, fmt.Errorf("examples of one batch differ: %w", err)
		}
		for i, l := range leaves {
			if !l.Value.IsValid() {
				continue
			}
			data, err := tensor.Internal.Bytes(graph.Token{}, "Data", l.Value)
			if err != nil {
				return batch, err
			}
			columns[i] = append(columns[i], data...)
		}
	}
	out := make([]tensor.Tensor, len(first))
	for i, l := range first {
		if l.Value.IsValid() {
			shape := append([]int{len(examples)}, l.Value.Shape()...)
			out[i] = tensor.FromBytes(l.Value.DType(), shape, columns[i])
		}
	}
	return pytree.Rebuild(examples[0], out)
}

// checkAlike checks that an example has the leaves of the first.
func checkAlike(first, e []pytree.Leaf[tensor.Tensor]) error {
	if len(first) != len(e) {
		return fmt.Errorf("%d tensors and %d", len(first), len(e))
	}
	for i, l := range e {
		if f := first[i]; !sameLeaf(f, l) {
			return fmt.Errorf("%s and %s", describe(f), describe(l))
		}
	}
	return nil
}

// sameLeaf reports whether two leaves have the same name, and both are absent or of the
// same form.
func sameLeaf(a, b pytree.Leaf[tensor.Tensor]) bool {
	x, y, node := a.Value, b.Value, tensor.Internal.Node
	return a.Name == b.Name && x.IsValid() == y.IsValid() &&
		(!x.IsValid() || graph.SameForm(node(graph.Token{}, x), node(graph.Token{}, y)))
}

// describe returns the name, type and shape of a leaf.
func describe(l pytree.Leaf[tensor.Tensor]) string {
	if !l.Value.IsValid() {
		return pytree.Title(l.Name) + " absent"
	}
	return fmt.Sprintf("%s %v %v", pytree.Title(l.Name), l.Value.DType(), l.Value.Shape())
}
