package drivertest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/interp"
	"github.com/tensorken/tensorken/ir"
)

// A trial is a call and the bytes of its arguments before and after.
type trial struct {
	kernel       *ir.Kernel
	before, want [][]byte
}

// trial runs a call on the interpreter. All its arguments are buffers.
func (s *suite) trial(k *ir.Kernel, args ...[]ir.Number) trial {
	t := trial{kernel: k}
	var list []interp.Arg
	for i, a := range args {
		t.before = append(t.before, encode(k.Args[i].DType, a))
		list = append(list, interp.Arg{Data: a})
	}
	if err := interp.Run(k, list); err != nil {
		s.Fatal(err)
	}
	for i, a := range args {
		t.want = append(t.want, encode(k.Args[i].DType, a))
	}
	return t
}

// run runs the call on buffers of its own.
func (t *trial) run(drv driver.Device, p driver.Program) error {
	var args []driver.Arg
	for _, data := range t.before {
		b, err := drv.Alloc(len(data))
		if err != nil {
			return err
		}
		defer b.Free()
		if err := drv.Upload(b, 0, data); err != nil {
			return err
		}
		args = append(args, driver.Arg{Buffer: b})
	}
	if err := drv.Run([]driver.Call{{Program: p, Args: args}}); err != nil {
		return err
	}
	for i, want := range t.want {
		got := make([]byte, len(want))
		if err := drv.Download(got, args[i].Buffer, 0); err != nil {
			return err
		}
		if !bytes.Equal(got, want) {
			return fmt.Errorf("%w: argument %d, after\n%v", errDiffers, i, t.kernel)
		}
	}
	return nil
}

var errDiffers = errors.New("other bytes than the interpreter's")

// small is n small whole numbers, which every order of a sum adds up to the same.
func (s *suite) small(n int) []ir.Number {
	x := make([]ir.Number, n)
	for i := range x {
		x[i] = ir.Float(ir.Float32, float64(s.IntN(64)))
	}
	return x
}

// indices is n indices below 5, one in bad of them out of range.
func (s *suite) indices(n, bad int) []ir.Number {
	x := make([]ir.Number, n)
	for i := range x {
		x[i] = ir.Number(s.IntN(5))
		if s.IntN(bad) == 0 {
			x[i] = ir.Number(5 + s.IntN(9))
		}
	}
	return x
}

// concurrent calls the device from several goroutines: programs are shared
// and compiled again, buffers come and go, and each reports its own bad indices.
func (s *suite) concurrent() {
	drv, limits := s.drv, s.drv.Limits()
	if !limits.Concurrent {
		s.Skipf("%s takes one call at a time", drv.Name())
	}
	if limits.Async {
		s.Error("Limits().Async of a device whose calls are done when they return")
	}
	var trials []trial
	var programs []driver.Program
	for _, n := range []int{17, 5000, 1 << 17} {
		status := func() []ir.Number { return make([]ir.Number, ir.StatusLen) }
		trials = append(trials,
			s.trial(copyKernel(ir.Float32, n), s.small(n), s.small(n)),
			s.trial(takeKernel(n), s.small(n), s.indices(n, n), s.small(5), status()),
			s.trial(takeKernel(n), s.small(n), s.indices(n, 3), s.small(5), status()),
			s.trial(scatterKernel(n), s.small(5), s.small(5), s.indices(n, n), s.small(n), status()))
	}
	for _, t := range trials {
		p, err := drv.Compile(t.kernel)
		if err != nil {
			s.Fatal(err)
		}
		programs = append(programs, p)
	}
	each := func(f func(g, round int) error) {
		var all sync.WaitGroup
		for g := range 8 {
			all.Go(func() {
				for round := range 20 {
					if err := f(g, round); err != nil {
						s.Errorf("goroutine %d, round %d: %v", g, round, err)
						return
					}
				}
			})
		}
		all.Wait()
	}
	each(func(g, round int) (err error) {
		i := (g + 5*round) % len(trials)
		p := programs[i]
		if round%4 == 0 {
			p, err = drv.Compile(trials[i].kernel)
		}
		if err == nil {
			err = trials[i].run(drv, p)
		}
		if err == nil && round%8 == 0 {
			err = drv.Sync()
		}
		return err
	})
	each(func(g, round int) error { // closed meanwhile: calls fail or are right
		if g == 0 && round == 3 {
			return drv.Close()
		}
		i := (g + round) % len(trials)
		if err := trials[i].run(drv, programs[i]); errors.Is(err, errDiffers) {
			return err
		}
		return nil
	})
}

