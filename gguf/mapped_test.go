//go:build unix

package gguf_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/gguf"
	"github.com/tensorken/tensorken/tensor"
)

// Quantised weights whose file is cut short while it is in use are an error that names it.
func TestCutShort(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.gguf")
	w := tensor.NewRNG(1).Normal(256, 256)
	if err := gguf.Save(path, map[string]tensor.Tensor{"w": w}, nil, func(string, []int) gguf.Type { return gguf.Q8_0 }); err != nil {
		t.Fatal(err)
	}
	f, err := gguf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, err := f.Tensor("w")
	if err != nil {
		t.Fatal(err)
	}
	if off := got.Sub(w).Abs().Max().Item(); off == 0 || off > 0.02 {
		t.Errorf("quantised elements are off by %v", off)
	}
	if err := os.Rename(path, path+".old"); err != nil { // or it were seen before the plan runs
		t.Fatal(err)
	}
	if err := os.Truncate(path+".old", 6000); err != nil {
		t.Fatal(err)
	}
	for _, rows := range []int{1, 3, 40} {
		x := tensor.Ones(rows, 256)
		if err := tensor.Eval(x.MatMul(got.T())); err == nil || !strings.Contains(err.Error(), path+" was cut short") {
			t.Errorf("a product of %d rows: error %v", rows, err)
		}
	}
	if _, err := tensor.Data[float32](got); err == nil || !strings.Contains(err.Error(), path+" was cut short") {
		t.Errorf("Data: error %v", err)
	}
}
