package onnx_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/tensorken/tensorken/internal/onnxcase"
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
	root := exportedFolders(t)
	for _, name := range exported {
		t.Run(name, func(t *testing.T) {
			if v, err := onnxcase.RunFolder(context.Background(), filepath.Join(root, name)); err != nil {
				t.Errorf("%v: %v", v, err)
			}
		})
	}
}
