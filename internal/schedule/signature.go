package schedule

import (
	"fmt"
	"math"
	"slices"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// A Signature is the arguments of a kernel, which a call's arguments must fit.
type Signature struct {
	args      []ir.Arg
	reach     []shape.Reach
	maxOffset []int // by argument: where it is greater, the kernel's address has it
	wide      bool
}

// SignatureOf returns a kernel's, for a target.
func SignatureOf(k *ir.Kernel, t Target) Signature {
	t = t.WithDefaults()
	s := Signature{slices.Clone(k.Args), shape.Reaches(k), make([]int, len(k.Args)), t.Wide}
	for i, a := range k.Args {
		s.maxOffset[i] = t.Positions - max(a.Len, s.reach[i].Hi, ir.StatusLen) - slack(a.DType)
	}
	for i := range k.Body {
		if in := &k.Body[i]; in.View != nil && in.Op != ir.InBounds {
			s.maxOffset[in.Arg] = min(s.maxOffset[in.Arg], t.Positions-build.Reach(k, in.View)-slack(k.Args[in.Arg].DType))
		}
	}
	return s
}

// slack is how far an offset may be from an address that a call can give.
func slack(d ir.DType) int {
	if f := d.Format(); f != nil {
		return f.Len*f.Group() - 1
	}
	return 0
}

// Check returns an error for arguments that a call must not have. Size gives the bytes of a
// buffer, and reports false for those that the device cannot use.
func (s *Signature) Check(args []driver.Arg, size func(b driver.Buffer) (bytes int, ok bool)) error {
	if len(args) != len(s.args) {
		return fmt.Errorf("%d arguments for a kernel of %d", len(args), len(s.args))
	}
	for i := range args {
		a, want := &args[i], &s.args[i]
		if want.Kind == ir.Value {
			continue
		}
		bytes, ok := size(a.Buffer)
		if !ok {
			return fmt.Errorf("argument %d is not a buffer of this device", i)
		}
		n := want.DType.Elements(bytes)
		switch r := s.reach[i]; {
		case !s.wide && a.Offset > math.MaxInt32-max(r.Hi, 0):
			return fmt.Errorf("argument %d starts at element %d, %s", i, a.Offset, remedy)
		case want.Kind == ir.Out && !want.Part && a.Offset != 0:
			return fmt.Errorf("argument %d starts at element %d, and is written as a whole", i, a.Offset)
		case !r.Within(a.Offset, n):
			return fmt.Errorf("argument %d: elements %d to %d from %d on, in a buffer of %d", i, r.Lo, r.Hi, a.Offset, n)
		}
	}
	return nil
}

// Base is the offset, in elements, of the address that a call gives a pass for an argument. It
// is 0 unless positions would exceed 32 bits otherwise.
func (s *Signature) Base(arg int, args []driver.Arg) int {
	offset := args[arg].Offset
	if !s.wide || offset <= s.maxOffset[arg] {
		return 0
	}
	if f := s.args[arg].DType.Format(); f != nil { // of a whole group
		return offset - offset%(f.Len*f.Group())
	}
	return offset
}

// BaseBytes is Base in bytes.
func (s *Signature) BaseBytes(arg int, args []driver.Arg) int {
	return s.args[arg].DType.Bytes(s.Base(arg, args))
}

// Word is the value of a parameter in a call.
func (s *Signature) Word(q *shader.Param, args []driver.Arg) uint32 {
	a := &args[q.Arg]
	if q.Offset {
		return uint32(a.Offset - s.Base(q.Arg, args))
	}
	bits := build.NumberBits(s.args[q.Arg].DType, a.Num)
	if q.Upper {
		bits >>= 32
	}
	return uint32(bits)
}
