//go:build !js

package page

import (
	"bufio"
	"encoding/json"
	"os"
)

// Open connects the program with its page, which is lines of JSON of standard input and output.
// From now on messages are received.
func Open() *Port {
	in := make(chan Message)
	go func() {
		defer close(in)
		s := bufio.NewScanner(os.Stdin)
		s.Buffer(nil, 1<<24)
		for s.Scan() {
			m := Message{Name: s.Text()} // a line that is not JSON is a name
			json.Unmarshal(s.Bytes(), &m)
			in <- m
		}
	}()
	return open(lines{pipe{in: in}})
}

type lines struct{ pipe }

func (lines) send(m Message) { json.NewEncoder(os.Stdout).Encode(m) }
