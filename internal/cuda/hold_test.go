//go:build linux && (amd64 || arm64)

package cuda

import (
	"errors"
	"testing"

	"github.com/tensorken/tensorken/driver"
)

// Runs of a call are held and launched together, from the second time on by a graph.
func TestHold(t *testing.T) {
	f, d := openFake(t)
	r := rig{t, d}
	p, a, b := r.compile(shifted(8)), r.alloc(32), r.alloc(32)
	for turn := range 3 {
		for i := range maxPending - 1 {
			if n := f.ran(t, d, chain(p, a, b, i)); n["LaunchKernel"]+n["GraphLaunch"] > 0 {
				t.Errorf("turn %d: call %d, which is held, calls %v", turn, i, n)
			}
		}
		n := f.ran(t, d, chain(p, b, a, 9))
		if turn == 0 && n["LaunchKernel"] != maxPending || turn > 0 && (n["LaunchKernel"] > 0 || n["GraphLaunch"] != 1) || d.Holds() {
			t.Errorf("turn %d: call %d calls %v, and calls are held: %v", turn, maxPending-1, n, d.Holds())
		}
	}
	for i := range maxPending - 1 {
		f.ran(t, d, chain(p, a, b, i))
	}
	if n := f.ran(t, d, chain(p, a, b, 1, 2)); n["LaunchKernel"] != maxPending-1 || !d.Holds() {
		t.Errorf("two calls where there is room for one call %v, and calls are held: %v", n, d.Holds())
	}
}

// A call that cannot run is an error of its Run, and leaves held calls. A later failure is an
// error of Sync and of downloads before it.
func TestHoldFails(t *testing.T) {
	f, d := openFake(t)
	r := rig{t, d}
	p := r.compile(shifted(8))
	a, b, freed := r.alloc(32), r.alloc(32), r.alloc(32)
	freed.Free()
	if err := d.Run(chain(p, a, b, 1)); err != nil {
		t.Fatal(err)
	}
	if err := d.Run(chain(p, a, freed, 1)); err == nil || !d.Holds() {
		t.Errorf("a call with a buffer that was freed: error %v, calls are held: %v", err, d.Holds())
	}
	r.check(p, a, b, 8, 1, 2)
	f.fails["LaunchKernel"] = outOfMemory
	if err := d.Run(chain(p, a, b, 1)); err != nil {
		t.Fatal(err)
	}
	for _, what := range []struct {
		name  string
		do    func() error
		fails bool
	}{
		{"Download", func() error { return d.Download(make([]byte, 4), b, 0) }, true},
		{"Sync", d.Sync, true},
		{"another Sync", d.Sync, false},
	} {
		if err := what.do(); errors.Is(err, driver.ErrMemory) != what.fails {
			t.Errorf("%s after a launch failed: %v", what.name, err)
		}
	}
	delete(f.fails, "LaunchKernel")
	if err := d.Run(chain(p, a, b, 1)); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if err := d.Run(chain(p, a, b, 1)); err == nil {
		t.Error("a call of a closed device is no error")
	}
	if d.Holds() {
		t.Error("a closed device holds calls")
	}
}

// A copy from another GPU fails if calls that were held there do.
func TestHoldOfPeer(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	f, d := newPair(t, 1)
	a, b := rig{t, d[0]}, rig{t, d[1]}
	p := a.compile(shifted(8))
	x, y, z := a.alloc(32), a.alloc(32), b.alloc(32)
	a.check(p, x, y, 8, 1, 2) // compiled
	f.fails["LaunchKernel"] = outOfMemory
	if err := a.Run(chain(p, x, y, 1)); err != nil {
		t.Fatal(err)
	}
	if err := b.Device.(driver.PeerCopier).CopyPeer(z, 0, y, 0, 32); !errors.Is(err, driver.ErrMemory) {
		t.Errorf("a copy of what was not computed: %v", err)
	}
	if err := a.Sync(); !errors.Is(err, driver.ErrMemory) {
		t.Errorf("Sync of the peer: %v", err)
	}
	if err := b.Sync(); err != nil {
		t.Error(err)
	}
}

// Calls that are held are dropped with a GPU that is lost.
func TestHoldLost(t *testing.T) {
	f, d := openFake(t)
	r := rig{t, d}
	p, a, b := r.compile(shifted(8)), r.alloc(32), r.alloc(32)
	r.check(p, a, b, 8, 1, 2) // compiled
	if err := d.Run(chain(p, a, b, 1)); err != nil {
		t.Fatal(err)
	}
	f.fails["LaunchKernel"] = 719
	if err := d.Sync(); err == nil {
		t.Error("Sync of a GPU that is lost is no error")
	}
	if err := d.Run(chain(p, a, b, 1)); err == nil || d.Holds() {
		t.Errorf("a call of a GPU that is lost: error %v, calls are held: %v", err, d.Holds())
	}
}
