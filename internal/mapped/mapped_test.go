//go:build unix

package mapped

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tensorken/tensorken/internal/hostmem"
)

// file maps a new file of n bytes.
func file(t *testing.T, n int) (*File, string) {
	path := filepath.Join(t.TempDir(), "weights")
	if err := os.WriteFile(path, make([]byte, n), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m := Open(f, path)
	if m == nil {
		t.Fatal("it is not mapped")
	}
	return m, path
}

// read reads all bytes.
func read(f *File) error {
	return f.Guard(func() error {
		sum := byte(0)
		for _, b := range f.Slice(0, len(f.data), 1) {
			sum += b
		}
		if sum != 0 {
			return errors.New("other bytes")
		}
		return nil
	})
}

// A file that is written while it is mapped is an error: if that is seen before a read, and if the read faults.
func TestWritten(t *testing.T) {
	for _, c := range []struct {
		want  string
		write func(path string) error
		late  bool // Check was just called
	}{
		{" was cut short while in use: open it again", func(path string) error { return os.Truncate(path, 5000) }, false},
		{" was cut short, or cannot be read at byte 8192, while in use: open it again", func(path string) error { return os.Truncate(path, 5000) }, true},
		{" was changed while in use: open it again", func(path string) error { return os.Chtimes(path, time.Time{}, time.Unix(1, 0)) }, false},
		{"", func(path string) error { return os.Remove(path) }, false},
		{"", func(path string) error {
			if err := os.WriteFile(path+".new", []byte("short"), 0o666); err != nil {
				return err
			}
			return os.Rename(path+".new", path)
		}, false},
	} {
		f, path := file(t, 1<<20)
		if err := read(f); err != nil {
			t.Fatal(err)
		}
		f.checked.Store(0)
		if err := c.write(path); err != nil {
			t.Fatal(err)
		}
		if c.late {
			f.checked.Store(math.MaxInt64)
		}
		got := ""
		if err := read(f); err != nil {
			got = strings.TrimPrefix(err.Error(), path)
			if e := (*Error)(nil); !errors.As(err, &e) || e.Path != path {
				t.Errorf("it is a %T of %v", err, e)
			}
		}
		if got != c.want {
			t.Errorf("the error is %q, want %q", got, c.want)
		}
	}
}

// Guard passes other panics on.
func TestOtherPanics(t *testing.T) {
	f, _ := file(t, 100)
	defer func() {
		if r := recover(); r != "other" {
			t.Errorf("it panics with %v", r)
		}
	}()
	f.Guard(func() error { panic("other") })
}

// A file that nothing reads is unmapped, and its addresses forgotten.
func TestUnmapped(t *testing.T) {
	mapped := func() int {
		mu.Lock()
		defer mu.Unlock()
		if len(regions) == 0 && bytes != 0 {
			t.Errorf("%d bytes are mapped in no region", bytes)
		}
		return len(regions)
	}
	for range 10 {
		file(t, 1<<20)
	}
	for end := time.Now().Add(10 * time.Second); mapped() > 0; hostmem.Collect() {
		if time.Now().After(end) {
			t.Fatalf("%d files are still mapped", mapped())
		}
	}
}
