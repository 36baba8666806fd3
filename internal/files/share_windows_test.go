package files

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
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

// A file that lets no other read it is waited for, and then named as in use.
func TestOpenExclusive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		held time.Duration
		want error
	}{{100 * time.Millisecond, nil}, {patience + 2*time.Second, errInUse}} {
		other, err := createFile(path, syscall.GENERIC_READ, 0, syscall.OPEN_EXISTING, 0)
		if err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(c.held, func() { other.Close() })
		f, err := Open(path)
		if err != c.want {
			t.Errorf("Open of a file that another has for %v: %v, want %v", c.held, err, c.want)
		}
		f.Close()
		timer.Stop()
		other.Close()
	}
}
