//go:build linux && (amd64 || arm64)

package cuda

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// eachPair runs a test on two devices: of two fake GPUs, with and without access to each other's
// memory, of one fake GPU, and of the first and the last GPU of this machine, if there is one.
func eachPair(t *testing.T, test func(t *testing.T, a, b driver.Device)) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for _, c := range []struct {
		name        string
		apart       bool
		second      int // GPU
		peer, local bool
	}{
		{"two GPUs", false, 1, true, false}, {"two GPUs apart", true, 1, true, false}, {"one GPU", false, 0, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, d := newPair(t, c.second)
			f.isApart = c.apart
			test(t, d[0], d[1])
			for _, x := range d {
				if err := x.Close(); err != nil {
					t.Error(err)
				}
			}
			f.drained(t)
			peer, local := f.count("MemcpyPeerAsync"), f.count("MemcpyDtoDAsync_v2")
			if peer > 0 != c.peer || local > 0 != c.local {
				t.Errorf("%d copies between contexts and %d in one", peer, local)
			}
			if want := peer; !c.apart && f.direct != want {
				t.Errorf("%d of %d copies have access to the other GPU's memory", f.direct, want)
			}
		})
	}
	t.Run("GPU", func(t *testing.T) {
		need(t)
		list, err := List()
		if err != nil {
			t.Fatal(err)
		}
		var d [2]driver.Device
		for i, g := range []GPU{list[0], list[len(list)-1]} {
			if d[i], err = Open(g, Options{Graphs: true}); err != nil {
				t.Fatal(err)
			}
			defer d[i].Close()
		}
		test(t, d[0], d[1])
	})
}

// newPair returns a fake and devices of its first GPU and of one of its two.
func newPair(t *testing.T, second int) (f *fake, d [2]driver.Device) {
	t.Helper()
	f = newFake(t, 1<<30, 1<<30)
	for i, gpu := range []int{0, second} {
		x, err := f.openGPU(gpu, Options{Graphs: true})
		if err != nil {
			t.Fatal(err)
		}
		d[i] = x
	}
	return f, d
}

// pattern is n bytes that differ by the first.
func pattern(n int, first byte) []byte {
	data := make([]byte, n)
	for i := range data {
		data[i] = first + byte(i*i>>3)
	}
	return data
}

// uploaded returns a buffer that has the bytes.
func (r rig) uploaded(data []byte) driver.Buffer {
	r.Helper()
	b := r.alloc(len(data))
	if err := r.Upload(b, 0, data); err != nil {
		r.Fatal(err)
	}
	return b
}

// copyPeer copies all of a buffer to one of this device.
func (r rig) copyPeer(dst, src driver.Buffer, n int) {
	r.Helper()
	drv := r.Device.(driver.PeerCopier)
	if !drv.IsPeer(src) || drv.IsPeer(dst) {
		r.Fatalf("IsPeer of another device's buffer is %v, of an own one %v", drv.IsPeer(src), drv.IsPeer(dst))
	}
	if err := drv.CopyPeer(dst, 0, src, 0, n); err != nil {
		r.Fatal(err)
	}
}

// has fails unless a buffer begins with the bytes.
func (r rig) has(b driver.Buffer, want []byte) {
	r.Helper()
	got := make([]byte, len(want))
	if err := r.Download(got, b, 0); err != nil {
		r.Fatal(err)
	}
	for i := range want {
		if got[i] != want[i] {
			r.Fatalf("byte %d of %d is %d, want %d", i, len(want), got[i], want[i])
		}
	}
}

// Copies have the bytes that the peer's work before has written, whichever stream runs first, and
// the peer's memory is not used again before.
func TestCopyPeer(t *testing.T) {
	eachPair(t, func(t *testing.T, first, second driver.Device) {
		a, b := rig{t, first}, rig{t, second}
		for _, n := range []int{1, 4, 1000, 1<<20 + 5} {
			for _, waits := range []driver.Device{nil, first, second} {
				data := pattern(n, byte(n))
				src := a.uploaded(data)
				dst := b.uploaded(pattern(n, 77))
				b.copyPeer(dst, src, n)
				src.Free()
				other := a.uploaded(pattern(n, 99)) // in the memory of src
				if waits != nil {
					if err := waits.Sync(); err != nil {
						t.Fatal(err)
					}
				}
				b.has(dst, data)
				a.copyPeer(other, dst, n) // the other way
				if err := b.Upload(dst, 0, pattern(n, 55)); err != nil {
					t.Fatal(err)
				}
				if err := second.Sync(); err != nil {
					t.Fatal(err)
				}
				a.has(other, data)
				other.Free()
				dst.Free()
			}
		}
		data := pattern(64, 1)
		src, dst := a.uploaded(data), b.uploaded(make([]byte, 64))
		if err := second.(driver.PeerCopier).CopyPeer(dst, 7, src, 30, 20); err != nil {
			t.Fatal(err)
		}
		if err := second.(driver.PeerCopier).CopyPeer(dst, 64, src, 64, 0); err != nil {
			t.Errorf("a copy of nothing: %v", err)
		}
		b.has(dst, slices.Concat(make([]byte, 7), data[30:50], make([]byte, 37)))
		for _, c := range [][3]int{{0, 1, 64}, {1, 0, 64}, {-1, 0, 1}, {0, 0, -1}} {
			if err := second.(driver.PeerCopier).CopyPeer(dst, c[0], src, c[1], c[2]); err == nil {
				t.Errorf("a copy to byte %d from byte %d of %d bytes is no error", c[0], c[1], c[2])
			}
		}
	})
}

