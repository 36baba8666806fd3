package onnx

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/onnx/internal/proto"
	"github.com/tensorken/tensorken/tensor"
)

// Values are read as they were written.
func TestValues(t *testing.T) {
	floats := typed("v", op.Float).Type
	sequence := &proto.Type{Kind: proto.KindSequence, Inner: floats}
	x := op.Of(tensor.New([]float32{1, 2}, 2))
	for _, c := range []struct {
		v  Value
		as *proto.Type
	}{
		{x, floats},
		{op.Of(tensor.New([]float32{7}).Reshape()), floats},
		{op.As(op.Int4, tensor.New([]int8{-8}).Reshape()), typed("v", op.Int4).Type},
		{op.As(op.Int4, tensor.New([]int8{-8, 7, 1}, 3)), typed("v", op.Int4).Type},
		{op.As(op.Float6E3M2, tensor.New([]float32{-28, 0.0625, 3.5, -0.3125, 24}, 5)), typed("v", op.Float6E3M2).Type},
		{op.As(op.Float8E5M2, tensor.New([]float32{-0.5, 57344, 1}, 3)), typed("v", op.Float8E5M2).Type},
		{op.Texts([]string{"a", "", "é"}, 3), typed("v", op.String).Type},
		{op.Sequence(op.Float, x, x), sequence},
		{op.Sequence(op.Float), sequence},
		{x, &proto.Type{Kind: proto.KindOptional, Inner: floats}},
		{Value{}, &proto.Type{Kind: proto.KindOptional, Inner: floats}},
		{op.Sequence(op.Float, x), &proto.Type{Kind: proto.KindOptional, Inner: sequence}},
	} {
		info := infoOf(&proto.ValueInfo{Name: "v", Type: c.as})
		var b bytes.Buffer
		if err := WriteValue(&b, c.v, info); err != nil {
			t.Errorf("%v: %v", c.v, err)
			continue
		}
		got, err := ReadValue(bytes.NewReader(b.Bytes()), int64(b.Len()), info)
		if err != nil || describe(got) != describe(c.v) {
			t.Errorf("%s of type %s: %s, %v", describe(c.v), info.Type, describe(got), err)
		}
	}
}

// describe prints a value with its elements.
func describe(v Value) string {
	s := fmt.Sprint(v.Kind, v, v.Strings)
	if v.Tensor.IsValid() {
		s += fmt.Sprint(v.Tensor)
	}
	for _, x := range v.Sequence {
		s += "; " + describe(x)
	}
	return s
}
