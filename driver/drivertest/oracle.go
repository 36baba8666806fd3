package drivertest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"
	"unsafe"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/interp"
	"github.com/tensorken/tensorken/internal/loops"
	"github.com/tensorken/tensorken/ir"
)

// A Reference is a device in the host's memory. It runs kernels point by point,
// from the definition of each instruction, or by Prepare. It verifies each kernel
// by ir.Verify, and that every access is within its buffer. The bits of fresh
// memory are ones, which no type takes for a 0.
type Reference struct {
	// The device's limits; to be set before it is used.
	Types    []ir.DType
	Blocks   driver.Blocks
	Bindings int // buffers of one kernel, 0 for no limit
	Machine  ir.Machine
	Memory   int  // bytes held at once
	Async    bool // work is done when its results are asked for
	Loops    ir.LoopLimits
	// Prepare makes a kernel into a program that runs it.
	Prepare func(k *ir.Kernel) (Program, error)
	Proofs  *Proofs // nil: all kernels are computed
	Target  string  // for Proofs: Prepare may make another program of a kernel where this differs

	// Counts of its work.
	Compiled   int            // kernels
	Ran        int            // calls
	Templates  map[string]int // calls by template, or by routine
	Kernels    []*ir.Kernel   // of the calls, in order
	Allocated  int            // buffers
	Uploaded   int            // bytes
	Downloaded int            // bytes

	held    int
	later   []func() error // work submitted and not done
	failure error
	closed  bool
	ledger  ledger
}

// Oracle returns a [Reference] that has every type and a gigabyte of memory.
func Oracle() *Reference {
	return &Reference{Types: ir.DTypes, Memory: 1 << 30, Templates: map[string]int{}}
}

// A HostArg is a driver.Arg with the bytes of its buffer.
type HostArg struct {
	Bytes  []byte
	Offset int
	Num    ir.Number
}

// A Program runs a kernel.
type Program struct {
	Run  func(args []HostArg) error
	Text string // of the program, for Proofs
}

// A prepared is a kernel with its interpreter.
type prepared struct {
	*ir.Kernel
	program func() (Program, error) // made once
	proof   proof
}

type memory struct {
	device *Reference
	data   []byte
	freed  bool
}

func (m *memory) Size() int { return len(m.data) }

func (m *memory) Free() {
	if !m.freed {
		m.freed = true
		m.device.held -= len(m.data)
	}
}

var errClosed = errors.New("oracle: the device is closed")

// Name returns "oracle".
func (r *Reference) Name() string { return "oracle" }

// Limits returns the limits of the device's fields.
func (r *Reference) Limits() driver.Limits {
	return driver.Limits{Types: r.Types, Blocks: r.Blocks, Bindings: r.Bindings, Machine: r.Machine, Async: r.Async}
}

// Alloc returns a buffer of exactly that many bytes.
func (r *Reference) Alloc(bytes int) (driver.Buffer, error) {
	switch {
	case r.closed:
		return nil, errClosed
	case bytes > r.Memory-r.held:
		return nil, fmt.Errorf("oracle: %d bytes asked for, %d of %d held: %w", bytes, r.held, r.Memory, driver.ErrMemory)
	}
	r.held += bytes
	r.Allocated++
	m := &memory{device: r, data: make([]byte, bytes)}
	for i := range m.data {
		m.data[i] = 0xff
	}
	return m, nil
}

// span returns n bytes of a buffer from an offset on.
func (r *Reference) span(b driver.Buffer, offset, n int) ([]byte, error) {
	m, ok := b.(*memory)
	switch {
	case r.closed:
		return nil, errClosed
	case !ok || m.device != r:
		return nil, errors.New("oracle: a buffer of another device")
	case m.freed:
		return nil, errors.New("oracle: a buffer that is freed")
	case offset < 0 || n > len(m.data)-offset:
		return nil, fmt.Errorf("oracle: bytes %d to %d of a buffer of %d", offset, offset+n, len(m.data))
	}
	return m.data[offset : offset+n], nil
}

// submit does work, or keeps it for later. After a failure no work is done
// until it has been reported.
func (r *Reference) submit(work func() error) {
	if r.later = append(r.later, work); !r.Async {
		r.finish()
	}
}

// finish does the work that was kept.
func (r *Reference) finish() {
	for _, work := range r.later {
		if r.failure == nil {
			r.failure = work()
		}
	}
	r.later = nil
}

// Upload copies bytes into a buffer.
func (r *Reference) Upload(dst driver.Buffer, offset int, src []byte) error {
	to, err := r.span(dst, offset, len(src))
	if err != nil {
		return err
	}
	r.Uploaded += len(src)
	src = bytes.Clone(src)
	r.submit(func() error {
		copy(to, src)
		return nil
	})
	return nil
}

// Download copies bytes out of a buffer.
func (r *Reference) Download(dst []byte, src driver.Buffer, offset int) error {
	from, err := r.span(src, offset, len(dst))
	if err != nil {
		return err
	}
	if r.finish(); r.failure != nil {
		return r.failure
	}
	r.Downloaded += copy(dst, from)
	return nil
}

