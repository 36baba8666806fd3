//go:build unix

package safetensors_test

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/cpu"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/safetensors"
	"github.com/tensorken/tensorken/tensor"
)

// saved saves a tree and loads it into another. Its elements begin at a cache line, so wide ones are mapped, too.
func saved[T any](t *testing.T, from, to *T) (path string, info os.FileInfo) {
	path = filepath.Join(t.TempDir(), "weights.safetensors")
	for n := 0; ; n += 8 {
		if err := safetensors.SaveMeta(path, from, map[string]string{"": strings.Repeat(" ", n)}); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if (8+binary.LittleEndian.Uint64(data))%64 == 0 {
			break
		}
	}
	f, err := safetensors.Open(path)
	if err == nil {
		err = f.Load(to, nil)
		f.Close()
	}
	if err == nil {
		info, err = os.Stat(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path, info
}

// Weights whose file is cut short under a computation are an error that names it. Check does not see it: the file has
// another name by then.
func TestCutShort(t *testing.T) {
	rng := tensor.NewRNG(1)
	for _, typ := range []tensor.DType{tensor.Float32, tensor.BFloat16, tensor.Float64, tensor.Int64} {
		w := rng.Normal(512, 512).Cast(typ)
		type weights struct{ W tensor.Tensor }
		var to weights
		path, _ := saved(t, &weights{w}, &to)
		if err := os.Rename(path, path+".old"); err != nil {
			t.Fatal(err)
		}
		x := tensor.Ones(3, 512).Cast(typ)
		if err := tensor.Eval(x.MatMul(to.W)); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path+".old", 9000); err != nil {
			t.Fatal(err)
		}
		_, dataErr := to.W.Bytes()
		for what, err := range map[string]error{
			"a product": tensor.Eval(x.MatMul(to.W)),
			"a sum":     tensor.Eval(to.W.Sum()),
			"a copy":    tensor.Eval(to.W.Add(x.At(0, 0))),
			"a sort":    tensor.Eval(to.W.Sort(1)),
			"Bytes":     dataErr,
		} {
			if e := (*tensor.Error)(nil); !errors.As(err, &e) || !strings.Contains(e.Error(), path+" was cut short") {
				t.Errorf("%v, %s: %v", typ, what, err)
			}
		}
		if err := tensor.Eval(x.Sum()); err != nil {
			t.Error(err)
		}
	}
}

// A device with memory of its own is filled from a mapped file, in pieces, and a file that was cut short is an error.
func TestUploadMapped(t *testing.T) {
	type weights struct{ W tensor.Tensor }
	var to weights
	made := tensor.Arange(9 << 20).Cast(tensor.BFloat16)
	path, _ := saved(t, &weights{made}, &to)
	remote := func() *tensor.Device { return tensor.NewDevice(struct{ driver.Device }{cpu.New(cpu.Options{})}) }
	if d := remote(); to.W.To(d).Sub(made.To(d)).Abs().Max().Item() != 0 {
		t.Error("the elements on a device differ")
	}
	if err := os.Rename(path, path+".old"); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path+".old", 17<<20); err != nil {
		t.Fatal(err)
	}
	if err := tensor.Eval(to.W.To(remote()).Sum()); err == nil || !strings.Contains(err.Error(), path+" was cut short") {
		t.Errorf("the error is %v", err)
	}
}

// Nothing is stored in a file: weights that are donated or trained are copied first, and the training goes as from
// weights in memory.
func TestTrainMapped(t *testing.T) {
	rng := tensor.NewRNG(1)
	made := []nn.Linear{nn.NewLinear(rng, 64, 64), nn.NewLinear(rng, 64, 64)}
	loaded := []nn.Linear{nn.NewLinear(rng, 64, 64), nn.NewLinear(rng, 64, 64)}
	saved(t, &made, &loaded)
	x := rng.Normal(8, 64)
	train := func(net []nn.Linear) (losses []float64) {
		step := optim.Jit(optim.New(optim.Adam{}, 1e-2), func(net []nn.Linear, x tensor.Tensor, _ *tensor.RNG) (tensor.Tensor, []nn.Linear) {
			return net[1].Apply(net[0].Apply(x).ReLU()).Square().Mean(), net
		})
		for range 5 {
			loss, err := step(&net, x, nil)
			if err != nil {
				t.Fatal(err)
			}
			losses = append(losses, loss.Item())
		}
		return losses
	}
	want, got := train(made), train(loaded)
	for i := range want {
		if want[i] != got[i] {
			t.Errorf("loss %d is %v, want %v", i, got[i], want[i])
		}
	}
	again := []nn.Linear{nn.NewLinear(rng, 64, 64), nn.NewLinear(rng, 64, 64)}
	path, before := saved(t, &loaded, &again)
	w := again[0].Weight
	copied, err := w.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	copied[0]++ // a fault if it were the file's
	tensor.Donate(w)
	if err := tensor.Eval(w.Add(1)); err != nil {
		t.Fatal(err)
	}
	if err := safetensors.Save(path, &made); err != nil { // in the place of a file that is mapped
		t.Fatal(err)
	}
	if err := tensor.Eval(again[1].Weight.Sum()); err != nil {
		t.Error(err)
	}
	if after, err := os.Stat(path); err != nil || os.SameFile(after, before) {
		t.Errorf("the file was not replaced: %v", err)
	}
}

// A tensor of a file that was written after it was opened is an error, whether another was read before or not.
func TestWrittenAfterOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "weights.safetensors")
	if err := safetensors.Save(path, map[string]tensor.Tensor{"a": tensor.Ones(64, 64)}); err != nil {
		t.Fatal(err)
	}
	f, err := safetensors.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	time.Sleep(20 * time.Millisecond) // times of files are not exact
	w, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		_, err = w.WriteAt([]byte{0, 0, 0, 0}, 1<<10)
		w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(20 * time.Millisecond)
	if _, err := f.Tensor("a"); err == nil || !strings.Contains(err.Error(), "weights.safetensors") {
		t.Errorf("a tensor of a changed file: %v, want an error that names it", err)
	}
}
