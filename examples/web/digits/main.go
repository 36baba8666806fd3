// Command digits is the program of the page that learns handwritten digits and classifies
// drawings. In run.go is what it does with the library; this file answers the page.
package main

import (
	"time"

	"github.com/tensorken/tensorken/examples/web/internal/page"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/webgpu"
)

func main() { serve(page.Open()) }

// A program is the state behind the page.
type program struct {
	port *page.Port
	data dataset
	gpu  *tensor.Device // nil before its first use
	run  *run           // nil while nothing is trained
	last snapshot       // of what was learned; drawings are classified by it

	started time.Time // of the steps since the last report
	failed  bool      // the GPU failed since the last report
}

// settings are those of the page.
type settings struct {
	Device string  `json:"device"` // "cpu" or "gpu"
	Rate   float64 `json:"rate"`   // the learning rate
	Batch  int     `json:"batch"`
	Until  int     `json:"until"` // the step at which training ends; 0 is never
}

// A report is what the page shows of a run.
type report struct {
	Device   string  `json:"device"`
	Step     int     `json:"step"`
	Loss     float64 `json:"loss"`
	Accuracy float64 `json:"accuracy"` // of digits that were not trained on
	Speed    float64 `json:"speed"`    // steps a second; 0 after too few steps to tell
	Training bool    `json:"training"`
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

// start tells the page which GPU there is, or why there is none.
func (p *program) start() (err error) {
	defer tensor.Catch(&err)
	if p.data, err = load(); err != nil {
		return err
	}
	p.last = untrained(1)
	gpu, why := "", ""
	if list, err := webgpu.Adapters(); err != nil {
		why = err.Error()
	} else {
		gpu = list[0].Name
	}
	p.port.Send("ready", map[string]string{"gpu": gpu, "why": why})
	return nil
}

// train begins a run from what was learned.
func (p *program) train(s settings) error {
	if err := p.pause(); err != nil {
		return err
	}
	return p.begin(s)
}

func (p *program) begin(s settings) (err error) {
	dev := tensor.CPU()
	if s.Device == "gpu" {
		if p.gpu == nil {
			if p.gpu, err = webgpu.Open(&webgpu.Options{Software: true}); err != nil {
				return err
			}
		}
		dev = p.gpu
	}
	p.end()
	p.run, p.started = newRun(p.data, p.last, dev, s), time.Now()
	return nil
}

// pause ends the run.
func (p *program) pause() error {
	if p.run == nil {
		return nil
	}
	return p.report(false)
}

// reset forgets what was learned.
func (p *program) reset(seed uint64) error {
	p.end()
	p.last = untrained(seed)
	p.port.Send("reset", nil)
	return nil
}

// work makes a step of the run.
func (p *program) work() (more bool, err error) {
	if p.run == nil {
		return false, nil
	}
	if err = p.run.next(); err == nil {
		if done := p.run.step == p.run.settings.Until; done || time.Since(p.started) > reportEvery {
			err = p.report(!done)
		}
	}
	if err != nil && p.run.settings.Device == "gpu" && !p.failed {
		err = p.recover(err)
	}
	if err != nil {
		p.end()
	}
	return p.run != nil, err
}

func (p *program) end() {
	if p.run != nil {
		p.run.stop()
		p.run = nil
	}
}

// report keeps and shows what was learned, and ends the run unless it goes on. Reading the
// results waits for the device.
func (p *program) report(goOn bool) error {
	steps := p.run.step - p.last.step
	s, loss, accuracy, err := p.run.measure()
	if err != nil {
		return err
	}
	speed, elapsed := 0.0, time.Since(p.started)
	if elapsed > reportEvery {
		speed = float64(steps) / elapsed.Seconds()
	}
	p.last, p.failed, p.started = s, false, time.Now()
	p.port.Send("report", report{p.run.settings.Device, s.step, loss, accuracy, speed, goOn})
	if !goOn {
		p.end()
	}
	return nil
}

// recover opens the GPU again after it failed, and goes on from the last report. Without a
// GPU it goes on on the CPU.
func (p *program) recover(cause error) error {
	p.failed = true
	p.gpu.Close()
	p.gpu = nil
	s := p.run.settings
	err := p.begin(s)
	if err != nil {
		s.Device = "cpu"
		err = p.begin(s)
	}
	p.port.Send("recovered", map[string]any{"cause": cause.Error(), "step": p.last.step, "device": s.Device})
	return err
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
