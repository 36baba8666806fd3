// Command onnx is the program of the page that runs a model in ONNX. It opens the visitor's files by name, as
// site/files.js provides them.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tensorken/tensorken/examples/web/internal/page"
	"github.com/tensorken/tensorken/onnx"
	"github.com/tensorken/tensorken/tensor"
)

func main() { serve(page.Open()) }

// A program is the state behind the page.
type program struct {
	port    *page.Port
	devices page.Devices
	path    string      // of the model
	model   *onnx.Model // nil before the first is open
	task    *task       // nil if nothing runs
}

// A task is a model that runs again and again.
type task struct {
	device   string
	inputs   []input
	values   map[string]onnx.Value
	times    []float64 // of runs, in milliseconds
	reopened bool      // the GPU, since the last run
}

// A task ends after so many runs, or so many milliseconds.
const (
	mostRuns         = 20
	mostMilliseconds = 2000
)

// A request is for results.
type request struct {
	Device string
	Inputs []input
}

// serve answers the page until it is gone.
func serve(port *page.Port) { (&program{port: port}).serve() }

func (p *program) serve() {
	port := p.port
	page.On(port, "open", p.open)
	page.On(port, "nodes", p.nodes)
	page.On(port, "run", p.run)
	p.devices.Announce(port)
	port.Serve(p.work)
}

// open opens a model. If that fails, the one before stays.
func (p *program) open(path string) error {
	p.end()
	m, err := onnx.Open(path)
	if err != nil {
		return err
	}
	p.path, p.model = path, m
	params := 0
	for _, t := range m.Params() {
		params += t.Len()
	}
	forms, defaults := []form{}, map[string]int{}
	for _, in := range m.Inputs() {
		forms = append(forms, formOf(in, defaults))
	}
	outputs := []string{}
	for _, out := range m.Outputs() {
		outputs = append(outputs, out.String())
	}
	p.port.Send("model", map[string]any{
		"name": m.Name, "producer": m.Producer, "opset": m.Opsets[""], "params": params,
		"inputs": forms, "outputs": outputs, "operators": m.Check(),
	})
	return nil
}

// nodes describes the nodes of the model, for inputs of a length of 1 where it takes any.
func (p *program) nodes(struct{}) error {
	if p.model == nil {
		return errors.New("no model is open")
	}
	list, err := p.model.Describe(nil)
	if err != nil {
		return err
	}
	p.port.Send("nodes", list)
	return nil
}

// run begins a task.
func (p *program) run(r request) (err error) {
	p.end()
	if p.model == nil {
		return errors.New("no model is open")
	}
	for _, n := range p.model.Check() {
		if n.Missing != "" {
			return fmt.Errorf("the model cannot run here: of operator %s %s", n.Op, n.Missing)
		}
	}
	return p.begin(&task{device: r.Device, inputs: r.Inputs})
}

func (p *program) begin(t *task) error {
	dev, err := p.devices.Open(t.device)
	if err != nil {
		return err
	}
	tensor.SetDefault(dev)
	if t.values, err = values(p.model, t.inputs); err != nil {
		return err
	}
	p.task = t
	return nil
}

// end ends the task.
func (p *program) end() { p.task = nil }

// work runs the model once.
func (p *program) work() (more bool, err error) {
	if p.task == nil {
		return false, nil
	}
	if err := page.Try(p.step); err != nil {
		if err = p.recover(err); err != nil {
			p.end()
			return false, err
		}
	}
	return p.task != nil, nil
}

func (p *program) step() error {
	t := p.task
	start := time.Now()
	out, err := p.model.RunValues(context.Background(), t.values)
	if err != nil {
		return err
	}
	on, err := read(out)
	if err != nil {
		return err
	}
	t.times = append(t.times, float64(time.Since(start).Microseconds())/1000)
	t.reopened = false
	if len(t.times) == 1 {
		results := []result{}
		for _, info := range p.model.Outputs() {
			r, err := resultOf(info, out[info.Name])
			if err != nil {
				return err
			}
			results = append(results, r)
		}
		p.port.Send("results", results)
	}
	total := 0.0
	for _, x := range t.times {
		total += x
	}
	if more := len(t.times) < mostRuns && total < mostMilliseconds; more {
		return nil
	}
	later := slices.Clone(t.times[1:])
	slices.SortFunc(later, cmp.Compare[float64])
	m := map[string]any{"device": on, "first": t.times[0], "runs": len(later), "later": nil}
	if len(later) > 0 {
		m["later"] = later[len(later)/2]
	}
	p.port.Send("times", m)
	p.end()
	return nil
}

// read reads results, because a GPU may still be at work when a run returns, and returns the device that they come
// from: a model of types that the GPU lacks runs on the CPU.
func read(out map[string]onnx.Value) (device string, err error) {
	var list []tensor.Tensor
	device = page.CPU
	for _, v := range out {
		if v.Kind != onnx.TensorKind {
			continue
		}
		if d := v.Tensor.Device(); d != tensor.CPU() && (d != nil || tensor.Default() != tensor.CPU()) {
			device = page.GPU
		}
		list = append(list, v.Tensor.To(tensor.CPU()))
	}
	return device, tensor.Eval(list)
}

// recover begins the task again after a failure of the GPU, there or else on the CPU. The model's parameters are
// lost with the GPU.
func (p *program) recover(err error) error {
	t := p.task
	if !page.Failed(t.device, err) || t.reopened {
		return err
	}
	name, _ := p.devices.Reopen(p.port, err)
	return page.Try(func() (err error) {
		if p.model, err = onnx.Open(p.path); err != nil {
			return err
		}
		return p.begin(&task{device: name, inputs: t.inputs, reopened: true})
	})
}
