package onnx

import (
	"fmt"
	"io"

	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/onnx/internal/proto"
)

// ReadValue reads a value of n bytes, as the data of ONNX's tests has it: a TensorProto, or for an input
// or result of another type a SequenceProto or an OptionalProto.
func ReadValue(src io.ReaderAt, n int64, as Info) (Value, error) {
	v, err := readValue(src, n, as.typ)
	if err != nil {
		return Value{}, fmt.Errorf("onnx: a value of %q: %w", as.Name, err)
	}
	return v, nil
}

func readValue(src io.ReaderAt, n int64, as *proto.Type) (Value, error) {
	if as == nil || as.Kind == proto.KindTensor || as.Kind == 0 {
		t, err := proto.ParseTensor(src, n)
		if err != nil {
			return Value{}, err
		}
		v, err := op.Decode(t, nil)
		return op.Given(v), err
	}
	list, err := proto.ParseList(src, n)
	if err != nil {
		return Value{}, err
	}
	return given(list, as)
}

// given returns a sequence or an optional of a file.
func given(list *proto.ListValue, as *proto.Type) (Value, error) {
	var vs []Value
	for _, t := range list.Tensors {
		v, err := op.Decode(t, nil)
		if err != nil {
			return Value{}, err
		}
		vs = append(vs, op.Given(v))
	}
	for _, l := range list.Lists {
		v, err := given(l, as.Inner)
		if err != nil {
			return Value{}, err
		}
		vs = append(vs, v)
	}
	if as.Kind == proto.KindOptional {
		if len(vs) == 0 {
			return Value{}, nil
		}
		return vs[0], nil
	}
	var e op.Elem
	if as.Inner != nil {
		e = op.Elem(as.Inner.Elem)
	}
	return op.Sequence(e, vs...), nil
}

// WriteValue writes a value as [ReadValue] reads it.
func WriteValue(w io.Writer, v Value, as Info) error {
	var err error
	if as.typ == nil || as.typ.Kind == proto.KindTensor || as.typ.Kind == 0 {
		err = proto.EncodeTensor(w, &proto.Tensor{Name: as.Name, Decoded: v}, op.Encode)
	} else {
		err = proto.EncodeList(w, listOf(v, as.typ), op.Encode)
	}
	if err != nil {
		return fmt.Errorf("onnx: a value of %q: %w", as.Name, err)
	}
	return nil
}

// listOf is the inverse of given.
func listOf(v Value, as *proto.Type) *proto.ListValue {
	l := &proto.ListValue{}
	items := v.Sequence
	if as != nil && as.Kind == proto.KindOptional {
		if items = []Value{v}; v.Kind == op.Absent {
			items = nil
		}
	}
	for _, x := range items {
		if x.Kind == op.SequenceKind {
			l.Lists = append(l.Lists, listOf(x, as.Inner))
		} else {
			l.Tensors = append(l.Tensors, &proto.Tensor{Decoded: x})
		}
	}
	return l
}
