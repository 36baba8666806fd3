package golden

import (
	"strings"
	"testing"

	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/safetensors"
	"github.com/tensorken/tensorken/tensor"
)

// TestCNN loads a small network that PyTorch saved and compares its output
// with PyTorch's.
func TestCNN(t *testing.T) {
	padded := tensor.ConvOptions{Padding: []int{1}}
	net := nn.Sequential{
		nn.Conv{Options: padded}, nn.BatchNorm{}, nn.Func(tensor.Tensor.ReLU), nn.MaxPool{Size: 2},
		nn.Conv{Options: padded}, nn.Func(tensor.Tensor.ReLU), nn.MaxPool{Size: 2},
		nn.Flatten{}, nn.Linear{},
	}
	f, err := safetensors.Open("testdata/cnn/model.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	err = f.Load(&net, func(name string) string {
		if strings.HasSuffix(name, "num_batches_tracked") { // a count, not a tensor of the layer
			return ""
		}
		return name
	})
	if err != nil {
		t.Fatal(err)
	}
	var io struct{ In, Out map[string]tensor.Tensor }
	if err := safetensors.Load("testdata/cnn/io.safetensors", &io); err != nil {
		t.Fatal(err)
	}
	d, rtol, atol := openDevice(t)
	got, want := net.Apply(io.In["x"].To(d)), io.Out["y"]
	ok, err := tensor.AllClose(got.To(tensor.CPU()), want, rtol, atol)
	if err != nil {
		t.Fatal(err)
	}
	if !ok {
		t.Errorf("net.Apply(x) =\n%v\nwant\n%v", got, want)
	}
}
