package op

import (
	"fmt"

	"github.com/tensorken/tensorken/onnx/internal/proto"
)

// Encode fills in the elements, type and shape of a tensor of a file from its decoded value.
func Encode(t *proto.Tensor) error {
	v, ok := t.Decoded.(Value)
	if !ok {
		return fmt.Errorf("it has no value")
	}
	t.Type, t.Dims, t.Strings, t.External, t.Apart = int64(v.Elem), nil, nil, nil, false
	switch v.Kind {
	case StringKind:
		t.Strings = v.Strings
	case TensorKind:
		b, err := v.Tensor.Bytes()
		if err != nil {
			return err
		}
		if t.Memory = b; v.Elem.Narrow() {
			t.Memory = Pack(v.Elem, v.Tensor.DType(), b)
		}
	default:
		return fmt.Errorf("%v is no tensor", v)
	}
	for _, d := range v.Dims() {
		t.Dims = append(t.Dims, int64(d))
	}
	return nil
}
