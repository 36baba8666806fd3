package drivertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/ir"
)

// collectives tests a device and another one that the test opens.
func (s *suite) collectives() {
	first, ok := s.drv.(driver.Collective)
	if !ok {
		s.Skipf("%s has no collectives of its own", s.drv.Name())
	}
	other, err := s.open()
	if err != nil {
		s.Fatal(err)
	}
	newSuite(s.T, other, s.open)
	second := other.(driver.Collective)
	system, place, err := first.Collectives()
	if err != nil {
		s.Skip(err)
	}
	otherSystem, otherPlace, err := second.Collectives()
	if err != nil || otherSystem != system {
		s.Fatalf("one device has %s, the other %s, error %v", system, otherSystem, err)
	}
	if place == otherPlace {
		s.Skip("both devices are one GPU")
	}
	id, err := first.CommunicatorID()
	if err != nil {
		s.Fatal(err)
	}
	r := ranks{T: s.T, devices: []driver.Collective{first, second}, comms: make([]driver.Communicator, 2)}
	r.each("Join", func(i int) (err error) {
		r.comms[i], err = r.devices[i].Join(context.Background(), id, i, 2)
		return err
	})
	for _, d := range []ir.DType{ir.Float32, ir.Float64, ir.Float16, ir.BFloat16, ir.Int8, ir.Uint8, ir.Int32, ir.Uint32, ir.Int64} {
		r.results(d)
	}
	r.order()
	r.abort()
}

// ranks are devices with a communicator.
type ranks struct {
	*testing.T
	devices []driver.Collective
	comms   []driver.Communicator
}

