package drivertest

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/exec"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/interp"
	"github.com/tensorken/tensorken/ir"
)

// buffers moves bytes in and out.
func (s *suite) buffers() {
	if s.drv.Name() == "" {
		s.Error("the device has no name")
	}
	for _, d := range []ir.DType{ir.Bool, ir.Int32, ir.Float32} {
		if !s.drv.Limits().Has(d) {
			s.Errorf("Limits().Types lacks %v, which every graph may need", d)
		}
	}
	for _, size := range []int{0, 1, 4, 1000, 1 << 20} {
		b, err := s.drv.Alloc(size)
		if err != nil {
			s.Fatalf("Alloc(%d): %v", size, err)
		}
		if b.Size() < size {
			s.Errorf("Alloc(%d) has size %d", size, b.Size())
		}
		data := make([]byte, size)
		for i := range data {
			data[i] = byte(s.Uint32())
		}
		want := slices.Clone(data)
		if err := s.drv.Upload(b, 0, data); err != nil {
			s.Fatalf("Upload of %d bytes: %v", size, err)
		}
		for i := range data { // the device has its own copy
			data[i] = 0
		}
		got := make([]byte, size)
		if err := s.drv.Download(got, b, 0); err != nil {
			s.Fatalf("Download of %d bytes: %v", size, err)
		}
		if !bytes.Equal(got, want) {
			s.Errorf("Download of %d bytes gives others than were uploaded", size)
		}
		if size >= 1000 {
			part := []byte{1, 2, 3, 4, 5, 6, 7, 8}
			copy(want[96:], part)
			err := s.drv.Upload(b, 96, part)
			if err == nil {
				err = s.drv.Download(got[:64], b, 64)
			}
			if err != nil || !bytes.Equal(got[:64], want[64:128]) {
				s.Errorf("Upload of 8 bytes at 96: bytes 64 to 128 are %v (%v), want %v", got[:64], err, want[64:128])
			}
		}
		b.Free()
	}
	if err := s.drv.Run(nil); err != nil {
		s.Errorf("Run of nothing: %v", err)
	}
	if err := s.drv.Sync(); err != nil {
		s.Errorf("Sync: %v", err)
	}
}

// outOfMemory asks for more than any machine has.
func (s *suite) outOfMemory() {
	for _, size := range []int{1 << 50, math.MaxInt64 / 2} {
		if b, err := s.drv.Alloc(size); !errors.Is(err, driver.ErrMemory) {
			s.Errorf("Alloc(%d) = %v, %v, want an error that wraps driver.ErrMemory", size, b, err)
		}
	}
	x := graph.Const(ir.Float32, 0, []int{1 << 24, 1 << 24})
	if err := exec.Eval(s.dev, []*graph.Node{x}); !errors.Is(err, driver.ErrMemory) {
		s.Errorf("computing 2^48 numbers: %v, want an error that wraps driver.ErrMemory", err)
	}
	s.check("after that", graph.Unary(ir.Neg, s.tensor(ir.Float32, 100)))
}

// missingTypes compiles kernels of types that the device lacks.
func (s *suite) missingTypes() {
	for _, d := range ir.DTypes {
		k := copyKernel(d, 4)
		_, err := s.drv.Compile(k)
		switch has := s.drv.Limits().Has(d); {
		case has && err != nil:
			s.Errorf("Compile of a copy of %v: %v", d, err)
		case !has && !errors.Is(err, driver.ErrType):
			s.Errorf("Compile of a copy of %v: %v, want an error that wraps driver.ErrType", d, err)
		}
	}
}

// closing gives a device back.
func (s *suite) closing() {
	b, err := s.drv.Alloc(100)
	if err != nil {
		s.Fatal(err)
	}
	b.Free()
	if err := s.dev.Close(); err != nil {
		s.Errorf("Close: %v", err)
	}
	if _, err := s.drv.Alloc(100); err == nil {
		s.Error("Alloc after Close succeeds")
	}
	x := graph.Unary(ir.Neg, s.tensor(ir.Float32, 3))
	if err := exec.Eval(s.dev, []*graph.Node{x}); err == nil {
		s.Error("computing after Close succeeds")
	}
}

// kernel returns a kernel of a body, over the axes that follow from it.
func kernel(k *ir.Kernel) *ir.Kernel {
	for i := range k.Body {
		k.Body[i].Domain = k.Varies(i)
	}
	return k
}

// copyKernel copies n elements.
func copyKernel(d ir.DType, n int) *ir.Kernel {
	one := &ir.View{Coef: []int{1}}
	return kernel(&ir.Kernel{
		Template: ir.Pointwise,
		Axes:     []ir.Axis{{Len: n, Role: ir.Parallel}},
		Args:     []ir.Arg{{Kind: ir.Out, DType: d, Len: n}, {Kind: ir.In, DType: d}},
		Body: []ir.Instr{
			{Op: ir.Load, Type: d.ComputeType(), Arg: 1, View: one},
			{Op: ir.Store, Type: d.ComputeType(), Src: []int{0}, Arg: 0, View: one},
		},
	})
}

