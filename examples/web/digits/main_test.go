package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/examples/web/internal/page"
	"github.com/tensorken/tensorken/examples/web/internal/page/pagetest"
)

var onCPU = settings{Device: page.CPU, Rate: 3e-3, Batch: 64}

// until returns settings with the step at which training ends.
func (s settings) until(step int) settings {
	s.Until = step
	return s
}

// The program trains until a step, pauses, continues, resets and classifies.
func TestProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("trains in the page")
	}
	v := pagetest.Start(t, serve)
	d := pagetest.Wait[struct{ GPU, Why string }](v, "devices")
	if (d.GPU == "") == (d.Why == "") {
		t.Errorf("devices with GPU %q and reason %q, want one of them", d.GPU, d.Why)
	}
	v.Send("train", onCPU.until(1000))
	var r report
	for r.Step < 1000 {
		if r = pagetest.Wait[report](v, "report"); r.Speed < 0 || r.Device != page.CPU {
			t.Errorf("report %+v", r)
		}
	}
	if end := pagetest.Wait[report](v, "paused"); end != r || r.Step != 1000 || r.Accuracy < 0.95 {
		t.Errorf("at the end: %+v after %+v, want step 1000 and an accuracy of 0.95", end, r)
	}
	v.Send("train", settings{Device: page.CPU, Rate: 1e-3, Batch: 32})
	pagetest.Wait[report](v, "report")
	v.Send("pause", nil)
	if r = pagetest.Wait[report](v, "paused"); r.Step <= 1000 || r.Accuracy < 0.95 {
		t.Errorf("after more: %+v, want more steps and an accuracy of 0.95", r)
	}
	v.Send("draw", parse(t, drawings[0].strokes))
	c := pagetest.Wait[struct{ Probabilities, Image []float32 }](v, "classes")
	if len(c.Probabilities) != 10 || len(c.Image) != 64 || c.Probabilities[0] < 0.9 {
		t.Errorf("a 0 has %d pixels and probabilities %v", len(c.Image), c.Probabilities)
	}
	v.Send("reset", 2)
	if end := pagetest.Wait[*report](v, "paused"); end != nil {
		t.Errorf("after a reset: %+v, want no report", end)
	}
	v.Send("train", onCPU.until(1))
	if r = pagetest.Wait[report](v, "paused"); r.Step != 1 || r.Accuracy > 0.5 {
		t.Errorf("after a reset: %+v, want step 1 and a low accuracy", r)
	}
}

// A program with a run, whose messages a visit receives.
func started(t *testing.T, test func(p *program) error) *pagetest.Visit {
	return pagetest.Start(t, func(port *page.Port) {
		p := &program{port: port}
		err := p.start()
		if err == nil {
			err = test(p)
		}
		if err != nil {
			port.Send("error", err.Error())
		}
	})
}

// Before the first step of a run, training can be paused, begun again and paused again.
func TestPauseBeforeStep(t *testing.T) {
	v := started(t, func(p *program) error {
		return errors.Join(p.pause(), p.train(onCPU), p.train(onCPU), p.pause(), p.train(onCPU.until(2)))
	})
	for range 2 {
		if r := pagetest.Wait[*report](v, "paused"); r != nil {
			t.Errorf("paused after %+v, want no report", r)
		}
	}
}

// New settings hold from the next step, and training ends where the newest say.
func TestSettings(t *testing.T) {
	v := started(t, func(p *program) error {
		if err := p.train(onCPU.until(3)); err != nil {
			return err
		}
		for _, until := range []int{9, 2} { // the second is less than the steps made
			for range 2 {
				if more, err := p.work(); !more || err != nil {
					return errors.Join(errors.New("training ended"), err)
				}
			}
			if err := p.train(onCPU.until(until)); err != nil {
				return err
			}
		}
		_, err := p.work()
		return err
	})
	if r := pagetest.Wait[report](v, "report"); r.Step != 2 {
		t.Errorf("new settings after %+v, want step 2", r)
	}
	if r := pagetest.Wait[report](v, "paused"); r.Step != 5 {
		t.Errorf("ended after %+v, want step 5", r)
	}
}

// After a loss of the GPU training begins again at the last report. A pause ends it all the same.
func TestLoss(t *testing.T) {
	gpu, lose := pagetest.GPU(t)
	steps := func(p *program, n int) error {
		for range n {
			if more, err := p.work(); !more || err != nil {
				return errors.Join(errors.New("training ended"), err)
			}
		}
		return nil
	}
	v := started(t, func(p *program) error {
		onGPU := func() {
			p.run.stop()
			p.run = newRun(p.data, p.last, gpu, settings{Device: page.GPU, Rate: 3e-3, Batch: 64})
		}
		if err := errors.Join(p.train(onCPU), steps(p, 2), p.report()); err != nil {
			return err
		}
		onGPU()
		lose()
		if err := errors.Join(steps(p, 1), p.attempt(p.report), steps(p, 1), p.report()); err != nil {
			return err
		}
		onGPU()
		return errors.Join(steps(p, 1), p.pause())
	})
	for i := range 2 {
		if r := pagetest.Wait[report](v, "report"); r.Step != 2+i {
			t.Errorf("report %+v, want step %d", r, 2+i)
		}
		if m := pagetest.Wait[map[string]string](v, "reopened"); m["cause"] == "" || m["device"] == "" {
			t.Errorf("reopened %v", m)
		}
	}
	if r := pagetest.Wait[report](v, "paused"); r.Step != 3 {
		t.Errorf("paused after %+v, want step 3", r)
	}
}

// A reset ends the run. The next run may open the GPU again.
func TestReset(t *testing.T) {
	v := started(t, func(p *program) error {
		if err := p.train(onCPU); err != nil {
			return err
		}
		p.reopened = true
		err := p.reset(2)
		p.port.Send("state", []bool{p.run != nil, p.reopened})
		return err
	})
	pagetest.Wait[any](v, "reset")
	pagetest.Wait[any](v, "paused")
	if s := pagetest.Wait[[2]bool](v, "state"); s != [2]bool{} {
		t.Errorf("after a reset there is a run, or it cannot open the GPU again: %v", s)
	}
}

// A network that overflows, or a step that panics, ends the training with an error; the last
// snapshot stays.
func TestErrors(t *testing.T) {
	v := pagetest.Start(t, serve)
	v.Send("train", settings{Device: page.CPU, Rate: 1e30, Batch: 64})
	if r := pagetest.Wait[*report](v, "paused"); r != nil {
		t.Errorf("paused after %+v, want no report", r)
	}
	if e := pagetest.Wait[string](v, "error"); !strings.Contains(e, "choose a smaller learning rate") {
		t.Errorf("error %q", e)
	}
	v.Send("train", settings{Device: page.CPU, Rate: 1e-3})
	if e := pagetest.Wait[string](v, "error"); !strings.Contains(e, "Batch is 0") {
		t.Errorf("error %q", e)
	}
	v.Send("train", onCPU.until(1))
	if r := pagetest.Wait[report](v, "paused"); r.Step != 1 || r.Loss > 10 {
		t.Errorf("after an overflow: %+v, want step 1 with a low loss", r)
	}
}
