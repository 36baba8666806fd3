package tensor_test

import (
	"reflect"
	"testing"

	"github.com/tensorken/tensorken/tensor"
)

// No value that another module can construct is accepted by the methods of Internal.
func TestInternal(t *testing.T) {
	bridge := reflect.TypeOf(tensor.Internal)
	if bridge.NumMethod() == 0 {
		t.Error("Internal has no methods")
	}
	for i := range bridge.NumMethod() {
		m := bridge.Method(i)
		key := m.Type.In(1) // after the receiver
		for _, literal := range []reflect.Type{reflect.TypeFor[struct{}](), reflect.TypeFor[struct{ _ struct{} }]()} {
			if key.Kind() != reflect.Struct || literal.AssignableTo(key) {
				t.Errorf("Internal.%s takes nil or %v{} as a %v", m.Name, literal, key)
			}
		}
	}
}
