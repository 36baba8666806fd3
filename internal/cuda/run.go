//go:build (linux || windows) && (amd64 || arm64)

package cuda

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/loops"
)

// A launch is a pass with the starts of its parameters and of its memory in its list's.
type launch struct {
	*pass
	function       uintptr
	params, memory int
}

// A launchList is launches in order, with their parameters as kernels read them.
type launchList struct {
	launches []launch
	params   []byte
	memory   []*buffer // by launch: one for each of the pass's buffers
}

func (l *launchList) reset() {
	l.launches, l.params, l.memory = l.launches[:0], l.params[:0], l.memory[:0]
}

// paramsOf returns the parameters of the i-th launch.
func (l *launchList) paramsOf(i int) []byte {
	end := len(l.params)
	if i+1 < len(l.launches) {
		end = l.launches[i+1].params
	}
	return l.params[l.launches[i].params:end]
}

// Run launches the kernels of calls. A few are held.
func (d *device) Run(calls []driver.Call) error {
	if held, err := d.hold(calls); held || err != nil {
		return err
	}
	leave, err := d.Enter()
	if err != nil {
		return err
	}
	defer leave()
	return d.launch(calls, &d.sequences, maxSequences)
}

// launch launches the kernels of calls, by graphs where the same programs have run before: a cache
// has at most some sequences of them.
func (d *device) launch(calls []driver.Call, known *sequences, most int) error {
	if err := d.prepare(calls); err != nil {
		return err
	}
	if d.isLong(calls) {
		if s := d.sequence(calls, known, most); s != nil {
			if done, err := d.replay(s, calls); done || err != nil {
				return err
			}
		}
	}
	for i := range calls {
		if err := d.call(&calls[i]); err != nil {
			return err
		}
	}
	return nil
}

// call launches the kernels of a call one by one.
func (d *device) call(c *driver.Call) error {
	if err := d.beside.awaitCall(d, c); err != nil {
		return err
	}
	d.list.reset()
	if err := d.record(&d.list, c, 0); err != nil {
		return err
	}
	for i := range d.list.launches {
		l, x := &d.list.launches[i], d.pack(&d.list, i)
		d.args = [...]uintptr{ // no list of its own, which would be allocated
			l.function, uintptr(l.grid[0]), uintptr(l.grid[1]), uintptr(l.grid[2]), uintptr(l.threads), 1, 1,
			uintptr(l.module.shared), d.stream, 0, uintptr(unsafe.Pointer(&x.extra)),
		}
		if err := d.lib.call("cuLaunchKernel", d.lib.LaunchKernel, d.args[:]...); err != nil {
			return d.fail(err)
		}
		if d.oneByOne {
			if err := d.waitFor(l.pass); err != nil {
				return err
			}
		}
	}
	return nil
}

// record appends the launches of a call. The number is the call's position in its graph, or 0; a graph and its updates use
// the same one. Calls near each other have different sets of scratch, or each would follow the one before.
func (d *device) record(list *launchList, c *driver.Call, number int) error {
	p := c.Program.(*program)
	set := number % d.scratchSets(p)
	var err error
	if p.loop == nil {
		err = d.recordKernel(list, p, c.Args, set)
	} else {
		err = loops.Each(p.loop, c.Args, d.Kept.Temps, func(q driver.Program, args []driver.Arg) error {
			return d.recordKernel(list, q.(*program), args, set)
		})
	}
	if err != nil {
		return fmt.Errorf("%s: %w", d.Name(), err)
	}
	return nil
}

// recordKernel appends the launches of a kernel.
func (d *device) recordKernel(list *launchList, p *program, args []driver.Arg, set int) error {
	if err := p.Check(args, d.SizeOf); err != nil {
		return err
	}
	for i := range p.passes {
		q := &p.passes[i]
		function, err := d.function(q)
		if err != nil {
			return err
		}
		list.launches = append(list.launches, launch{q, function, len(list.params), len(list.memory)})
		for j := range q.buffers {
			b := &q.buffers[j]
			own, base := (*buffer)(nil), 0
			if b.Arg < 0 {
				own = d.Kept.Scratch[b.Scratch*maxScratchSets+set].(*buffer)
			} else {
				own, base = args[b.Arg].Buffer.(*buffer), p.BaseBytes(b.Arg, args)
			}
			list.memory = append(list.memory, own)
			list.params = binary.LittleEndian.AppendUint64(list.params, uint64(own.address)+uint64(base))
		}
		for j := range q.params {
			list.params = binary.LittleEndian.AppendUint32(list.params, p.Word(&q.params[j], args))
		}
	}
	return nil
}

// function returns the function of a pass once it is compiled.
func (d *device) function(q *pass) (uintptr, error) {
	m := q.module
	<-m.ready
	if m.err != nil {
		return 0, m.err
	}
	if m.function == 0 { // it was dropped
		q.module = d.module(m.text, m.shared, m.raw)
		return d.function(q)
	}
	d.modules.Use(m.entry)
	return m.function, nil
}

// maxParams is the most bytes of parameters of a kernel.
const maxParams = 4 << 10

// A launchBlock is a launch as the driver reads it, in memory of the driver.
type launchBlock struct {
	node   nodeParams
	extra  [5]uintptr
	size   uintptr
	params [maxParams]byte
}

// A nodeParams is the driver's CUDA_KERNEL_NODE_PARAMS_v2.
type nodeParams struct {
	function    uintptr
	grid, block [3]uint32
	shared      uint32
	_, extra    uintptr // parameters, in one of two ways
	_, _        uintptr // other ways to name the kernel
}

// pack packs the parameters of the i-th launch.
func (d *device) pack(list *launchList, i int) *launchBlock {
	const end, buffer, size = 0, 1, 2 // the next two words
	x := d.block
	x.size = uintptr(copy(x.params[:], list.paramsOf(i)))
	x.extra = [5]uintptr{buffer, uintptr(unsafe.Pointer(&x.params)), size, uintptr(unsafe.Pointer(&x.size)), end}
	return x
}

// node packs the i-th launch as a node of a graph.
func (d *device) node(list *launchList, i int) *nodeParams {
	x, l := d.pack(list, i), &list.launches[i]
	x.node = nodeParams{
		function: l.function, grid: [3]uint32{uint32(l.grid[0]), uint32(l.grid[1]), uint32(l.grid[2])}, block: [3]uint32{uint32(l.threads), 1, 1},
		shared: uint32(l.module.shared), extra: uintptr(unsafe.Pointer(&x.extra)),
	}
	return &x.node
}
