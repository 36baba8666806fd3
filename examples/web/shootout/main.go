// Command shootout is the program of the page that compares the CPU and the GPU at the
// operations of the command tensorken bench.
package main

import (
	"context"
	"slices"
	"time"

	"github.com/tensorken/tensorken/examples/web/internal/page"
	"github.com/tensorken/tensorken/internal/bench"
	"github.com/tensorken/tensorken/tensor"
)

func main() { serve(page.Open()) }

// A program is the state behind the page.
type program struct {
	port    *page.Port
	devices page.Devices
	budget  time.Duration // of a measurement
	left    []measurement
	total   int // measurements of this comparison
}

// A measurement is one operation on one device.
type measurement struct {
	bench.Cell
	device string
}

// A request is for a comparison.
type request struct {
	Sizes        []int
	Devices      []string // page.CPU and page.GPU
	Milliseconds int      // of a measurement, more if three runs take longer
}

// serve answers the page until it is gone.
func serve(port *page.Port) {
	p := &program{port: port}
	page.On(port, "run", p.run)
	page.On(port, "stop", func(struct{}) error { p.stop(); return nil })
	p.devices.Announce(port)
	port.Serve(p.work)
}

// run begins a comparison.
func (p *program) run(r request) error {
	p.left, p.budget = nil, time.Duration(r.Milliseconds)*time.Millisecond
	for _, op := range bench.Ops {
		for _, n := range r.Sizes {
			for _, device := range r.Devices {
				p.left = append(p.left, measurement{bench.Cell{Op: op, N: n, Layout: bench.Contiguous}, device})
			}
		}
	}
	p.total = len(p.left)
	return nil
}

// stop ends the comparison, unless it has ended.
func (p *program) stop() {
	if len(p.left) > 0 {
		p.left = nil
		p.port.Send("done", false)
	}
}

// work makes one measurement. Without the GPU only those on the CPU are left.
func (p *program) work() (more bool, err error) {
	if len(p.left) == 0 {
		return false, nil
	}
	m := p.left[0]
	p.left = p.left[1:]
	row, err := p.measure(m)
	if page.Failed(m.device, err) {
		if name, _ := p.devices.Reopen(p.port, err); name != page.GPU {
			p.left = slices.DeleteFunc(p.left, func(m measurement) bool { return m.device == page.GPU })
			return p.more(), nil
		}
		row, err = p.measure(m)
	}
	if err != nil {
		p.left = nil
		return false, err
	}
	p.port.Send("row", map[string]any{
		"op": row.Op, "n": row.N, "device": m.device, "seconds": row.Seconds,
		"left": len(p.left), "total": p.total,
	})
	return p.more(), nil
}

// more reports whether there is something to measure, and tells the page if there is not.
func (p *program) more() bool {
	if len(p.left) == 0 {
		p.port.Send("done", true)
	}
	return len(p.left) > 0
}

func (p *program) measure(m measurement) (row bench.Row, err error) {
	dev, err := p.devices.Open(m.device)
	if err != nil {
		return row, &tensor.DeviceError{Device: m.device, Op: "Open", Err: err}
	}
	return bench.Measure(context.Background(), m.Cell, dev, p.budget)
}
