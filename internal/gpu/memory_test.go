package gpu

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/wgpu"
)

// TestFull fills a GPU's own memory, finds the end of it, and goes on.
func TestFull(t *testing.T) {
	d := real(t, wgpu.Options{})
	if k := d.dev.Adapter().Kind; k != wgpu.Discrete {
		t.Skipf("the adapter is %v: its memory is the machine's", k)
	}
	size := int(min(d.Limit, 4<<30))
	var held []driver.Buffer
	var err error
	for len(held) < 1<<10 {
		var b driver.Buffer
		if b, err = d.Alloc(size); err != nil {
			break
		}
		held = append(held, b)
	}
	t.Logf("%d buffers of %d bytes, then: %v", len(held), size, err)
	if !errors.Is(err, driver.ErrMemory) {
		t.Errorf("Alloc at the end of memory: got error %v, want one that wraps driver.ErrMemory", err)
	}
	for _, b := range held {
		b.Free()
	}
	if err := d.Sync(); err != nil {
		t.Error(err)
	}
	testChain(t, d, prepare(t, d, &increment), 10)
	b, err := d.Alloc(size)
	if err != nil {
		t.Fatalf("Alloc after all was freed: %v", err)
	}
	b.Free()
}

// Scratch may take the memory of temporaries that are only kept for reuse, and the reverse.
func TestKeptMemory(t *testing.T) {
	test := func(t *testing.T, d *device) {
		large := twice
		large.scratch = []int{5500}
		p := prepare(t, d, &large)
		a, b := alloc(t, d, 16), alloc(t, d, 16)
		for range 2 {
			if err := d.Kept.Reserve([]int{5500}, nil, d.Take); err != nil {
				t.Fatal(err)
			}
			if err := d.Run(chain(p, 1, a, b)); err != nil {
				t.Errorf("Run with 5500 bytes of scratch, where 5500 of 10000 are kept: %v", err)
			}
			if len(d.Kept.Temps) > 0 || len(d.Kept.Scratch) != 1 {
				t.Errorf("%d temporaries and %d pieces of scratch are kept", len(d.Kept.Temps), len(d.Kept.Scratch))
			}
			d.MakeRoom()
		}
		c := alloc(t, d, 5000)
		if err := d.Run(chain(p, 1, a, b)); !errors.Is(err, driver.ErrMemory) {
			t.Errorf("Run with 5500 bytes of scratch, where 5000 of 10000 are held: got error %v, want one of memory", err)
		}
		c.Free()
		testChain(t, d, p, 3)
	}
	t.Run("fake", func(t *testing.T) {
		d, _ := fake(t, 0)
		test(t, newDevice(d.dev, Options{Name: "fake", Memory: 10000}))
	})
	t.Run("real", func(t *testing.T) {
		d := real(t, wgpu.Options{})
		test(t, newDevice(d.dev, Options{Name: "real", Memory: 10000}))
	})
}

// resident is how much memory the process has.
func resident(t *testing.T) int {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip(err)
	}
	var kib int
	_, line, _ := strings.Cut(string(data), "VmRSS:")
	if _, err := fmt.Sscan(line, &kib); err != nil {
		t.Fatal(err)
	}
	return kib << 10
}

// Steps that take and give back buffers hold no more memory in the end.
func TestFlat(t *testing.T) {
	d := real(t, wgpu.Options{})
	p, q := prepare(t, d, &increment), prepare(t, d, &twice)
	data := make([]byte, 1<<18)
	step := func() {
		a, b := alloc(t, d, len(data)), alloc(t, d, len(data))
		if err := d.Upload(a, 0, data); err != nil {
			t.Fatal(err)
		}
		if err := d.Run(append(chain(p, 10, a, b), chain(q, 10, a, b)...)); err != nil {
			t.Fatal(err)
		}
		if err := d.Download(data[:64], b, 0); err != nil {
			t.Fatal(err)
		}
		a.Free()
		b.Free()
	}
	steps := 1000
	if testing.Short() {
		steps = 50
	}
	round := func() (grown int) {
		before := resident(t)
		for range steps {
			step()
		}
		runtime.GC()
		return resident(t) - before
	}
	round()
	// A leak shows in each round; in one alone, so do heaps of others in the process, as V8's.
	for i := 1; ; i++ {
		grown := round()
		if grown <= 16<<20 {
			break
		}
		if i == 4 {
			t.Errorf("after %d rounds, %d steps take %d more bytes of the host", i, steps, grown)
			break
		}
	}
	if d.Held > int64(len(data)) || d.groups.Len() > 8 {
		t.Errorf("%d bytes and %d groups are held", d.Held, d.groups.Len())
	}
}
