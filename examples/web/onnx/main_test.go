package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/examples/internal/modeltest"
	"github.com/tensorken/tensorken/examples/web/internal/page"
	"github.com/tensorken/tensorken/examples/web/internal/page/pagetest"
	"github.com/tensorken/tensorken/npy"
	"github.com/tensorken/tensorken/onnx"
	"github.com/tensorken/tensorken/tensor"
)

// A description is the message "model".
type description struct {
	Inputs    []form
	Outputs   []string
	Operators []onnx.Need
	Params    int
}

// colors writes a model whose scores are the means of an image's channels, and which also doubles the image.
func colors(t *testing.T) string {
	dims := []int{-1, 3, -1, -1}
	return modeltest.Model{
		Inputs:  []modeltest.Value{{Name: "image", Elem: modeltest.Float, Dims: dims}},
		Outputs: []modeltest.Value{{Name: "scores", Elem: modeltest.Float, Dims: []int{-1, 3}}, {Name: "double", Elem: modeltest.Float, Dims: dims}},
		Nodes: []modeltest.Node{
			modeltest.Call("GlobalAveragePool", "mean", "image"), modeltest.Call("Flatten", "scores", "mean"),
			modeltest.Call("Add", "double", "image", "image"),
		},
	}.Write(t)
}

// start starts the program with a model.
func start(t *testing.T, path string) (*pagetest.Visit, description) {
	t.Cleanup(func() { tensor.SetDefault(nil) })
	v := pagetest.Start(t, serve)
	v.Send("open", path)
	return v, pagetest.Wait[description](v, "model")
}

// near reports whether a softmax of scores has a probability.
func near(got float64, scores []float64, i int) bool {
	sum := 0.0
	for _, s := range scores {
		sum += math.Exp(s - scores[i])
	}
	return math.Abs(got-1/sum) < 1e-5
}

// A model of images is described, and its results for one are classes and a map.
func TestImage(t *testing.T) {
	v, d := start(t, colors(t))
	if len(d.Inputs) != 1 || d.Inputs[0].Layout != "nchw" || d.Inputs[0].Shape != "1 3 224 224" || len(d.Outputs) != 2 || len(d.Operators) != 3 {
		t.Errorf("the model is %+v", d)
	}
	pixels := filepath.Join(t.TempDir(), "pixels")
	if err := os.WriteFile(pixels, []byte(strings.Repeat("\xff\x00\x33", 6*4)), 0o600); err != nil {
		t.Fatal(err)
	}
	v.Send("run", request{page.CPU, []input{{
		Name: "image", Kind: "image", Shape: "1 3 4 6", Text: pixels, Mean: []float64{0.5, 0.5, 0}, Std: []float64{0.25, 1, 1},
	}}})
	list := pagetest.Wait[[]result](v, "results")
	top, scores := list[0].Top, []float64{2, -0.5, 0.2}
	if len(top) != 3 || top[0].Class != 0 || top[1].Class != 2 || top[0].Score != "2" || !near(top[0].Probability, scores, 0) {
		t.Errorf("the classes are %+v", top)
	}
	m := list[1].Map
	if list[0].Map != nil || m == nil || m.Height != 4 || m.Width != 6 || len(m.Levels) != 24 || !strings.HasPrefix(list[1].Range, "from -1 to 4,") {
		t.Errorf("the second result is %+v", list[1])
	}
	times := pagetest.Wait[struct {
		Device       string
		First, Later float64
		Runs         int
	}](v, "times")
	if times.Device != page.CPU || times.First <= 0 || times.Runs < 1 || times.Runs >= mostRuns {
		t.Errorf("times are %+v", times)
	}
	v.Send("nodes", nil)
	if nodes := pagetest.Wait[[]onnx.NodeInfo](v, "nodes"); len(nodes) != 3 || nodes[0].Op != "GlobalAveragePool" {
		t.Errorf("nodes are %+v", nodes)
	}
}

