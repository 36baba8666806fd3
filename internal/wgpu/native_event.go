//go:build (linux || darwin || windows) && (amd64 || arm64)

package wgpu

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/ebitengine/purego"
)

// An event holds the arguments of a callback.
type event struct {
	id      uintptr // of the request
	a, b    uintptr // status and handle or type; device and reason or type
	message string
	next    *event
}

// The ids of events without a request. Ids of requests start at firstRequest.
const (
	eventLost = iota
	eventUncaught
	firstRequest
)

// A mailbox receives the events of an instance. Callbacks run inside C functions that may
// hold locks, so they only push.
type mailbox struct{ head atomic.Pointer[event] }

func (m *mailbox) push(e *event) {
	for {
		e.next = m.head.Load()
		if m.head.CompareAndSwap(e.next, e) {
			return
		}
	}
}

// take removes and returns the events, oldest first.
func (m *mailbox) take() *event {
	var list *event
	for e := m.head.Swap(nil); e != nil; {
		e.next, list, e = list, e, e.next
	}
	return list
}

// mailboxes are identified by number, so that C holds no Go pointer.
var mailboxes [256]atomic.Pointer[mailbox]

var errTooMany = errors.New("too many devices are open: Close those that are not used")

// newMailbox returns a mailbox and its number, starting at 1.
func newMailbox() (*mailbox, uintptr, error) {
	m := new(mailbox)
	for i := range mailboxes {
		if mailboxes[i].CompareAndSwap(nil, m) {
			return m, uintptr(i + 1), nil
		}
	}
	return nil, 0, errTooMany
}

func freeMailbox(number uintptr) { mailboxes[number-1].Store(nil) }

func post(number uintptr, e *event) {
	if number == 0 || number > uintptr(len(mailboxes)) {
		return
	}
	if m := mailboxes[number-1].Load(); m != nil {
		m.push(e)
	}
}

// trampolines are the C functions of callbacks. A process can have only a limited number,
// so all requests share these.
type trampolines struct {
	status uintptr // status; message
	result uintptr // status and handle or type, or device and reason or type; message
}

var callbacks = sync.OnceValue(func() trampolines {
	return trampolines{purego.NewCallback(onStatus), purego.NewCallback(onResult)}
})
