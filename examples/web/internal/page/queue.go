package page

import "sync"

// A queue holds messages that were received and not yet handled. Its sender never waits: that
// would block the event loop of JavaScript.
type queue struct {
	mu    sync.Mutex
	lines [][]byte
	ended bool
	some  chan struct{} // has an element after lines or ended changed
}

func (q *queue) put(line []byte) {
	q.mu.Lock()
	q.lines = append(q.lines, line)
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

// next returns the oldest message. If there is none it waits for it, or returns ok as false
// if wait is. Ended reports that none will come.
func (q *queue) next(wait bool) (line []byte, ok, ended bool) {
	for {
		q.mu.Lock()
		if len(q.lines) > 0 {
			line, q.lines = q.lines[0], q.lines[1:]
			q.mu.Unlock()
			return line, true, false
		}
		ended = q.ended
		q.mu.Unlock()
		if ended || !wait {
			return nil, false, ended
		}
		<-q.some
	}
}
