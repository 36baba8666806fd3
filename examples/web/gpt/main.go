// Command gpt is the program of the page on which a GPT learns a text and writes. run.go uses
// the library; this file answers the page.
package main

import (
	_ "embed"
	"fmt"
	"math"
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
	saved    *saved // of run, to continue from if the GPU fails
	device   string // of run
	training bool
	writer   *writer // nil if nothing is being written
	reopened bool    // the GPU, since the last report, character or pause

	started time.Time // of the steps since the last report
	first   int       // the first of them
	sampled time.Time // when the last sample began
}

// A task is a text to learn, with the page's settings.
type task struct {
	Text   string
	Size   string // a key of sizes
	Device string // page.CPU or page.GPU
}

// A request is for text that continues a prompt.
type request struct {
	Prompt      string
	Temperature float64
	TopK        int // 0 is all
	Length      int
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
	page.On(port, "device", p.move)
	page.On(port, "write", p.write)
	port.Send("text", text)
	p.devices.Announce(port)
	port.Serve(p.work)
}

// train begins a run, or continues the one of the same text and size. A run that cannot begin
// leaves the one before as it was.
func (p *program) train(t task) error {
	if err := p.load(t); err != nil {
		if !p.training {
			p.stop()
		}
		return err
	}
	p.drop()
	p.training = true
	p.restart()
	return nil
}

func (p *program) load(t task) error {
	if p.run != nil && p.run.text == t.Text && p.run.size == t.Size {
		return p.move(t.Device)
	}
	dev, err := p.devices.Open(t.Device)
	if err != nil {
		return err
	}
	r, err := newRun(t.Text, t.Size)
	if err != nil {
		return err
	}
	s, err := r.save()
	if err != nil {
		return err
	}
	p.saved = s
	p.resume(t.Device, dev)
	p.port.Send("model", map[string]int{
		"parameters": r.parameters(), "vocabulary": len(r.vocabulary), "tokens": r.tokens(),
	})
	return nil
}

// move continues the run on a device, and tells the page the device that the run has then.
func (p *program) move(device string) error {
	if p.run == nil || device == p.device {
		return nil
	}
	dev, err := p.devices.Open(device)
	if err == nil {
		err = p.attempt(p.keep)
	}
	if err == nil {
		p.resume(device, dev)
	}
	p.port.Send("device", p.device)
	return err
}

// resume continues on a device from the saved state.
func (p *program) resume(device string, dev *tensor.Device) {
	p.drop()
	p.device, p.run = device, p.saved.resume(dev)
	p.restart()
}

// restart makes now the time of the last report and of the last sample.
func (p *program) restart() {
	p.started, p.first, p.sampled = time.Now(), p.run.step, time.Now()
}

// pause reports on the run, saves it, and stops training.
func (p *program) pause() (err error) {
	if p.training {
		err = p.attempt(p.keep)
	}
	p.stop()
	return err
}

// keep saves the run after a report. The report's loss is from before the last update, so the
// parameters are checked too.
func (p *program) keep() error {
	if err := p.report(); err != nil {
		return err
	}
	s, err := p.run.save()
	if err != nil {
		return err
	}
	if sum := s.sum(); math.IsNaN(0 * sum) {
		return p.back("the sum of the parameters", sum)
	}
	p.saved = s
	return nil
}

// back takes the run back to the saved state, and returns an error that names x, which is
// not finite.
func (p *program) back(what string, x float64) error {
	step := p.run.step
	p.resume(p.device, p.run.device)
	return fmt.Errorf("%s is %v at step %d: the model is back at step %d", what, x, step, p.run.step)
}

// stop stops training and tells the page.
func (p *program) stop() {
	p.training, p.reopened = false, false
	step := 0
	if p.run != nil {
		step = p.run.step
	}
	p.port.Send("paused", step)
}

// write begins to continue a prompt, in the place of the text that is being written.
func (p *program) write(r request) error {
	if p.run == nil {
		return fmt.Errorf("nothing is learned yet: start training first")
	}
	w, err := p.run.write(r.Prompt, models.Sampling{Temperature: r.Temperature, TopK: min(r.TopK, len(p.run.vocabulary))}, r.Length)
	if err != nil {
		return err
	}
	w.request = &r
	p.begin("written", w)
	return nil
}

// begin tells the page the text that a writer continues. Its characters follow in messages
// "character".
func (p *program) begin(kind string, w *writer) {
	p.drop()
	p.writer = w
	p.port.Send("begin", map[string]any{"kind": kind, "step": p.run.step, "prompt": w.prompt})
}

// drop ends the text that is being written.
func (p *program) drop() {
	if p.writer != nil {
		p.end(false)
	}
}

// end ends the text that is being written, and tells the page whether it is complete. Its
// time does not count as training.
func (p *program) end(complete bool) {
	p.writer.stop()
	p.writer = nil
	p.port.Send("end", complete)
	p.started, p.first = time.Now(), p.run.step
}

// work writes a character or makes a training step.
func (p *program) work() (more bool, err error) {
	switch {
	case p.writer != nil:
		err = p.attempt(p.writeSome)
	case p.training:
		err = p.attempt(p.learn)
	}
	if err != nil {
		p.drop()
		p.stop()
	}
	return p.training || p.writer != nil, err
}

// attempt calls f. If the GPU fails meanwhile, the run continues from the saved state, on the
// GPU again or else on the CPU, and a text that the page asked for begins again.
func (p *program) attempt(f func() error) error {
	err := page.Try(f)
	if !page.Failed(p.device, err) || p.reopened {
		return err
	}
	p.reopened = true
	w := p.writer
	p.resume(p.devices.Reopen(p.port, err))
	if w != nil && w.request != nil {
		return p.write(*w.request)
	}
	return nil
}

func (p *program) writeSome() error {
	c, ok := p.writer.next()
	if !ok {
		p.end(true)
		return nil
	}
	p.reopened = false
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

// report shows the loss, if there was a step, and the speed, if there was time to measure it. To
// read the loss waits for the device. If it is not finite, the run goes back to the saved state.
func (p *program) report() error {
	if !p.run.loss.IsValid() {
		return nil
	}
	loss, step, speed := p.run.loss.Item(), p.run.step, 0.0
	if math.IsNaN(0 * loss) {
		return p.back("the loss", loss)
	}
	if elapsed := time.Since(p.started); elapsed > reportEvery {
		speed = float64((step-p.first)*p.run.tokensPerStep()) / elapsed.Seconds()
	}
	p.started, p.first, p.reopened = time.Now(), step, false
	p.port.Send("report", map[string]any{"step": step, "loss": loss, "speed": speed})
	return nil
}

// sample saves the model, and begins to write.
func (p *program) sample() error {
	p.sampled = time.Now()
	if err := p.keep(); err != nil {
		return err
	}
	w, err := p.run.write(p.run.start(), models.Sampling{Temperature: 0.8}, sampleSize)
	if err == nil {
		p.begin("sample", w)
	}
	return err
}
