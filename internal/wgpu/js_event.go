//go:build js

package wgpu

import (
	"fmt"
	"sync"
	"syscall/js"
	"time"
)

// An event is the answer to a request, or an error that answers no request.
type event struct {
	request       uint32
	kind, message string // of an error; both are "" if the request succeeded
}

// Errors that answer no request have these request numbers; others are greater than firstRequest.
const (
	requestLost     = iota // the device is lost
	requestUncaught        // an error outside of all error scopes
	firstRequest
)

// A mailbox receives events from JavaScript, while goroutines wait or are blocked.
type mailbox struct {
	mu     sync.Mutex
	events []event
	some   chan struct{} // has an element if there are events
	timer  *time.Timer   // ends wait
	tell   js.Func       // JavaScript calls it to push an event
}

func newMailbox() *mailbox {
	m := &mailbox{some: make(chan struct{}, 1), timer: time.NewTimer(0)}
	m.tell = js.FuncOf(func(_ js.Value, args []js.Value) any {
		e := event{request: uint32(args[0].Int())}
		if len(args) > 1 {
			e.kind, e.message = args[1].String(), args[2].String()
		}
		m.push(e)
		return nil
	})
	return m
}

func (m *mailbox) push(e event) {
	m.mu.Lock()
	m.events = append(m.events, e)
	m.mu.Unlock()
	select {
	case m.some <- struct{}{}:
	default:
	}
}

// take removes and returns the events, oldest first.
func (m *mailbox) take() []event {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := m.events
	m.events = nil
	return list
}

// wait blocks until there is an event. The event loop of JavaScript runs meanwhile.
func (m *mailbox) wait(call string, timeout time.Duration) error {
	m.timer.Reset(timeout)
	defer m.timer.Stop()
	select {
	case <-m.some:
		return nil
	case <-m.timer.C:
		return &Error{Timeout, call, fmt.Sprintf("nothing came in %v", timeout)}
	}
}

// kindsOfErrors has the kinds of errors by JavaScript's names: the class of a GPUError, the
// reason of a GPUPipelineError, or the name of a DOMException.
var kindsOfErrors = map[string]ErrorKind{
	"GPUOutOfMemoryError": OutOfMemory,
	"GPUValidationError":  Validation, "validation": Validation,
	"AbortError": Lost, // of Map: no buffer is freed while it is mapped, so the device is lost
}

// err returns the error of an event, nil if it has none.
func (e *event) err(call string) error {
	if e.kind == "" {
		return nil
	}
	kind := kindsOfErrors[e.kind]
	if kind == 0 {
		kind = Internal
	}
	return &Error{kind, call, e.message}
}
