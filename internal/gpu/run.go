package gpu

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/loops"
	"github.com/tensorken/tensorken/internal/wgpu"
	"github.com/tensorken/tensorken/ir"
)

// Run records calls and submits them, some at a time. The last few are held.
func (d *device) Run(calls []driver.Call) error {
	if d.Closed != nil {
		return d.Closed
	}
	calls, _, err := d.prepare(calls)
	if err != nil {
		return err
	}
	submit := d.submitRecorded
	if d.Holds() { // calls that an earlier Run recorded fail too
		submit = d.flush
	}
	for len(calls) > 0 {
		n, err := d.recordSome(calls)
		if err != nil {
			return err
		}
		calls = calls[n:]
		if len(calls) == 0 && len(d.commands) < d.nextBatch {
			break
		}
		if err := submit(); err != nil {
			return err
		}
	}
	return nil
}

// Holds implements driver.Flusher.
func (d *device) Holds() bool { return len(d.commands) > 0 }

// Flush implements driver.Flusher.
func (d *device) Flush() {
	if d.Closed == nil {
		d.flush()
	}
}

// flush submits the held calls. Sync returns a failure, because the Run that recorded it
// has returned.
func (d *device) flush() error {
	err := d.submitRecorded()
	if d.Failed == nil {
		d.Failed = err
	}
	return err
}

// prepare replaces calls of loops by calls of their kernels, and provides the buffers that
// these need. If memory lacks, it frees memory kept for reuse and tries once more.
func (d *device) prepare(calls []driver.Call) (list []driver.Call, counts []int, err error) {
	temps := loops.Temps(calls)
	err = d.Retry(func() (err error) {
		list, counts, err = d.expand(calls, temps)
		return err
	})
	return list, counts, err
}

func (d *device) expand(calls []driver.Call, temps []int) (list []driver.Call, counts []int, err error) {
	if err := d.Kept.Reserve(temps, nil, d.Take); err != nil {
		return nil, nil, err
	}
	if list, counts, err = loops.Expand(calls, d.Kept.Temps); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", d.Name(), err)
	}
	var scratch []int
	for i := range list {
		p, ok := list[i].Program.(*program)
		if !ok || p.device != d {
			return nil, nil, fmt.Errorf("%s: a program of another device", d.Name())
		}
		scratch = loops.Enlarged(scratch, p.scratch)
	}
	return list, counts, d.Kept.Reserve(temps, scratch, d.Take)
}

// FreeUnused implements gpudevice.Driver.
func (d *device) FreeUnused() { d.staging.free(d) }

// recordSome records the first calls, after those that are held, and returns their number.
// If it fails it records none.
func (d *device) recordSome(calls []driver.Call) (n int, err error) {
	commands, params := len(d.commands), len(d.params)
	for n < len(calls) && max(n, len(d.commands)) < d.nextBatch {
		first := len(d.commands)
		if err := d.record(&calls[n]); err != nil {
			d.commands, d.params = d.commands[:commands], d.params[:params]
			return 0, err
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
	d.writeParams()
	err := d.submit(d.commands)
	d.commands, d.params = d.commands[:0], d.params[:0]
	d.nextBatch = min(2*d.nextBatch, d.batch)
	d.recording++
	d.trim()
	return err
}

// writeParams writes the parameters of the recorded commands to the uniform buffer.
func (d *device) writeParams() {
	if len(d.params) == 0 {
		return
	}
	begin := uint32(d.uniforms.put(d, d.params))
	for i := range d.commands {
		d.commands[i].Offset += begin
	}
}

// record appends the commands of a call.
func (d *device) record(c *driver.Call) error {
	p := c.Program.(*program)
	if err := p.Check(c.Args, d.SizeOf); err != nil {
		return fmt.Errorf("%s: %w", d.Name(), err)
	}
	for i := range p.passes {
		if err := d.dispatch(p, &p.passes[i], c.Args); err != nil {
			return err
		}
	}
	return nil
}

// LoopLimits implements driver.Looper. A kernel of attention without an index has the spare bindings for
// buffers of its own: it has no reports, and a pass that binds scratch binds either no results or neither keys
// nor values.
func (d *device) LoopLimits() ir.LoopLimits {
	limits := d.Target.LoopLimits()
	most := int(min(d.Limit, math.MaxInt)) // bytes of a buffer
	limits.Bytes, limits.Scores = min(limits.Bytes, most), min(limits.Scores, most)
	limits.AttentionBindings = d.bindings
	return limits
}

// CompileLoop implements driver.Looper.
func (d *device) CompileLoop(l *ir.Loop) (driver.Program, error) {
	return loops.Compile(l, d.Compile)
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
		b := d.bound(&q.bindings[i], args)
		b.recording = d.recording
		key.ids[i] = b.id
	}
	g := d.groups.Get(key)
	if g == nil {
		var err error
		if g, err = d.newBindGroup(key, q, args); err != nil {
			return err
		}
	}
	c := wgpu.Command{Pipeline: s.handle, Group: g.Value, Groups: q.groups}
	if len(q.params) > 0 {
		c.Params, c.Offset = true, uint32(len(d.params)) // from the first of the submission on
		for i := range q.params {
			d.params = binary.LittleEndian.AppendUint32(d.params, p.Word(&q.params[i], args))
		}
		d.params = append(d.params, zeros[:q.room-4*len(q.params)]...)
		if last := len(d.params) - 2*q.room; last >= 0 && bytes.Equal(d.params[last:last+q.room], d.params[last+q.room:]) {
			d.params = d.params[:last+q.room]
			c.Offset = uint32(last)
		}
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

// trim drops the least recently used bind groups and pipelines above the limits, unless
// recorded commands may use them.
func (d *device) trim() {
	if d.Holds() {
		return
	}
	d.groups.Trim(maxGroups, d.dev.FreeGroup)
	d.pipelines.Trim(maxPipelines, d.freePipeline)
}
