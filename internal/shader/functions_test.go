package shader

import "testing"

func TestFunctions(t *testing.T) {
	for name, get := range Functions() {
		if f := get(); f.Name != name || f.Result == (Type{}) || len(f.Params) == 0 {
			t.Errorf("function %s: %+v", name, f)
		}
	}
	if Function("none") != nil {
		t.Error("a function none exists")
	}
}
