package main

import (
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tensorken/tensorken/examples/web/internal/page"
	"github.com/tensorken/tensorken/examples/web/internal/page/pagetest"
	"github.com/tensorken/tensorken/models"
	"github.com/tensorken/tensorken/tensor"
)

type report struct {
	Step        int
	Loss, Speed float64
}

type begin struct {
	Kind, Prompt string
	Step         int
}

// The program learns the text that it offers, pauses, goes on, and continues a prompt.
func TestProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("trains in the page")
	}
	v := pagetest.Start(t, serve)
	text := pagetest.Wait[string](v, "text")
	v.Send("train", task{text, "small", page.CPU})
	m := pagetest.Wait[map[string]int](v, "model")
	if m["tokens"] != len(text) || m["vocabulary"] < 40 || m["parameters"] < 60_000 {
		t.Errorf("model %v", m)
	}
	var r report
	for r.Step < 60 {
		r = pagetest.Wait[report](v, "report")
	}
	if r.Loss > 3 || !(r.Speed > 0) {
		t.Errorf("report %+v", r)
	}
	v.Send("pause", nil)
	paused := pagetest.Wait[int](v, "paused")
	if paused < r.Step {
		t.Errorf("paused at step %d after %d", paused, r.Step)
	}
	v.Send("write", request{Prompt: "Anna", Temperature: 0, Length: 7})
	if b := pagetest.Wait[begin](v, "begin"); b.Kind != "written" || b.Prompt != "Anna" || b.Step != paused {
		t.Errorf("begin %+v at step %d", b, paused)
	}
	for range 7 {
		if c := pagetest.Wait[string](v, "character"); len(c) != 1 || !strings.Contains(text, c) {
			t.Errorf("character %q", c)
		}
	}
	if !pagetest.Wait[bool](v, "end") {
		t.Error("the text is not complete")
	}
	v.Send("train", task{text, "small", page.CPU})
	if again := pagetest.Wait[report](v, "report"); again.Step <= paused {
		t.Errorf("training continues at step %d after %d", again.Step, paused)
	}
	// Requests that are refused leave training as it is.
	for _, c := range []struct {
		name  string
		value any
		want  string
	}{
		{"write", request{Prompt: "∂"}, "'∂'"},
		{"train", task{"short", "small", page.CPU}, "at least 192"},
	} {
		v.Send(c.name, c.value)
		if e := pagetest.Wait[string](v, "error"); !strings.Contains(e, c.want) {
			t.Errorf("error %q, want one with %q", e, c.want)
		}
		before := r.Step
		if r = pagetest.Wait[report](v, "report"); r.Step <= before {
			t.Errorf("after an error: %+v", r)
		}
	}
	v.Send("pause", nil)
	pagetest.Wait[int](v, "paused")
}

// Errors name the mistake in a request.
func TestErrors(t *testing.T) {
	v := pagetest.Start(t, serve)
	for _, c := range []struct {
		name  string
		value any
		want  string
	}{
		{"write", request{}, "start training first"},
		{"train", task{"short", "small", page.CPU}, "the text has 5 characters; a model of this size needs at least 192"},
		{"train", task{text, "huge", page.CPU}, `no size "huge"`},
	} {
		v.Send(c.name, c.value)
		if e := pagetest.Wait[string](v, "error"); !strings.Contains(e, c.want) {
			t.Errorf("%s %v: error %q, want one with %q", c.name, c.value, e, c.want)
		}
	}
}

// A run that is resumed goes on from the step, the parameters and the averages that were saved.
func TestResume(t *testing.T) {
	r, err := newRun(text, "small")
	if err != nil {
		t.Fatal(err)
	}
	learn := func(r *run, steps int) float64 {
		for range steps {
			if err := r.learn(); err != nil {
				t.Fatal(err)
			}
		}
		return r.loss.Item()
	}
	learn(r, 3)
	s, err := r.save()
	if err != nil {
		t.Fatal(err)
	}
	a, b := s.resume(tensor.CPU()), s.resume(tensor.CPU())
	want := learn(a, 3)
	if got := learn(b, 3); got != want || a.step != 6 || b.step != 6 {
		t.Errorf("two runs from one state have losses %v and %v after steps %d and %d", want, got, a.step, b.step)
	}
	if r.step != 3 {
		t.Errorf("the run that was saved is at step %d, want 3", r.step)
	}
}

// started runs a test of a program that learns on the CPU, and returns its visit.
func started(t *testing.T, test func(p *program) error) *pagetest.Visit {
	return pagetest.Start(t, func(port *page.Port) {
		p := &program{port: port}
		err := p.train(task{text, "small", page.CPU})
		if err == nil {
			err = test(p)
		}
		if err != nil {
			port.Send("error", err.Error())
		}
	})
}

