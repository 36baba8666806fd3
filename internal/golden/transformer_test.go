package golden

import (
	"path/filepath"
	"testing"

	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/safetensors"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// A modelIO has the inputs and outputs of a model that PyTorch computed.
type modelIO struct{ In, Out map[string]tensor.Tensor }

func readIO(t *testing.T, folder string) (io modelIO) {
	t.Helper()
	if err := safetensors.Load(filepath.Join("testdata", folder, "io.safetensors"), &io); err != nil {
		t.Fatal(err)
	}
	return io
}

// closeTo fails unless got is want to 1e-4, as models of any device are.
func closeTo(t *testing.T, call string, got, want tensor.Tensor) {
	t.Helper()
	ok, err := tensor.AllClose(got.To(tensor.CPU()), want, 1e-4, 1e-4)
	if err != nil {
		t.Fatal(err)
	}
	if !ok {
		t.Errorf("%s =\n%.4f\nwant\n%.4f", call, got, want)
	}
}

// TestEncoderLayer loads a layer that PyTorch saved.
func TestEncoderLayer(t *testing.T) {
	d, _, _ := openDevice(t)
	l := nn.TransformerEncoderLayer{SelfAttn: nn.MultiheadAttention{Heads: 4}, NormFirst: true}
	if err := safetensors.Load("testdata/encoder_layer/model.safetensors", &l); err != nil {
		t.Fatal(err)
	}
	io := readIO(t, "encoder_layer")
	closeTo(t, "l.Apply(x)", tree.To(l, d).Apply(io.In["x"].To(d)), io.Out["y"])
}
