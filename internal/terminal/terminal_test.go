package terminal

import (
	"bytes"
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
	closed, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	if Is(file) || Is(closed) || Is(new(bytes.Buffer)) {
		t.Errorf("Is of a file, a closed file, a buffer = %v, %v, %v, want false", Is(file), Is(closed), Is(new(bytes.Buffer)))
	}
	if a, b, c := Columns(file), Columns(closed), Columns(new(bytes.Buffer)); a != 0 || b != 0 || c != 0 {
		t.Errorf("Columns of a file, a closed file, a buffer = %v, %v, %v, want 0", a, b, c)
	}
}
