package terminal

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestNoTerminal(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	closed, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	writers := map[string]io.Writer{"a file": file, os.DevNull: null, "a closed file": closed, "a buffer": new(bytes.Buffer)}
	if r, pipe, err := os.Pipe(); err == nil {
		defer r.Close()
		defer pipe.Close()
		writers["a pipe"] = pipe
	}
	for name, w := range writers {
		if Is(w) || Columns(w) != 0 {
			t.Errorf("%s: Is = %v, Columns = %d, want false, 0", name, Is(w), Columns(w))
		}
	}
}