// A copy runs between the kernels before and after it. Graphs may have these kernels.
func TestCopyPeerAmongGraphs(t *testing.T) {
	eachPair(t, func(t *testing.T, first, second driver.Device) {
		const n = 50
		a, b := rig{t, first}, rig{t, second}
		p, q := a.compile(shifted(n)), b.compile(shifted(n))
		x, y := a.uploaded(make([]byte, 4*n)), a.alloc(4*n)
		v, w := b.alloc(4*n), b.alloc(4*n)
		for range 5 {
			if err := first.Run(chain(p, x, y, 1, 2, 3, 4)); err != nil {
				t.Fatal(err)
			}
			b.copyPeer(v, x, 4*n)
			if err := second.Run(chain(q, v, w, 5, 6, 7, 8)); err != nil {
				t.Fatal(err)
			}
			a.copyPeer(x, v, 4*n)
		}
		b.has(v, bytes.Repeat([]byte{180, 0, 0, 0}, n))
		a.has(x, bytes.Repeat([]byte{180, 0, 0, 0}, n))
	})
}

// A tensor moves from GPU to GPU without the host.
func TestTensorsOfPeers(t *testing.T) {
	eachPair(t, func(t *testing.T, first, second driver.Device) {
		a, b := tensor.NewDevice(first), tensor.NewDevice(second)
		x := tensor.New([]float32{1, 2, 3, 4, 5, 6}).Reshape(2, 3).To(a).Mul(2)
		y := x.T().To(b).Add(1)
		z := y.To(a).Sub(x.T())
		if got, want := values(t, z), []float32{1, 1, 1, 1, 1, 1}; !slices.Equal(got, want) {
			t.Errorf("there and back: got %v, want %v", got, want)
		}
		if f := fakeOf(first); f != nil && f.count("MemcpyDtoHAsync_v2") != 1 {
			t.Errorf("%d downloads of one result", f.count("MemcpyDtoHAsync_v2"))
		}
		large := tensor.Arange(3 << 19).Cast(tensor.Float32).To(a).To(b)
		if got := values(t, large); got[3<<19-1] != 3<<19-1 || got[12345] != 12345 {
			t.Errorf("a large tensor has %v and %v", got[12345], got[3<<19-1])
		}
		empty := tensor.Zeros(0, 3).To(a).Add(1).To(b).Sum()
		if got := empty.Item(); got != 0 {
			t.Errorf("the sum of an empty tensor is %v", got)
		}
		bad := tensor.New([]float32{1, 2}).To(a).Take(0, tensor.New([]int32{1, 5}).To(a)).To(b).Add(1)
		if _, err := tensor.Data[float32](bad); err == nil || !strings.Contains(err.Error(), "index 5") {
			t.Errorf("an index out of range on the other device: error %v", err)
		}
		kept := computed(t, x.Exp().To(b).Log())
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		if got := values(t, kept.Round())[5]; got != 12 {
			t.Errorf("after the other device is closed: got %v, want 12", got)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
}

// values returns the elements of a tensor.
func values(t *testing.T, x tensor.Tensor) []float32 {
	t.Helper()
	data, err := tensor.Data[float32](x)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// computed returns a tensor that is computed.
func computed(t *testing.T, x tensor.Tensor) tensor.Tensor {
	t.Helper()
	if err := tensor.Eval(x); err != nil {
		t.Fatal(err)
	}
	return x
}

// fakeOf returns the fake of a device, nil for a GPU.
func fakeOf(d driver.Device) *fake {
	if s, ok := d.(*simulated); ok {
		return s.fake
	}
	return nil
}

// Two devices that learn from a half of each batch, as the package comment of cuda says, get the
// parameters that the CPU gets.
func TestDataParallel(t *testing.T) {
	rng := tensor.NewRNG(1)
	first, x, y := nn.NewLinear(rng, 6, 1), rng.Normal(8, 6), rng.Normal(8, 1)
	train := func(t *testing.T, devices ...*tensor.Device) []float32 {
		model, opt := tree.To(first, devices[0]), optim.New(optim.SGD{Momentum: 0.9}, 0.1)
		for range 5 {
			grads, n := make([]nn.Linear, len(devices)), 8/len(devices)
			for i, d := range devices {
				x, y := x.Slice(0, n*i, n*i+n).To(d), y.Slice(0, n*i, n*i+n).To(d)
				grads[i] = grad.Of(func(m nn.Linear) tensor.Tensor { return m.Apply(x).Sub(y).Square().Mean() })(tree.To(model, d))
			}
			if err := tensor.Eval(grads); err != nil {
				t.Fatal(err)
			}
			mean := grads[0]
			if len(grads) == 2 {
				mean = tree.Zip(mean, tree.To(grads[1], devices[0]), func(_ string, a, b tensor.Tensor) tensor.Tensor { return a.Add(b).Div(2) })
			}
			if err := opt.Step(&model, mean); err != nil {
				t.Fatal(err)
			}
		}
		return values(t, model.Weight)
	}
	want := train(t, tensor.CPU())
	eachPair(t, func(t *testing.T, first, second driver.Device) {
		a, b := tensor.NewDevice(first), tensor.NewDevice(second)
		for i, got := range train(t, a, b) {
			if math.Abs(float64(got-want[i])) > 1e-5 {
				t.Errorf("weight %d is %v, want %v", i, got, want[i])
			}
		}
		for _, d := range []*tensor.Device{a, b} {
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

// Goroutines copy in both directions, and to the host, at once.
func TestCopiesAtOnce(t *testing.T) {
	eachPair(t, func(t *testing.T, first, second driver.Device) {
		d := []*tensor.Device{tensor.NewDevice(first), tensor.NewDevice(second)}
		shared := []tensor.Tensor{tensor.New([]float32{1, 2}).To(d[0]).Add(1), tensor.New([]float32{3, 4}).To(d[1]).Add(1)}
		var all sync.WaitGroup
		for g := range 6 {
			all.Go(func() {
				for round := range 20 {
					i := (g + round) % 2
					to := d[1-i]
					if g >= 4 {
						to = tensor.CPU()
					}
					x := shared[i].To(to).Add(float64(round))
					want := float32(2 + 2*i + round)
					if got, err := tensor.Data[float32](x.Mul(x.To(to))); err != nil || got[0] != want*want {
						t.Errorf("goroutine %d, round %d: got %v, %v, want %v first", g, round, got, err, want*want)
						return
					}
					y := x.To(d[i])
					if got, err := tensor.Data[float32](y); err != nil || got[0] != want {
						t.Errorf("goroutine %d, round %d, back: got %v, %v, want %v first", g, round, got, err, want)
						return
					}
				}
			})
		}
		all.Wait()
		for _, x := range d {
			if err := x.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

// A copy that fails names both devices, and fails nothing else. A failure to get access is no
// error.
func TestFailuresOfCopies(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for _, c := range []struct {
		function string
		code     int
		fails    bool
	}{
		{"MemcpyPeerAsync", 1, true}, {"MemcpyPeerAsync", outOfMemory, true}, {"StreamWaitEvent", 999, true},
		{"EventQuery", 719, true}, // the work before, on the other GPU
		{"DeviceCanAccessPeer", 999, false}, {"MemPoolSetAccess", 217, false},
	} {
		f, drv := newPair(t, 1)
		a, b := tensor.NewDevice(drv[0]), tensor.NewDevice(drv[1])
		x := tensor.New([]float32{1, 2, 3}).To(a).Add(1)
		before := computed(t, tensor.New([]float32{5}).To(b).Add(1))
		if err := b.Sync(); err != nil {
			t.Fatal(err)
		}
		f.fails[c.function] = c.code
		got, err := tensor.Data[float32](x.To(b).Mul(2))
		switch {
		case !c.fails:
			if want := []float32{4, 6, 8}; err != nil || !slices.Equal(got, want) || f.direct > 0 {
				t.Errorf("%s fails: got %v, %v, %d direct copies, want %v, copied by the host", c.function, got, err, f.direct, want)
			}
		case err == nil || !strings.Contains(err.Error(), "cuda:0 (Fake)") || !strings.Contains(err.Error(), "cuda:1 (Fake)"):
			t.Errorf("%s fails: got %v, error %v, want one with the names of both devices", c.function, got, err)
		case errors.Is(err, driver.ErrMemory) != (c.code == outOfMemory):
			t.Errorf("%s fails with code %d: error %v", c.function, c.code, err)
		}
		delete(f.fails, c.function)
		if got, err := tensor.Data[float32](x.To(b).Mul(2).Sub(before)); err != nil || !slices.Equal(got, []float32{-2, 0, 2}) {
			t.Errorf("after a failure of %s: got %v, %v", c.function, got, err)
		}
		for _, d := range []*tensor.Device{a, b} {
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		}
		f.drained(t)
	}
}

// A failure of a GPU's work is known to those that have its results by way of other GPUs.
func TestFailureTwoCopiesAway(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	f := newFake(t, 1<<30, 1<<30, 1<<30)
	var d [3]*tensor.Device
	for i := range d {
		x, err := f.openGPU(i, Options{Graphs: true})
		if err != nil {
			t.Fatal(err)
		}
		d[i] = tensor.NewDevice(x)
		defer d[i].Close()
	}
	x := tensor.New([]float32{1, 2, 3}).To(d[0]).Add(1)
	f.lost = f.gpus[0]
	got, err := tensor.Data[float32](x.To(d[1]).Mul(2).To(d[2]).Mul(2))
	if err == nil || !strings.Contains(err.Error(), "cuda:0 (Fake)") {
		t.Errorf("got %v, error %v, want one with the name of the first GPU", got, err)
	}
}
