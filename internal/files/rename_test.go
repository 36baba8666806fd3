package files

import (
	"bufio"
	"path/filepath"
	"testing"
	"time"
)

// TestReplaceRead replaces a file that a reader opens every millisecond.
func TestReplaceRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	write := func() {
		err := Replace(path, func(w *bufio.Writer) error {
			_, err := w.WriteString("text")
			return err
		})
		if err != nil {
			t.Errorf("Replace beside a reader: %v", err)
		}
	}
	write()
	done, stopped := make(chan bool), make(chan bool)
	go func() {
		defer close(stopped)
		for {
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond):
			}
			if b, err := ReadAll(path, 10); err != nil || string(b) != "text" {
				t.Errorf("a reader beside Replace has %q, %v", b, err)
			}
		}
	}()
	for range 50 {
		write()
	}
	close(done)
	<-stopped
}