// Inputs of numbers, files and draws have the model's types and shapes.
func TestInputs(t *testing.T) {
	dims := []int{-1, 3}
	v, d := start(t, modeltest.Model{
		Inputs: []modeltest.Value{
			{Name: "a", Elem: modeltest.Int64, Dims: dims}, {Name: "b", Elem: modeltest.Float, Dims: dims}, {Name: "c", Elem: modeltest.Float, Dims: dims},
		},
		Outputs: []modeltest.Value{{Name: "y", Elem: modeltest.Float, Dims: dims}},
		Nodes: []modeltest.Node{
			modeltest.Call("Cast", "f", "a").With("to", int(modeltest.Float)),
			modeltest.Call("Add", "s", "f", "b"), modeltest.Call("Mul", "z", "c", "zero"), modeltest.Call("Add", "y", "s", "z"),
		},
		Constants: map[string]tensor.Tensor{"zero": tensor.New([]float32{0}, 1)},
	}.Write(t))
	if !d.Inputs[0].Whole || d.Inputs[1].Whole || d.Inputs[1].Shape != "1 3" || d.Params != 1 {
		t.Errorf("the model is %+v", d)
	}
	file := filepath.Join(t.TempDir(), "b.npy")
	if err := npy.Save(file, tensor.New([]float32{0.5, 0.25, 0}, 1, 3)); err != nil {
		t.Fatal(err)
	}
	inputs := []input{{Name: "a", Kind: "numbers", Shape: "1 3", Text: "1, 2\n[3]"}, {Name: "b", Kind: "file", Text: file}, {Name: "c", Kind: "random", Shape: "1 3"}}
	v.Send("run", request{page.CPU, inputs})
	if list := pagetest.Wait[[]result](v, "results"); list[0].Text != "[[1.50 2.25 3.00]]" || list[0].Type != "float[1 3]" {
		t.Errorf("the result is %+v", list[0])
	}
	for want, change := range map[string]input{
		"2 numbers: want 1, or the 3":  {Name: "a", Kind: "numbers", Shape: "1 3", Text: "1 2"},
		"0.5 is no integer":            {Name: "a", Kind: "numbers", Shape: "1 3", Text: "0.5"},
		`"x" is no number`:             {Name: "a", Kind: "numbers", Shape: "1 3", Text: "x"},
		"want lengths":                 {Name: "a", Kind: "numbers", Shape: "1 N", Text: "1"},
		"more than":                    {Name: "a", Kind: "random", Shape: "4000000000 4000000000 4"},
		"an image wants":               {Name: "a", Kind: "image", Shape: "1 3", Text: file},
		"none.npy":                     {Name: "a", Kind: "file", Text: "none.npy"},
		"is of type float, want int64": {Name: "a", Kind: "file", Text: file}, // of floats
	} {
		v.Send("run", request{page.CPU, append([]input{change}, inputs[1:]...)})
		if e := pagetest.Wait[string](v, "error"); !strings.Contains(e, want) {
			t.Errorf("%+v: error %q, want one with %q", change, e, want)
		}
	}
}

// A model with an operator that is missing is described, and does not run; a file that is no model leaves the one
// before.
func TestErrors(t *testing.T) {
	dims := []int{2}
	v, d := start(t, modeltest.Model{
		Inputs:  []modeltest.Value{{Name: "x", Elem: modeltest.Float, Dims: dims}},
		Outputs: []modeltest.Value{{Name: "y", Elem: modeltest.Float, Dims: dims}},
		Nodes:   []modeltest.Node{modeltest.Call("Frobnicate", "y", "x")},
	}.Write(t))
	if len(d.Operators) != 1 || d.Operators[0].Missing == "" {
		t.Errorf("operators are %+v", d.Operators)
	}
	bad := filepath.Join(t.TempDir(), "bad.onnx")
	if err := os.WriteFile(bad, []byte("no model"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		value any
		want  string
	}{{"run", request{}, "Frobnicate"}, {"open", bad, "bad.onnx"}, {"open", "none.onnx", "none.onnx"}, {"run", request{}, "Frobnicate"}} {
		v.Send(c.name, c.value)
		if e := pagetest.Wait[string](v, "error"); !strings.Contains(e, c.want) {
			t.Errorf("%s %v: error %q, want one with %q", c.name, c.value, e, c.want)
		}
	}
}

// After a loss of the GPU the model is read again, and runs on another device.
func TestLoss(t *testing.T) {
	dev, lose := pagetest.GPU(t)
	t.Cleanup(func() { tensor.SetDefault(nil) })
	tensor.SetDefault(dev)
	path := colors(t)
	v := pagetest.Start(t, func(port *page.Port) {
		m, err := onnx.Open(path)
		if err != nil {
			port.Send("error", err.Error())
			return
		}
		inputs := []input{{Name: "image", Kind: "numbers", Shape: "1 3 4 4", Text: "1"}}
		p := &program{port: port, path: path, model: m, task: &task{device: page.GPU, inputs: inputs}}
		if p.task.values, err = values(m, inputs); err != nil {
			port.Send("error", err.Error())
			return
		}
		lose()
		page.On(port, "again", func(struct{}) error { return nil })
		p.serve()
	})
	v.Send("again", nil) // it wakes the program
	if r := pagetest.Wait[map[string]string](v, "reopened"); r["device"] != page.CPU {
		t.Errorf("the device is %v", r)
	}
	if m := pagetest.Wait[map[string]any](v, "times"); m["device"] != page.CPU {
		t.Errorf("the times are of %v", m)
	}
}
