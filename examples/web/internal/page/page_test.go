package page

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/tensor"
)

// A cause is shown in a sentence.
func TestReopen(t *testing.T) {
	t.Setenv("TENSORKEN_WEBGPU_LIB", "/none")
	out := make(chan Message, 2)
	name, dev := new(Devices).Reopen(Pipe(nil, out), errors.New("Device was destroyed.\nin detail"))
	<-out // "open"
	want := Message{"reopened", map[string]any{"cause": "Device was destroyed", "device": CPU}}
	if m := <-out; name != CPU || dev != tensor.CPU() || !reflect.DeepEqual(m, want) {
		t.Errorf("reopened the %s: %v", name, m)
	}
}

// Messages are handled in order, work is done between them, and errors are messages. Errors
// of handlers do not end the work.
func TestServe(t *testing.T) {
	in, out := make(chan Message, 10), make(chan Message, 20)
	p := Pipe(in, out)
	left := 0
	On(p, "add", func(x []float64) error { p.Send("sum", x[0]+x[1]); return nil })
	On(p, "work", func(n int) error { left = n; return nil })
	On(p, "fail", func(struct{}) error { return errors.New("failed") })
	On(p, "nan", func(struct{}) error { p.Send("loss", math.NaN()); return nil })
	On(p, "misuse", func(struct{}) error { tensor.Ones(2).Add(tensor.Ones(3)); return nil })
	for _, m := range []Message{
		{"add", []any{1.0, 2.0}}, {"add", "two"}, {"add", []any{true}}, {"fail", nil}, {"misuse", nil}, {"unknown", nil}, {"nan", nil}, {"work", 3.0},
	} {
		in <- m
	}
	p.Serve(func() (bool, error) {
		if left == 0 {
			return false, nil
		}
		p.Send("left", left)
		if left--; left > 0 {
			p.received.put(Message{Name: "fail"})
			return true, nil
		}
		close(in)
		return false, errors.New("the work failed")
	})
	close(out)
	for _, want := range []Message{
		{"open", nil},
		{"sum", 3.0},
		{"error", `message add: "two", want []float64`},
		{"error", "message add: element 0: true, want float64"},
		{"error", "failed"},
		{"error", "page_test.go:"}, // the line of Add
		{"error", `the program has no handler of message "unknown"`},
		{"error", "message loss: NaN, want a finite number"},
		{"left", 3.0}, {"error", "failed"},
		{"left", 2.0}, {"error", "failed"},
		{"left", 1.0},
		{"error", "the work failed"},
		{}, // the end
	} {
		if got := <-out; got.Name != want.Name || !strings.Contains(fmt.Sprint(got.Value), fmt.Sprint(want.Value)) {
			t.Errorf("got message %v, want %v", got, want)
		}
	}
}