// wrapping computes from memory of the host.
func (s *suite) wrapping() {
	drv, ok := s.drv.(driver.Wrapper)
	if !ok {
		s.Skipf("%s copies", s.drv.Name())
	}
	const n = 1000
	data := encode(ir.Float32, s.small(n))
	b := drv.Wrap(data)
	if b == nil {
		s.Fatalf("Wrap of %d bytes at %p, from make, gives no buffer", len(data), data)
	}
	if b.Size() < len(data) {
		s.Errorf("Wrap of %d bytes gives a buffer of %d", len(data), b.Size())
	}
	out, err := drv.Alloc(4 * n)
	if err != nil {
		s.Fatal(err)
	}
	defer out.Free()
	copied := func(offset int) []byte {
		p, err := drv.Compile(copyKernel(ir.Float32, n-offset))
		if err == nil {
			err = drv.Run([]driver.Call{{Program: p, Args: []driver.Arg{{Buffer: out}, {Buffer: b, Offset: offset}}}})
		}
		got := make([]byte, 4*(n-offset))
		if err == nil {
			err = drv.Download(got, out, 0)
		}
		if err != nil {
			s.Fatal(err)
		}
		return got
	}
	before := slices.Clone(data)
	for _, offset := range []int{0, 3, 16} {
		if !bytes.Equal(copied(offset), before[4*offset:]) {
			s.Errorf("a copy from element %d of a wrapped buffer gives others", offset)
		}
	}
	if !bytes.Equal(data, before) {
		s.Error("computing from wrapped memory changed it")
	}
	data[7]++ // no call is under way
	got := make([]byte, len(data))
	if err := drv.Download(got, b, 0); err != nil || !bytes.Equal(got, data) || !bytes.Equal(copied(0), data) {
		s.Errorf("a wrapped buffer is not the memory itself: %v", err)
	}
	b.Free()
	if !bytes.Equal(got, data) {
		s.Error("Free of a wrapped buffer changed its memory")
	}
	if b := drv.Wrap(data[1:]); b != nil {
		if err := drv.Download(got[1:], b, 0); err != nil || !bytes.Equal(got[1:], data[1:]) {
			s.Errorf("a wrapped buffer at an odd address is not the memory: %v", err)
		}
		b.Free()
	}
}

// hostAllocation computes with buffers that nobody frees.
func (s *suite) hostAllocation() {
	drv, ok := s.drv.(driver.HostAllocator)
	if !ok {
		s.Skipf("%s has memory of its own", s.drv.Name())
	}
	for _, n := range []int{1, 16, 1000} {
		in, err := drv.AllocHost(4 * n)
		if err != nil {
			s.Fatal(err)
		}
		out, err := drv.AllocHost(4 * n)
		if err != nil {
			s.Fatal(err)
		}
		if in.Size() < 4*n {
			s.Errorf("AllocHost of %d bytes gives a buffer of %d", 4*n, in.Size())
		}
		data, got := encode(ir.Float32, s.small(n)), make([]byte, 4*n)
		p, err := drv.Compile(copyKernel(ir.Float32, n))
		if err == nil {
			err = drv.Upload(in, 0, data)
		}
		if err == nil {
			err = drv.Run([]driver.Call{{Program: p, Args: []driver.Arg{{Buffer: out}, {Buffer: in}}}})
		}
		if err == nil {
			err = drv.Download(got, out, 0)
		}
		if err != nil {
			s.Fatal(err)
		}
		if !bytes.Equal(got, data) {
			s.Errorf("a copy of %d elements in memory of the host differs", n)
		}
		in.Free() // is allowed
	}
}