// each calls f for all ranks at once.
func (r *ranks) each(what string, f func(i int) error) {
	r.Helper()
	errs := make([]error, len(r.devices))
	var all sync.WaitGroup
	for i := range r.devices {
		all.Go(func() { errs[i] = f(i) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		r.Fatalf("%s: %v", what, err)
	}
}

// filled returns a buffer of elements of a rank.
func (r *ranks) filled(i int, data []byte) (driver.Buffer, error) {
	b, err := r.devices[i].Alloc(len(data))
	if err == nil {
		err = r.devices[i].Upload(b, 0, data)
	}
	return b, err
}

// results compares the results of all collectives, of two at a time and of some elements inside of buffers.
func (r *ranks) results(d ir.DType) {
	const n, pad = 6, 4 // elements of a rank; and before them
	size := d.Size()
	of := func(f func(k int) float64, length int) []byte {
		var list []ir.Number
		for k := range length {
			list = append(list, ir.Float(ir.Float64, f(k)).Convert(ir.Float64, d))
		}
		return encode(d, list)
	}
	element := func(i int) func(k int) float64 { return func(k int) float64 { return float64(10*i + k) } }
	sum := func(k int) float64 { return element(0)(k) + element(1)(k) }
	for _, c := range []struct {
		driver.CollectiveCall
		want func(i, k int) float64
	}{
		{driver.CollectiveCall{Op: driver.AllReduce, Combine: ir.Add, Len: n}, func(_, k int) float64 { return sum(k) }},
		{driver.CollectiveCall{Op: driver.AllReduce, Combine: ir.Max, Len: n}, func(_, k int) float64 { return element(1)(k) }},
		{driver.CollectiveCall{Op: driver.AllGather, Len: n}, func(_, k int) float64 { return element(k / n)(k % n) }},
		{driver.CollectiveCall{Op: driver.ReduceScatter, Combine: ir.Add, Len: n / 2}, func(i, k int) float64 { return sum(i*n/2 + k) }},
		{driver.CollectiveCall{Op: driver.Broadcast, Root: 1, Len: n}, func(_, k int) float64 { return element(1)(k) }},
	} {
		c.DType = d
		_, length := c.Lens(2)
		r.each(fmt.Sprint(c.Op, " of ", d), func(i int) error {
			dev := r.devices[i]
			in, err := r.filled(i, append(make([]byte, pad*size), of(element(i), n)...))
			if err != nil {
				return err
			}
			out, err := r.filled(i, make([]byte, 2*(length+pad)*size))
			if err != nil {
				return err
			}
			calls := []driver.CollectiveCall{c.CollectiveCall, c.CollectiveCall}
			for k := range calls {
				calls[k].From, calls[k].To = driver.Arg{Buffer: in, Offset: pad}, driver.Arg{Buffer: out, Offset: k*length + (k+1)*pad}
			}
			if err := r.comms[i].Run(calls); err != nil {
				return err
			}
			in.Free()
			got := make([]byte, out.Size())
			if err := dev.Download(got, out, 0); err != nil {
				return err
			}
			want := append(make([]byte, pad*size), of(func(k int) float64 { return c.want(i, k) }, length)...)
			if want = append(want, want...); !bytes.Equal(got[:len(want)], want) {
				return fmt.Errorf("rank %d has %v, want %v", i, got, want)
			}
			out.Free()
			return nil
		})
	}
}

// order runs kernels before and after collectives in place.
func (r *ranks) order() {
	const n = 1 << 12
	r.each("kernels and collectives", func(i int) error {
		dev := r.devices[i]
		copied, err := dev.Compile(copyKernel(ir.Float32, n))
		if err != nil {
			return err
		}
		ones := make([]ir.Number, n)
		for k := range ones {
			ones[k] = ir.Float(ir.Float32, 1)
		}
		var b [2]driver.Buffer
		for k := range b {
			if b[k], err = r.filled(i, encode(ir.Float32, ones)); err != nil {
				return err
			}
		}
		const rounds = 10
		for range rounds {
			x := driver.CollectiveCall{Op: driver.AllReduce, Combine: ir.Add, DType: ir.Float32, Len: n, From: driver.Arg{Buffer: b[0]}, To: driver.Arg{Buffer: b[0]}}
			err := r.comms[i].Run([]driver.CollectiveCall{x})
			for range 6 { // enough to be held, or to be a graph
				if err == nil {
					err = dev.Run([]driver.Call{{Program: copied, Args: []driver.Arg{{Buffer: b[1]}, {Buffer: b[0]}}}})
				}
				b[0], b[1] = b[1], b[0]
			}
			if err != nil {
				return err
			}
		}
		got := make([]byte, 4*n)
		if err := dev.Download(got, b[0], 0); err != nil {
			return err
		}
		for k := range ones {
			ones[k] = ir.Float(ir.Float32, 1<<rounds)
		}
		if !bytes.Equal(got, encode(ir.Float32, ones)) {
			return fmt.Errorf("rank %d has other elements after %d sums", i, rounds)
		}
		return nil
	})
}

// abort ends a collective to which a rank does not come. Its result is an error until Sync.
func (r *ranks) abort() {
	cause, dev := errors.New("the other rank is gone"), r.devices[0]
	b, err := r.filled(0, make([]byte, 64))
	if err != nil {
		r.Fatal(err)
	}
	x := driver.CollectiveCall{Op: driver.AllReduce, Combine: ir.Add, DType: ir.Float32, Len: 16, From: driver.Arg{Buffer: b}, To: driver.Arg{Buffer: b}}
	if err := r.comms[0].Run([]driver.CollectiveCall{x}); err != nil {
		r.Fatal(err)
	}
	time.AfterFunc(50*time.Millisecond, func() { r.comms[0].Abort(cause) })
	if err := dev.Download(make([]byte, 64), b, 0); !errors.Is(err, cause) {
		r.Errorf("the read of an aborted collective: %v, want %v", err, cause)
	}
	if err := dev.Sync(); !errors.Is(err, cause) {
		r.Errorf("Sync after an abort: %v, want %v", err, cause)
	}
	if err := errors.Join(dev.Sync(), dev.Upload(b, 0, make([]byte, 64)), dev.Download(make([]byte, 64), b, 0)); err != nil {
		r.Errorf("work after an abort: %v", err)
	}
	if err := r.comms[0].Run([]driver.CollectiveCall{x}); !errors.Is(err, cause) {
		r.Errorf("Run after an abort: %v, want %v", err, cause)
	}
	r.comms[1].Abort(cause)
	for _, c := range r.comms {
		c.Close()
	}
}
