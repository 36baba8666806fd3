package files

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// NTFS replaces an open file only if its reader lets others remove it, which lets them rename it too.
func TestOpenShares(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name string
		open func(string) (*os.File, error)
		want error
	}{{"Open", Open, nil}, {"os.Open", os.Open, sharingViolation}} {
		path := filepath.Join(dir, c.name)
		if err := os.WriteFile(path, []byte("text"), 0o666); err != nil {
			t.Fatal(err)
		}
		f, err := c.open(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path, path+"2"); !errors.Is(err, c.want) {
			t.Errorf("renaming a file of %s: %v, want %v", c.name, err, c.want)
		}
		b := make([]byte, 5)
		if n, _ := f.Read(b); string(b[:n]) != "text" {
			t.Errorf("reading a renamed file: %q", b[:n])
		}
		f.Close()
	}
}
