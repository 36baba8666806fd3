// Package pagetest stands for the page in tests of programs of package page.
package pagetest

import (
	"encoding/json"
	"testing"

	"github.com/tensorken/tensorken/examples/web/internal/page"
)

// A Visit is the page's end of a program.
type Visit struct {
	*testing.T
	to   chan<- page.Message
	from <-chan page.Message
}

// Start runs a program, which ends with the test.
func Start(t *testing.T, serve func(*page.Port)) *Visit {
	to, from := make(chan page.Message), make(chan page.Message)
	go func() {
		serve(page.Pipe(to, from))
		close(from)
	}()
	t.Cleanup(func() {
		close(to)
		for range from { // until the program has ended
		}
	})
	return &Visit{t, to, from}
}

// Send sends a message to the program.
func (v *Visit) Send(name string, value any) {
	v.Helper()
	p, err := page.Plain(value)
	if err != nil {
		v.Fatal(err)
	}
	v.to <- page.Message{Name: name, Value: p}
}

// Next returns the program's next message. An error fails the test, as does the end of the program.
func (v *Visit) Next() page.Message {
	v.Helper()
	m, ok := <-v.from
	switch {
	case !ok:
		v.Fatal("the program ended")
	case m.Name == "error":
		v.Fatalf("the program reports %s", m.Value)
	}
	return m
}

// Wait returns the value of the program's next message of that name. An error that comes first
// fails the test.
func Wait[T any](v *Visit, name string) (value T) {
	v.Helper()
	for m := range v.from {
		switch m.Name {
		case name:
			b, err := json.Marshal(m.Value)
			if err == nil {
				err = json.Unmarshal(b, &value)
			}
			if err != nil {
				v.Fatal(err)
			}
			return value
		case "error":
			v.Fatalf("the program reports %s", m.Value)
		}
	}
	v.Fatalf("the program ended without a message %s", name)
	return value
}
