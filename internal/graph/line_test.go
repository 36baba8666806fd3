package graph

import "testing"

func TestOurs(t *testing.T) {
	defer func(r, s string) { root, std = r, s }(root, std)
	for _, c := range []struct {
		root, std, file string
		want            bool
	}{
		{"/m/", "/go/src/", "/m/tensor/reduce.go", true},
		{"/m/", "/go/src/", "/m/tensor/reduce_test.go", false},
		{"/m/", "/go/src/", "/m/examples/tour/main.go", false},
		{"/m/", "/go/src/", "/m/cmd/tensorken/train.go", false},
		{"/m/", "/go/src/", "/go/src/encoding/json/encode.go", true},
		{"/m/", "/go/src/", "/home/me/main.go", false},
		{"github.com/tensorken/tensorken@v1.0.0/", "", "github.com/tensorken/tensorken@v1.0.0/grad/grad.go", true},
		{"github.com/tensorken/tensorken@v1.0.0/", "", "fmt/print.go", true},
		{"github.com/tensorken/tensorken@v1.0.0/", "", "example.com/me/main.go", false},
	} {
		root, std = c.root, c.std
		if got := ours(c.file); got != c.want {
			t.Errorf("root %q, std %q: ours(%q) is %v, want %v", c.root, c.std, c.file, got, c.want)
		}
	}
}