// Compile checks a kernel and prepares it.
func (r *Reference) Compile(k *ir.Kernel) (driver.Program, error) {
	if r.closed {
		return nil, errClosed
	}
	if err := ir.Verify(k); err != nil {
		return nil, err
	}
	buffers := 0
	for _, a := range k.Args {
		if a.Kind != ir.Value {
			buffers++
		}
		if !r.Limits().Has(a.DType) {
			return nil, fmt.Errorf("oracle: %v: %w", a.DType, driver.ErrType)
		}
	}
	for _, in := range k.Body {
		if !slices.Contains(r.Types, in.Type) {
			return nil, fmt.Errorf("oracle: %v: %w", in.Type, driver.ErrType)
		}
	}
	most := r.Bindings
	if k.Template == ir.Attention {
		most = max(most, r.Loops.AttentionBindings)
	}
	if r.Bindings > 0 && buffers > most {
		return nil, fmt.Errorf("oracle: a kernel of %d buffers, more than %d", buffers, most)
	}
	prepare := r.Prepare
	if prepare == nil {
		prepare = interpret
	}
	p := &prepared{Kernel: k, program: sync.OnceValues(func() (Program, error) { return prepare(k) })}
	text := func() (string, error) {
		made, err := p.program()
		return made.Text, err
	}
	var err error
	if r.Proofs == nil {
		_, err = text()
	} else {
		p.proof, err = r.Proofs.of(k.String(), r.Target, text)
	}
	if err != nil {
		return nil, err
	}
	r.Compiled++
	return p, nil
}

// LoopLimits returns the field Loops.
func (r *Reference) LoopLimits() ir.LoopLimits { return r.Loops }

// CompileLoop checks the kernels of a loop and prepares them.
func (r *Reference) CompileLoop(l *ir.Loop) (driver.Program, error) {
	return loops.Compile(l, r.Compile)
}

// Run runs calls.
func (r *Reference) Run(calls []driver.Call) error {
	temps, err := r.temps(loops.Temps(calls))
	if err != nil {
		return err
	}
	if calls, _, err = loops.Expand(calls, temps); err != nil {
		return err
	}
	for _, c := range calls {
		if err := r.takes(c); err != nil {
			return err
		}
		c.Args = slices.Clone(c.Args)
		r.submit(func() error { return r.run(c) })
	}
	if r.closed {
		return errClosed
	}
	return nil
}

// Sync returns the first failure since the last one.
func (r *Reference) Sync() error {
	if r.closed {
		return errClosed
	}
	r.finish()
	err := r.failure
	r.failure = nil
	return err
}

// Close makes all later calls fail.
func (r *Reference) Close() error {
	r.closed = true
	return nil
}

// temps returns fresh memory for the temporaries of loops.
func (r *Reference) temps(bytes []int) (list []driver.Buffer, err error) {
	for _, n := range bytes {
		b, err := r.Alloc(n)
		if err != nil {
			return nil, err
		}
		list = append(list, b)
		r.held -= n // nobody frees it
	}
	return list, nil
}

func (r *Reference) checked(compute, check func() error) error {
	return r.ledger.checked(r.Proofs, r.Sync, compute, check)
}

// takes returns the mistake in a call, or nil.
func (r *Reference) takes(c driver.Call) error {
	k, ok := c.Program.(*prepared)
	if !ok || len(c.Args) != len(k.Args) {
		return fmt.Errorf("oracle: a call of %T with %d arguments", c.Program, len(c.Args))
	}
	for i, a := range k.Args {
		if a.Kind == ir.Value {
			continue
		}
		if _, err := r.span(c.Args[i].Buffer, 0, 0); err != nil {
			return err
		}
		for j, b := range k.Args[:i] {
			if b.Kind != ir.Value && c.Args[i].Buffer == c.Args[j].Buffer && (a.Kind == ir.Out || b.Kind == ir.Out) {
				return fmt.Errorf("oracle: arguments %d and %d are one buffer, which is written", j, i)
			}
		}
		if at := c.Args[i].Offset; a.Align && !a.DType.Aligned(at) {
			return fmt.Errorf("oracle: argument %d is at element %d, not aligned", i, at)
		}
	}
	return nil
}

func (r *Reference) run(c driver.Call) error {
	p := c.Program.(*prepared)
	r.Ran++
	name := p.Template.String()
	if op := p.Routine(); op != 0 {
		name = op.String()
	}
	r.Templates[name]++
	r.Kernels = append(r.Kernels, p.Kernel)
	args := make([]HostArg, len(c.Args))
	for i, a := range c.Args {
		args[i] = HostArg{Offset: a.Offset, Num: a.Num}
		if p.Args[i].Kind != ir.Value {
			args[i].Bytes = a.Buffer.(*memory).data
		}
	}
	r.ledger.asked = append(r.ledger.asked, p.proof)
	if r.ledger.idle {
		for i, a := range p.Args {
			if a.Kind == ir.Out || a.Kind == ir.Status {
				clear(args[i].Bytes)
			}
		}
		return nil
	}
	made, err := p.program()
	if err == nil {
		err = made.Run(args)
	}
	if err != nil {
		return fmt.Errorf("%w in\n%v", err, p.Kernel)
	}
	return nil
}

// elements is a buffer as numbers of one type. Arguments that share a buffer
// share these, so that the interpreter sees it.
type elements struct {
	first *byte
	d     ir.DType
}

// interpret is the Prepare of package interp.
func interpret(k *ir.Kernel) (Program, error) {
	return Program{Run: func(args []HostArg) error {
		shared := map[elements][]ir.Number{}
		list := make([]interp.Arg, len(args))
		for i, a := range args {
			d := k.Args[i].DType
			list[i] = interp.Arg{Offset: a.Offset, Num: a.Num}
			if k.Args[i].Kind == ir.Value {
				continue
			}
			e := elements{unsafe.SliceData(a.Bytes), d}
			if shared[e] == nil {
				shared[e] = decode(d, a.Bytes)
			}
			list[i].Data = shared[e]
		}
		if err := interp.Run(k, list); err != nil {
			return err
		}
		for i, a := range k.Args {
			if a.Kind == ir.Out || a.Kind == ir.Status {
				copy(args[i].Bytes, encode(a.DType, list[i].Data))
			}
		}
		return nil
	}}, nil
}
