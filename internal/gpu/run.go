package gpu

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/loops"
	"github.com/tensorken/tensorken/internal/wgpu"
	"github.com/tensorken/tensorken/ir"
)

// Run records calls and submits them, some at a time.
func (d *device) Run(calls []driver.Call) error {
	if err := d.check(); err != nil {
		return err
	}
	calls, _, err := d.expand(calls)
	if err != nil {
		return err
	}
	for len(calls) > 0 {
		n, err := d.recordSome(calls)
		if err == nil {
			err = d.submitRecorded()
		}
		if err != nil {
			return err
		}
		calls = calls[n:]
	}
	return nil
}

// recordSome records the first calls, and returns their number.
func (d *device) recordSome(calls []driver.Call) (n int, err error) {
	d.commands, d.params = d.commands[:0], d.params[:0]
	d.trim()
	for n < len(calls) && max(n, len(d.commands)) < d.batch {
		first := len(d.commands)
		fit, err := d.record(&calls[n])
		if err != nil {
			return n, err
		}
		if !fit {
			break
		}
		d.timed.mark(d.commands[first:], n)
		n++
	}
	return n, nil
}

// submitRecorded submits the recorded commands.
func (d *device) submitRecorded() error {
	if len(d.commands) == 0 {
		return nil
	}
	if err := d.writeParams(); err != nil {
		return err
	}
	return d.submit(d.commands)
}

// writeParams writes the parameters of the recorded commands to a uniform buffer.
func (d *device) writeParams() error {
	if len(d.params) == 0 {
		return nil
	}
	u, err := d.uniforms.put(d, d.paramsLayout, d.params)
	if err != nil {
		return err
	}
	for i := range d.commands {
		if c := &d.commands[i]; c.Params != 0 {
			c.Params = u.group
		}
	}
	return nil
}

// record appends the commands of a call. It reports false if earlier commands must be
// submitted first.
func (d *device) record(c *driver.Call) (fit bool, err error) {
	p, ok := c.Program.(*program)
	if !ok || p.device != d {
		return false, fmt.Errorf("%s: a program of another device", d.name)
	}
	if err := p.Check(c.Args, d.sizeOf); err != nil {
		return false, fmt.Errorf("%s: %w", d.name, err)
	}
	if fit, err := d.reserve(&d.scratch, p.scratch); !fit || err != nil {
		return false, err
	}
	for i := range p.passes {
		if err := d.dispatch(p, &p.passes[i], c.Args); err != nil {
			return false, err
		}
	}
	return true, nil
}

// sizeOf is the size of a buffer of the device that is not freed.
func (d *device) sizeOf(x driver.Buffer) (bytes int, ok bool) {
	b, ok := x.(*buffer)
	if !ok || b.device != d || b.handle == 0 {
		return 0, false
	}
	return b.size, true
}

// reserve provides buffers of those sizes in a list that programs share. It reports false
// if a buffer must grow before recorded commands that use it are submitted.
func (d *device) reserve(list *[]*buffer, sizes []int) (fit bool, err error) {
	for i, n := range sizes {
		if i < len(*list) && (*list)[i].size >= n {
			continue
		}
		if len(d.commands) > 0 {
			return false, nil
		}
		if i == len(*list) {
			*list = append(*list, new(buffer))
		}
		old := (*list)[i]
		(*list)[i] = new(buffer) // while there is no other
		old.Free()
		b, err := d.alloc(n)
		if err != nil {
			return false, err
		}
		(*list)[i] = b
	}
	return true, nil
}

func (d *device) freeScratch() {
	for _, b := range slices.Concat(d.scratch, d.temps) {
		b.Free()
	}
	d.scratch, d.temps = nil, nil
}

// LoopLimits makes the promise of driver.Looper.
func (d *device) LoopLimits() ir.LoopLimits { return d.target.LoopLimits() }

// CompileLoop makes the promise of driver.Looper.
func (d *device) CompileLoop(l *ir.Loop) (driver.Program, error) {
	return loops.Compile(l, d.Compile)
}

// expand replaces calls of loops by calls of their kernels.
func (d *device) expand(calls []driver.Call) (list []driver.Call, counts []int, err error) {
	d.commands = d.commands[:0] // they are submitted
	list, counts, err = loops.Expand(calls, func(bytes []int) ([]*buffer, error) {
		_, err := d.reserve(&d.temps, bytes)
		return d.temps, err
	})
	if err != nil {
		err = fmt.Errorf("%s: %w", d.name, err)
	}
	return list, counts, err
}

// dispatch appends the command of a pass.
func (d *device) dispatch(p *program, q *pass, args []driver.Arg) error {
	s := q.pipeline
	if !s.ready {
		var err error
		if s, err = d.await(s); err != nil {
			return err
		}
		q.pipeline = s
	}
	d.pipelines.Use(s.entry)
	key := groupKey{layout: s.layout, n: len(q.bindings)}
	for i := range q.bindings {
		key.ids[i] = d.bound(q.bindings[i], args).id
	}
	var g *bindGroup
	if e := d.groups.Get(key); e != nil {
		g = e.Value
	} else {
		var err error
		if g, err = d.newBindGroup(key, q, args); err != nil {
			return err
		}
	}
	c := wgpu.Command{Pipeline: s.handle, Group: g.handle, Groups: q.groups}
	if len(q.params) > 0 {
		c.Params = 1 // until writeParams knows the buffer
		d.paramsLayout = s.layout
		c.Offset = uint32(len(d.params))
		for _, w := range q.params {
			d.params = binary.LittleEndian.AppendUint32(d.params, p.Word(w, args))
		}
		d.params = append(d.params, zeros[:slot-4*len(q.params)]...)
	}
	d.commands = append(d.commands, c)
	return nil
}

var zeros [slot]byte

// await waits until a shader, or one of the same source, is compiled.
func (d *device) await(s *pipeline) (*pipeline, error) {
	if e := d.pipelines.Get(s.source); e != nil {
		s = e.Value
	}
	if err := d.ensure(s); err != nil {
		return nil, err
	}
	if err := d.dev.Await(s.handle); err != nil {
		return nil, d.refused(s, err)
	}
	s.ready = true
	return s, nil
}

// trim drops the least recently used bind groups and pipelines above the limits. No
// recorded command may use them.
func (d *device) trim() {
	d.groups.Trim(maxGroups, d.freeGroup)
	d.pipelines.Trim(maxPipelines, d.freePipeline)
}
