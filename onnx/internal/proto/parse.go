// Package proto reads the protobuf messages of ONNX. Read wire.go first.
//
// The reader is our own, 200 lines: google.golang.org/protobuf would copy the elements of every tensor
// out of the file, and its generated code for onnx.proto is larger than this module's whole reader. Here
// large fields are sections of the file, which the tensors read into aligned memory of their own; every
// count is bounded by the bytes of its message, and memory for messages is checked before it is taken.
package proto

import (
	"fmt"
	"io"

	"github.com/tensorken/tensorken/internal/files"
)

// Parse reads a model.
func Parse(src io.ReaderAt, size int64) (m *Model, err error) { return parse(src, size, model) }

// ParseTensor reads a TensorProto, as files of the test suite have it.
func ParseTensor(src io.ReaderAt, size int64) (*Tensor, error) { return parse(src, size, tensor) }

func parse[T any](src io.ReaderAt, size int64, f func(message) T) (x T, err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*parseError)
			if !ok {
				panic(r)
			}
			err = e.error
		}
	}()
	if err := files.Given(src); err != nil {
		return x, err
	}
	if size < 0 {
		return x, fmt.Errorf("%d bytes: want 0 or more", size)
	}
	return f(message{r: &reader{src: src, buf: make([]byte, 0, min(window, size))}, end: size}), nil
}

func model(m message) *Model {
	x := alloc[Model]()
	m.each(func(f field) {
		switch f.number {
		case 1:
			x.IRVersion = f.int()
		case 2:
			x.Producer = f.text()
		case 3:
			x.Version = f.text()
		case 4:
			x.Domain = f.text()
		case 6:
			x.Doc = f.text()
		case 7:
			x.Graph = graph(f.message())
		case 8:
			x.Opsets = add(x.Opsets, opset(f.message()))
		case 14:
			x.Metadata = add(x.Metadata, pair(f.message()))
		case 25:
			x.Functions = add(x.Functions, function(f.message()))
		}
	})
	return x
}

func (x field) message() message {
	x.want(wireBytes)
	return x.body
}

func opset(m message) (x Opset) {
	m.each(func(f field) {
		switch f.number {
		case 1:
			x.Domain = f.text()
		case 2:
			x.Version = f.int()
		}
	})
	return x
}

func pair(m message) (x Pair) {
	m.each(func(f field) {
		switch f.number {
		case 1:
			x.Key = f.text()
		case 2:
			x.Value = f.text()
		}
	})
	return x
}

func graph(m message) *Graph {
	x := alloc[Graph]()
	m.each(func(f field) {
		switch f.number {
		case 1:
			x.Nodes = add(x.Nodes, node(f.message()))
		case 2:
			x.Name = f.text()
		case 5:
			x.Initializers = add(x.Initializers, tensor(f.message()))
		case 11:
			x.Inputs = add(x.Inputs, info(f.message()))
		case 12:
			x.Outputs = add(x.Outputs, info(f.message()))
		case 13:
			x.Infos = add(x.Infos, info(f.message()))
		case 15:
			x.Sparse = add(x.Sparse, sparse(f.message()))
		}
	})
	return x
}

func node(m message) *Node {
	x := alloc[Node]()
	m.each(func(f field) {
		switch f.number {
		case 1:
			x.Inputs = add(x.Inputs, f.text())
		case 2:
			x.Outputs = add(x.Outputs, f.text())
		case 3:
			x.Name = f.text()
		case 4:
			x.Op = f.text()
		case 5:
			x.Attrs = add(x.Attrs, attr(f.message()))
		case 7:
			x.Domain = f.text()
		case 8:
			x.Overload = f.text()
		}
	})
	return x
}

func attr(m message) *Attr {
	x := alloc[Attr]()
	m.each(func(f field) {
		switch f.number {
		case 1:
			x.Name = f.text()
		case 2:
			x.F = f.float()
		case 3:
			x.I = f.int()
		case 4:
			x.S = f.text()
		case 5:
			x.T = tensor(f.message())
		case 6:
			x.G = graph(f.message())
		case 7:
			x.Floats = f.floats(x.Floats)
		case 8:
			x.Ints = f.ints(x.Ints)
		case 9:
			x.Strings = add(x.Strings, f.text())
		case 10:
			x.Tensors = add(x.Tensors, tensor(f.message()))
		case 11:
			x.Graphs = add(x.Graphs, graph(f.message()))
		case 14:
			x.TP = typ(f.message())
		case 20:
			x.Type = f.int()
		case 21:
			x.Ref = f.text()
		case 22:
			x.Sparse = sparse(f.message())
		}
	})
	return x
}

