package main

import (
	"bytes"
	"context"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/examples/internal/exampletest"
	"github.com/tensorken/tensorken/examples/internal/gpt"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/train"
)

// small sets flags for a run of a second.
var small = map[string]string{
	"layers": "2", "width": "32", "length": "16", "batch": "8", "steps": "20", "every": "10", "rate": "0.01",
}

func TestOutput(t *testing.T) {
	exampletest.SetFlags(t, small)
	exampletest.SetFlags(t, map[string]string{"device": "cpu"}) // the samples' shapes are many shaders
	exampletest.Check(t, main)
}

// TestDevice compares the losses of two steps on the device that TENSORKEN_DEVICE names with
// the CPU's.
func TestDevice(t *testing.T) {
	exampletest.SetFlags(t, small)
	exampletest.SetFlags(t, map[string]string{"steps": "2", "layers": "1", "dropout": "0"})
	text, err := read()
	if err != nil {
		t.Fatal(err)
	}
	metrics := func() train.Metrics {
		l, err := newLoop(gpt.NewVocabulary(text), text)
		if err != nil {
			t.Fatal(err)
		}
		l.Out = io.Discard
		if err := l.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		return l.History[0]
	}
	want := metrics()
	d := exampletest.OpenDevice(t)
	got := metrics()
	for name, w := range want {
		if g := got[name]; !(math.Abs(g-w) <= 1e-4*w) {
			t.Errorf("%s on %v is %v, on the CPU %v", name, d, g, w)
		}
	}
}

// TestResume compares an interrupted and resumed run with an uninterrupted one.
func TestResume(t *testing.T) {
	tensor.SetDefault(tensor.CPU())
	defer tensor.SetDefault(nil)
	exampletest.SetFlags(t, small)
	var whole, parts bytes.Buffer
	if err := run(context.Background(), &whole); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "gpt.ckpt")
	exampletest.SetFlags(t, map[string]string{"checkpoint": path})
	ctx, cancel := context.WithCancel(context.Background())
	if err := run(ctx, writer(func(b []byte) (int, error) { cancel(); return parts.Write(b) })); err != context.Canceled {
		t.Fatalf("the run that was cancelled ends with %v", err)
	}
	if n := strings.Count(parts.String(), "step "); n != 1 {
		t.Fatalf("%d reports before the run was cancelled, want 1", n)
	}
	if err := run(context.Background(), &parts); err != nil {
		t.Fatal(err)
	}
	if parts.String() != whole.String() {
		t.Errorf("in two parts a run prints\n%s\nwant\n%s", &parts, &whole)
	}
}

type writer func(b []byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }

// TestLines counts the lines of code of model and loop, without comments and imports.
func TestLines(t *testing.T) {
	n := 0
	for _, name := range []string{"../internal/gpt/model.go", "loop.go"} {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		_, code, _ := strings.Cut(string(src), "\n)\n")
		for line := range strings.Lines(code) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
				n++
			}
		}
	}
	if n > 120 {
		t.Errorf("model and loop have %d lines of code, want at most 120", n)
	}
}

func TestErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(path, []byte("short"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		values map[string]string
		want   string
	}{
		{map[string]string{"text": path + "?"}, path},
		{map[string]string{"text": path, "prompt": "s"}, "the text has 5 characters, want more than 1280"},
		{map[string]string{"prompt": "é"}, "-prompt"},
		{map[string]string{"prompt": ""}, "-prompt"},
	} {
		t.Run(c.want, func(t *testing.T) {
			exampletest.SetFlags(t, c.values)
			if err := run(context.Background(), &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v: error %v, want one with %q", c.values, err, c.want)
			}
		})
	}
}
