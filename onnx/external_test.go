package onnx

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/onnx/internal/proto"
	"github.com/tensorken/tensorken/tensor"
)

// Elements in files of the model's folder are read, and those elsewhere are refused.
func TestExternal(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "model")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	data := []byte{9, 9, 9, 9, 0, 0, 128, 63, 0, 0, 0, 64} // 1 and 2 from byte 4 on
	for _, path := range []string{filepath.Join(dir, "data.bin"), filepath.Join(folder, "data.bin")} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link := os.Symlink("../data.bin", filepath.Join(folder, "link.bin")) == nil
	for _, c := range []struct {
		location, offset, length string
		want                     string // of the error
	}{
		{"data.bin", "4", "8", ""},
		{"data.bin", "4", "", ""},
		{"data.bin", "8", "8", "the file has 12"},
		{"data.bin", "4", "4", "has 4 bytes, and its shape needs 8"}, // an error before its memory is allocated
		{"data.bin", "-4", "8", "the file has 12"},
		{"data.bin", "x", "8", `offset of its data is "x"`},
		{"none.bin", "0", "8", "none.bin"},
		{"../data.bin", "4", "8", "escapes"},
		{filepath.Join(dir, "data.bin"), "4", "8", "escapes"},
		{"link.bin", "4", "8", "escapes"},
		{".", "4", "8", "regular file"},
		{"", "4", "8", "its data is in"},
	} {
		if c.location == "link.bin" && !link {
			continue
		}
		path := filepath.Join(folder, "m.onnx")
		s := sketch{inputs: []*proto.ValueInfo{float("x", 2)}, outputs: []*proto.ValueInfo{float("y", 2)}, nodes: []*proto.Node{call("Add", "y", "x", "w")},
			consts: []*proto.Tensor{{Name: "w", Type: 1, Dims: []int64{2}, Apart: true, External: []proto.Pair{{Key: "location", Value: c.location}, {Key: "offset", Value: c.offset}}}}}
		if c.length != "" {
			s.consts[0].External = append(s.consts[0].External, proto.Pair{Key: "length", Value: c.length})
		}
		if err := os.WriteFile(path, s.bytes(t), 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := Open(path)
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v: %v", c, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		out, err := m.Run(context.Background(), map[string]tensor.Tensor{"x": tensor.New([]float32{10, 20})})
		if err != nil || fmt.Sprint(out["y"]) != "[11 22]" {
			t.Errorf("%+v: %v, %v", c, out, err)
		}
	}
}