// listSizes has the bytes of a number of the lists of a TensorProto, by field.
var listSizes = map[int]int{4: 4, 5: 0, 7: 0, 10: 8, 11: 0}

func tensor(m message) *Tensor {
	x := alloc[Tensor]()
	m.each(func(f field) {
		switch f.number {
		case 1:
			x.Dims = f.ints(x.Dims)
		case 2:
			x.Type = f.int()
		case 4, 5, 7, 10, 11:
			l := List{Size: listSizes[f.number], One: f.value}
			if f.wire == wireBytes {
				l.Section = f.sectionPointer()
			}
			x.Lists = add(x.Lists, l)
		case 6:
			x.Strings = add(x.Strings, f.text())
		case 8:
			x.Name = f.text()
		case 9:
			x.Raw = f.sectionPointer()
		case 13:
			x.External = add(x.External, pair(f.message()))
		case 14:
			x.Apart = f.int() == 1
		}
	})
	return x
}

func sparse(m message) *Sparse {
	x := alloc[Sparse]()
	m.each(func(f field) {
		switch f.number {
		case 1:
			x.Values = tensor(f.message())
		case 2:
			x.Indices = tensor(f.message())
		case 3:
			x.Dims = f.ints(x.Dims)
		}
	})
	return x
}

func info(m message) *ValueInfo {
	x := alloc[ValueInfo]()
	m.each(func(f field) {
		switch f.number {
		case 1:
			x.Name = f.text()
		case 2:
			x.Type = typ(f.message())
		}
	})
	return x
}

func typ(m message) *Type {
	x := alloc[Type]()
	m.each(func(f field) {
		switch f.number {
		case KindTensor, KindSequence, KindMap, KindSparse, KindOptional:
			x.Kind = f.number
			innerType(f.message(), x)
		}
	})
	return x
}

// innerType reads the type of elements: fields 1 and 2 of a TypeProto's kinds.
func innerType(m message, x *Type) {
	m.each(func(f field) {
		tensors := x.Kind == KindTensor || x.Kind == KindSparse
		switch {
		case f.number == 1 && tensors:
			x.Elem = f.int()
		case f.number == 2 && tensors:
			x.HasShape = true
			f.message().each(func(f field) {
				if f.number == 1 {
					x.Dims = add(x.Dims, dim(f.message()))
				}
			})
		case f.number == 1 && x.Kind == KindMap:
			x.Key = f.int()
		case f.number == 1 || f.number == 2:
			x.Inner = typ(f.message())
		}
	})
}

func dim(m message) Dim {
	x := Dim{Value: -1}
	m.each(func(f field) {
		switch f.number {
		case 1:
			x.Value = f.int()
		case 2:
			x.Param = f.text()
		}
	})
	return x
}

func function(m message) *Function {
	x := alloc[Function]()
	m.each(func(f field) {
		switch f.number {
		case 1:
			x.Name = f.text()
		case 4:
			x.Inputs = add(x.Inputs, f.text())
		case 5:
			x.Outputs = add(x.Outputs, f.text())
		case 6:
			x.Attrs = add(x.Attrs, f.text())
		case 7:
			x.Nodes = add(x.Nodes, node(f.message()))
		case 9:
			x.Opsets = add(x.Opsets, opset(f.message()))
		case 10:
			x.Domain = f.text()
		case 11:
			x.Defaults = add(x.Defaults, attr(f.message()))
		case 13:
			x.Overload = f.text()
		}
	})
	return x
}

// A ListValue is a SequenceProto or an OptionalProto.
type ListValue struct {
	Tensors []*Tensor
	Lists   []*ListValue
}

// ParseList reads a SequenceProto or an OptionalProto.
func ParseList(src io.ReaderAt, size int64) (*ListValue, error) { return parse(src, size, listValue) }

func listValue(m message) *ListValue {
	x := alloc[ListValue]()
	m.each(func(f field) {
		switch f.number {
		case 3:
			x.Tensors = add(x.Tensors, tensor(f.message()))
		case 5, 7:
			x.Lists = add(x.Lists, listValue(f.message()))
		}
	})
	return x
}
