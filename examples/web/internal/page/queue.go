package page

import "sync"

// A queue holds messages that were received and not yet handled. Its sender never waits: that
// would block the event loop of JavaScript.
type queue struct {
	mu       sync.Mutex
	messages []Message
	ended    bool
	some     chan struct{} // has an element after messages or ended changed
}

func (q *queue) put(m Message) {
	q.mu.Lock()
	q.messages = append(q.messages, m)
	q.mu.Unlock()
	q.signal()
}

// end says that no more messages will come.
func (q *queue) end() {
	q.mu.Lock()
	q.ended = true
	q.mu.Unlock()
	q.signal()
}

func (q *queue) signal() {
	select {
	case q.some <- struct{}{}:
	default:
	}
}

// next returns the oldest message. If the queue is empty, it waits or, if wait is false,
// returns ok false. Ended reports that no more will come.
func (q *queue) next(wait bool) (m Message, ok, ended bool) {
	for {
		q.mu.Lock()
		if len(q.messages) > 0 {
			m, q.messages = q.messages[0], q.messages[1:]
			q.mu.Unlock()
			return m, true, false
		}
		ended = q.ended
		q.mu.Unlock()
		if ended || !wait {
			return m, false, ended
		}
		<-q.some
	}
}
