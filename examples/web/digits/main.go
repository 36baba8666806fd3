// Command digits is the program of the page that learns handwritten digits and classifies
// drawings. run.go uses the library; this file answers the page.
package main

import (
	"time"

	"github.com/tensorken/tensorken/examples/web/internal/page"
	"github.com/tensorken/tensorken/tensor"
)

func main() { serve(page.Open()) }

// A program is the state behind the page.
type program struct {
	port    *page.Port
	devices page.Devices
	data    dataset
	run     *run     // nil while nothing is trained
	last    snapshot // the last saved network, which classifies drawings
	newest  *report  // nil before the first of a network

	started  time.Time // of the steps since the last report
	reopened bool      // the GPU, since the last report or pause
}

// settings are the page's settings.
type settings struct {
	Device string  // page.CPU or page.GPU
	Rate   float64 // the learning rate
	Batch  int
	Until  int // the step at which training ends; 0 is never
}

// A report is the page's information about a run.
type report struct {
	Device   string
	Step     int
	Loss     float64
	Accuracy float64 // of digits that were not trained on
	Speed    float64 // steps a second; 0 after too few steps to tell
}

// reportEvery is the time between two reports.
const reportEvery = 250 * time.Millisecond

// serve answers the page until it is gone.
func serve(port *page.Port) {
	p := &program{port: port}
	page.On(port, "train", p.train)
	page.On(port, "pause", func(struct{}) error { return p.pause() })
	page.On(port, "reset", p.reset)
	page.On(port, "draw", p.draw)
	if err := p.start(); err != nil {
		port.Send("error", err.Error())
		return
	}
	port.Serve(p.work)
}

// start loads the digits and tells the page which devices there are.
func (p *program) start() (err error) {
	defer tensor.Catch(&err)
	if p.data, err = load(); err != nil {
		return err
	}
	p.last = untrained(1)
	p.devices.Announce(p.port)
	return nil
}

// train begins a run from the last snapshot.
func (p *program) train(s settings) error {
	err := p.attempt(p.report)
	if err == nil {
		err = p.begin(s)
	}
	if err != nil {
		p.end()
	}
	return err
}

func (p *program) begin(s settings) (err error) {
	defer tensor.Catch(&err)
	dev, err := p.devices.Open(s.Device)
	if err != nil {
		return err
	}
	p.drop()
	p.run, p.started = newRun(p.data, p.last, dev, s), time.Now()
	return nil
}

// pause reports on the run and ends it.
func (p *program) pause() error {
	err := p.attempt(p.report)
	p.end()
	return err
}

// reset forgets the snapshot, and ends the run.
func (p *program) reset(seed uint64) error {
	p.last, p.newest = untrained(seed), nil
	p.port.Send("reset", nil)
	p.end()
	return nil
}

// work makes a step of the run.
func (p *program) work() (more bool, err error) {
	if p.run == nil {
		return false, nil
	}
	err = p.attempt(p.step)
	if err != nil || p.run.done() {
		p.end()
	}
	return p.run != nil, err
}

// step makes a step of the run, and reports on it from time to time.
func (p *program) step() error {
	err := p.run.next()
	if err == nil && (p.run.done() || time.Since(p.started) > reportEvery) {
		err = p.report()
	}
	return err
}

// end ends the run and tells the page.
func (p *program) end() {
	p.drop()
	p.reopened = false
	p.port.Send("paused", p.newest)
}

func (p *program) drop() {
	if p.run != nil {
		p.run.stop()
		p.run = nil
	}
}

// attempt calls f. If the GPU fails, the run begins again at the last report, on the GPU or
// else on the CPU.
func (p *program) attempt(f func() error) error {
	err := page.Try(f)
	if !page.Failed(p.device(), err) || p.reopened {
		return err
	}
	p.reopened = true
	s := p.run.settings
	s.Device, _ = p.devices.Reopen(p.port, err)
	return p.begin(s)
}

// device returns the name of the run's device.
func (p *program) device() string {
	if p.run == nil {
		return ""
	}
	return p.run.settings.Device
}

// report takes and shows a snapshot, if there were steps. Reading the results waits for the
// device.
func (p *program) report() error {
	if p.run == nil || p.run.step == p.last.step {
		return nil
	}
	steps := p.run.step - p.last.step
	s, r, err := p.run.measure()
	if err != nil {
		return err
	}
	if elapsed := time.Since(p.started); elapsed > reportEvery {
		r.Speed = float64(steps) / elapsed.Seconds()
	}
	p.last, p.newest, p.reopened, p.started = s, &r, false, time.Now()
	p.port.Send("report", r)
	return nil
}

// draw classifies a drawing.
func (p *program) draw(strokes []stroke) error {
	image := rasterize(strokes)
	probabilities, err := p.last.classify(image)
	if err != nil {
		return err
	}
	p.port.Send("classes", map[string][]float32{"probabilities": probabilities, "image": image})
	return nil
}
