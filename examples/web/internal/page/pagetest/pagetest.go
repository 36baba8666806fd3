// Package pagetest stands for the page in tests of programs of package page.
package pagetest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"testing"

	"github.com/tensorken/tensorken/examples/web/internal/page"
)

// A Visit is the page's end of a program.
type Visit struct {
	*testing.T
	to   *io.PipeWriter
	from *bufio.Scanner
}

// Start runs a program, which ends with the test.
func Start(t *testing.T, serve func(*page.Port)) *Visit {
	in, to := io.Pipe()
	from, out := io.Pipe()
	go func() {
		serve(page.Lines(in, out))
		out.Close()
	}()
	v := &Visit{t, to, bufio.NewScanner(from)}
	t.Cleanup(func() {
		to.Close()
		for v.from.Scan() { // until the program has ended
		}
	})
	return v
}

// Send sends a message to the program.
func (v *Visit) Send(name string, value any) {
	v.Helper()
	b, err := json.Marshal(value)
	if err != nil {
		v.Fatal(err)
	}
	fmt.Fprintf(v.to, "{\"name\":%q,\"value\":%s}\n", name, b)
}

// Wait returns the value of the program's next message of that name. An error that comes first
// fails the test.
func Wait[T any](v *Visit, name string) (value T) {
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
