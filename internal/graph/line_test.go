package graph

import "testing"

func TestOurs(t *testing.T) {
	const tensorken = "github.com/tensorken/tensorken"
	for _, c := range []struct {
		modules        []string
		function, file string
		want           bool
	}{
		{nil, tensorken + "/tensor.Tensor.Sum", "/m/tensor/reduce.go", true},
		{nil, tensorken + "/tensor.Data[...]", "/m/tensor/eval.go", true},
		{nil, tensorken + "/grad.VJP.func1", tensorken + "@v1.0.0/grad/grad.go", true},
		{nil, "main.main.Of[...].func7", root() + "grad/grad.go", true},
		{nil, "main.main", root() + "examples/tour/main.go", false},
		{nil, "main.main", root() + "cmd/tensorken/main.go", false},
		{nil, tensorken + "/tensor_test.TestSum", "/m/tensor/reduce_test.go", false},
		{nil, tensorken + "/tensor.helper", "/m/tensor/reduce_test.go", false},
		{nil, tensorken + "/examples/tour.main", "/m/examples/tour/main.go", false},
		{nil, tensorken + "/cmd/tensorken.train", "/m/cmd/tensorken/train.go", false},
		{nil, "main.main", root() + "hack/lambert/main.go", false},
		{nil, tensorken + "s/tensor.F", "/n/f.go", false},

		{nil, "encoding/json.(*Encoder).Encode", "/go/src/encoding/json/encode.go", true},
		{nil, "fmt.Println", "fmt/print.go", true},
		{nil, "runtime.goexit", "runtime/asm_amd64.s", true},
		{[]string{"", "myapp"}, "slices.SortFunc[...]", "slices/sort.go", true},

		{nil, "main.main", "/home/me/main.go", false},
		{nil, "main.main.func1", "myapp/main.go", false},
		{nil, "main.main", "./main.go", false},
		{nil, "example.com/me.F", "example.com/me@v1.2.3/f.go", false},
		{nil, "gopkg.in/me%2ev3.(*T).F", "/home/me/f.go", false},
		{nil, "me%2eorg.F", "/home/me/f.go", false},
		{[]string{"", "myapp"}, "myapp.F", "myapp/f.go", false},
		{[]string{"", "myapp"}, "myapp/lib.F", "myapp/lib/l.go", false},
		{[]string{"example.com/me", "myapp/v2.x"}, "myapp/v2%2ex.F", "/home/me/f.go", false},
		{[]string{"", "myapp"}, "myapp_test.TestF", "myapp/f_test.go", false},
	} {
		if got := ours(c.function, c.file, func() []string { return c.modules }); got != c.want {
			t.Errorf("in a program of modules %q, ours(%q, %q) is %v, want %v", c.modules, c.function, c.file, got, c.want)
		}
	}
}
