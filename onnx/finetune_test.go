package onnx_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/models"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/onnx"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
)

// A classifier has the parameters of an encoder and of a linear layer.
type classifier[E any] struct {
	Encoder E
	Head    nn.Linear
}

// finetune returns the losses of steps of SGD that train an encoder, apply, and a linear layer of two classes.
func finetune[E any](t *testing.T, encoder E, apply func(e E) tensor.Tensor, width int) (losses []float64) {
	t.Helper()
	weight := make([]float32, 2*width)
	for i := range weight {
		weight[i] = float32(math.Sin(float64(i))) / 8
	}
	c := classifier[E]{encoder, nn.Linear{Weight: tensor.New(weight, 2, width), Bias: tensor.Zeros(2)}}
	labels := tensor.New([]int32{0, 1, 1})
	loss := func(c classifier[E]) tensor.Tensor {
		return nn.CrossEntropy(c.Head.Apply(apply(c.Encoder).Mean(1).Flatten(1)), labels).Mean()
	}
	opt := optim.New(optim.SGD{}, 0.03)
	for range 6 {
		l, g := grad.ValueAndGrad(loss)(c)
		losses = append(losses, l.Item())
		if err := opt.Step(&c, g); err != nil {
			t.Fatal(err)
		}
	}
	return losses
}

// TestFineTune: an exported BERT that is imported learns to classify as the model that it was, by all its parameters.
func TestFineTune(t *testing.T) {
	m, err := models.LoadBERT("../models/testdata/bert")
	if err != nil {
		t.Fatal(err)
	}
	ids := tensor.New([]int32{2, 5, 9, 3, 2, 7, 1, 3, 2, 4, 8, 3}, 3, 4)
	type in struct{ IDs tensor.Tensor }
	path := filepath.Join(t.TempDir(), "bert.onnx")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := onnx.Export(f, func(x in) tensor.Tensor { return m.Apply(x.IDs, tensor.Tensor{}) }, in{ids}, nil); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	imported, err := onnx.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	x, y := imported.Inputs()[0].Name, imported.Outputs()[0].Name
	got := finetune(t, imported.Params(), func(p map[string]tensor.Tensor) tensor.Tensor {
		return imported.Apply(p, map[string]tensor.Tensor{x: ids})[y]
	}, m.Apply(ids, tensor.Tensor{}).Dim(2))
	want := finetune(t, m, func(m *models.BERT) tensor.Tensor { return m.Apply(ids, tensor.Tensor{}) }, m.Apply(ids, tensor.Tensor{}).Dim(2))
	for i := range got {
		if math.Abs(got[i]-want[i]) > 1e-3*want[i] {
			t.Fatalf("losses %v, want %v", got, want)
		}
	}
	if want[len(want)-1] > 0.9*want[0] {
		t.Errorf("losses %v hardly fall", want)
	}
}
