package memtest_test

import (
	"errors"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/data"
	"github.com/tensorken/tensorken/data/table"
	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/imageio"
	"github.com/tensorken/tensorken/onnx"
	"github.com/tensorken/tensorken/plot"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tokenizer"
	"github.com/tensorken/tensorken/wav"
)

// streams call the exported functions that take a reader, a writer or an image, with nil.
var streams = map[string]func() error{
	"data.ReadCSV":      func() error { _, _, err := data.ReadCSV(nil); return err },
	"table.Numbers":     func() error { _, _, err := table.Numbers(nil); return err },
	"table.Read":        func() error { _, err := table.Read(nil, nil); return err },
	"device.Use":        func() error { return errors.Join(device.Use("cpu", nil), errors.New("nil is silence")) },
	"imageio.Decode":    func() error { _, err := imageio.Decode(nil, 0); return err },
	"imageio.Encode":    func() error { return imageio.Encode(nil, ".png", tensor.ZerosOf(tensor.Uint8, 2, 2, 1)) },
	"imageio.FromImage": func() error { return tensor.Try(func() { imageio.FromImage(nil, 0) }) },
	"onnx.Export": func() error {
		return onnx.Export(nil, func(x tensor.Tensor) tensor.Tensor { return x.Exp() }, tensor.Ones(1), nil)
	},
	"onnx.WriteValue":   func() error { return onnx.WriteValue(nil, onnx.Value{}, onnx.Info{}) },
	"onnx.Read":         func() error { _, err := onnx.Read(nil); return err },
	"onnx.ReadValue":    func() error { _, err := onnx.ReadValue(nil, 8, onnx.Info{}); return err },
	"onnx.Write":        func() error { return savedModel().Write(nil) },
	"plot.Encode":       func() error { return plot.Heatmap(tensor.Ones(2, 2)).Encode(nil, ".svg") },
	"plot.Print":        func() error { return plot.Heatmap(tensor.Ones(2, 2)).Print(nil) },
	"tensor.WriteTrace": func() error { return new(tensor.Trace).WriteTrace(nil) },
	"tokenizer.Read":    func() error { _, err := tokenizer.Read(nil); return err },
	"tokenizer.Write": func() error {
		t, err := tokenizer.Read(strings.NewReader(tokenizerFile(`{"type":"WordLevel","vocab":{"a":0},"unk_token":"a"}`)))
		if err != nil {
			return err
		}
		return t.Write(nil)
	},
	"wav.Decode": func() error { _, _, err := wav.Decode(nil); return err },
	"wav.Encode": func() error { return wav.Encode(nil, tensor.Ones(1, 2), 8000, nil) },
}

func savedModel() *onnx.Model {
	r, w := io.Pipe()
	go func() {
		w.CloseWithError(onnx.Export(w, func(x tensor.Tensor) tensor.Tensor { return x.Exp() }, tensor.Ones(1), nil))
	}()
	m, err := onnx.Read(r)
	if err != nil {
		panic(err)
	}
	return m
}

// A reader, a writer or an image that is nil is an error. The list of exported functions says which take one.
func TestNilStreams(t *testing.T) {
	b, err := os.ReadFile("../../policy/testdata/api.txt")
	if err != nil {
		t.Fatal(err)
	}
	name, takes := regexp.MustCompile(`^    func (?:\([^)]*\) )?(\w+)`), regexp.MustCompile(`[(,][^()]*\b(io\.(Reader|Writer|ReaderAt)|image\.Image)\b[^()]*[,)]`)
	untried, pkg := maps.Clone(streams), ""
	for line := range strings.Lines(string(b)) {
		if p, ok := strings.CutPrefix(line, "package "); ok {
			pkg = p[strings.LastIndex(p, "/")+1 : len(p)-1]
		}
		m := name.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		params := line[len(m[0]):]
		if at := strings.Index(params, ") ("); at >= 0 {
			params = params[:at+1] // without results
		}
		if params, _, _ = strings.Cut(params, ") image"); !takes.MatchString(params) {
			continue
		}
		key := pkg + "." + m[1]
		f := streams[key]
		if delete(untried, key); f == nil {
			t.Errorf("no case for %s", strings.TrimSpace(line))
		} else if err := f(); err == nil || !strings.Contains(err.Error(), "nil") {
			t.Errorf("%s of nil: %v, want an error", key, err)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(untried)) {
		t.Errorf("%s takes no reader, writer or image", key)
	}
}
