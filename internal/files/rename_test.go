package files

import (
	"bufio"
	"os"
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

// A read-only file is replaced, and the new one is read-only too.
func TestReplaceReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("old"), 0o444); err != nil {
		t.Fatal(err)
	}
	if err := Replace(path, func(w *bufio.Writer) error { return w.WriteByte('n') }); err != nil {
		t.Errorf("Replace of a read-only file: %v", err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Size() != 1 || info.Mode()&0o200 != 0 {
		t.Errorf("Replace of a read-only file makes %v of %d bytes, %v", info.Mode(), info.Size(), err)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("Replace of a read-only file leaves %v, %v", entries, err)
	}
}
