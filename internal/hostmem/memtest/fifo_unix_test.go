//go:build unix

package memtest_test

import (
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Opening a FIFO would block: readers of paths take regular files alone.
func TestFIFO(t *testing.T) {
	texts := strings.Fields("imageio.Decode wav.Decode data.ReadCSV tensor.UnmarshalJSON onnx.Read onnx.ReadValue jinja.Parse jinja.Render pyvalue.Decode hub.Fetch")
	for name, read := range readers {
		if slices.Contains(texts, name) {
			continue
		}
		path := filepath.Join(t.TempDir(), "f")
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- read(path) }()
		select {
		case err := <-done:
			if err == nil || !strings.Contains(err.Error(), "not a regular file") {
				t.Errorf("%s of a FIFO: %v", name, err)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s of a FIFO hangs", name)
		}
	}
}
