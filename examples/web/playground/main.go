// Command playground is the program of the page that runs a few lines of Go with tensors, and
// shows how they are computed: the plan and its shaders. Source.go parses the lines, evaluate.go
// runs them, kernels.go makes the shaders; this file answers the page.
package main

import (
	"fmt"

	"github.com/tensorken/tensorken/examples/web/internal/page"
	"github.com/tensorken/tensorken/tensor"
)

func main() { serve(page.Open()) }

// A request is to run lines.
type request struct {
	Source   string
	Device   string // page.CPU or page.GPU
	Gradient bool   // show the gradients of the inputs, in place of the result
}

// An answer has the results of the lines, and their kernels.
type answer struct {
	Results []result
	Plan    string
	Kernels []kernel
}

// A result is a tensor as text.
type result struct {
	Name  string
	Type  string
	Value string
}

// serve answers the page until it is gone.
func serve(port *page.Port) {
	var devices page.Devices
	page.On(port, "run", func(r request) error {
		dev, err := devices.Open(r.Device)
		if err != nil {
			return err
		}
		a, err := answerOn(dev, r)
		if page.Failed(r.Device, err) {
			_, dev = devices.Reopen(port, err)
			a, err = answerOn(dev, r)
		}
		if err == nil {
			port.Send("answer", a)
		}
		return err
	})
	port.Send("examples", examples)
	devices.Announce(port)
	port.Serve(nil)
}

// answerOn computes the results on a device, and makes the plan and the shaders that a GPU
// gets.
func answerOn(dev *tensor.Device, r request) (a answer, err error) {
	defer tensor.Catch(&err)
	s, err := parse(r.Source)
	if err != nil {
		return a, err
	}
	outputs, err := s.outputs(dev, r.Gradient)
	if err != nil {
		return a, err
	}
	for _, o := range outputs {
		if err := tensor.Eval(o.Tensor); err != nil {
			return a, err
		}
		a.Results = append(a.Results, result{o.name, fmt.Sprintf("%v %v", o.DType(), o.Shape()), fmt.Sprint(o.Tensor)})
	}
	a.Plan, a.Kernels, err = s.kernels(r.Gradient)
	return a, err
}