// After a loss of the GPU the program fulfils the request, from the saved state.
func TestLoss(t *testing.T) {
	work := func(p *program) error { _, err := p.work(); return err }
	for _, c := range []struct {
		name     string
		do       func(p *program) error
		training bool
		want     []string // messages
	}{
		{"learn", func(p *program) error { p.started = time.Time{}; return work(p) }, true, []string{"reopened"}},
		{"pause", func(p *program) error { return p.pause() }, false, []string{"reopened", "paused"}},
		{"move", func(p *program) error { return p.move(page.CPU) }, true, []string{"reopened", "device"}},
		{"train", func(p *program) error {
			p.training = false
			err := p.train(task{text, "small", page.GPU})
			p.started = time.Time{}
			return errors.Join(err, work(p))
		}, true, []string{"reopened"}},
		{"write", func(p *program) error {
			return errors.Join(p.write(request{Length: 1}), work(p), work(p), work(p))
		}, true, []string{"begin", "end", "begin", "character", "end"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			gpu, lose := pagetest.GPU(t)
			v := started(t, func(p *program) error {
				p.resume(page.GPU, gpu)
				before := p.run
				if err := work(p); err != nil {
					return err
				}
				lose()
				if err := c.do(p); err != nil {
					return err
				}
				p.port.Send("state", map[string]bool{"fresh": p.run != before, "training": p.training, "writing": p.writer != nil})
				return nil
			})
			for _, m := range c.want {
				pagetest.Wait[any](v, m)
			}
			if s := pagetest.Wait[map[string]bool](v, "state"); !s["fresh"] || s["training"] != c.training || s["writing"] {
				t.Errorf("after a loss %v, want training %v", s, c.training)
			}
		})
	}
}

// A second loss without progress is an error, and ends the training. It can begin again.
func TestSecondLoss(t *testing.T) {
	gpu, lose := pagetest.GPU(t)
	v := started(t, func(p *program) error {
		p.resume(page.GPU, gpu)
		p.reopened = true
		lose()
		more, err := p.work()
		for more && err == nil { // until a result is read
			p.started = time.Time{}
			more, err = p.work()
		}
		if err == nil || !strings.Contains(err.Error(), "lost") {
			return errors.Join(errors.New("no loss"), err)
		}
		if err := p.train(task{text, "small", page.CPU}); err != nil {
			return err
		}
		more, err = p.work()
		p.port.Send("more", more)
		return err
	})
	pagetest.Wait[int](v, "paused")
	if !pagetest.Wait[bool](v, "more") {
		t.Error("training does not begin again")
	}
}

// A pause before the first step shows no loss. A loss that is not finite takes the model back.
func TestPause(t *testing.T) {
	v := started(t, func(p *program) error {
		if err := p.pause(); err != nil || p.training {
			return errors.Join(errors.New("pause"), err)
		}
		if err := p.train(task{text, "small", page.CPU}); err != nil {
			return err
		}
		if _, err := p.work(); err != nil {
			return err
		}
		p.run.loss = tensor.Full(math.Inf(1))
		return p.pause()
	})
	for range 2 {
		if step := pagetest.Wait[int](v, "paused"); step != 0 {
			t.Errorf("paused at step %d, want 0", step)
		}
	}
	if e := pagetest.Wait[string](v, "error"); !strings.Contains(e, "the loss is +Inf at step 1: the model is back at step 0") {
		t.Errorf("error %q", e)
	}
}

// A text that is replaced leaves no goroutine.
func TestWriters(t *testing.T) {
	writing := func() int {
		stacks := make([]byte, 1<<20)
		return strings.Count(string(stacks[:runtime.Stack(stacks, true)]), "created by iter.Pull[")
	}
	v := started(t, func(p *program) error {
		for range 10 {
			if err := p.write(request{Prompt: "Anna", Length: 5}); err != nil {
				return err
			}
			if _, err := p.work(); err != nil {
				return err
			}
		}
		during := writing()
		p.drop()
		p.port.Send("goroutines", []int{during, writing()})
		return nil
	})
	if n := pagetest.Wait[[2]int](v, "goroutines"); n != [2]int{1, 0} {
		t.Errorf("%d goroutines write, and %d are left; want 1 and 0", n[0], n[1])
	}
}

// A move to another device saves no parameters that are not finite, and tells the page the device
// that the run has then.
func TestMove(t *testing.T) {
	gpu, _ := pagetest.GPU(t)
	v := started(t, func(p *program) error {
		p.resume(page.GPU, gpu)
		if err := p.run.learn(); err != nil {
			return err
		}
		p.run.model.Norm.Bias = tensor.Full(math.NaN(), sizes["small"].width).To(gpu)
		err := p.move(page.CPU)
		p.port.Send("refused", err.Error())
		if err := p.run.learn(); err != nil {
			return err
		}
		if err := p.move(page.CPU); err != nil {
			return err
		}
		p.port.Send("refused", p.move(page.GPU).Error())
		return nil
	})
	for _, want := range []struct{ device, refused string }{
		{page.GPU, "the sum of the parameters is NaN at step 1: the model is back at step 0"},
		{page.CPU, ""},
		{page.CPU, "/none"}, // there is no other GPU
	} {
		if got := pagetest.Wait[string](v, "device"); got != want.device {
			t.Errorf("the run is on the %s, want the %s", got, want.device)
		}
		if want.refused == "" {
			continue
		}
		if got := pagetest.Wait[string](v, "refused"); !strings.Contains(got, want.refused) {
			t.Errorf("the move is refused by %q, want %q", got, want.refused)
		}
	}
}

// Sampling draws from the most probable characters only.
func TestTopK(t *testing.T) {
	r, err := newRun(text, "small")
	if err != nil {
		t.Fatal(err)
	}
	best, err := r.write("The", models.Sampling{}, 12)
	if err != nil {
		t.Fatal(err)
	}
	one, err := r.write("The", models.Sampling{Temperature: 1.5, TopK: 1}, 12)
	if err != nil {
		t.Fatal(err)
	}
	for range 12 {
		a, _ := best.next()
		if b, _ := one.next(); a != b {
			t.Fatalf("the most probable character is %q, of 1 it is %q", a, b)
		}
	}
	if _, more := one.next(); more {
		t.Error("more than 12 characters were written")
	}
}
