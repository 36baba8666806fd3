//go:build linux && (amd64 || arm64)

package cuda

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/internal/tune"
	"github.com/tensorken/tensorken/tensor"
)

// A search for tiles runs on a device, is kept, and is reused without a search. It leaves neither
// memory nor events, and times no graphs.
func TestTune(t *testing.T) {
	if testing.Short() {
		t.Skip("measures")
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	const m, n, k = 20, 36, 24
	rng := tensor.NewRNG(1)
	x, w := rng.Normal(m, k), rng.Normal(k, n)
	err := tensor.Eval(x, w)
	want, errWant := tensor.Data[float32](x.MatMul(w))
	if err := errors.Join(err, errWant); err != nil {
		t.Fatal(err)
	}
	f := newFake(t, 1<<22)
	modules := 0
	compute := func(mode tune.Mode) (compiled, launched int) {
		d, err := f.open(Options{Graphs: true, Tune: mode})
		if err != nil {
			t.Fatal(err)
		}
		dev := tensor.NewDevice(d)
		defer dev.Close()
		d.Tuner.Least = m * n * k
		before := f.count("LaunchKernel")
		got, err := tensor.Data[float32](x.To(dev).MatMul(w))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.EqualFunc(got, want, func(a, b float32) bool { return math.Abs(float64(a-b)) < 1e-4 }) {
			t.Errorf("mode %d: the product is wrong", mode)
		}
		loaded := f.count("ModuleLoadData")
		compiled, modules = loaded-modules, loaded
		return compiled, f.count("LaunchKernel") - before
	}
	if compiled, launched := compute(tune.Kept); compiled > 2 || launched > 2 {
		t.Errorf("without a search %d kernels are compiled, and launched %d times", compiled, launched)
	}
	if compiled, launched := compute(tune.Search); compiled < 4 || launched < 4*5 {
		t.Errorf("in a search %d kernels are compiled, and launched %d times, want 4 and 20 or more", compiled, launched)
	}
	if compiled, launched := compute(tune.Search); compiled > 2 || launched > 2 {
		t.Errorf("after a search %d kernels are compiled, and launched %d times", compiled, launched)
	}
	if n := f.count("GraphLaunch"); n > 0 {
		t.Errorf("a search launches %d graphs", n)
	}
	f.drained(t)
}

// Failures of a peer's work reach the search that copied from it, or the program that did. The
// scratch of a search is freed with it.
func TestTuneIsolate(t *testing.T) {
	for _, inside := range []bool{false, true} {
		f, drv := newPair(t, 1)
		a, b := drv[0].(*simulated), rig{t, drv[1]}
		d := drv[1].(*simulated)
		src, dst := rig{t, a}.uploaded(pattern(16, 1)), b.alloc(16)
		leave, err := d.Enter()
		if err != nil {
			t.Fatal(err)
		}
		if !inside {
			b.copyPeer(dst, src, 16)
		}
		f.fails["EventQuery"] = 719
		err = d.Isolate(func() error {
			if inside {
				b.copyPeer(dst, src, 16)
			} else if err := d.Sync(); err != nil {
				t.Errorf("Sync in a search: %v", err)
			}
			return d.Kept.Reserve(nil, []int{100}, d.Take)
		})
		if n := len(d.Kept.Scratch); n > 0 {
			t.Errorf("a search leaves %d pieces of scratch", n)
		}
		leave()
		isPeers := func(err error) bool { return err != nil && strings.Contains(err.Error(), "copy from cuda:0") }
		if isPeers(err) != inside || err != nil && !inside {
			t.Errorf("copy in the search %v: Isolate returns %v", inside, err)
		}
		if err := d.Sync(); isPeers(err) == inside || err != nil && inside {
			t.Errorf("copy in the search %v: Sync returns %v", inside, err)
		}
		if err := d.Sync(); err != nil {
			t.Errorf("Sync again: %v", err)
		}
		delete(f.fails, "EventQuery")
		for _, x := range drv {
			if err := x.Close(); err != nil {
				t.Error(err)
			}
		}
		f.drained(t)
	}
}
