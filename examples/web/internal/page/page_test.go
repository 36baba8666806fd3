package page

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/tensor"
)

// A cause is shown in a sentence.
func TestReopen(t *testing.T) {
	t.Setenv("TENSORKEN_WEBGPU_LIB", "/none")
	var out bytes.Buffer
	name, dev := new(Devices).Reopen(Lines(strings.NewReader(""), &out), errors.New("Device was destroyed.\nin detail"))
	if name != CPU || dev != tensor.CPU() || !strings.Contains(out.String(), `{"cause":"Device was destroyed","device":"cpu"}`) {
		t.Errorf("reopened the %s: %s", name, out.String())
	}
}

// Messages are handled in order, work is done between them, and errors are messages. Those of
// handlers do not end the work.
func TestServe(t *testing.T) {
	in, pageEnd := io.Pipe()
	var out bytes.Buffer
	p := Lines(in, &out)
	left := 0
	On(p, "add", func(x []float64) error { p.Send("sum", x[0]+x[1]); return nil })
	On(p, "work", func(n int) error { left = n; return nil })
	On(p, "fail", func(struct{}) error { return errors.New("failed") })
	On(p, "nan", func(struct{}) error { p.Send("loss", math.NaN()); return nil })
	On(p, "misuse", func(struct{}) error { tensor.Ones(2).Add(tensor.Ones(3)); return nil })
	go func() {
		io.WriteString(pageEnd, `{"name":"add","value":[1,2]}
{"name":"add","value":"two"}
{"name":"fail"}
{"name":"misuse"}
{"name":"unknown"}
{"name":"nan"}
{"name":"work","value":3}
`)
	}()
	p.Serve(func() (bool, error) {
		if left == 0 {
			return false, nil
		}
		p.Send("left", left)
		if left--; left > 0 {
			p.received.put([]byte(`{"name":"fail"}`))
			return true, nil
		}
		pageEnd.Close()
		return false, errors.New("the work failed")
	})
	got := strings.Split(strings.TrimSpace(out.String()), "\n")
	want := []string{
		`{"name":"open","value":null}`,
		`{"name":"sum","value":3}`,
		`{"name":"error","value":"message add: json: cannot unmarshal string into Go value of type []float64"}`,
		`{"name":"error","value":"failed"}`,
		"page_test.go:", // the line of Add
		`{"name":"error","value":"the program has no handler of message \"unknown\""}`,
		`{"name":"error","value":"message loss: json: unsupported value: NaN"}`,
		`{"name":"left","value":3}`, `{"name":"error","value":"failed"}`,
		`{"name":"left","value":2}`, `{"name":"error","value":"failed"}`,
		`{"name":"left","value":1}`,
		`{"name":"error","value":"the work failed"}`,
	}
	if len(got) != len(want) {
		t.Fatalf("got %d messages, want %d:\n%s", len(got), len(want), out.String())
	}
	for i := range want {
		if !strings.Contains(got[i], want[i]) {
			t.Errorf("message %d: got %s, want %s", i, got[i], want[i])
		}
	}
}
