// Package page connects a program with the page that shows it. In a browser the program runs
// in a worker of the page, so that the page never freezes; elsewhere messages are lines of
// JSON of standard input and output.
//
//	port := page.Open()
//	page.On(port, "add", func(terms []float64) error { port.Send("sum", terms[0]+terms[1]); return nil })
//	port.Serve(nil)
package page

import (
	"fmt"
	"reflect"
	"time"

	"github.com/tensorken/tensorken/tensor"
)

// A Message has a name and a value. Site/page.js sends and receives the same.
type Message struct {
	Name  string `json:"name"`
	Value any    `json:"value"` // of types bool, float64, string, []any and map[string]any
}

// A Port sends messages to the page and handles those that come from it. It is for one
// goroutine.
type Port struct {
	transport
	received *queue
	handlers map[string]func(any) error
	yielded  time.Time
}

// turn is the time between two looks for messages while there is work.
const turn = 10 * time.Millisecond

// A transport carries messages.
type transport interface {
	receive(*queue) // from now on puts messages into the queue
	send(Message)
	yield() // lets messages come
}

func open(t transport) *Port {
	p := &Port{transport: t, received: &queue{some: make(chan struct{}, 1)}, handlers: map[string]func(any) error{}}
	t.receive(p.received)
	p.Send("open", nil)
	return p
}

// Send sends a message. If its value cannot be sent, as a NaN, the page gets a message "error"
// that says so.
func (p *Port) Send(name string, value any) {
	v, err := Plain(value)
	if err != nil {
		name, v = "error", fmt.Sprintf("message %s: %v", name, err)
	}
	p.send(Message{name, v})
}

// On makes f the handler of messages of that name, whose values it is given as a T.
func On[T any](p *Port, name string, f func(T) error) {
	p.handlers[name] = func(value any) error {
		var v T
		if err := fill(reflect.ValueOf(&v).Elem(), value); err != nil {
			return fmt.Errorf("message %s: %w", name, err)
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
		m, ok, end := p.received.next(!more)
		if end {
			return
		}
		var err error
		if ok {
			more, err = work != nil, p.handle(m)
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
func (p *Port) handle(m Message) error {
	f := p.handlers[m.Name]
	if f == nil {
		return fmt.Errorf("the program has no handler of message %q", m.Name)
	}
	return Try(func() error { return f(m.Value) })
}
