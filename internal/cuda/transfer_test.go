//go:build linux && (amd64 || arm64)

package cuda

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/ir"
)

// testTransfers copies pieces of all sizes there and back, some of which are under way at once.
func testTransfers(t *testing.T, d driver.Device) {
	r := rig{t, d}
	const size = 20*chunkBytes + 100
	b := r.alloc(size)
	want := make([]byte, size)
	put := func(at, n int, first byte) {
		data := make([]byte, n)
		for i := range data {
			data[i] = first + byte(i*i>>3)
		}
		copy(want[at:], data)
		if err := d.Upload(b, at, data); err != nil {
			t.Fatal(err)
		}
		clear(data) // the device has its own copy
	}
	get := func(at, n int) {
		got := make([]byte, n)
		if err := d.Download(got, b, at); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want[at:at+n]) {
			i := 0
			for got[i] == want[at+i] {
				i++
			}
			t.Fatalf("byte %d of %d from %d on is %d, want %d", i, n, at, got[i], want[at+i])
		}
	}
	put(0, size, 1)
	get(0, size)
	for i, n := range []int{0, 1, 2, 63, 64, 65, chunkBytes - 1, chunkBytes, chunkBytes + 1, 5*chunkBytes + 7, 18 * chunkBytes} {
		put(17*i, n, byte(i))
		get(17*i, n)
	}
	for i := range 1000 {
		put(1000*i+i%7, 40*i, byte(i))
	}
	get(0, size)
}

func TestTransfers(t *testing.T) { eachDriver(t, testTransfers) }

// A small upload waits for nothing, and a large one only for room.
func TestUploadCalls(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	f := newFake(t, 1<<30)
	d, err := f.open(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	r := rig{t, d}
	b := r.alloc(10 * chunkBytes)
	for _, c := range []struct {
		uploads, size        int
		copies, waits, marks int
	}{
		{100, 4, 100, 0, 0},
		{1, chunkBytes, 2, 0, 1},
		{6, chunkBytes, 12, 0, 6}, // all chunks are used once
		{1, 10 * chunkBytes, 11, 10, 10},
		{1, 4, 1, 0, 0},
	} {
		f.calls = nil
		for range c.uploads {
			if err := d.Upload(b, 0, make([]byte, c.size)); err != nil {
				t.Fatal(err)
			}
		}
		copies, waits, marks := f.count("MemcpyHtoDAsync_v2"), f.count("EventSynchronize")+f.count("StreamSynchronize"), f.count("EventRecord")
		if copies != c.copies || waits != c.waits || marks != c.marks {
			t.Errorf("%d uploads of %d bytes: %d copies, %d waits, %d events, want %d, %d, %d", c.uploads, c.size, copies, waits, marks, c.copies, c.waits, c.marks)
		}
	}
}

// Scratch may take the memory of temporaries that are only kept for reuse, and the reverse, also
// where a graph has the addresses of those.
func TestKeptMemory(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	f := newFake(t, 1<<30)
	test := func(t *testing.T, d *device, compile func(k *ir.Kernel) (driver.Program, error)) {
		const large = 600 << 10
		one, err := compile(shifted(16))
		if err != nil {
			t.Fatal(err)
		}
		p, q, both := *one.(*program), *one.(*program), *one.(*program)
		p.scratch, q.temps = []int{large}, []int{large}
		both.scratch, both.temps = []int{large}, []int{large}
		r := rig{t, d}
		a, b := r.alloc(64), r.alloc(64)
		for range 3 {
			r.check(&p, a, b, 16, 1, 2, 3, 4)
			r.check(&q, a, b, 16, 5, 6, 7, 8)
		}
		if err := d.Run(chain(&both, a, b, 1)); !errors.Is(err, driver.ErrMemory) {
			t.Errorf("Run that needs 1,200 KiB of 1,024: got error %v, want one of memory", err)
		}
		if b, err := d.Alloc(900 << 10); err != nil {
			t.Errorf("Alloc after a Run that lacked memory: %v", err)
		} else {
			b.Free()
		}
		r.check(&p, a, b, 16, 1, 2, 3, 4)
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	o := Options{Memory: 1 << 20}
	t.Run("fake", func(t *testing.T) {
		d, err := f.open(o)
		if err != nil {
			t.Fatal(err)
		}
		test(t, d.device, d.Compile)
		f.drained(t)
	})
	t.Run("GPU", func(t *testing.T) {
		need(t)
		list, err := List()
		if err != nil {
			t.Fatal(err)
		}
		d, err := Open(list[0], o)
		if err != nil {
			t.Fatal(err)
		}
		test(t, d.(*device), d.Compile)
	})
}

// A device that another program leaves too little memory returns an error of memory.
func TestDriverMemory(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	f := newFake(t, 1<<20)
	d, err := f.open(Options{})
	if err != nil {
		t.Fatal(err)
	}
	other, err := f.open(Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := rig{t, other}.alloc(900 << 10)
	if _, err := d.Alloc(200 << 10); !errors.Is(err, driver.ErrMemory) || !strings.Contains(err.Error(), "cuMemAllocAsync") {
		t.Errorf("Alloc of 200 KiB, where 124 are free: got error %v, want one of memory of the driver", err)
	}
	b.Free()
	if _, err := d.Alloc(200 << 10); err != nil {
		t.Errorf("Alloc after memory was freed: %v", err)
	}
	for _, d := range []driver.Device{d, other} {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	f.drained(t)
	if i := slices.Index(f.calls, "MemPoolTrimTo"); i < 0 {
		t.Error("the driver keeps memory that was freed")
	}
}