// A call is a kernel and its arguments; the argument of a number has no data.
type call struct {
	kernel *ir.Kernel
	args   []interp.Arg
}

// run calls kernels, in one go, on buffers of the device and on the
// interpreter's. Arguments of the same data are the same buffer.
func (s *suite) run(what string, calls ...call) {
	s.Helper()
	s.runWithin(what, 0, calls...)
}

// runWithin is run where floats may be off by so much. A device does nothing if it has proofs of all
// the kernels.
func (s *suite) runWithin(what string, off float64, calls ...call) {
	s.Helper()
	compute := func() error { return s.start(calls, func(buffers) error { return nil }) }
	if err := checked(s.drv, compute, func() error { return s.compare(calls, off) }); err != nil {
		s.Errorf("%s: %v", what, err)
	}
}

// buffers are the device's, by the data that they were filled with.
type buffers map[*ir.Number]driver.Buffer

// start calls kernels on buffers of the device, and then f.
func (s *suite) start(calls []call, f func(buffers) error) error {
	at := buffers{}
	var list []driver.Call
	for _, c := range calls {
		p, err := s.drv.Compile(c.kernel)
		if err != nil {
			return err
		}
		dc := driver.Call{Program: p}
		for i, a := range c.args {
			if a.Data == nil {
				dc.Args = append(dc.Args, driver.Arg{Num: a.Num})
				continue
			}
			first := &a.Data[0]
			if at[first] == nil {
				data := encode(c.kernel.Args[i].DType, a.Data)
				b, err := s.drv.Alloc(len(data))
				if err != nil {
					return err
				}
				defer b.Free()
				if err := s.drv.Upload(b, 0, data); err != nil {
					return err
				}
				at[first] = b
			}
			dc.Args = append(dc.Args, driver.Arg{Buffer: at[first], Offset: a.Offset})
		}
		list = append(list, dc)
	}
	if err := s.drv.Run(list); err != nil {
		return fmt.Errorf("Run: %w", err)
	}
	return f(at)
}

// compare calls kernels on the device and on the interpreter, and returns the first argument that differs.
func (s *suite) compare(calls []call, off float64) error {
	return s.start(calls, func(at buffers) error {
		for _, c := range calls {
			if err := interp.Run(c.kernel, c.args); err != nil {
				return err
			}
		}
		for i, c := range calls {
			for k, a := range c.args {
				if a.Data == nil || at[&a.Data[0]] == nil {
					continue
				}
				d := c.kernel.Args[k].DType
				got := make([]byte, len(a.Data)*d.Size())
				if err := s.drv.Download(got, at[&a.Data[0]], 0); err != nil {
					return err
				}
				delete(at, &a.Data[0])
				for e, x := range decode(d, got) {
					if !within(d, x, a.Data[e], off, false) {
						return fmt.Errorf("call %d: element %d of argument %d is %s, want %s, after\n%v",
							i, e, k, x.Text(d), a.Data[e].Text(d), c.kernel)
					}
				}
			}
		}
		return nil
	})
}

// calls runs kernels that read the results of earlier ones, at offsets.
func (s *suite) calls() {
	d := ir.Float32
	numbers := func(n int) []ir.Number { return s.numbers(d, n) }
	for _, n := range []int{1, 2, 3, 17, 64, 1000} {
		a, b, c := numbers(n+20), numbers(n+20), numbers(n+20)
		for i := range a {
			a[i] = ir.Float(d, float64(i)) // no special values, so that bits can be compared
		}
		for _, off := range []int{0, 1, 7, 16} {
			k := copyKernel(d, n)
			s.run(fmt.Sprintf("two copies of %d from %d", n, off),
				call{k, []interp.Arg{{Data: b}, {Data: a, Offset: off}}},
				call{k, []interp.Arg{{Data: c}, {Data: b, Offset: off}}})
		}
	}
	one, back := &ir.View{Coef: []int{1}}, &ir.View{Off: 8, Coef: []int{-2}}
	k := kernel(&ir.Kernel{ // every second element backwards, plus a number
		Template: ir.Pointwise,
		Axes:     []ir.Axis{{Len: 5, Role: ir.Parallel}},
		Args:     []ir.Arg{{Kind: ir.Out, DType: d, Len: 9}, {Kind: ir.In, DType: d}, {Kind: ir.Value, DType: d}},
		Body: []ir.Instr{
			{Op: ir.Load, Type: d, Arg: 1, View: one},
			{Op: ir.Scalar, Type: d, Arg: 2},
			{Op: ir.Add, Type: d, Src: []int{0, 1}},
			{Op: ir.Store, Type: d, Src: []int{2}, Arg: 0, View: back},
		},
	})
	a, b := numbers(20), numbers(20)
	s.run("a backward store that leaves gaps", call{k, []interp.Arg{{Data: b}, {Data: a, Offset: 2}, {Num: ir.Float(d, 2.5)}}})
}

