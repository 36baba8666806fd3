//go:build !js

package tune

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tensorken/tensorken/internal/schedule"
)

// cache makes a folder the user's cache folder.
func cache(t *testing.T) (dir string) {
	dir = t.TempDir()
	for _, name := range []string{"XDG_CACHE_HOME", "HOME", "LocalAppData"} {
		t.Setenv(name, dir)
	}
	return dir
}

// key is a key that ends in a digit.
func key(digit string) string { return strings.Repeat("0", schedule.KeyLen-1) + digit }

// What is kept for a GPU is there for later processes, for that GPU alone.
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

// Of two processes that keep a choice for the same product the first decides; both keep what the
// other has kept for other products.
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
	good, err := os.ReadFile(f.path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, text, want string }{
		{"whole", string(good), "x/1"},
		{"empty", "", ""},
		{"of another GPU", "tiles of \"other\"\n" + key("1") + " x/1\n", ""},
		{"cut off", string(good[:len(good)-2]), ""},
		{"with other lines", string(good) + "x\n\n \x00 y\n" + key("2"), "x/1"},
		{"binary", "\x7fELF\x00\xff", ""},
	} {
		if err := os.WriteFile(f.path, []byte(c.text), 0o666); err != nil {
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
