package gpu

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/internal/schedule"
	"github.com/tensorken/tensorken/internal/tune"
	"github.com/tensorken/tensorken/internal/wgpu"
	"github.com/tensorken/tensorken/internal/wgpu/wgputest"
	"github.com/tensorken/tensorken/tensor"
)

// A search for tiles runs on the adapter, is kept, and is reused without a search. Results are
// right, and the same bits for the same choice. A software adapter is taken for a GPU, for it has
// no tiles otherwise.
func TestTune(t *testing.T) {
	wgputest.NeedForMinutes(t)
	devices := map[tune.Mode][]*device{} // opened before the cache folder, which may have the library, is another
	for _, mode := range []tune.Mode{tune.Kept, tune.Search, tune.Kept, tune.Search} {
		devices[mode] = append(devices[mode], real(t, wgpu.Options{Validate: true}))
	}
	dir := t.TempDir()
	for _, name := range []string{"XDG_CACHE_HOME", "HOME", "LocalAppData"} {
		t.Setenv(name, dir)
	}
	const m, n, k = 70, 90, 200
	rng := tensor.NewRNG(1)
	x, w := rng.Normal(m, k), rng.Normal(k, n)
	err := tensor.Eval(x, w)
	want, errWant := tensor.Data[float32](x.MatMul(w))
	if err := errors.Join(err, errWant); err != nil {
		t.Fatal(err)
	}
	kept := func() (text string) {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			b, err := os.ReadFile(path)
			text += string(b)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	compute := func(mode tune.Mode) (result []float32, shaders int) {
		d := devices[mode][0]
		devices[mode] = devices[mode][1:]
		d.Target.Family = schedule.Discrete
		d.Tuner = tune.New(mode, "GPU")
		d.Tuner.Least = m * n * k
		result, err := tensor.Data[float32](x.To(tensor.NewDevice(d.machine())).MatMul(w))
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Sync(); err != nil {
			t.Error(err)
		}
		for i := range want {
			if math.Abs(float64(result[i]-want[i])) > 1e-3 {
				t.Fatalf("mode %d: element %d is %v, want %v", mode, i, result[i], want[i])
			}
		}
		return result, d.pipelines.Len()
	}
	_, untuned := compute(tune.Kept)
	if text := kept(); text != "" {
		t.Fatalf("without a search there is %q", text)
	}
	searched, shaders := compute(tune.Search)
	if shaders < untuned+3 {
		t.Errorf("a search compiles %d shaders, want %d or more", shaders, untuned+3)
	}
	if runtime.GOOS == "js" { // which keeps no files
		return
	}
	text := kept()
	if text == "" {
		t.Fatal("a search keeps nothing")
	}
	for _, mode := range []tune.Mode{tune.Kept, tune.Search} {
		again, shaders := compute(mode)
		if shaders > untuned+1 { // a second pass may add splits
			t.Errorf("mode %d: %d shaders, want %d or one more", mode, shaders, untuned)
		}
		for i := range again {
			if again[i] != searched[i] {
				t.Fatalf("mode %d: element %d is %v, and %v after the search", mode, i, again[i], searched[i])
			}
		}
	}
	if now := kept(); now != text {
		t.Errorf("the file has become %q, from %q", now, text)
	}
}

// Failures of a search do not count as a program's, even if they are known late, and the
// program's failures are not lost.
func TestTuneIsolate(t *testing.T) {
	for _, late := range []bool{false, true} {
		d, f := fake(t, 1<<20)
		defer d.Close()
		for _, before := range []string{"before", ""} {
			if before != "" {
				f.Fail(before)
			}
			err := d.Isolate(func() error {
				if err := d.Sync(); err != nil {
					t.Errorf("Sync in a search: %v", err)
				}
				f.Fail("inside")
				if late {
					return nil
				}
				return d.Sync()
			})
			if err == nil || !strings.Contains(err.Error(), "inside") {
				t.Errorf("Isolate: %v, want the failure inside", err)
			}
			if err := d.Sync(); (err != nil) != (before != "") || err != nil && !strings.Contains(err.Error(), before) {
				t.Errorf("Sync: %v, want the failure %q", err, before)
			}
			if err := d.Sync(); err != nil {
				t.Errorf("Sync again: %v", err)
			}
		}
	}
}
