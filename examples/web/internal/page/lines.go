package page

import (
	"bufio"
	"io"
)

// Lines returns a Port whose messages are lines, for tests. The page is gone at the end of in.
func Lines(in io.Reader, out io.Writer) *Port { return open(&lines{in, out}) }

type lines struct {
	in  io.Reader
	out io.Writer
}

func (l *lines) receive(q *queue) {
	go func() {
		defer q.end()
		s := bufio.NewScanner(l.in)
		s.Buffer(nil, 1<<24)
		for s.Scan() {
			q.put([]byte(s.Text()))
		}
	}()
}

func (l *lines) send(line []byte) { l.out.Write(append(line, '\n')) }

func (l *lines) yield() {}
