//go:build !js

package tune

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tensorken/tensorken/internal/cachedir"
	"github.com/tensorken/tensorken/internal/schedule"
)

// cache makes a folder the user's cache folder.
func cache(t *testing.T) (dir string) {
	dir = t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil { // whatever umask is
		t.Fatal(err)
	}
	for _, name := range []string{"XDG_CACHE_HOME", "HOME", "LocalAppData"} {
		t.Setenv(name, dir)
	}
	return dir
}

// key is a key that ends in a digit.
func key(digit string) string { return strings.Repeat("0", schedule.KeyLen-1) + digit }

// Choices that are kept for a GPU are there for later processes, for that GPU alone.
func TestKept(t *testing.T) {
	cache(t)
	a := newKeptFile("GPU A, driver 1")
	if got := a.put(key("1"), "x/1"); got != "x/1" {
		t.Errorf("put returns %q, want x/1", got)
	}
	a.put(key("2"), "y/1")
	for _, c := range []struct{ gpu, key, want string }{
		{"GPU A, driver 1", key("1"), "x/1"}, {"GPU A, driver 1", key("2"), "y/1"}, {"GPU A, driver 1", key("3"), ""},
		{"GPU A, driver 2", key("1"), ""},
	} {
		if got := newKeptFile(c.gpu).get(c.key); got != c.want {
			t.Errorf("%s has %q for %s, want %q", c.gpu, got, c.key, c.want)
		}
	}
}

// Of two processes that keep a choice for the same product the first decides; both keep the
// other's choices for other products.
func TestKeptByTwo(t *testing.T) {
	cache(t)
	a, b := newKeptFile("GPU"), newKeptFile("GPU")
	a.put(key("1"), "x/1")
	if got := b.put(key("1"), "y/1"); got != "x/1" {
		t.Errorf("the second process has %q, want x/1", got)
	}
	b.put(key("2"), "z/1")
	a.put(key("3"), "z/2")
	if got := newKeptFile("GPU").names; len(got) != 3 || got[key("1")] != "x/1" {
		t.Errorf("the file has %v, want three choices", got)
	}
}

// Processes that write at once leave a whole file.
func TestKeptAtOnce(t *testing.T) {
	cache(t)
	const digits = "0123456789abcdef"
	var wg sync.WaitGroup
	for _, d := range digits {
		wg.Go(func() { newKeptFile("GPU").put(key(string(d)), strings.Repeat("x", 1+int(d))) })
	}
	wg.Wait()
	f := newKeptFile("GPU")
	if len(f.names) == 0 {
		t.Error("the file has no choices")
	}
	for _, d := range digits {
		if name := f.get(key(string(d))); name != "" && name != strings.Repeat("x", 1+int(d)) {
			t.Errorf("the file has %q for %c", name, d)
		}
	}
}

// A broken file is ignored, and replaced by the next choice.
func TestKeptBroken(t *testing.T) {
	cache(t)
	f := newKeptFile("GPU")
	f.put(key("1"), "x/1")
	good, err := cachedir.Read(f.path, maxKeptFile)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(f.path)
	if err != nil {
		t.Fatal(err)
	}
	raw := func(path string, data []byte) error { return os.WriteFile(path, data, 0o600) }
	for _, c := range []struct {
		name  string
		write func(path string, data []byte) error
		text  []byte
		want  string
	}{
		{"whole", cachedir.Write, good, "x/1"},
		{"of another GPU", cachedir.Write, []byte("tiles of \"other\"\n" + key("1") + " x/1\n"), ""},
		{"with other lines", cachedir.Write, []byte(string(good) + "x\n\n \x00 y\n" + key("2")), "x/1"},
		{"empty", raw, nil, ""},
		{"cut off", raw, whole[:len(whole)-2], ""},
		{"changed", raw, bytes.Replace(whole, []byte("x/1"), []byte("y/1"), 1), ""},
		{"without a checksum", raw, good, ""},
		{"binary", raw, []byte("\x7fELF\x00\xff"), ""},
	} {
		if err := c.write(f.path, c.text); err != nil {
			t.Fatal(err)
		}
		g := newKeptFile("GPU")
		if got := g.get(key("1")); got != c.want {
			t.Errorf("a file %s has %q, want %q", c.name, got, c.want)
		}
		g.put(key("1"), "x/1")
		g.put(key("3"), "z/1")
		if h := newKeptFile("GPU"); h.get(key("1")) != "x/1" || h.get(key("3")) != "z/1" {
			t.Errorf("after a file %s there is %v", c.name, h.names)
		}
	}
}

// Clients that choose shapes cannot make the file grow without end.
func TestKeptBounded(t *testing.T) {
	cache(t)
	f := newKeptFile("GPU")
	for i := range maxKept {
		f.names[fmt.Sprintf("%0*x", schedule.KeyLen, i)] = strings.Repeat("tile", 10)
	}
	last := strings.Repeat("f", schedule.KeyLen)
	f.put(last, "x/1")
	if got := newKeptFile("GPU"); len(got.names) != maxKept || got.get(last) != "x/1" {
		t.Errorf("the file has %d choices, and %q for the last, want %d and x/1", len(got.names), got.get(last), maxKept)
	}
}

// Without a folder that can be written, choices are kept in memory.
func TestKeptInMemory(t *testing.T) {
	dir := cache(t)
	if err := os.WriteFile(filepath.Join(dir, "tensorken"), nil, 0o666); err != nil { // no folder
		t.Fatal(err)
	}
	f := newKeptFile("GPU")
	if f.put(key("1"), "x/1"); f.get(key("1")) != "x/1" {
		t.Errorf("kept is %v", f.names)
	}
	if n := newKeptFile("GPU").names; len(n) > 0 {
		t.Errorf("a later process has %v", n)
	}
}
