//go:build darwin || linux

package safetensors

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// Opening a FIFO would block.
func TestOpenFIFO(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"m.safetensors", "m.safetensors.index.json"} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o666); err != nil {
			t.Skip(err)
		}
	}
	index := filepath.Join(dir, "good.index.json")
	if err := os.WriteFile(index, []byte(`{"weight_map":{"a":"m.safetensors"}}`), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ open, named string }{
		{"m.safetensors", "m.safetensors"},
		{"m.safetensors.index.json", "m.safetensors.index.json"},
		{"good.index.json", "m.safetensors"},
	} {
		done := make(chan error, 1)
		go func() {
			_, err := Open(filepath.Join(dir, tt.open))
			done <- err
		}()
		want := "safetensors: " + filepath.Join(dir, tt.named) + ": not a regular file"
		select {
		case err := <-done:
			if err == nil || err.Error() != want {
				t.Errorf("Open(%s) = %v, want %s", tt.open, err, want)
			}
		case <-time.After(2 * time.Second):
			t.Errorf("Open(%s) hangs", tt.open)
		}
	}
}
