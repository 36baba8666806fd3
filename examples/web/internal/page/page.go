// Package page connects a program with the page that shows it. In a browser the program runs
// in a worker of the page, so that the page never freezes; elsewhere, as in tests, messages
// are lines of standard input and output.
//
//	port := page.Open()
//	page.On(port, "add", func(terms []float64) error { port.Send("sum", terms[0]+terms[1]); return nil })
//	port.Serve(nil)
package page

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/tensorken/tensorken/tensor"
)

// A message has a name, and a value that is JSON. Site/page.js sends and receives the same.
type message struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value,omitempty"`
}

// A Port sends messages to the page and handles those that come from it. It is for one
// goroutine.
type Port struct {
	transport
	received *queue
	handlers map[string]func(json.RawMessage) error
	yielded  time.Time
}

// turn is the time between two looks for messages while there is work.
const turn = 10 * time.Millisecond

// A transport carries messages.
type transport interface {
	receive(*queue) // from now on puts messages into the queue
	send(line []byte)
	yield() // lets messages come
}

func open(t transport) *Port {
	p := &Port{transport: t, received: &queue{some: make(chan struct{}, 1)}, handlers: map[string]func(json.RawMessage) error{}}
	t.receive(p.received)
	p.Send("open", nil)
	return p
}

// Send sends a message. The value is what package encoding/json makes of it. If it makes
// nothing of it, as of a NaN, the page gets a message "error" that says so.
func (p *Port) Send(name string, value any) {
	v, err := json.Marshal(value)
	if err != nil {
		v, _ = json.Marshal(fmt.Sprintf("message %s: %v", name, err)) // a string is JSON
		name = "error"
	}
	b, _ := json.Marshal(message{name, v}) // v is JSON
	p.send(b)
}

// On makes f the handler of messages of that name, whose values it is given as a T.
func On[T any](p *Port, name string, f func(T) error) {
	p.handlers[name] = func(value json.RawMessage) error {
		var v T
		if len(value) > 0 {
			if err := json.Unmarshal(value, &v); err != nil {
				return fmt.Errorf("message %s: %w", name, err)
			}
		}
		return f(v)
	}
}

// Serve handles messages, one at a time, until the page is gone. After a message it calls
// work, if that is not nil, again and again while it reports that there is more to do, and
// looks for messages in between: work does a short piece, such as a training step. An error
// goes to the page as message "error"; one of work also ends the work until the next message.
func (p *Port) Serve(work func() (more bool, err error)) {
	more := false
	for {
		if more && time.Since(p.yielded) > turn {
			p.yield()
			p.yielded = time.Now()
		}
		line, ok, end := p.received.next(!more)
		if end {
			return
		}
		var err error
		if ok {
			more, err = work != nil, p.handle(line)
		} else if more, err = work(); err != nil {
			more = false
		}
		if err != nil {
			p.Send("error", err.Error())
		}
	}
}

// Try calls f. Misuse of tensors and failures of devices are errors, not panics.
func Try(f func() error) (err error) {
	defer tensor.Catch(&err)
	return f()
}

// handle calls the handler of a message.
func (p *Port) handle(line []byte) error {
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		return err
	}
	f := p.handlers[m.Name]
	if f == nil {
		return fmt.Errorf("the program has no handler of message %q", m.Name)
	}
	return Try(func() error { return f(m.Value) })
}
