package onnx_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/onnxcase"
	"github.com/tensorken/tensorken/npy"
	"github.com/tensorken/tensorken/onnx"
	"github.com/tensorken/tensorken/tensor"
)

// exported are models that PyTorch wrote, with inputs and results in io.npz.
var exported = []string{"bert", "bilstm", "gpt2", "mobilenet_v3", "resnet_thin", "vit_small"}

// exportedFolders unpacks the exported models and returns the folder of them.
func exportedFolders(t testing.TB) string {
	t.Helper()
	root := t.TempDir()
	for name, dir := range archive(t, "models.tar.br") {
		if err := os.CopyFS(filepath.Join(root, name), dir); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// Models that PyTorch exported have its results.
func TestExported(t *testing.T) {
	useDevice(t)
	root := exportedFolders(t)
	for _, name := range exported {
		t.Run(name, func(t *testing.T) {
			if v, err := onnxcase.RunFolder(context.Background(), filepath.Join(root, name)); err != nil {
				t.Errorf("%v: %v", v, err)
			}
		})
	}
}

// Exported models are differentiated: a step along the gradient lowers a loss.
func TestExportedGradients(t *testing.T) {
	root := exportedFolders(t)
	for _, name := range exported {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(root, name)
			m, err := onnx.Open(filepath.Join(dir, "model.onnx"))
			if err != nil {
				t.Fatal(err)
			}
			f, err := npy.Open(filepath.Join(dir, "io.npz"))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			inputs := map[string]tensor.Tensor{}
			for _, in := range m.Inputs() {
				if inputs[in.Name], err = f.Tensor(in.Name); err != nil {
					t.Fatal(err)
				}
			}
			out := m.Outputs()[0].Name
			loss := func(p map[string]tensor.Tensor) tensor.Tensor {
				y := m.Apply(p, inputs)[out]
				return y.Sub(y.Len() % 7).Square().Mean()
			}
			params := m.Params()
			before, g := grad.ValueAndGrad(loss)(params)
			squares := tensor.Zeros()
			for _, x := range g {
				squares = squares.Add(x.Square().Sum())
			}
			norm := squares.Sqrt()
			next := map[string]tensor.Tensor{}
			for name, p := range params {
				next[name] = p.Sub(g[name].Mul(norm.Reciprocal()).Mul(1e-2))
			}
			if after := loss(next); !(after.Item() < before.Item()) {
				t.Errorf("the loss was %v, and is %v", before, after)
			}
		})
	}
}
