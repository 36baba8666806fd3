package interp

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/tensorken/tensorken/ir"
)

// A history is a kernel's accesses to an element.
type history uint8

const (
	wasRead history = 1
	written history = 2
)

// An element of a buffer. The number is nil where nothing is accessed.
type element struct {
	number  *ir.Number
	history *history
	old     *ir.Number // of an argument that is read and written: its value before the kernel
}

// histories returns the history of each argument's elements. Arguments that are one
// buffer share it.
func histories(args []Arg) [][]history {
	longest := map[*ir.Number]int{}
	for _, a := range args {
		first := unsafe.SliceData(a.Data)
		longest[first] = max(longest[first], len(a.Data))
	}
	shared := map[*ir.Number][]history{}
	list := make([][]history, len(args))
	for i, a := range args {
		first := unsafe.SliceData(a.Data)
		if shared[first] == nil {
			shared[first] = make([]history, longest[first])
		}
		list[i] = shared[first]
	}
	return list
}

// locate returns the element of an argument at a position.
func (r *run) locate(arg, position int) (element, error) {
	a := r.args[arg]
	p := a.Offset + position
	if p < 0 || p >= len(a.Data) {
		return element{}, fmt.Errorf("element %d+%d of argument %d, which has %d", a.Offset, position, arg, len(a.Data))
	}
	if out := r.kernel.Args[arg]; out.Kind == ir.Out && (position < 0 || position >= out.Len) {
		return element{}, fmt.Errorf("element %d of argument %d, of which %d are to be written", position, arg, out.Len)
	}
	e := element{number: &a.Data[p], history: &r.histories[arg][p]}
	if old := r.old[arg]; old != nil {
		e.old = &old[p]
	}
	return e, nil
}

var (
	errShared = errors.New("an element is both read and written")
	errTwice  = errors.New("an element is written twice")
)

func (e element) read() (ir.Number, error) {
	if *e.history&written != 0 {
		return 0, errShared
	}
	*e.history |= wasRead
	return *e.number, nil
}

// oldElements returns copies of the arguments that a kernel both reads and writes, by argument.
func oldElements(k *ir.Kernel, args []Arg) [][]ir.Number {
	list := make([][]ir.Number, len(args))
	for i := range k.Body {
		if in := &k.Body[i]; in.Op == ir.Load && k.Args[in.Arg].Kind == ir.Out && list[in.Arg] == nil {
			list[in.Arg] = slices.Clone(args[in.Arg].Data)
		}
	}
	return list
}

func (e element) write(x ir.Number) error {
	switch *e.history {
	case 0:
		*e.history = written
		*e.number = x
		return nil
	case written:
		return errTwice
	}
	return errShared
}
