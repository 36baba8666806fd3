package golden

import (
	"testing"

	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/safetensors"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// TestLSTM loads a layer that PyTorch saved.
func TestLSTM(t *testing.T) {
	d, _, _ := openDevice(t)
	var l nn.LSTM
	if err := safetensors.Load("testdata/lstm/model.safetensors", &l); err != nil {
		t.Fatal(err)
	}
	io := readIO(t, "lstm")
	y, last := tree.To(l, d).Apply(io.In["x"].To(d), nil)
	closeTo(t, "l.Apply(x)", y, io.Out["y"])
	closeTo(t, "the last h of layer 1", last[0].At(1), io.Out["y"].Index(tensor.All, -1))
}