// parts runs kernels that write parts of a buffer, one after the other.
func (s *suite) parts() {
	for _, d := range s.drv.Limits().Types {
		cycle := func(n, period int) []ir.Number {
			list := make([]ir.Number, n)
			for i := range list {
				if list[i] = ir.Int(d, int64(i%period)); d.IsFloat() {
					list[i] = ir.Float(d, float64(i%period))
				}
			}
			return list
		}
		for _, n := range []int{1, 3, 64, 1000} {
			from, to := cycle(n+1, 2), cycle(4*n+40, 3)
			var list []call
			for _, at := range []int{0, n + 1, 2*n + 16 + (-2*n)&15} { // the last is aligned
				k := copyKernel(d, n)
				k.Args[0].Part, k.Args[0].Align = true, at*d.Size()%16 == 0
				list = append(list, call{k, []interp.Arg{{Data: to, Offset: at}, {Data: from, Offset: 1}}})
			}
			s.run(fmt.Sprintf("parts of %d %v", n, d), list...)
		}
	}
}

// takeKernel reads n elements of a table of 5 at indices.
func takeKernel(n int) *ir.Kernel {
	one := &ir.View{Coef: []int{1}}
	return kernel(&ir.Kernel{
		Template: ir.Pointwise,
		Axes:     []ir.Axis{{Len: n, Role: ir.Parallel}},
		Args: []ir.Arg{
			{Kind: ir.Out, DType: ir.Float32, Len: n}, {Kind: ir.In, DType: ir.Int32}, {Kind: ir.In, DType: ir.Float32},
			{Kind: ir.Status, DType: ir.Int32},
		},
		Body: []ir.Instr{
			{Op: ir.Load, Type: ir.Int32, Arg: 1, View: one},
			{Op: ir.Load, Type: ir.Float32, Src: []int{0}, Arg: 2, View: &ir.View{Coef: []int{0}, Stride: 1, Len: 5, Fill: ir.Float(ir.Float32, 42)}},
			{Op: ir.Store, Type: ir.Float32, Src: []int{1}, Arg: 0, View: one},
		},
	})
}

// scatterKernel adds n elements to 5 at indices. The 5 begin as argument 1, or all as the
// number start.
func scatterKernel(n int, start ...ir.Number) *ir.Kernel {
	one := &ir.View{Coef: []int{1}}
	body := []ir.Instr{
		{Op: ir.Load, Type: ir.Int32, Arg: 2, View: one},
		{Op: ir.Load, Type: ir.Float32, Arg: 3, View: one},
	}
	src := []int{0, 1}
	for _, x := range start {
		body = append(body, ir.Instr{Op: ir.Const, Type: ir.Float32, Num: x})
		src = append(src, 2)
	}
	return kernel(&ir.Kernel{
		Template: ir.Routine,
		Axes:     []ir.Axis{{Len: n, Role: ir.Parallel}},
		Args: []ir.Arg{
			{Kind: ir.Out, DType: ir.Float32, Len: 5}, {Kind: ir.In, DType: ir.Float32}, {Kind: ir.In, DType: ir.Int32},
			{Kind: ir.In, DType: ir.Float32}, {Kind: ir.Status, DType: ir.Int32},
		},
		Body: append(body, ir.Instr{Op: ir.Scatter, Kind: ir.Add, Type: ir.Float32, Src: src, Arg: 0, View: &ir.View{Coef: []int{0}, Stride: 1, Len: 5}}),
	})
}

// status checks the status argument, which gets the first bad index, and the reads and
// writes at bad indices.
func (s *suite) status() {
	grid := func(n int) []ir.Number {
		x := make([]ir.Number, n)
		for i := range x {
			x[i] = ir.Float(ir.Float32, float64(s.IntN(64)))
		}
		return x
	}
	for _, n := range []int{1, 8, 5000} {
		for _, noted := range []bool{false, true} {
			idx := make([]ir.Number, n)
			for i := range idx {
				idx[i] = ir.Number(s.IntN(5))
				if s.chance(3) {
					idx[i] = ir.Int(ir.Int32, int64(s.one(5, -1, 77, math.MaxInt32, math.MinInt32)))
				}
			}
			idx[s.IntN(n)] = 9
			status := make([]ir.Number, 2*ir.StatusLen)
			if noted {
				status[ir.StatusLen], status[ir.StatusLen+2] = 7, 8
			}
			what := fmt.Sprintf("of %d, noted before: %v", n, noted)
			s.run("Gather "+what, call{takeKernel(n), []interp.Arg{{Data: grid(n)}, {Data: idx}, {Data: grid(5)}, {Data: status, Offset: ir.StatusLen}}})
			status = slices.Clone(status)
			s.run("Scatter "+what, call{scatterKernel(n), []interp.Arg{{Data: grid(5)}, {Data: grid(5)}, {Data: idx}, {Data: grid(n)}, {Data: status}}})
			s.run("Scatter from a number "+what, call{scatterKernel(n, ir.Float(ir.Float32, 7)), []interp.Arg{{Data: grid(5)}, {Data: grid(5)}, {Data: idx}, {Data: grid(n)}, {Data: slices.Clone(status)}}})
		}
	}
}
