package tune

import (
	"errors"
	"math/rand/v2"
	"slices"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/clock"
	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// duration runs a call some times in a row, and returns the seconds that all of that took.
func duration(m Machine, call driver.Call, times int) (seconds float64, err error) {
	calls := slices.Repeat([]driver.Call{call}, times)
	if p, ok := m.(driver.Profiler); ok {
		t, err := p.RunTimed(calls)
		if err != nil {
			return 0, err
		}
		spans, err := t.Spans()
		if e := m.Sync(); err == nil { // failures of the work do not count as failures of Spans
			err = e
		}
		for _, s := range spans {
			seconds += s.Duration.Seconds()
		}
		return seconds, err
	}
	start := clock.Now()
	if err := m.Run(calls); err != nil {
		return 0, err
	}
	err = m.Sync()
	return clock.Since(start).Seconds(), err
}

var errRoom = errors.New("tune: the arguments and the scratch of a kernel take too much memory for a search")

// arguments allocates arguments for a kernel, which free frees, and takes their bytes from room.
// Floats and integers of 8 bits are random, because zeros take a GPU less power and time; other numbers
// may be indices, and are 0.
func arguments(k *ir.Kernel, m Machine, room *int) (args []driver.Arg, free func(), err error) {
	free = func() {
		for _, a := range args {
			if a.Buffer != nil {
				a.Buffer.Free()
			}
		}
	}
	for i, r := range reaches(k) {
		a := &k.Args[i]
		if a.Kind == ir.Value {
			args = append(args, driver.Arg{Num: ir.Float(a.DType, 1)})
			continue
		}
		const aligned = 16 // elements, at least as many bytes
		offset := (max(0, -r.Lo) + aligned - 1) / aligned * aligned
		bytes := (offset + max(r.Hi, 1)) * a.DType.Size()
		var b driver.Buffer
		if *room -= bytes; *room < 0 {
			err = errRoom
		} else if b, err = m.Alloc(bytes); err == nil {
			args = append(args, driver.Arg{Buffer: b, Offset: offset})
			err = fill(m, b, a.DType, bytes)
		}
		if err != nil {
			free()
			return nil, nil, err
		}
	}
	return args, free, nil
}

// roomFor is the memory that a search may take: a quarter of the GPU's, or an eighth of the
// host's if that is all there is.
func roomFor(m Machine) (bytes int, err error) {
	if n := m.Limits().Memory; n > 0 {
		return n / 4, nil
	}
	n, err := hostmem.Limit()
	return n / 8, err
}

// fits reports whether buffers of some sizes fit in some bytes.
func fits(sizes []int, room int) bool {
	for _, n := range sizes {
		room -= n
	}
	return room >= 0
}

// reaches returns the part of each argument that a kernel may access, where guards hold and
// indices are in range.
func reaches(k *ir.Kernel) []shape.Reach {
	list := shape.Reaches(k)
	for i := range k.Body {
		in := &k.Body[i]
		if in.Op != ir.Load {
			continue
		}
		lo, hi := k.Extent(in)
		add := func(stride, n int) {
			d := stride * (n - 1)
			lo, hi = lo+min(d, 0), hi+max(d, 0)
		}
		for _, g := range in.View.Guards {
			add(g.Stride, g.Len)
		}
		if len(in.Src) > 0 {
			add(in.View.Stride, in.View.Len)
		}
		r := &list[in.Arg]
		r.Lo, r.Hi = min(r.Lo, lo), max(r.Hi, hi)
	}
	return list
}

// fill uploads numbers to all of a buffer, piece by piece.
func fill(m Machine, b driver.Buffer, d ir.DType, bytes int) error {
	piece := numbers(d, min(bytes, 1<<20))
	for at := 0; at < bytes; at += len(piece) {
		if err := m.Upload(b, at, piece[:min(len(piece), bytes-at)]); err != nil {
			return err
		}
	}
	return nil
}

// numbers returns the memory of numbers of a type, at least some bytes.
func numbers(d ir.DType, bytes int) (list []byte) {
	r := rand.New(rand.NewPCG(1, 2))
	for len(list) < bytes {
		switch {
		case d.IsFloat():
			list = ir.Float(d, 2*r.Float64()-1).Append(list, d)
		case d == ir.Int8 || d == ir.Uint8:
			list = append(list, byte(r.Uint32()))
		default:
			return make([]byte, bytes)
		}
	}
	return list
}
