package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"testing"

	"github.com/tensorken/tensorken/examples/web/internal/page"
)

// A visit is the page's end of a program under test.
type visit struct {
	*testing.T
	to   *io.PipeWriter
	from *bufio.Scanner
}

func start(t *testing.T) *visit {
	in, to := io.Pipe()
	from, out := io.Pipe()
	go func() {
		serve(page.Lines(in, out))
		out.Close()
	}()
	v := &visit{t, to, bufio.NewScanner(from)}
	t.Cleanup(func() {
		to.Close()
		for v.from.Scan() { // until the program has ended
		}
	})
	return v
}

func (v *visit) send(name string, value any) {
	b, err := json.Marshal(value)
	if err != nil {
		v.Fatal(err)
	}
	fmt.Fprintf(v.to, "{\"name\":%q,\"value\":%s}\n", name, b)
}

// wait returns the value of the next message of that name.
func wait[T any](v *visit, name string) (value T) {
	v.Helper()
	for v.from.Scan() {
		var m struct {
			Name  string
			Value json.RawMessage
		}
		if err := json.Unmarshal(v.from.Bytes(), &m); err != nil {
			v.Fatal(err)
		}
		if m.Name == name {
			if err := json.Unmarshal(m.Value, &value); err != nil {
				v.Fatal(err)
			}
			return value
		}
		if m.Name == "error" {
			v.Fatalf("the program reports %s", m.Value)
		}
	}
	v.Fatalf("the program ended without a message %s", name)
	return value
}

// The program trains until a step, pauses, goes on, starts anew and classifies.
func TestProgram(t *testing.T) {
	v := start(t)
	ready := wait[struct{ GPU, Why string }](v, "ready")
	if (ready.GPU == "") == (ready.Why == "") {
		t.Errorf("ready with GPU %q and reason %q, want one of them", ready.GPU, ready.Why)
	}
	v.send("train", settings{Device: "cpu", Rate: 3e-3, Batch: 64, Until: 1000})
	var r report
	for r = wait[report](v, "report"); r.Training; r = wait[report](v, "report") {
		if r.Speed < 0 || r.Device != "cpu" {
			t.Errorf("report %+v", r)
		}
	}
	if r.Step != 1000 || r.Accuracy < 0.95 {
		t.Errorf("at the end: %+v, want step 1000 and an accuracy of 0.95", r)
	}
	v.send("train", settings{Device: "cpu", Rate: 1e-3, Batch: 32})
	wait[report](v, "report")
	v.send("pause", nil)
	for r = wait[report](v, "report"); r.Training; r = wait[report](v, "report") {
	}
	if r.Step <= 1000 || r.Accuracy < 0.95 {
		t.Errorf("after more: %+v, want more steps and an accuracy of 0.95", r)
	}
	v.send("draw", parse(t, drawings[0].strokes))
	c := wait[struct{ Probabilities, Image []float32 }](v, "classes")
	if len(c.Probabilities) != 10 || len(c.Image) != 64 || c.Probabilities[0] < 0.9 {
		t.Errorf("a 0 has %d pixels and probabilities %v", len(c.Image), c.Probabilities)
	}
	v.send("reset", 2)
	v.send("train", settings{Device: "cpu", Rate: 3e-3, Batch: 64, Until: 1})
	if r = wait[report](v, "report"); r.Step != 1 || r.Accuracy > 0.5 {
		t.Errorf("after a reset: %+v, want step 1 and a low accuracy", r)
	}
}
