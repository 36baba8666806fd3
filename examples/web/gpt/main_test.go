package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tensorken/tensorken/examples/internal/gpt"
	"github.com/tensorken/tensorken/examples/web/internal/page"
	"github.com/tensorken/tensorken/examples/web/internal/page/pagetest"
	"github.com/tensorken/tensorken/models"
	"github.com/tensorken/tensorken/tensor"
)

type report struct {
	Step        int
	Loss, Speed float64
	Training    bool
}

type begin struct {
	Kind, Prompt string
	Step         int
}

// The program learns the text that it offers, pauses, goes on, and continues a prompt.
func TestProgram(t *testing.T) {
	v := pagetest.Start(t, serve)
	text := pagetest.Wait[string](v, "text")
	v.Send("train", task{text, "small", page.CPU})
	m := pagetest.Wait[map[string]int](v, "model")
	if m["tokens"] != len(text) || m["vocabulary"] < 40 || m["parameters"] < 60_000 {
		t.Errorf("model %v", m)
	}
	var r report
	for r.Step < 60 {
		if r = pagetest.Wait[report](v, "report"); !(r.Speed > 0) || !r.Training {
			t.Fatalf("report %+v", r)
		}
	}
	if r.Loss > 3 {
		t.Errorf("loss %v at step %d", r.Loss, r.Step)
	}
	v.Send("pause", nil)
	for r.Training {
		r = pagetest.Wait[report](v, "report")
	}
	v.Send("write", request{Prompt: "Anna", Temperature: 0, Length: 7})
	if b := pagetest.Wait[begin](v, "begin"); b.Kind != "written" || b.Prompt != "Anna" || b.Step != r.Step {
		t.Errorf("begin %+v at step %d", b, r.Step)
	}
	for range 7 {
		if c := pagetest.Wait[string](v, "character"); len(c) != 1 || !strings.Contains(text, c) {
			t.Errorf("character %q", c)
		}
	}
	pagetest.Wait[any](v, "end")
	v.Send("train", task{text, "small", page.CPU})
	if again := pagetest.Wait[report](v, "report"); again.Step <= r.Step {
		t.Errorf("training goes on at step %d after %d", again.Step, r.Step)
	}
	v.Send("write", request{Prompt: "∂"})
	if e := pagetest.Wait[string](v, "error"); !strings.Contains(e, "'∂'") {
		t.Errorf("error %q", e)
	}
}

// Errors say what is wrong with a request.
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
	r, err := newRun(text, "small", tensor.CPU())
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

// After a failure of the GPU the program goes on from what was saved, once without progress.
func TestRecover(t *testing.T) {
	v := pagetest.Start(t, func(port *page.Port) {
		p := &program{port: port, device: page.GPU}
		r, err := newRun(text, "small", tensor.CPU())
		if err == nil {
			p.saved, err = r.save()
		}
		if err != nil {
			port.Send("error", err.Error())
			return
		}
		p.run, p.training, p.started, p.sampled = r, true, time.Now(), time.Now()
		p.run.update = func(*gpt.Model, window, *tensor.RNG) (tensor.Tensor, error) {
			return tensor.Tensor{}, errors.New("lost\nin detail")
		}
		more, err := p.work()
		port.Send("worked", map[string]any{"more": more, "failed": err != nil, "fresh": p.run != r})
	})
	if m := pagetest.Wait[map[string]string](v, "reopened"); m["cause"] != "lost" || m["device"] == "" {
		t.Errorf("reopened %v", m)
	}
	if m := pagetest.Wait[map[string]bool](v, "worked"); !m["more"] || m["failed"] || !m["fresh"] {
		t.Errorf("after a failure %v", m)
	}
}

// Sampling draws from the most probable characters only.
func TestTopK(t *testing.T) {
	r, err := newRun(text, "small", tensor.CPU())
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
