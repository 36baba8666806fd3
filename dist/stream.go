package dist

import (
	"io"
	"sync"
)

// A streamLink is a link over two streams of bytes, to the next rank and from the rank before.
type streamLink struct {
	to     io.WriteCloser
	from   io.ReadCloser
	out    chan []byte
	sent   chan error
	closed chan struct{}
	once   sync.Once
}

func newStreamLink(to io.WriteCloser, from io.ReadCloser) *streamLink {
	l := &streamLink{to: to, from: from, out: make(chan []byte), sent: make(chan error, 1), closed: make(chan struct{})}
	go func() {
		for {
			select {
			case b := <-l.out:
				_, err := l.to.Write(b)
				l.sent <- err
			case <-l.closed:
				return
			}
		}
	}()
	return l
}

func (l *streamLink) exchange(out, in []byte) error {
	if len(out) > 0 {
		select {
		case l.out <- out:
		case <-l.closed:
			return io.ErrClosedPipe
		}
	}
	_, err := io.ReadFull(l.from, in)
	if len(out) == 0 {
		return err
	}
	if err != nil { // the rank before is gone: the write may never end
		return err
	}
	return <-l.sent
}

func (l *streamLink) close() {
	l.once.Do(func() {
		close(l.closed)
		l.to.Close()
		l.from.Close()
	})
}
