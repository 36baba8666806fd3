// Command gpt is the program of the page on which a GPT learns a text and writes. In run.go is
// what it does with the library; this file answers the page.
package main

import (
	_ "embed"
	"fmt"
	"time"

	"github.com/tensorken/tensorken/examples/web/internal/page"
	"github.com/tensorken/tensorken/models"
	"github.com/tensorken/tensorken/tensor"
)

func main() { serve(page.Open()) }

//go:embed text.txt
var text string // that the page shows at first

// A program is the state behind the page.
type program struct {
	port    *page.Port
	devices page.Devices

	run      *run   // nil before the first
	saved    *saved // to go on from if the GPU fails
	device   string // of run
	training bool
	writer   *writer // nil if nothing is being written
	reopened bool    // since the last report

	started time.Time // of the steps since the last report
	first   int       // the first of them
	sampled time.Time // when the last sample began
}

// A task is what the page wants to be learned.
type task struct {
	Text   string `json:"text"`
	Size   string `json:"size"`   // a key of sizes
	Device string `json:"device"` // page.CPU or page.GPU
}

// A request is for text that continues a prompt.
type request struct {
	Prompt      string  `json:"prompt"`
	Temperature float64 `json:"temperature"`
	TopK        int     `json:"topK"` // 0 is all
	Length      int     `json:"length"`
}

const (
	reportEvery = 300 * time.Millisecond
	sampleEvery = 10 * time.Second
	sampleSize  = 160 // characters
)

// serve answers the page until it is gone.
func serve(port *page.Port) {
	p := &program{port: port}
	page.On(port, "train", p.train)
	page.On(port, "pause", func(struct{}) error { return p.pause() })
	page.On(port, "write", p.write)
	port.Send("text", text)
	p.devices.Announce(port)
	port.Serve(p.work)
}

// train begins a run, or goes on with the one of the same text and size.
func (p *program) train(t task) error {
	dev, err := p.devices.Open(t.Device)
	if err != nil {
		return err
	}
	if p.run == nil || p.run.text != t.Text || p.run.size != t.Size {
		if p.run, err = newRun(t.Text, t.Size, dev); err != nil {
			return err
		}
		p.port.Send("model", map[string]int{
			"parameters": p.run.parameters(), "vocabulary": len(p.run.vocabulary), "tokens": p.run.tokens(),
		})
	} else if t.Device != p.device {
		s, err := p.run.save()
		if err != nil {
			return err
		}
		p.run = s.resume(dev)
	}
	p.device, p.writer = t.Device, nil
	if p.saved, err = p.run.save(); err != nil {
		return err
	}
	p.training, p.started, p.first, p.sampled = true, time.Now(), p.run.step, time.Now()
	return nil
}

func (p *program) pause() error {
	if !p.training {
		return nil
	}
	p.training = false
	return p.report()
}

// write begins to continue a prompt, in the place of what is being written.
func (p *program) write(r request) error {
	if p.run == nil {
		return fmt.Errorf("nothing is learned yet: start training first")
	}
	w, err := p.run.write(r.Prompt, models.Sampling{Temperature: r.Temperature, TopK: min(r.TopK, len(p.run.vocabulary))}, r.Length)
	if err != nil {
		return err
	}
	p.begin("written", w)
	return nil
}

// begin tells the page the text that a writer continues. Its characters follow in messages
// "character".
func (p *program) begin(kind string, w *writer) {
	p.writer = w
	p.port.Send("begin", map[string]any{"kind": kind, "step": p.run.step, "prompt": w.prompt})
}

// work writes a character or makes a training step.
func (p *program) work() (more bool, err error) {
	switch {
	case p.writer != nil:
		err = p.writeSome()
	case p.training:
		err = p.learn()
	}
	if err != nil && p.device == page.GPU && p.saved != nil && !p.reopened {
		err = p.recover(err)
	}
	if err != nil {
		p.training, p.writer = false, nil
	}
	return p.training || p.writer != nil, err
}

func (p *program) writeSome() (err error) {
	defer tensor.Catch(&err)
	c, ok := p.writer.next()
	if !ok {
		p.writer = nil
		p.port.Send("end", nil)
		p.started, p.first = time.Now(), p.run.step
		return nil
	}
	p.port.Send("character", c)
	return nil
}

func (p *program) learn() error {
	if err := p.run.learn(); err != nil {
		return err
	}
	if time.Since(p.started) > reportEvery {
		if err := p.report(); err != nil {
			return err
		}
	}
	if time.Since(p.sampled) > sampleEvery {
		return p.sample()
	}
	return nil
}

// report shows the speed and the loss. To read the loss waits for the device.
func (p *program) report() (err error) {
	defer tensor.Catch(&err)
	steps := p.run.step - p.first
	loss := p.run.loss.Item()
	seconds := time.Since(p.started).Seconds()
	p.started, p.first, p.reopened = time.Now(), p.run.step, false
	p.port.Send("report", map[string]any{
		"step": p.run.step, "loss": loss, "speed": float64(steps*p.run.tokensPerStep()) / seconds, "training": p.training,
	})
	return nil
}

// sample saves what was learned, and begins to write.
func (p *program) sample() (err error) {
	p.sampled = time.Now()
	if p.saved, err = p.run.save(); err != nil {
		return err
	}
	w, err := p.run.write(p.run.start(), models.Sampling{Temperature: 0.8}, sampleSize)
	if err == nil {
		p.begin("sample", w)
	}
	return err
}

// recover goes on from what was saved, on the GPU again or on the CPU.
func (p *program) recover(cause error) error {
	p.reopened, p.writer = true, nil
	name, dev := p.devices.Reopen(p.port, cause)
	p.device, p.run = name, p.saved.resume(dev)
	p.started, p.first, p.sampled = time.Now(), p.run.step, time.Now()
	return nil
}
