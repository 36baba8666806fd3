//go:build linux && (amd64 || arm64)

package cuda

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/ptx"
	"github.com/tensorken/tensorken/internal/schedule"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/internal/shader/simt"
	"github.com/tensorken/tensorken/internal/tune"
	"github.com/tensorken/tensorken/ir"
)

// A simulated is a device of a fake, which runs the passes of its kernels by simt.
type simulated struct {
	*device
	fake  *fake
	tunes bool
}

// open opens the fake's first GPU.
func (f *fake) open(o Options) (*simulated, error) { return f.openGPU(0, o) }

// openGPU opens one of the fake's GPUs.
func (f *fake) openGPU(i int, o Options) (*simulated, error) {
	list, err := f.lib.list()
	if err != nil {
		return nil, err
	}
	d, err := f.lib.open(list[i], o)
	if err != nil {
		return nil, err
	}
	return &simulated{d, f, o.Tune != tune.Off}, nil
}

// Compile gives the fake the programs behind the texts of the kernel's passes.
func (d *simulated) Compile(k *ir.Kernel) (driver.Program, error) {
	d.define(func() (*shader.Program, error) { return schedule.Compile(k, d.Target) })
	if d.tunes {
		for _, c := range slices.Concat(schedule.Choices(k, d.Target)...) {
			d.define(func() (*shader.Program, error) { return schedule.CompileChoice(k, d.Target, c) })
		}
	}
	return d.device.Compile(k)
}

// CompileRaw tells the fake that a text multiplies, as drivertest's does. The fake's compiler
// refuses a text with the word faulty.
func (d *simulated) CompileRaw(k *ir.RawKernel) (driver.Program, error) {
	q, _, err := schedule.Raw(k, d.Target)
	if err != nil {
		return nil, err
	}
	named := *k
	named.Text += fmt.Sprintf("// %d elements", k.Result().Len) // as the fake knows passes by text, and each has a grid
	at := &shader.Var{Name: "at", Type: shader.U32}
	x, y := &shader.Var{Name: "x", Type: shader.F32}, &shader.Var{Name: "y", Type: shader.F32}
	q.Body = &shader.Block{Stmts: []shader.Stmt{
		&shader.Declare{Var: at, Value: shader.GroupID.Mul(k.Threads).Add(shader.ThreadID)},
		&shader.If{Cond: at.Ref().Lt(q.Params[0].Word()), Then: &shader.Block{Stmts: []shader.Stmt{
			&shader.Load{Dst: []*shader.Var{x}, Declare: true, Buffer: q.Buffers[0], Index: at.Ref()},
			&shader.Load{Dst: []*shader.Var{y}, Declare: true, Buffer: q.Buffers[1], Index: at.Ref().Rem(100)},
			&shader.Store{Buffer: q.Buffers[2], Index: at.Ref(), Values: []*shader.Expr{x.Ref().Mul(y.Ref())}},
		}}},
	}}
	d.fake.define(named.Text, q)
	return d.device.CompileRaw(&named)
}

// define gives the fake the programs behind the texts of a program's passes.
func (d *simulated) define(compile func() (*shader.Program, error)) {
	for i, n := 0, 1; i < n; i++ {
		s, err := compile() // anew, as the fake changes buffers that passes share
		if err != nil {
			break
		}
		n = len(s.Passes)
		d.fake.define(ptx.Print(s.Passes[i], d.gpu.Capability), s.Passes[i])
	}
}

// CompileLoop compiles by Compile.
func (d *simulated) CompileLoop(l *ir.Loop) (driver.Program, error) {
	return d.compileLoop(l, d.Compile)
}

// A fakeKernel is a function of a module.
type fakeKernel struct {
	text   string
	shared uintptr // bytes that a workgroup may share
}

// define makes a pass the meaning of a text. Its buffers and parameters, in their order,
// become arguments.
func (f *fake) define(text string, p *shader.Pass) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.programs[text] != nil {
		return
	}
	for i, b := range p.Buffers {
		b.Arg = i
	}
	for i, w := range p.Params {
		w.Arg, w.Offset = len(p.Buffers)+i, false
	}
	f.programs[text] = simt.Compile(&shader.Program{Passes: []*shader.Pass{p}})
	f.passes[text] = p
}

func (f *fake) function(a []uintptr) int {
	h := f.next()
	f.kernels[h] = &fakeKernel{f.modules[a[1]], usualShared}
	return set(a[0], h)
}

func (f *fake) share(a []uintptr) int {
	f.kernels[a[0]].shared = a[2]
	return 0
}

// A fakeLaunch is a kernel with all that it is launched with.
type fakeLaunch struct {
	function uintptr
	size     [7]uintptr // groups, threads, shared bytes
	params   []byte
}

func (f *fake) launchKernel(a []uintptr) int {
	return f.launch(&fakeLaunch{function: a[0], size: [7]uintptr(a[1:8]), params: unpacked(a[10])}, a[8])
}

// unpacked returns a copy of the parameters that a list of extra options points to.
func unpacked(extra uintptr) []byte {
	var data, size uintptr
	for {
		name := binary.LittleEndian.Uint64(bytesAt(extra, 8))
		if name == 0 {
			break
		}
		value := uintptr(binary.LittleEndian.Uint64(bytesAt(extra+8, 8)))
		switch name {
		case 1:
			data = value
		case 2:
			size = uintptr(binary.LittleEndian.Uint64(bytesAt(value, 8)))
		}
		extra += 16
	}
	return slices.Clone(bytesAt(data, size))
}

// fits checks a launch, as far as the driver does.
func (f *fake) fits(x *fakeLaunch) bool {
	k := f.kernels[x.function]
	if k == nil || f.isIdle {
		return k != nil
	}
	p := f.passes[k.text]
	size := [7]uintptr{uintptr(p.Grid[0]), uintptr(p.Grid[1]), uintptr(p.Grid[2]), uintptr(p.Threads), 1, 1, uintptr(ptx.SharedBytes(p))}
	return x.size == size && x.size[6] <= k.shared && len(x.params) == 8*len(p.Buffers)+4*len(p.Params)
}

// launch puts a kernel into a stream. Its buffers have to be live.
func (f *fake) launch(x *fakeLaunch, stream uintptr) int {
	if f.isIdle {
		return 0
	}
	if !f.fits(x) {
		return invalidValue
	}
	text := f.kernels[x.function].text
	p := f.passes[text]
	var args []simt.Arg
	params := x.params
	for _, q := range p.Buffers {
		b, base := f.block(uintptr(binary.LittleEndian.Uint64(params)))
		if b == nil || b.gpu != f.current() {
			f.fault("a kernel gets an address that no buffer of its GPU has")
			return invalidValue
		}
		args, params = append(args, simt.Arg{Data: b.data, Base: base / q.Type.Size()}), params[8:]
	}
	for _, q := range p.Params {
		number := uint64(binary.LittleEndian.Uint32(params))
		if q.Upper {
			number <<= 32
		}
		args, params = append(args, simt.Arg{Word: number}), params[4:]
	}
	return f.push(stream, func() {
		if err := f.programs[text].Run(args); err != nil {
			f.fault("%v", err)
		}
	})
}
