package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/tensorken/tensorken/tensor"
)

// Text of a file neither commands the terminal nor forges a line.
func TestPredictTerminal(t *testing.T) {
	arch, err := findArchitecture("mlp")
	if err != nil {
		t.Fatal(err)
	}
	const evil = "\x1b]0;PWNED\a\x1b[2J\u009b2J\u202e\r\nforged: ok"
	for _, c := range []struct {
		d    description
		want string
	}{
		{description{Model: "mlp", Data: evil}, `the model was trained on "\x1b]0;PWNED\a`},
		{description{Model: evil, Data: builtIn}, `no model "\x1b]0;PWNED\a`},
	} {
		c.d.InputShape, c.d.Classes, c.d.Scaling = []int{2}, []float64{0, 1}, scaling{[]float32{0}, []float32{1}}
		path := filepath.Join(t.TempDir(), "model.safetensors")
		if err := c.d.save(path, arch.build(tensor.NewRNG(1), c.d.InputShape, 2)); err != nil {
			t.Fatal(err)
		}
		status, stdout, stderr := command("predict", "--device", "cpu", path)
		control := func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }
		if status != 1 || strings.ContainsFunc(stdout+stderr, control) || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, c.want) {
			t.Errorf("predict: status %d, %q and %q, want one line with %s", status, stdout, stderr, c.want)
		}
	}
	if _, _, stderr := command("predict", "no\x1b[2Jfile\r"); strings.ContainsAny(stderr, "\x1b\r") {
		t.Errorf("predict of a file that does not exist prints %q", stderr)
	}
}

// Characters that writers cut into pieces stay whole.
func TestOutput(t *testing.T) {
	const text = "größe ▀⣿𝄞\x1b[2J\u009b\n\ttab"
	for size := 1; size < 6; size++ {
		var b bytes.Buffer
		o := &output{w: &b}
		for s := text; s != ""; s = s[min(size, len(s)):] {
			if n, err := o.Write([]byte(s[:min(size, len(s))])); n != min(size, len(s)) || err != nil {
				t.Errorf("Write = %d, %v", n, err)
			}
		}
		if got, want := b.String(), "größe ▀⣿𝄞\\x1b[2J\\u009b\n\ttab"; got != want {
			t.Errorf("written in pieces of %d bytes: %q, want %q", size, got, want)
		}
	}
}
