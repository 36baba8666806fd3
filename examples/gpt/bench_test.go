package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/tensorken/tensorken/data"
	"github.com/tensorken/tensorken/examples/internal/gpt"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/train"
)

// Steps of the benchmarks, as in bench/peers/python/gpt.py.
const warm, timed = 5, 30

// source is a text of 200 thousand characters: Go's parser, from the installed Go.
func source(b *testing.B) string {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(string(root[:len(root)-1]), "src/go/parser/*.go"))
	if err != nil || len(files) == 0 {
		b.Fatal("no source of Go: ", err)
	}
	var text []byte
	for _, f := range files {
		src, err := os.ReadFile(f)
		if err != nil {
			b.Fatal(err)
		}
		text = append(text, src...)
	}
	return string(text)
}

// BenchmarkTokens trains the default model.
func BenchmarkTokens(b *testing.B) {
	tensor.SetDefault(tensor.CPU())
	defer tensor.SetDefault(nil)
	text := source(b)
	for b.Loop() {
		l, err := newLoop(gpt.NewVocabulary(text), text)
		if err != nil {
			b.Fatal(err)
		}
		var start time.Time
		done := errors.New("done")
		l.AfterStep = func(l *train.Loop[gpt.Model, data.Window], loss tensor.Tensor) error {
			loss.Item()
			switch l.Step {
			case warm:
				start = time.Now()
			case warm + timed:
				b.ReportMetric(float64(timed**batch**length)/time.Since(start).Seconds(), "tokens/s")
				return done
			}
			return nil
		}
		if err := l.Run(context.Background()); !errors.Is(err, done) {
			b.Fatal(err)
		}
	}
}

// BenchmarkPyTorch runs the same program in PyTorch, if python3 has it, with one thread and
// with two.
func BenchmarkPyTorch(b *testing.B) {
	if err := exec.Command("python3", "-c", "import torch").Run(); err != nil {
		b.Skip("python3 has no PyTorch")
	}
	path := filepath.Join(b.TempDir(), "text")
	if err := os.WriteFile(path, []byte(source(b)), 0o666); err != nil {
		b.Fatal(err)
	}
	for threads := 1; threads <= 2; threads++ {
		b.Run(fmt.Sprint("threads=", threads), func(b *testing.B) {
			for b.Loop() {
				out, err := exec.Command("python3", "../../bench/peers/python/gpt.py", "--text", path,
					"--threads", fmt.Sprint(threads), "--steps", fmt.Sprint(timed)).CombinedOutput()
				if err != nil {
					b.Fatalf("%v\n%s", err, out)
				}
				var speed float64
				if _, err := fmt.Sscanf(string(out), "%f tokens/s", &speed); err != nil {
					b.Fatalf("%v\n%s", err, out)
				}
				b.ReportMetric(speed, "tokens/s")
			}
		})
	}
}
