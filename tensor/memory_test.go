package tensor_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/safetensors"
	"github.com/tensorken/tensorken/tensor"
)

// limitMemory limits the process to room bytes beyond its present use.
func limitMemory(t *testing.T, room int) {
	tensor.CPU().Close() // frees the pool
	debug.FreeOSMemory()
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	limit := (int(s[0].Value.Uint64()-s[1].Value.Uint64()) + room) / 31 * 32
	old := hostmem.Limit
	hostmem.Limit = func() (int, error) { return limit, nil }
	t.Cleanup(func() { hostmem.Limit = old })
}

const mib = 1 << 20

// Every allocation that exceeds the machine's memory is an error.
func TestHostMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("fills memory")
	}
	sparse := filepath.Join(t.TempDir(), "sparse.safetensors")
	header := fmt.Sprintf(`{"x":{"dtype":"U8","shape":[%d],"data_offsets":[0,%[1]d]}}`, 1<<40)
	if err := os.WriteFile(sparse, append([]byte{byte(len(header)), 0, 0, 0, 0, 0, 0, 0}, header...), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(sparse, int64(8+len(header)+1<<40)); err != nil {
		t.Skip(err) // a file system without sparse files
	}
	wide := tensor.New([]float32{1}).Expand(1<<20, 1<<20)
	for _, c := range []struct {
		name string
		f    func() error
	}{
		{"Data of an expanded tensor", func() error { _, err := tensor.Data[float32](wide); return err }},
		{"Data of as many bytes as a shape may have", func() error {
			_, err := tensor.Data[float64](tensor.New([]float64{1}).Expand(1 << 58))
			return err
		}},
		{"JSON of an expanded tensor", func() error { _, err := json.Marshal(wide); return err }},
		{"a file", func() error {
			var tree struct{ X tensor.Tensor }
			return safetensors.Load(sparse, &tree)
		}},
		{"tensors of Go's numbers", func() error {
			limitMemory(t, 32*mib)
			data := make([]float32, 2*mib)
			var all []tensor.Tensor
			return tensor.Try(func() {
				for range 8 {
					all = append(all, tensor.New(data))
				}
			})
		}},
		{"many small tensors of Go's numbers", func() error {
			limitMemory(t, 16*mib)
			var all []tensor.Tensor
			return tensor.Try(func() {
				for range 200 {
					all = append(all, tensor.New(make([]float32, 32<<10)))
				}
			})
		}},
		{"JSON text", func() error {
			limitMemory(t, 48*mib)
			_, err := json.Marshal(tensor.Full(1.0/3, 2*mib))
			return err
		}},
		{"a permutation", func() error {
			limitMemory(t, 16*mib)
			return tensor.Try(func() { tensor.NewRNG(1).Perm(16 * mib) })
		}},
		{"a copy of what was computed", func() error {
			limitMemory(t, 104*mib) // and the collector's ballast, which buffers replace
			x := tensor.Full(2, 24*mib).Mul(tensor.Scalar(3))
			if err := tensor.Eval(x); err != nil {
				t.Fatal(err)
			}
			_, err := tensor.Data[float32](x)
			if got := x.Sum().Item(); got != 144*mib {
				t.Errorf("the sum is %v, want %v", got, 144*mib)
			}
			return err
		}},
	} {
		err := c.f()
		if !errors.Is(err, driver.ErrMemory) || !strings.Contains(err.Error(), "asked for") {
			t.Errorf("%s: error %v, want %v", c.name, err, driver.ErrMemory)
		}
	}
}

// Printing needs memory only for the elements shown.
func TestPrintLarge(t *testing.T) {
	const want = "[[1 1 1 … 1 1 1]\n [1 1 1 … 1 1 1]\n [1 1 1 … 1 1 1]\n …\n [1 1 1 … 1 1 1]\n [1 1 1 … 1 1 1]\n [1 1 1 … 1 1 1]]"
	if got := fmt.Sprint(tensor.New([]float32{1}).Expand(1<<20, 1<<20)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// The memory of dead tensors and of the pool is reused before an allocation fails.
func TestDeadTensorsMakeRoom(t *testing.T) {
	limitMemory(t, 96*mib)
	for i := range 12 {
		n := (4 + i) * mib // of another size class each time
		x := tensor.Full(2, n).Mul(tensor.Scalar(3))
		if err := tensor.Eval(x); err != nil {
			t.Fatalf("%d elements: %v", n, err)
		}
		if err := tensor.Try(func() { tensor.New(make([]float32, mib)) }); err != nil {
			t.Fatalf("beside %d elements: %v", n, err)
		}
	}
}
