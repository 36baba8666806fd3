package drivertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/ir"
)

// collectives tests a device and another one that the test opens, or a single rank if both are one GPU.
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
	r := ranks{T: s.T, devices: []driver.Collective{first, second}}
	if place == otherPlace { // one GPU
		r.devices = r.devices[:1]
	}
	r.comms = make([]driver.Communicator, len(r.devices))
	id, err := first.CommunicatorID()
	if err != nil {
		s.Fatal(err)
	}
	r.each("Join", func(i int) (err error) {
		r.comms[i], err = r.devices[i].Join(context.Background(), id, i, len(r.devices))
		return err
	})
	for _, d := range []ir.DType{ir.Float32, ir.Float64, ir.Float16, ir.BFloat16, ir.Int8, ir.Uint8, ir.Int32, ir.Uint32, ir.Int64} {
		r.results(d)
	}
	r.order()
	r.beside()
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
	size := len(r.devices)
	bytesOf := d.Size()
	of := func(f func(k int) float64, length int) []byte {
		var list []ir.Number
		for k := range length {
			list = append(list, ir.Float(ir.Float64, f(k)).Convert(ir.Float64, d))
		}
		return encode(d, list)
	}
	element := func(i int) func(k int) float64 { return func(k int) float64 { return float64(10*i + k) } }
	last := element(size - 1)
	sum := func(k int) (x float64) {
		for i := range size {
			x += element(i)(k)
		}
		return x
	}
	for _, c := range []struct {
		driver.CollectiveCall
		want func(i, k int) float64
	}{
		{driver.CollectiveCall{Op: driver.AllReduce, Combine: ir.Add, Len: n}, func(_, k int) float64 { return sum(k) }},
		{driver.CollectiveCall{Op: driver.AllReduce, Combine: ir.Max, Len: n}, func(_, k int) float64 { return last(k) }},
		{driver.CollectiveCall{Op: driver.AllGather, Len: n}, func(_, k int) float64 { return element(k / n)(k % n) }},
		{driver.CollectiveCall{Op: driver.ReduceScatter, Combine: ir.Add, Len: n / size}, func(i, k int) float64 { return sum(i*n/size + k) }},
		{driver.CollectiveCall{Op: driver.Broadcast, Root: size - 1, Len: n}, func(_, k int) float64 { return last(k) }},
	} {
		c.DType = d
		_, length := c.Lens(size)
		r.each(fmt.Sprint(c.Op, " of ", d), func(i int) error {
			dev := r.devices[i]
			in, err := r.filled(i, append(make([]byte, pad*bytesOf), of(element(i), n)...))
			if err != nil {
				return err
			}
			out, err := r.filled(i, make([]byte, 2*(length+pad)*bytesOf))
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
			want := append(make([]byte, pad*bytesOf), of(func(k int) float64 { return c.want(i, k) }, length)...)
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
		all := func(x float64) []byte {
			list := make([]ir.Number, n)
			for k := range list {
				list[k] = ir.Float(ir.Float32, x)
			}
			return encode(ir.Float32, list)
		}
		var b [2]driver.Buffer
		for k := range b {
			if b[k], err = r.filled(i, all(1)); err != nil {
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
		if !bytes.Equal(got, all(math.Pow(float64(len(r.devices)), rounds))) {
			return fmt.Errorf("rank %d has other elements after %d sums", i, rounds)
		}
		return nil
	})
}

// abort ends a collective to which a rank does not come. Its result is an error until Sync.
// beside overwrites the operands of collectives, and reads their results, while other collectives and kernels go on.
func (r *ranks) beside() {
	const n, count, rounds = 64, 6, 3
	size := len(r.devices)
	all := func(x int) []byte {
		return encode(ir.Float32, slices.Repeat([]ir.Number{ir.Float(ir.Float32, float64(x))}, n))
	}
	r.each("kernels beside collectives", func(i int) error {
		dev := r.devices[i]
		program, err := dev.Compile(copyKernel(ir.Float32, n))
		if err != nil {
			return err
		}
		copied := func(to, from driver.Buffer) driver.Call {
			return driver.Call{Program: program, Args: []driver.Arg{{Buffer: to}, {Buffer: from}}}
		}
		var in, sums, out [count]driver.Buffer
		for k := range count {
			for b, x := range map[*driver.Buffer]int{&in[k]: k, &sums[k]: -1, &out[k]: -2} {
				if *b, err = r.filled(i, all(x)); err != nil {
					return err
				}
			}
		}
		next, err := r.filled(i, all(100+i))
		if err != nil {
			return err
		}
		for round := range rounds {
			var reads []driver.Call
			for k := range count {
				x := driver.CollectiveCall{Op: driver.AllReduce, Combine: ir.Add, DType: ir.Float32, Len: n, From: driver.Arg{Buffer: in[k]}, To: driver.Arg{Buffer: sums[k]}}
				err := r.comms[i].Run([]driver.CollectiveCall{x})
				if err == nil {
					err = dev.Run([]driver.Call{copied(in[k], next)})
				}
				if err != nil {
					return err
				}
				reads = append(reads, copied(out[k], sums[k]))
			}
			if err := dev.Run(reads); err != nil {
				return err
			}
			if round%2 == 1 { // others follow without a wait
				continue
			}
			for k := range count {
				want, got := size*k, make([]byte, 4*n)
				if round > 0 {
					want = 100*size + size*(size-1)/2
				}
				if err := dev.Download(got, out[k], 0); err != nil {
					return err
				}
				if !bytes.Equal(got, all(want)) {
					return fmt.Errorf("rank %d, round %d: sum %d begins with %v, want %v", i, round, k, got[:4], all(want)[:4])
				}
			}
		}
		return nil
	})
}

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
	if len(r.devices) == 1 { // nothing ends it
		r.comms[0].Abort(cause)
	} else {
		time.AfterFunc(50*time.Millisecond, func() { r.comms[0].Abort(cause) })
		if err := dev.Download(make([]byte, 64), b, 0); !errors.Is(err, cause) {
			r.Errorf("the read of an aborted collective: %v, want %v", err, cause)
		}
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
	for _, c := range r.comms {
		c.Abort(cause)
		if err := c.Close(); err != nil {
			r.Errorf("Close: %v", err)
		}
	}
}
