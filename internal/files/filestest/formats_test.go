package filestest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tensorken/tensorken/data"
	"github.com/tensorken/tensorken/data/table"
	"github.com/tensorken/tensorken/draw"
	"github.com/tensorken/tensorken/gguf"
	"github.com/tensorken/tensorken/imageio"
	"github.com/tensorken/tensorken/internal/cachedir"
	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/npy"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/plot"
	"github.com/tensorken/tensorken/safetensors"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/train"
	"github.com/tensorken/tensorken/wav"
)

// A format is a way in which the library writes or reads a file, here one that has the number 1 or 2.
type format struct {
	name string // of a file
	save func(path string, n int) error
	load func(path string) (n int, err error) // an error if the file is not whole
}

var formats = []format{
	{"m.safetensors", saveTree(safetensors.Save), loadTree(safetensors.Load)},
	{"m.safetensors.index.json", saveTree(func(path string, tree any) error { return safetensors.SaveSharded(path, tree, 4) }),
		loadTree(safetensors.Load)},
	{"m.gguf", saveTree(func(path string, tree any) error { return gguf.Save(path, tree, nil, nil) }),
		loadTree(func(path string, tree any) error {
			f, err := gguf.Open(path)
			if err != nil {
				return err
			}
			defer f.Close()
			return f.Load(tree, nil)
		})},
	{"m.npy", saveTree(npy.Save), loadTree(npy.Load)},
	{"m.npz", saveTree(npy.Save), loadTree(npy.Load)},
	{"run.ckpt", trainSteps, trainedSteps},
	{"m.png", func(path string, n int) error {
		return imageio.Save(path, tensor.Full(float64(n), 1, 1, 1).Cast(tensor.Uint8))
	}, func(path string) (int, error) {
		t, err := imageio.Load(path, 1)
		return itemOf(t), err
	}},
	{"m.wav", func(path string, n int) error {
		return wav.Save(path, tensor.Full(float64(n)/4, 1), 1, &wav.Options{Encoding: wav.Float32})
	}, func(path string) (int, error) {
		t, _, err := wav.Load(path)
		if err != nil {
			return 0, err
		}
		return itemOf(t.Mul(4)), nil
	}},
	{"plot.svg", func(path string, n int) error {
		f := plot.Line(tensor.Ones(2))
		f.Title = fmt.Sprint(n)
		return f.Save(path)
	}, loadSVG},
	{"draw.svg", saveText("<svg><text>%d</text></svg>\n"), loadSVG},
	{"lines.txt", saveText("%d\n"), func(path string) (int, error) {
		for line, err := range data.Lines(path)(context.Background(), 0) {
			if err != nil {
				return 0, err
			}
			return strconv.Atoi(line)
		}
		return 0, io.ErrUnexpectedEOF
	}},
	{"table.csv", saveText("n\n%d\n"), func(path string) (int, error) {
		f, err := table.Load(path, nil)
		if err != nil {
			return 0, err
		}
		t, err := f.Tensor(tensor.Float32, "n")
		return itemOf(t), err
	}},
	{"cache", func(path string, n int) error { return cachedir.Write(path, []byte{byte(n)}) },
		func(path string) (int, error) {
			b, err := cachedir.Read(path, 1)
			return int(append(b, 0)[0]), err
		}},
}

// saveText writes a text by the simplest of the library's ways.
func saveText(form string) func(string, int) error {
	return func(path string, n int) error { return draw.SVG(fmt.Sprintf(form, n)).Save(path) }
}

func saveTree(save func(path string, tree any) error) func(string, int) error {
	return func(path string, n int) error {
		if strings.EqualFold(filepath.Ext(path), ".npy") {
			return save(path, tensor.Full(float64(n), 1))
		}
		return save(path, map[string]tensor.Tensor{"a": tensor.Full(float64(n), 1), "b": tensor.Full(float64(n), 1)})
	}
}

func loadTree(load func(path string, tree any) error) func(string) (int, error) {
	return func(path string) (int, error) {
		var a, b tensor.Tensor
		tree := any(map[string]*tensor.Tensor{"a": &a, "b": &b})
		if strings.EqualFold(filepath.Ext(path), ".npy") {
			tree = &a
		}
		if err := load(path, tree); err != nil {
			return 0, err
		}
		if b.IsValid() && itemOf(a) != itemOf(b) {
			return 0, fmt.Errorf("%s has a %v and b %v", path, a, b)
		}
		return itemOf(a), nil
	}
}

func itemOf(t tensor.Tensor) int {
	if !t.IsValid() {
		return 0
	}
	return int(t.Cast(tensor.Float32).Sum().Item())
}

// trainSteps resumes a training, or begins one, and goes on until n steps are done.
func trainSteps(path string, n int) error {
	x := tensor.Ones(1)
	l := train.Loop[tensor.Tensor, tensor.Tensor]{
		Model: x, Data: &data.Loader[tensor.Tensor]{Set: data.Of(x), Batch: 1}, Optimizer: optim.New(optim.SGD{}, 0.1), Steps: n,
		Loss: func(m, x tensor.Tensor, _ *tensor.RNG) (tensor.Tensor, tensor.Tensor) { return m.Mul(x).Sum(), m },
		Out:  io.Discard, Checkpoint: path, Resume: true,
	}
	return l.Run(context.Background())
}

func trainedSteps(path string) (int, error) {
	f, err := safetensors.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if _, err := f.Tensor("model"); err != nil {
		return 0, err
	}
	var state struct{ Step int }
	err = json.Unmarshal([]byte(f.Meta["train"]), &state)
	return state.Step, err
}

// loadSVG returns the only text of a drawing.
func loadSVG(path string) (n int, err error) {
	b, err := files.ReadAll(path, 1<<20)
	if err != nil {
		return 0, err
	}
	text := strings.TrimSpace(string(b))
	_, after, found := strings.Cut(text, "<text")
	if _, err := fmt.Sscanf(after[strings.Index(after, ">")+1:], "%d", &n); !found || err != nil || !strings.HasSuffix(text, "</svg>") {
		return 0, fmt.Errorf("%s has %q", path, text)
	}
	return n, nil
}
