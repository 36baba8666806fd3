package onnx

import (
	"context"
	"strings"
	"testing"
	"unicode"

	"github.com/tensorken/tensorken/onnx/internal/proto"
	"github.com/tensorken/tensorken/tensor"
)

// Names of operators and inputs do not command the terminal that shows an error.
func TestTextIsQuoted(t *testing.T) {
	const evil = "No\x1b[2J\nforged: ok"
	s := sketch{inputs: []*proto.ValueInfo{float(evil, 2)}, outputs: []*proto.ValueInfo{{Name: "y"}}}
	for _, op := range []string{evil, "Relu"} {
		s.nodes = []*proto.Node{call(op, "y", evil)}
		m, err := Read(strings.NewReader(string(s.bytes(t))))
		if err == nil {
			_, err = m.Run(context.Background(), map[string]tensor.Tensor{evil: tensor.New([]int64{1, 2})})
		}
		if err == nil || strings.ContainsFunc(err.Error(), unicode.IsControl) || !strings.Contains(err.Error(), `\x1b[2J`) {
			t.Errorf("operator %q: %q, want the name quoted", op, err)
		}
	}
}
