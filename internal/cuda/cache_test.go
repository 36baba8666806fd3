//go:build linux && (amd64 || arm64)

package cuda

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tensorken/tensorken/internal/cachedir"
	"github.com/tensorken/tensorken/tensor"
)

// Each kernel is compiled once, and again if its code in the cache is damaged or if the driver
// does not take it.
func TestCache(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil { // whatever umask is
		t.Fatal(err)
	}
	t.Setenv("XDG_CACHE_HOME", dir)
	f := newFake(t, 1<<20)
	compute := func() (compiled int) {
		t.Helper()
		before := f.count("LinkComplete")
		drv, err := f.open(Options{})
		if err != nil {
			t.Fatal(err)
		}
		d := tensor.NewDevice(drv)
		defer d.Close()
		if got, err := tensor.Data[float32](tensor.New([]float32{1, 2}).To(d).Add(1)); err != nil || fmt.Sprint(got) != "[2 3]" {
			t.Errorf("computed %v, %v, want [2 3]", got, err)
		}
		return f.count("LinkComplete") - before
	}
	if n := compute(); n != 1 {
		t.Fatalf("compiled %d kernels, want 1", n)
	}
	entry := func() string {
		t.Helper()
		paths, err := filepath.Glob(filepath.Join(cachedir.Path("cuda"), "*", "*"))
		if err != nil || len(paths) != 1 {
			t.Fatalf("the cache has %q, %v, want one entry", paths, err)
		}
		return paths[0]
	}
	whole, err := os.ReadFile(entry())
	if err != nil {
		t.Fatal(err)
	}
	raw := func(path string, data []byte) error { return os.WriteFile(path, data, 0o600) }
	for _, c := range []struct {
		name     string
		write    func(path string, data []byte) error
		data     []byte
		compiled int
	}{
		{"whole", raw, whole, 0},
		{"cut", raw, whole[:100], 1},
		{"empty", raw, nil, 1},
		{"changed", raw, append([]byte("\x7fELg"), whole[4:]...), 1},
		{"what the driver refuses", cachedir.Write, []byte("no code"), 1},
		{"an empty code", cachedir.Write, nil, 1},
		{"of a version without checksums", raw, whole[:len(whole)-65], 1},
	} {
		if err := c.write(entry(), c.data); err != nil {
			t.Fatal(err)
		}
		if n := compute(); n != c.compiled {
			t.Errorf("after an entry that is %s: compiled %d kernels, want %d", c.name, n, c.compiled)
		}
		if got, err := os.ReadFile(entry()); err != nil || !bytes.Equal(got, whole) {
			t.Errorf("after an entry that is %s: it is not replaced: %v", c.name, err)
		}
		if n := compute(); n != 0 {
			t.Errorf("the second time after an entry that is %s: compiled %d kernels", c.name, n)
		}
	}
}

// The cache has a bound, and files that killed processes leave are removed.
func TestCacheBound(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CACHE_HOME", dir)
	l := new(library)
	old := time.Now().Add(-2 * time.Hour)
	add := func(path string, size int64) {
		t.Helper()
		if err := cachedir.Write(path, nil); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	g := GPU{Name: "GPU"}
	killed := filepath.Join(cachedir.Path("cuda"), "ab", "new123")
	add(killed, 10)
	add(cachePath(g, "old"), maxCache)
	l.writeCache(cachePath(g, "first"), []byte("code"))
	for path, want := range map[string]bool{killed: false, cachePath(g, "old"): false, cachePath(g, "first"): true} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("after the first write: %s: %v, want that it is there: %v", path, err, want)
		}
	}
	add(cachePath(g, "old"), maxCache)
	l.writeCache(cachePath(g, "second"), []byte("code"))
	if _, err := os.Stat(cachePath(g, "old")); err != nil {
		t.Errorf("the folder is measured at each write: %v", err)
	}
	l.writeCache(cachePath(g, "large"), make([]byte, trimAfter))
	if _, err := os.Stat(cachePath(g, "old")); err == nil {
		t.Errorf("the folder keeps more than its bound after %d bytes are written", trimAfter)
	}
	if code := readCache(cachePath(g, "second")); string(code) != "code" {
		t.Errorf("a new entry is removed: read %q", code)
	}
}
